package embedded

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	exporter "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/metrics"
)

// serveMetrics answers /metrics on the socket held for it.
func (s *Server) serveMetrics(_ context.Context, p *plan) error {
	p.metrics = metrics.NoopMetricsHandler
	if !p.Metrics {
		return nil
	}
	registry := prometheus.NewRegistry()
	reader, err := exporter.New(exporter.WithRegisterer(registry))
	if err != nil {
		return fmt.Errorf("count: %w", err)
	}
	provider := sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))
	s.onStop("the metrics", func() error { return provider.Shutdown(context.Background()) })
	if p.metrics, err = metrics.NewOtelMetricsHandler(tagged{root: p.log}, meters{provider}, metrics.ClientConfig{}, false); err != nil {
		return fmt.Errorf("count: %w", err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	s.serveHTTP("the metrics", p.held.metrics, mux)
	return nil
}

// meters is the server's view of a meter provider.
type meters struct{ provider *sdkmetric.MeterProvider }

// GetMeter gives the meter all services share.
func (m meters) GetMeter() metric.Meter { return m.provider.Meter("temporal") }

// Stop does nothing: each service calls it, the provider ends with the server.
func (m meters) Stop(log.Logger) {}

// serveHTTP serves h on l until the stop.
func (s *Server) serveHTTP(what string, l net.Listener, h http.Handler) {
	server := &http.Server{Handler: h, ReadHeaderTimeout: stopLimit}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			s.log.die(fmt.Errorf("serve %s: %w", what, err))
		}
	}()
	s.onStop(what, func() error {
		err := server.Close()
		<-done
		return err
	})
}
