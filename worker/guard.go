package worker

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
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

// externalLimit is what a result may have that the client's external storage
// takes: the cap of the official drivers.
const externalLimit = 50 << 20

// limits knows how large a result may be. Without this check an oversized
// result is retried: the parse, or the paid model call, runs again on every
// attempt.
type limits struct {
	target atomic.Pointer[target] // of the client; nil: results travel as encoded

	mu    sync.Mutex
	known map[string]int64 // by namespace
}

// target is what a client does with a result before it is sent.
type target struct {
	converter converter.DataConverter // its codec adds to the size
	threshold int64                   // from which on external storage takes it; 0: there is none
}

// use takes the client's final options.
func (l *limits) use(o client.Options) {
	t := target{converter: o.DataConverter}
	if len(o.ExternalStorage.Drivers) > 0 {
		t.threshold = int64(cmp.Or(o.ExternalStorage.PayloadSizeThreshold, 256<<10)) // the SDK's default
	}
	l.target.Store(&t)
}

// payload returns how many bytes a result may have: the namespace's limit,
// unless external storage takes what is larger.
func (l *limits) payload(ctx context.Context) int64 {
	limit := l.namespace(ctx)
	if t := l.target.Load(); t != nil && t.threshold > 0 && t.threshold <= limit {
		return externalLimit
	}
	return limit
}

// namespace returns the namespace's limit, asking the server once.
func (l *limits) namespace(ctx context.Context) int64 {
	if !activity.IsActivity(ctx) {
		return defaultPayloadLimit
	}
	name := activity.GetInfo(ctx).Namespace
	if name == testNamespace {
		return defaultPayloadLimit
	}
	if n, ok := l.remembered(name); ok {
		return n
	}
	n, ok := ask(ctx, name)
	if !ok {
		return defaultPayloadLimit
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.known == nil {
		l.known = map[string]int64{}
	}
	l.known[name] = n
	return n
}

func (l *limits) remembered(namespace string) (int64, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n, ok := l.known[namespace]
	return n, ok
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
	if t := l.target.Load(); t != nil && t.converter != nil && size > limit/4 {
		if final, err := t.converter.ToPayloads(converter.NewRawValue(result)); err == nil {
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
