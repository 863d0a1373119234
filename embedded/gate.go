package embedded

import (
	"context"
	"slices"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/server/common/headers"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
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
		return nil, refusal(ctx)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(g.closed, cancel)()
	resp, err := next(ctx, req)
	if err != nil && g.closed.Err() != nil {
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
