package embedded

import (
	"context"
	"slices"
	"sync"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/server/common/headers"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
)

// gate stands before the frontend's handlers. Closing it ends the long polls
// that a graceful stop would otherwise wait a second for.
type gate struct {
	mu     sync.Mutex
	closed bool
	inside map[*call]struct{}
}

// call is one request that is being answered.
type call struct{ cancel context.CancelFunc }

func newGate() *gate { return &gate{inside: map[*call]struct{}{}} }

// close cancels the calls inside and lets no more in.
func (g *gate) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
	for c := range g.inside {
		c.cancel()
	}
}

// enter lets a call in unless the gate is closed.
func (g *gate) enter(c *call) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.closed {
		g.inside[c] = struct{}{}
	}
	return !g.closed
}

// leave forgets a call and says whether the gate is still open.
func (g *gate) leave(c *call) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.inside, c)
	return !g.closed
}

func (g *gate) intercept(ctx context.Context, req any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c := &call{cancel}
	if !g.enter(c) {
		return nil, refusal(ctx)
	}
	resp, err := next(ctx, req)
	if open := g.leave(c); err != nil && !open {
		return nil, refusal(ctx)
	}
	return resp, err
}

// refusal is an error after which a user's client tries again later, but the
// server's own workers, for which the stop waits, do not.
func refusal(ctx context.Context) error {
	if slices.Contains(metadata.ValueFromIncomingContext(ctx, headers.ClientNameHeaderName), headers.ClientNameServer) {
		return serviceerror.NewFailedPrecondition("the server stops")
	}
	return serviceerror.NewUnavailable("the server stops")
}
