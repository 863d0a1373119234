package embedded

import (
	"context"
	"strings"

	"go.temporal.io/api/serviceerror"
	"google.golang.org/grpc"
)

// systemIdentity begins the identity of the server's own workers.
const systemIdentity = "temporal-system@"

// gate stands before the frontend's handlers. Closing it ends the long polls
// that a graceful stop would otherwise wait a second for, and makes the
// server's own workers, some of which it never stops, give up for good.
type gate struct {
	closed context.Context
	close  context.CancelFunc
}

func newGate() *gate {
	g := &gate{}
	g.closed, g.close = context.WithCancel(context.Background())
	return g
}

func (g *gate) intercept(ctx context.Context, req any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
	if g.closed.Err() != nil {
		return nil, refusal(req)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(g.closed, cancel)()
	resp, err := next(ctx, req)
	if err != nil && g.closed.Err() != nil {
		return nil, refusal(req)
	}
	return resp, err
}

// refusal is an error that a user's worker retries elsewhere or later, and
// that the SDK takes as final for the server's own.
func refusal(req any) error {
	if r, ok := req.(interface{ GetIdentity() string }); ok && strings.HasPrefix(r.GetIdentity(), systemIdentity) {
		return serviceerror.NewInvalidArgument("the server stops")
	}
	return serviceerror.NewUnavailable("the server stops")
}
