package worker

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/proto"

	"github.com/holodeck-run/holodeck/fault"
	"github.com/holodeck-run/holodeck/payload"
)

// defaultPayloadLimit is what a namespace allows unless it says otherwise
// (server 1.32: limit.blobSize.error).
const defaultPayloadLimit = 2 << 20

// testNamespace is that of the SDK's test environments, whose service is a mock
// that ends the process when it is asked what no test expects.
const testNamespace = "default-test-namespace"

// limits knows how large a result may be. Without this check an oversized
// result is retried: the parse, or the paid model call, runs again on every
// attempt.
type limits struct {
	converter atomic.Pointer[converter.DataConverter] // of the client; nil: results travel as encoded

	mu    sync.Mutex
	known map[string]int64 // by namespace
}

// use takes the client's final converter, whose codec adds to the size.
func (l *limits) use(dc converter.DataConverter) { l.converter.Store(&dc) }

// payload returns the namespace's limit in bytes, asking the server once.
func (l *limits) payload(ctx context.Context) int64 {
	if !activity.IsActivity(ctx) {
		return defaultPayloadLimit
	}
	namespace := activity.GetInfo(ctx).Namespace
	if namespace == testNamespace {
		return defaultPayloadLimit
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if n, ok := l.known[namespace]; ok {
		return n
	}
	n, ok := ask(ctx, namespace)
	if !ok {
		return defaultPayloadLimit
	}
	if l.known == nil {
		l.known = map[string]int64{}
	}
	l.known[namespace] = n
	return n
}

// ask asks the server of the activity's own client.
func ask(ctx context.Context, namespace string) (int64, bool) {
	call, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	r, err := activity.GetClient(ctx).WorkflowService().DescribeNamespace(call, describe(namespace))
	if err != nil {
		return 0, false
	}
	if n := r.GetNamespaceInfo().GetLimits().GetBlobSizeLimitError(); n > 0 {
		return n, true
	}
	return defaultPayloadLimit, true
}

// check refuses a result that history cannot carry, before a second attempt
// is paid.
func (l *limits) check(ctx context.Context, name string, result *commonpb.Payload) error {
	size := int64(proto.Size(&commonpb.Payloads{Payloads: []*commonpb.Payload{result}}))
	limit := l.payload(ctx)
	if dc := l.converter.Load(); dc != nil && size > limit/4 {
		if final, err := (*dc).ToPayloads(converter.NewRawValue(result)); err == nil {
			size = int64(proto.Size(final))
		}
	}
	if size <= limit {
		return nil
	}
	hint := "Ask for less with pages, sheet or range."
	fix := []string{"pages", "sheet", "range"}
	if name != payload.ParseDocument {
		hint, fix = "Tighten the gate's schema or the instructions so that the answer is shorter.", []string{"gate"}
	}
	e := fault.New(fault.PayloadsTooLarge, name, hint, "the result has %d bytes, over the payload limit of %d", size, limit)
	e.Details = map[string]any{"size": size, "limit": limit, "fix": fix}
	return e
}
