package worker_test

import (
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/holodeck-run/holodeck/config"
	"github.com/holodeck-run/holodeck/fault"
	"github.com/holodeck-run/holodeck/worker"
)

// lookup is an environment; TEMPORAL_CONFIG_FILE keeps the machine's own
// temporal.toml out of the test.
func lookup(file string, pairs ...string) config.Lookup {
	values := map[string]string{"TEMPORAL_CONFIG_FILE": file}
	for i := 0; i+1 < len(pairs); i += 2 {
		values[pairs[i]] = pairs[i+1]
	}
	return func(name string) (string, bool) {
		v, ok := values[name]
		return v, ok
	}
}

const profiles = `
[profile.default]
address = "default.toml:1"
[profile.prod]
address = "prod.toml:1"
namespace = "prod-namespace"
api_key = "toml-key"
[profile.tls]
address = "tls.toml:1"
[profile.tls.tls]
server_name = "toml.example"
`

func TestTheConnectionsPrecedence(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	toml := filepath.Join(dir, "temporal.toml")
	if err := os.WriteFile(toml, []byte(profiles), 0o600); err != nil {
		t.Fatal(err)
	}
	none := filepath.Join(dir, "none.toml")
	type result struct {
		address, namespace string
		tls, credentials   bool
		serverName         string
	}
	cases := []struct {
		name     string
		temporal string // of worker.yaml
		file     string
		env      []string
		want     result
	}{
		{"the defaults", "", none, nil, result{"localhost:7233", "default", false, false, ""}},
		{"the default profile", "", toml, nil, result{"default.toml:1", "default", false, false, ""}},
		{"a profile by worker.yaml", "profile: prod", toml, nil, result{"prod.toml:1", "prod-namespace", true, true, ""}},
		{"a profile by the environment", "profile: prod", toml, []string{"TEMPORAL_PROFILE", "tls"}, result{"tls.toml:1", "default", true, false, "toml.example"}},
		{"worker.yaml over the profile", "{profile: prod, address: 'yaml:1'}", toml, nil, result{"yaml:1", "prod-namespace", true, true, ""}},
		{"the environment over worker.yaml", "{address: 'yaml:1', namespace: yaml}", toml, []string{"TEMPORAL_ADDRESS", "env:1", "TEMPORAL_NAMESPACE", "env"}, result{"env:1", "env", false, false, ""}},
		{"a key of the environment brings TLS", "", none, []string{"TEMPORAL_API_KEY", "k"}, result{"localhost:7233", "default", true, true, ""}},
		{"a named key", "api_key_env: MY_KEY", none, []string{"MY_KEY", "k"}, result{"localhost:7233", "default", true, true, ""}},
		{"a named key without TLS", "{api_key_env: MY_KEY, tls: false}", none, []string{"MY_KEY", "k"}, result{"localhost:7233", "default", false, true, ""}},
		{"TLS by worker.yaml", "tls: true", none, nil, result{"localhost:7233", "default", true, false, ""}},
		{"TLS off over the profile", "{profile: tls, tls: false}", toml, nil, result{"tls.toml:1", "default", false, false, ""}},
		{"a server name", "tls: {server_name: yaml.example}", none, nil, result{"localhost:7233", "default", true, false, "yaml.example"}},
		{"the environment's TLS over worker.yaml", "tls: {server_name: yaml.example}", none, []string{"TEMPORAL_TLS_SERVER_NAME", "env.example"}, result{"localhost:7233", "default", true, false, "env.example"}},
		{"the environment switches TLS off", "tls: true", none, []string{"TEMPORAL_TLS", "false"}, result{"localhost:7233", "default", false, false, ""}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			env := lookup(c.file, c.env...)
			fs := folder(nil)
			if c.temporal != "" {
				fs["worker.yaml"].Data = []byte("temporal: " + flowStyle(c.temporal) + "\n")
			} else {
				fs["worker.yaml"].Data = []byte("{}\n")
			}
			cfg, err := config.Parse(config.Home{FS: fs, File: "worker.yaml", Dir: dir}, fs["worker.yaml"].Data, config.Options{Lookup: env, Local: true})
			if err != nil {
				t.Fatal(err)
			}
			o, err := worker.Connection{Temporal: cfg.Temporal, Home: cfg.Home, Lookup: env}.Options()
			if err != nil {
				t.Fatal(err)
			}
			got := result{address: o.HostPort, namespace: o.Namespace, tls: o.ConnectionOptions.TLS != nil && !o.ConnectionOptions.TLSDisabled, credentials: o.Credentials != nil}
			if got.tls {
				got.serverName = o.ConnectionOptions.TLS.ServerName
			}
			if got != c.want {
				t.Errorf("options are %+v, want %+v", got, c.want)
			}
		})
	}
}

func flowStyle(s string) string {
	if strings.HasPrefix(s, "{") {
		return s
	}
	return "{" + s + "}"
}

func TestWrongConnectionsAreConfigFaults(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	toml, broken := filepath.Join(dir, "temporal.toml"), filepath.Join(dir, "broken.toml")
	for name, text := range map[string]string{toml: profiles, broken: "[profile"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cases := map[string]struct {
		temporal config.Temporal
		lookup   config.Lookup
		says     string
	}{
		"a key that is not set":           {config.Temporal{APIKeyEnv: "MY_KEY"}, lookup(toml), "the environment has no MY_KEY"},
		"a key that is blank":             {config.Temporal{APIKeyEnv: "MY_KEY"}, lookup(toml, "MY_KEY", " "), "the environment has no MY_KEY"},
		"a key with its line break":       {config.Temporal{APIKeyEnv: "MY_KEY"}, lookup(toml, "MY_KEY", "secret\n"), "line break"},
		"a blank key":                     {config.Temporal{}, lookup(toml, "TEMPORAL_API_KEY", ""), "TEMPORAL_API_KEY is set but blank"},
		"a blank profile":                 {config.Temporal{}, lookup(toml, "TEMPORAL_PROFILE", ""), "TEMPORAL_PROFILE is set but blank"},
		"a profile that is not there":     {config.Temporal{Profile: "prd"}, lookup(toml), "prd"},
		"a broken temporal.toml":          {config.Temporal{}, lookup(broken), "temporal.toml"},
		"a certificate that is not there": {config.Temporal{TLS: config.TLS{Set: true, Enabled: true, Cert: "none.pem", Key: "none.key"}}, lookup(toml), "none.pem"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := worker.Connection{Temporal: c.temporal, Home: config.Home{Dir: dir}, Lookup: c.lookup}.Options()
			if !fault.Is(err, fault.Config) || !strings.Contains(err.(*fault.Error).Message(), c.says) || strings.Contains(err.Error(), "secret") {
				t.Errorf("Options() = %v", err)
			}
		})
	}
}

// refuses is a gRPC server that answers every call with one code.
func refuses(t *testing.T, code codes.Code) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := grpc.NewServer(grpc.UnknownServiceHandler(func(any, grpc.ServerStream) error { return status.Error(code, "no") }))
	go func() { _ = s.Serve(l) }()
	t.Cleanup(s.Stop)
	return l.Addr().String()
}

func TestWhatCannotChangeByWaitingEndsTheDialing(t *testing.T) {
	t.Parallel()
	for _, code := range []codes.Code{codes.Unauthenticated, codes.PermissionDenied, codes.InvalidArgument} {
		t.Run(code.String(), func(t *testing.T) {
			t.Parallel()
			waited := 0
			_, _, err := worker.Dial(t.Context(), worker.Connection{
				Temporal: config.Temporal{Address: refuses(t, code)}, Lookup: lookup(""), Timeout: time.Minute,
				Waiting: func(error) { waited++ },
			})
			if !fault.Is(err, fault.Config) || waited > 0 {
				t.Errorf("Dial() = %v after waiting %d times", err, waited)
			}
		})
	}
}

func TestAClusterThatDoesNotAnswerIsWaitedFor(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	_ = l.Close()
	waited := 0
	_, _, err = worker.Dial(t.Context(), worker.Connection{
		Temporal: config.Temporal{Address: address}, Lookup: lookup(""), Timeout: 900 * time.Millisecond, Waiting: func(error) { waited++ },
	})
	e, ok := fault.As(err)
	if !ok || e.Kind != fault.Execution || !strings.Contains(e.Message(), address+": no answer") || !strings.Contains(e.Hint, "temporal.address") || waited == 0 {
		t.Errorf("Dial() = %v after waiting %d times", err, waited)
	}
}

func TestACertificateNobodyKnowsIsNamed(t *testing.T) {
	t.Parallel()
	s := httptest.NewUnstartedServer(nil)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.TLS = &tls.Config{NextProtos: []string{"h2"}}
	s.StartTLS()
	defer s.Close()
	_, _, err := worker.Dial(t.Context(), worker.Connection{
		Temporal: config.Temporal{Address: s.Listener.Addr().String(), TLS: config.TLS{Set: true, Enabled: true}}, Lookup: lookup(""),
	})
	if e, ok := fault.As(err); !ok || !strings.Contains(e.Message(), "temporal.tls.ca") {
		t.Errorf("Dial() = %v", err)
	}
}

func TestAServerWithoutTLSIsNamed(t *testing.T) {
	t.Parallel()
	_, _, err := worker.Dial(t.Context(), worker.Connection{
		Temporal: config.Temporal{Address: refuses(t, codes.OK), TLS: config.TLS{Set: true, Enabled: true}}, Lookup: lookup(""),
	})
	if e, ok := fault.As(err); !ok || !strings.Contains(e.Message(), "does not speak TLS. Set temporal.tls: false") {
		t.Errorf("Dial() = %v", err)
	}
}
