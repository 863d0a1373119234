package embedded

import (
	"errors"
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
	workers     []sdkworker.Worker
	clients     map[sdkclient.Client]struct{}
	connections map[*grpc.ClientConn]struct{}
}

// keepClients makes f remember its workers and its client.
func (l *leftovers) keepClients(f sdk.ClientFactory) sdk.ClientFactory { return clientFactory{f, l} }

// keepConnections makes f remember its connections.
func (l *leftovers) keepConnections(f common.RPCFactory) common.RPCFactory { return rpcFactory{f, l} }

// stopWorkers stops all workers at once; one after the other they would take
// as long as their slowest poll each.
func (l *leftovers) stopWorkers() {
	l.mu.Lock()
	defer l.mu.Unlock()
	var wg sync.WaitGroup
	for _, w := range l.workers {
		wg.Go(w.Stop)
	}
	wg.Wait()
	l.workers = nil
}

// close ends the connections.
func (l *leftovers) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.clients {
		c.Close()
	}
	for c := range l.connections {
		_ = c.Close() // fails only where the service closed it after all
	}
	l.clients, l.connections = nil, nil
	return nil
}

type clientFactory struct {
	sdk.ClientFactory
	leftovers *leftovers
}

// GetSystemClient gives the client whose connection the others share.
func (f clientFactory) GetSystemClient() sdkclient.Client {
	c := f.ClientFactory.GetSystemClient()
	remember(f.leftovers, &f.leftovers.clients, c)
	return c
}

// NewClient gives a client of another namespace over the same connection.
func (f clientFactory) NewClient(o sdkclient.Options) sdkclient.Client {
	c := f.ClientFactory.NewClient(o)
	f.GetSystemClient()
	return c
}

// NewWorker gives a worker.
func (f clientFactory) NewWorker(c sdkclient.Client, queue string, o sdkworker.Options) sdkworker.Worker {
	w := &keptWorker{Worker: f.ClientFactory.NewWorker(c, queue, o)}
	f.leftovers.mu.Lock()
	defer f.leftovers.mu.Unlock()
	f.leftovers.workers = append(f.leftovers.workers, w)
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
	return f.keep(f.RPCFactory.CreateRemoteFrontendGRPCConnection(address))
}

// CreateLocalFrontendGRPCConnection connects to the frontend.
func (f rpcFactory) CreateLocalFrontendGRPCConnection() *grpc.ClientConn {
	return f.keep(f.RPCFactory.CreateLocalFrontendGRPCConnection())
}

// CreateHistoryGRPCConnection connects to the history service.
func (f rpcFactory) CreateHistoryGRPCConnection(address string) *grpc.ClientConn {
	return f.keep(f.RPCFactory.CreateHistoryGRPCConnection(address))
}

// CreateMatchingGRPCConnection connects to the matching service.
func (f rpcFactory) CreateMatchingGRPCConnection(address string) *grpc.ClientConn {
	return f.keep(f.RPCFactory.CreateMatchingGRPCConnection(address))
}

func (f rpcFactory) keep(c *grpc.ClientConn) *grpc.ClientConn {
	remember(f.leftovers, &f.leftovers.connections, c)
	return c
}

func remember[T comparable](l *leftovers, set *map[T]struct{}, v T) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if *set == nil {
		*set = map[T]struct{}{}
	}
	(*set)[v] = struct{}{}
}
