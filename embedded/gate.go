package embedded

import (
	"context"

	"go.temporal.io/api/serviceerror"
	"google.golang.org/grpc"
)

// gate stands before the frontend's handlers. Closing it ends the long polls
// that a graceful stop would otherwise wait a second for.
type gate struct {
	closed context.Context //nolint:containedctx // it is the gate's life, no call's
	close  context.CancelFunc
}

func newGate() *gate {
	g := &gate{}
	g.closed, g.close = context.WithCancel(context.Background())
	return g
}

func (g *gate) intercept(ctx context.Context, req any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
	if g.closed.Err() != nil {
		return nil, serviceerror.NewUnavailable("the server stops")
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(g.closed, cancel)()
	return next(ctx, req)
}
