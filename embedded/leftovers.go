package embedded

import (
	"errors"
	"slices"
	"sync"

	sdkclient "go.temporal.io/sdk/client"
	sdkworker "go.temporal.io/sdk/worker"
	"go.temporal.io/server/common"
	"go.temporal.io/server/common/sdk"
	"google.golang.org/grpc"
)

// leftovers are what the services make and never end, since their process
// ends with them: some of their workers, all their connections.
type leftovers struct {
	mu          sync.Mutex
	workers     []*keptWorker
	clients     []sdkclient.Client
	connections []*grpc.ClientConn
	// What is made after these were set ends at once.
	stopped, closed bool
}

// keepClients makes f remember its workers and its client.
func (l *leftovers) keepClients(f sdk.ClientFactory) sdk.ClientFactory { return clientFactory{f, l} }

// keepConnections makes f remember its connections.
func (l *leftovers) keepConnections(f common.RPCFactory) common.RPCFactory { return rpcFactory{f, l} }

// stopWorkers stops all workers at once; one after the other they would take
// as long as their slowest poll each.
func (l *leftovers) stopWorkers() {
	l.mu.Lock()
	workers := l.workers
	l.stopped = true
	l.mu.Unlock()
	var wg sync.WaitGroup
	for _, w := range workers {
		wg.Go(w.Stop)
	}
	wg.Wait()
}

// close ends the connections.
func (l *leftovers) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	for _, c := range l.clients {
		c.Close()
	}
	for _, c := range l.connections {
		_ = c.Close() // fails only where the service closed it after all
	}
	return nil
}

func (l *leftovers) keepWorker(w *keptWorker) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stopped {
		w.Stop()
	}
	l.workers = append(l.workers, w)
}

func (l *leftovers) keepClient(c sdkclient.Client) sdkclient.Client {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		c.Close()
	}
	// Closing a client twice is allowed, and there are few.
	if !slices.Contains(l.clients, c) {
		l.clients = append(l.clients, c)
	}
	return c
}

func (l *leftovers) keepConnection(c *grpc.ClientConn) *grpc.ClientConn {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		_ = c.Close() // as above
	}
	if !slices.Contains(l.connections, c) {
		l.connections = append(l.connections, c)
	}
	return c
}

type clientFactory struct {
	sdk.ClientFactory
	leftovers *leftovers
}

// GetSystemClient gives the client whose connection the others share.
func (f clientFactory) GetSystemClient() sdkclient.Client {
	return f.leftovers.keepClient(f.ClientFactory.GetSystemClient())
}

// NewClient gives a client of another namespace over the same connection,
// which closes with the last of them.
func (f clientFactory) NewClient(o sdkclient.Options) sdkclient.Client {
	f.GetSystemClient()
	return f.leftovers.keepClient(f.ClientFactory.NewClient(o))
}

// NewWorker gives a worker.
func (f clientFactory) NewWorker(c sdkclient.Client, queue string, o sdkworker.Options) sdkworker.Worker {
	w := &keptWorker{Worker: f.ClientFactory.NewWorker(c, queue, o)}
	f.leftovers.keepWorker(w)
	return w
}

// keptWorker may be stopped at any time. The SDK's panics if it is started
// after that, and the server may just be about to.
type keptWorker struct {
	sdkworker.Worker
	mu               sync.Mutex
	started, stopped bool
}

// Start starts the worker unless it is stopped.
func (w *keptWorker) Start() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stopped {
		return errors.New("start a worker: the server stops")
	}
	err := w.Worker.Start()
	w.started = err == nil
	return err
}

// Stop stops the worker and keeps it from being started.
func (w *keptWorker) Stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.started && !w.stopped {
		w.Worker.Stop()
	}
	w.stopped = true
}

type rpcFactory struct {
	common.RPCFactory
	leftovers *leftovers
}

// CreateRemoteFrontendGRPCConnection connects to a frontend by its address.
func (f rpcFactory) CreateRemoteFrontendGRPCConnection(address string) *grpc.ClientConn {
	return f.leftovers.keepConnection(f.RPCFactory.CreateRemoteFrontendGRPCConnection(address))
}

// CreateLocalFrontendGRPCConnection connects to the frontend.
func (f rpcFactory) CreateLocalFrontendGRPCConnection() *grpc.ClientConn {
	return f.leftovers.keepConnection(f.RPCFactory.CreateLocalFrontendGRPCConnection())
}

// CreateHistoryGRPCConnection connects to the history service.
func (f rpcFactory) CreateHistoryGRPCConnection(address string) *grpc.ClientConn {
	return f.leftovers.keepConnection(f.RPCFactory.CreateHistoryGRPCConnection(address))
}

// CreateMatchingGRPCConnection connects to the matching service.
func (f rpcFactory) CreateMatchingGRPCConnection(address string) *grpc.ClientConn {
	return f.leftovers.keepConnection(f.RPCFactory.CreateMatchingGRPCConnection(address))
}
