package worker

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"
	"go.temporal.io/sdk/log"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/holodeck-run/holodeck/config"
	"github.com/holodeck-run/holodeck/fault"
)

// Connection is how to reach a cluster.
type Connection struct {
	Temporal config.Temporal // environment already applied
	Home     config.Home     // relative certificate paths belong to it
	Lookup   config.Lookup
	Environ  []string      // as os.Environ, for TEMPORAL_GRPC_META_*
	Timeout  time.Duration // how long to keep trying; 0: one attempt
	Waiting  func(error)   // called after each attempt that failed; may be nil

	Logger   *slog.Logger
	Metrics  client.MetricsHandler
	Plugins  []client.Plugin
	Identity string
}

// Options resolves the client options: environment over worker.yaml over the
// temporal.toml profile over the default. Its fault is of kind Config.
func (c Connection) Options() (client.Options, error) {
	p, err := envconfig.LoadClientConfigProfile(envconfig.LoadClientConfigProfileOptions{
		ConfigFileProfile: c.Temporal.Profile, EnvLookup: environment{c.Lookup, c.Environ},
	})
	if err != nil {
		return client.Options{}, fault.New(fault.Config, "read temporal.toml", "Correct the file or the profile's name.", "%w", err)
	}
	if c.Temporal.Address != "" {
		p.Address = c.Temporal.Address
	}
	if c.Temporal.Namespace != "" {
		p.Namespace = c.Temporal.Namespace
	}
	if v := c.Temporal.APIKeyEnv; v != "" {
		key, err := c.Lookup.NonBlank(v)
		if err != nil || key == "" {
			return client.Options{}, fault.New(fault.Config, "read temporal.api_key_env", "Set the variable, or remove the key.", "the environment has no %s", v)
		}
		p.APIKey = key
	}
	if t := c.Temporal.TLS; t.Set {
		p.TLS = &envconfig.ClientConfigTLS{Disabled: !t.Enabled, ServerName: t.ServerName}
		p.TLS.ClientCertPath, p.TLS.ClientKeyPath, p.TLS.ServerCACertPath = c.beside(t.Cert), c.beside(t.Key), c.beside(t.CA)
	}
	o, err := p.ToClientOptions(envconfig.ToClientOptionsRequest{})
	if err != nil {
		return client.Options{}, fault.New(fault.Config, "prepare connection", "Correct the tls settings.", "%w", err)
	}
	if o.HostPort == "" {
		o.HostPort = client.DefaultHostPort
	}
	if o.Namespace == "" {
		o.Namespace = client.DefaultNamespace
	}
	o.Logger = log.NewStructuredLogger(c.logger())
	o.MetricsHandler, o.Plugins, o.Identity = c.Metrics, c.Plugins, c.Identity
	return o, nil
}

func (c Connection) logger() *slog.Logger {
	if c.Logger == nil {
		return slog.New(slog.DiscardHandler)
	}
	return c.Logger
}

func (c Connection) beside(name string) string {
	if name == "" || filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(c.Home.Dir, name)
}

// Dial connects and checks that the namespace is there. Until the time-out it
// keeps trying when the cluster does not answer; what cannot change by waiting
// (credentials, an unknown namespace) ends it at once.
func Dial(ctx context.Context, c Connection) (client.Client, client.Options, error) {
	o, err := c.Options()
	if err != nil {
		return nil, o, err
	}
	deadline := time.Now().Add(c.Timeout)
	for wait := 200 * time.Millisecond; ; wait = min(2*wait, 5*time.Second) {
		cl, err := attempt(ctx, o)
		if err == nil {
			return cl, o, nil
		}
		if ctx.Err() != nil {
			return nil, o, ctx.Err()
		}
		if final(err) || time.Now().Add(wait).After(deadline) {
			return nil, o, unreachable(o, err)
		}
		if c.Waiting != nil {
			c.Waiting(unreachable(o, err))
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil, o, ctx.Err()
		}
	}
}

func attempt(ctx context.Context, o client.Options) (client.Client, error) {
	call, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	cl, err := client.DialContext(call, o)
	if err != nil {
		return nil, err
	}
	_, err = cl.WorkflowService().DescribeNamespace(call, describe(o.Namespace))
	if err == nil {
		return cl, nil
	}
	cl.Close()
	return nil, err
}

func final(err error) bool {
	if _, missing := errors.AsType[*serviceerror.NamespaceNotFound](err); missing {
		return true
	}
	switch status.Code(err) {
	case codes.Unauthenticated, codes.PermissionDenied, codes.NotFound, codes.InvalidArgument:
		return true
	default:
		_, denied := errors.AsType[*serviceerror.PermissionDenied](err)
		return denied
	}
}

func unreachable(o client.Options, err error) error {
	op := "connect to Temporal at " + o.HostPort
	if _, missing := errors.AsType[*serviceerror.NamespaceNotFound](err); missing {
		return fault.New(fault.Config, op, "Create it, or correct temporal.namespace.", "there is no namespace %q", o.Namespace)
	}
	if final(err) {
		return fault.New(fault.Config, op, "Check the API key, the certificate and the namespace.", "%w", err)
	}
	hint := "Start a stack with holodeck dev, or correct temporal.address."
	cause := fmt.Errorf("%w", errNoAnswer)
	var certificate *tls.CertificateVerificationError
	if errors.As(err, &certificate) {
		hint, cause = "Set temporal.tls.ca to the authority that signed it.", certificate
	}
	return &fault.Error{Kind: fault.Execution, Op: op, Err: cause, Hint: hint}
}

// environment adapts a Lookup to what the SDK's envconfig asks for.
type environment struct {
	lookup config.Lookup
	all    []string
}

// Environ implements envconfig.EnvLookup.
func (e environment) Environ() []string { return e.all }

// LookupEnv implements envconfig.EnvLookup.
func (e environment) LookupEnv(name string) (string, bool) {
	if e.lookup == nil {
		return "", false
	}
	return e.lookup(name)
}
