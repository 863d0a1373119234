// Package telemetry sets up traces and metrics of a worker process.
//
// In goes where they should go; out come a tracer, a meter, the SDK's metrics
// handler, and an HTTP handler for Prometheus. It records nothing itself.
package telemetry

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	promexporter "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/opentelemetry"

	"github.com/holodeck-run/holodeck/fault"
)

// Options says what to set up.
type Options struct {
	OTLPEndpoint string // "http://host:4318" or "host:4318"; empty: no traces
	Metrics      bool
	Version      string
}

// Telemetry is what was set up. Fields of what is off are nil.
type Telemetry struct {
	Tracer  trace.Tracer
	Meter   metric.Meter
	SDK     client.MetricsHandler
	Handler http.Handler // Prometheus

	shutdown []func(context.Context) error
}

// New sets up what o asks for.
func New(ctx context.Context, o Options) (*Telemetry, error) {
	t := &Telemetry{}
	about := resource.NewSchemaless(attribute.String("service.name", "holodeck"), attribute.String("service.version", o.Version))
	if o.OTLPEndpoint != "" {
		exporter, err := otlptracehttp.New(ctx, endpoint(o.OTLPEndpoint))
		if err != nil {
			return nil, fault.New(fault.Config, "read telemetry.otlp_endpoint", "Write it as http://host:4318.", "%w", err)
		}
		provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(about))
		t.Tracer = provider.Tracer("holodeck")
		t.shutdown = append(t.shutdown, provider.Shutdown)
	}
	if o.Metrics {
		registry := prometheus.NewRegistry()
		registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
		exporter, err := promexporter.New(promexporter.WithRegisterer(registry))
		if err != nil {
			return nil, err
		}
		provider := sdkmetric.NewMeterProvider(sdkmetric.WithReader(exporter), sdkmetric.WithResource(about))
		t.Meter = provider.Meter("holodeck")
		t.SDK = opentelemetry.NewMetricsHandler(opentelemetry.MetricsHandlerOptions{Meter: provider.Meter("temporal-sdk-go"), UseMonotonicCounters: true})
		t.Handler = promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
		t.shutdown = append(t.shutdown, provider.Shutdown)
	}
	return t, nil
}

func endpoint(address string) otlptracehttp.Option {
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	if strings.Count(address, "/") < 3 {
		address += "/v1/traces"
	}
	return otlptracehttp.WithEndpointURL(address)
}

// Shutdown sends what is left.
func (t *Telemetry) Shutdown(ctx context.Context) error {
	var errs []error
	for _, f := range t.shutdown {
		errs = append(errs, f(ctx))
	}
	return errors.Join(errs...)
}
