package worker

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/holodeck-run/holodeck/fault"
	"github.com/holodeck-run/holodeck/file"
	"github.com/holodeck-run/holodeck/model"
	"github.com/holodeck-run/holodeck/payload"
)

// Names of OpenTelemetry's GenAI semantic conventions (still in development
// there). No prompt, answer or document text is ever recorded.
const (
	attrOperation = attribute.Key("gen_ai.operation.name")
	attrProvider  = attribute.Key("gen_ai.provider.name")
	attrModel     = attribute.Key("gen_ai.request.model")
	attrAnswered  = attribute.Key("gen_ai.response.model")
	attrFinish    = attribute.Key("gen_ai.response.finish_reasons")
	attrInput     = attribute.Key("gen_ai.usage.input_tokens")
	attrOutput    = attribute.Key("gen_ai.usage.output_tokens")
	attrAgent     = attribute.Key("gen_ai.agent.name")
	attrTokenType = attribute.Key("gen_ai.token.type")
	attrErrorType = attribute.Key("error.type")
	attrNode      = attribute.Key("holodeck.node.id")
	attrSource    = attribute.Key("holodeck.node.source")
	attrType      = attribute.Key("holodeck.document.type")
)

// meters counts what the SDK does not.
type meters struct {
	tokens   metric.Int64Histogram
	duration metric.Float64Histogram
	gates    metric.Int64Counter
	seconds  metric.Float64Histogram
	bytes    metric.Int64Counter
}

func newMeters(m metric.Meter) (meters, error) {
	if m == nil {
		m = metricnoop.Meter{}
	}
	var out meters
	var errs [5]error
	// The GenAI conventions fix the buckets of the two they name; the library's
	// own are made for milliseconds.
	seconds := metric.WithExplicitBucketBoundaries(0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92)
	counts := metric.WithExplicitBucketBoundaries(1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864)
	out.tokens, errs[0] = m.Int64Histogram("gen_ai.client.token.usage", metric.WithUnit("{token}"), metric.WithDescription("Tokens of one model call."), counts)
	out.duration, errs[1] = m.Float64Histogram("gen_ai.client.operation.duration", metric.WithUnit("s"), metric.WithDescription("Seconds of one model call."), seconds)
	out.gates, errs[2] = m.Int64Counter("holodeck.gate.failures", metric.WithDescription("Agent activities whose answer failed the gate."))
	out.seconds, errs[3] = m.Float64Histogram("holodeck.parse.duration", metric.WithUnit("s"), metric.WithDescription("Seconds of one parse_document."), seconds)
	out.bytes, errs[4] = m.Int64Counter("holodeck.parse.input", metric.WithUnit("By"), metric.WithDescription("Bytes of documents read."))
	for _, err := range errs {
		if err != nil {
			return meters{}, err
		}
	}
	return out, nil
}

func (m meters) parsed(ctx context.Context, f *file.File, took time.Duration, err error) {
	kind := attrType.String(f.Type)
	m.seconds.Record(ctx, took.Seconds(), metric.WithAttributes(withError(err, kind)...))
	m.bytes.Add(ctx, f.Size, metric.WithAttributes(kind))
	trace.SpanFromContext(ctx).SetAttributes(kind, attribute.Int64("holodeck.document.bytes", f.Size))
}

// startAgent opens the span of one agent invocation below the activity's, and
// puts the node's facts on both.
func (a *Activities) startAgent(ctx context.Context, n *node) (context.Context, trace.Span) {
	attrs := []attribute.KeyValue{attrOperation.String("invoke_agent"), attrAgent.String(n.name), attrNode.String(n.cfg.ID)}
	if n.cfg.Source != "" {
		attrs = append(attrs, attrSource.String(n.cfg.Source))
	}
	trace.SpanFromContext(ctx).SetAttributes(attrs...)
	return a.tracerOrNone().Start(ctx, "invoke_agent "+n.name, trace.WithAttributes(attrs...))
}

func (a *Activities) endAgent(ctx context.Context, span trace.Span, n *node, r payload.AgentResult, err error) {
	span.SetAttributes(attrInput.Int64(r.TokenUsage.PromptTokens), attrOutput.Int64(r.TokenUsage.CompletionTokens))
	markError(span, err)
	if fault.Is(err, fault.GateValidation) {
		a.meters.gates.Add(ctx, 1, metric.WithAttributes(attrNode.String(n.cfg.ID)))
	}
}

func (a *Activities) tracerOrNone() trace.Tracer {
	if a.tracer == nil {
		return noop.Tracer{}
	}
	return a.tracer
}

// observed wraps a model client with a span and metrics for every call.
type observed struct {
	next model.Client
	spec model.Spec
	a    *Activities
}

// Generate implements model.Client.
func (o observed) Generate(ctx context.Context, r model.Request) (model.Response, error) {
	attrs := []attribute.KeyValue{attrOperation.String("chat"), attrProvider.String(o.spec.Provider), attrModel.String(o.spec.Name)}
	ctx, span := o.a.tracerOrNone().Start(ctx, "chat "+o.spec.Name, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(attrs...))
	defer span.End()
	start := time.Now()
	answer, err := o.next.Generate(ctx, r)
	markError(span, err)
	span.SetAttributes(attrAnswered.String(answer.Model), attrFinish.StringSlice([]string{answer.Finish}),
		attrInput.Int64(answer.Usage.PromptTokens), attrOutput.Int64(answer.Usage.CompletionTokens))
	m := o.a.meters
	m.duration.Record(ctx, time.Since(start).Seconds(), metric.WithAttributes(withError(err, attrs...)...))
	if err == nil {
		m.tokens.Record(ctx, answer.Usage.PromptTokens, metric.WithAttributes(append(attrs, attrTokenType.String("input"))...))
		m.tokens.Record(ctx, answer.Usage.CompletionTokens, metric.WithAttributes(append(attrs, attrTokenType.String("output"))...))
	}
	return answer, err
}

func markError(span trace.Span, err error) {
	if err != nil {
		span.SetStatus(codes.Error, kindOf(err)) // the kind only: a message may quote the model
		span.SetAttributes(attrErrorType.String(kindOf(err)))
	}
}

// withError adds the kind of an error; what succeeds has none.
func withError(err error, attrs ...attribute.KeyValue) []attribute.KeyValue {
	if err == nil {
		return attrs
	}
	return append(attrs, attrErrorType.String(kindOf(err)))
}

// kindOf names an error for telemetry; "" for none.
func kindOf(err error) string {
	if err == nil {
		return ""
	}
	if e, ok := fault.As(err); ok {
		return string(e.Kind)
	}
	return "_OTHER"
}
