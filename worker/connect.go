package worker

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
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

	Logger  *slog.Logger
	Metrics client.MetricsHandler
	Plugins []client.Plugin
}

// Options resolves the client options: environment over worker.yaml over the
// temporal.toml profile over the default. Its fault is of kind Config.
func (c Connection) Options() (client.Options, error) {
	for _, name := range []string{"TEMPORAL_PROFILE", "TEMPORAL_API_KEY", "TEMPORAL_TLS"} {
		if _, err := c.Lookup.NonBlank(name); err != nil {
			return client.Options{}, fault.New(fault.Config, "read environment", "Set a value or unset it.", "%s %w", name, err)
		}
	}
	load := envconfig.LoadClientConfigProfileOptions{ConfigFileProfile: c.Temporal.Profile, EnvLookup: environment{c.Lookup, c.Environ}}
	if c.Lookup.Get("TEMPORAL_PROFILE") != "" {
		load.ConfigFileProfile = "" // the environment's wins
	}
	p, err := envconfig.LoadClientConfigProfile(load)
	if err != nil {
		return client.Options{}, fault.New(fault.Config, "read temporal.toml", "Correct the file or the profile's name.", "%w", err)
	}
	if err := c.merge(&p); err != nil {
		return client.Options{}, err
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
	o.MetricsHandler, o.Plugins = c.Metrics, c.Plugins
	return o, nil
}

// merge puts worker.yaml over the profile, but not over the environment.
func (c Connection) merge(p *envconfig.ClientConfigProfile) error {
	if c.Temporal.Address != "" {
		p.Address = c.Temporal.Address
	}
	if c.Temporal.Namespace != "" {
		p.Namespace = c.Temporal.Namespace
	}
	if v := c.Temporal.APIKeyEnv; v != "" {
		key, err := c.Lookup.NonBlank(v)
		if err != nil || key == "" {
			return fault.New(fault.Config, "read temporal.api_key_env", "Set the variable, or remove the key.", "the environment has no %s", v)
		}
		p.APIKey = key
	}
	if strings.ContainsFunc(p.APIKey, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return fault.New(fault.Config, "read API key", "Set the key alone, without quotes, spaces or a line break.", "it holds a character that a key cannot have")
	}
	if t := c.Temporal.TLS; t.Set && !c.tlsInEnvironment() {
		p.TLS = &envconfig.ClientConfigTLS{Disabled: !t.Enabled, ServerName: t.ServerName}
		p.TLS.ClientCertPath, p.TLS.ClientKeyPath, p.TLS.ServerCACertPath = c.beside(t.Cert), c.beside(t.Key), c.beside(t.CA)
	}
	return nil
}

// tlsInEnvironment says whether the environment speaks of TLS at all.
func (c Connection) tlsInEnvironment() bool {
	for _, name := range []string{"", "_CLIENT_CERT_PATH", "_CLIENT_CERT_DATA", "_CLIENT_KEY_PATH", "_CLIENT_KEY_DATA", "_SERVER_CA_CERT_PATH", "_SERVER_CA_CERT_DATA", "_SERVER_NAME", "_DISABLE_HOST_VERIFICATION"} {
		if c.Lookup.Get("TEMPORAL_TLS"+name) != "" {
			return true
		}
	}
	return false
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
	switch code(err) {
	case codes.Unauthenticated, codes.PermissionDenied, codes.NotFound, codes.InvalidArgument:
		return true
	default:
		return false
	}
}

// code returns the gRPC code of an error, which the SDK's own types hide from
// grpc/status.
func code(err error) codes.Code {
	if e, ok := errors.AsType[serviceerror.ServiceError](err); ok {
		return e.Status().Code()
	}
	if e, ok := errors.AsType[interface {
		error
		GRPCStatus() *status.Status
	}](err); ok {
		return e.GRPCStatus().Code()
	}
	return codes.Unknown
}

func unreachable(o client.Options, err error) error {
	op := "connect to Temporal at " + o.HostPort
	if _, missing := errors.AsType[*serviceerror.NamespaceNotFound](err); missing {
		return fault.New(fault.Config, op, "Create it, or correct temporal.namespace.", "there is no namespace %q", o.Namespace)
	}
	if final(err) {
		return fault.New(fault.Config, op, "Check the API key, the certificate and the namespace.", "%w", err)
	}
	e := fault.New(fault.Execution, op, "Start a stack with holodeck dev, or correct temporal.address.", "no answer")
	cause := handshake(o)
	if certificate, ok := errors.AsType[*tls.CertificateVerificationError](cause); ok {
		e.Err, e.Hint = certificate, "Set temporal.tls.ca to the authority that signed it, or temporal.tls.server_name to the name it is for."
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](cause); ok {
		e.Err, e.Hint = errors.New("the server does not speak TLS"), "Set temporal.tls: false, or correct temporal.address."
	}
	return e
}

// handshake tries the TLS handshake alone: gRPC tells its error as text only.
func handshake(o client.Options) error {
	if o.ConnectionOptions.TLS == nil {
		return nil
	}
	d := tls.Dialer{NetDialer: &net.Dialer{Timeout: 2 * time.Second}, Config: o.ConnectionOptions.TLS}
	conn, err := d.Dial("tcp", o.HostPort)
	if err != nil {
		return err
	}
	return conn.Close()
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
