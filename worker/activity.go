package worker

import (
	"context"
	"errors"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	sdkworker "go.temporal.io/sdk/worker"

	"github.com/holodeck-run/holodeck/fault"
	"github.com/holodeck-run/holodeck/payload"
)

// serve wraps an activity: its input is decoded strictly, its result encoded
// by us, its error made a failure. Taking the raw payload is what lets a
// wrong input fail at once: what the SDK decodes fails retryably.
func serve[In, Out any](a *Activities, name string, run func(context.Context, In) (Out, error)) func(context.Context, converter.RawValue) (converter.RawValue, error) {
	return func(ctx context.Context, raw converter.RawValue) (converter.RawValue, error) {
		ctx, done := a.untilStop(ctx)
		defer done()
		var in In
		if err := decode(raw.Payload(), &in); err != nil {
			return converter.RawValue{}, failure(ctx, name, err)
		}
		out, err := run(ctx, in)
		if err != nil {
			return converter.RawValue{}, failure(ctx, name, err)
		}
		encoded, err := jsonPayload(out) // whatever converter the client has
		if err != nil {
			return converter.RawValue{}, failure(ctx, name, err)
		}
		if err := a.limits.check(ctx, name, encoded); err != nil {
			return converter.RawValue{}, failure(ctx, name, err)
		}
		return converter.NewRawValue(encoded), nil
	}
}

// untilStop ends an activity a little before its worker's time to stop is
// over, so that its failure still reaches the server: else the next attempt
// would wait for the whole start-to-close time.
func (a *Activities) untilStop(ctx context.Context) (context.Context, context.CancelFunc) {
	if a.stopTime <= 0 {
		return ctx, func() {}
	}
	stopping := activity.GetWorkerStopChannel(ctx)
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		select {
		case <-stopping:
		case <-ctx.Done():
			return
		}
		limit := time.NewTimer(a.stopTime - min(a.stopTime/4, 2*time.Second))
		defer limit.Stop()
		select {
		case <-limit.C:
			cancel(sdkworker.ErrWorkerShutdown)
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(nil) }
}

func decode(p *commonpb.Payload, v any) error {
	if p == nil {
		return fault.New(fault.PayloadValidation, "decode input", "Call the activity with one object.", "there is no input")
	}
	if e := string(p.GetMetadata()[converter.MetadataEncoding]); e != converter.MetadataEncodingJSON {
		return fault.New(fault.PayloadValidation, "decode input", "Call the activity with one object, encoded as json/plain.", "its encoding is %q", e)
	}
	u, ok := v.(interface{ UnmarshalJSON([]byte) error })
	if !ok {
		return errors.New("decode input: the type has no strict decoding")
	}
	if err := u.UnmarshalJSON(p.GetData()); err != nil {
		e := fault.New(fault.PayloadValidation, "decode input", "Correct the call.", "%w", err)
		if faults, ok := errors.AsType[payload.Faults](err); ok {
			e.Details = map[string]any{"faults": faults}
		}
		return e
	}
	return nil
}
