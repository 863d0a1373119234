package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/holodeck-run/holodeck/config"
	"github.com/holodeck-run/holodeck/fault"
)

// endpoints are the HTTP servers beside a worker: metrics and health.
type endpoints []*http.Server

func (e endpoints) close() {
	for _, s := range e {
		_ = s.Close()
	}
}

// listen binds what the configuration names, before anything else starts. A
// nil metrics handler serves none; ready says what /readyz answers.
func listen(to config.Telemetry, metrics http.Handler, ready func(context.Context) error) (endpoints, error) {
	muxes := map[string]*http.ServeMux{}
	on := func(address, path string, h http.Handler) {
		if address == "" || h == nil {
			return
		}
		if muxes[address] == nil {
			muxes[address] = http.NewServeMux()
		}
		muxes[address].Handle(path, h)
	}
	on(to.Metrics, "/metrics", metrics)
	on(to.Health, "/healthz", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") }))
	on(to.Health, "/readyz", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := ready(r.Context()); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ok")
	}))
	var servers endpoints
	for address, mux := range muxes {
		l, err := net.Listen("tcp", address)
		if err != nil {
			servers.close()
			return nil, fault.New(fault.Config, "listen on "+address, "Choose another address under telemetry.", "%w", plainNet(err))
		}
		s := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
		servers = append(servers, s)
		go func() { _ = s.Serve(l) }() // ends with close
	}
	return servers, nil
}

// answers asks the cluster whether it is well.
func answers(ctx context.Context, c client.Client) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	if _, err := c.CheckHealth(ctx, &client.CheckHealthRequest{}); err != nil {
		return errors.New("the cluster does not answer")
	}
	return nil
}

func plainNet(err error) error {
	if e, ok := errors.AsType[*net.OpError](err); ok {
		if s, ok := errors.AsType[*os.SyscallError](e.Err); ok {
			return s.Err
		}
		return e.Err
	}
	return err
}
