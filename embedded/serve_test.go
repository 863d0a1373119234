package embedded_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/holodeck-run/holodeck/embedded"
	"github.com/holodeck-run/holodeck/fault"
)

func get(t *testing.T, url string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close() //nolint:errcheck // read to the end
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s %v", url, resp.Status, err)
	}
	return string(body)
}

func TestAServerAnswersOnAllItsAddresses(t *testing.T) {
	t.Parallel()
	var config strings.Builder
	s := start(t, embedded.Options{
		UI: true, Metrics: true, UICodecEndpoint: "http://codec.example", LogConfig: &config,
		Namespaces: []string{"billing"}, SearchAttributes: map[string]string{"Priority": "Int", "Owner": "Keyword"},
		DynamicConfig: []string{"frontend.namespaceRPS=5000", `history.longPollExpirationInterval="3s"`},
	})
	c := dial(t, s.Address(), "billing")
	work(t, c, &activities{})
	greet(t, c)
	for url, want := range map[string]string{
		s.UIURL() + "/healthz":                                     `"OK"`,
		s.UIURL() + "/":                                            "<html",
		s.UIURL() + "/namespaces/default/workflows":                "<html",
		s.UIURL() + "/api/v1/settings":                             `"DisableNewsFetch":true`,
		s.UIURL() + "/api/v1/settings?":                            `"Endpoint":"http://codec.example"`,
		s.UIURL() + "/api/v1/namespaces/billing":                   "billing",
		s.UIURL() + "/api/v1/namespaces/billing/workflows":         "Greeting",
		"http://" + s.HTTPAddress() + "/api/v1/namespaces/billing": "billing",
		"http://" + s.MetricsAddress() + "/metrics":                "service_requests",
	} {
		if got := get(t, url); !strings.Contains(got, want) {
			t.Errorf("%s does not say %q: %.300s", url, want, got)
		}
	}
	attrs, err := c.OperatorService().ListSearchAttributes(t.Context(), &operatorservice.ListSearchAttributesRequest{Namespace: "billing"})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]enumspb.IndexedValueType{"Priority": enumspb.INDEXED_VALUE_TYPE_INT, "Owner": enumspb.INDEXED_VALUE_TYPE_KEYWORD} {
		if got := attrs.GetCustomAttributes()[name]; got != want {
			t.Errorf("search attribute %s is %v, want %v", name, got, want)
		}
	}
	d, err := c.WorkflowService().DescribeNamespace(t.Context(), &workflowservice.DescribeNamespaceRequest{Namespace: "billing"})
	if err != nil || d.GetConfig().GetWorkflowExecutionRetentionTtl().AsDuration() != embedded.DefaultRetention {
		t.Errorf("retention is %v, want 30 days: %v", d.GetConfig().GetWorkflowExecutionRetentionTtl().AsDuration(), err)
	}
	if !strings.Contains(config.String(), "persistence") || s.DBFile() != "" {
		t.Errorf("the configuration was %.200q and the file %q", config.String(), s.DBFile())
	}
	select {
	case err := <-s.Fatal():
		t.Error(err)
	default:
	}
}

func TestInternalServicesAndMetricsStayOnLoopback(t *testing.T) {
	t.Parallel()
	var config strings.Builder
	s := start(t, embedded.Options{IP: "0.0.0.0", UI: true, UIIP: "127.0.0.1", LogConfig: &config})
	if !strings.HasPrefix(s.Address(), "127.0.0.1:") || !strings.HasPrefix(s.UIURL(), "http://127.0.0.1:") {
		t.Errorf("addresses %s and %s cannot be dialled", s.Address(), s.UIURL())
	}
	if got := strings.Count(config.String(), "bindOnIP: 0.0.0.0"); got != 1 {
		t.Errorf("%d services listen everywhere, want the frontend only:\n%s", got, config.String())
	}
	c := dial(t, s.Address(), "default")
	work(t, c, &activities{})
	greet(t, c)
}

func taken(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l.Addr().(*net.TCPAddr).Port
}

func TestAPortThatWasAskedForAndIsTakenIsAFault(t *testing.T) {
	t.Parallel()
	n := taken(t)
	exact := embedded.ExactPort(n)
	for flag, o := range map[string]embedded.Options{
		"--port": {Port: exact}, "--ui-port": {UI: true, UIPort: exact},
		"--http-port": {HTTPPort: exact}, "--metrics-port": {Metrics: true, MetricsPort: exact},
	} {
		_, err := embedded.Start(t.Context(), o)
		f, ok := fault.As(err)
		if !ok || f.Kind != fault.Config || !strings.Contains(f.Message(), fmt.Sprintf("port %d is in use", n)) || !strings.Contains(f.Hint, flag) {
			t.Errorf("%s: %v", flag, err)
		}
	}
}

func TestAPreferredPortThatIsTakenGivesTheNextFreeOne(t *testing.T) {
	t.Parallel()
	n := taken(t)
	s := start(t, embedded.Options{Port: embedded.PreferPort(n)})
	_, port, err := net.SplitHostPort(s.Address())
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := strconv.Atoi(port); got <= n || got > n+100 {
		t.Errorf("took port %d, want one after %d", got, n)
	}
}

func TestTheUIIsServedUnderAPublicPathAndFromOtherAssets(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "index.html"), []byte(`<html>ours "/_app/x"</html>`), 0o600); err != nil {
		t.Fatal(err)
	}
	s := start(t, embedded.Options{UI: true, UIAssetPath: dir, UIPublicPath: "/temporal/"})
	if !strings.HasSuffix(s.UIURL(), "/temporal") {
		t.Errorf("UI at %s", s.UIURL())
	}
	if got := get(t, s.UIURL()+"/"); !strings.Contains(got, `ours "/temporal/_app/x"`) {
		t.Errorf("the UI answered %q", got)
	}
}

func TestAssetsWithoutAnIndexAreAFault(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{t.TempDir(), filepath.Join(t.TempDir(), "none")} {
		s, err := embedded.Start(t.Context(), embedded.Options{UI: true, UIAssetPath: dir})
		if err == nil {
			stop(t, s)
		}
		if f, ok := fault.As(err); !ok || !strings.Contains(f.Hint, "--ui-asset-path") {
			t.Errorf("%v", err)
		}
	}
}

func TestAnotherSiteCannotUseTheUI(t *testing.T) {
	t.Parallel()
	s := start(t, embedded.Options{UI: true})
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, s.UIURL()+"/api/v1/namespaces/default/workflows/x/terminate", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Sec-Fetch-Site", "cross-site")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close() //nolint:errcheck // only the status counts
	if resp.StatusCode != http.StatusForbidden {
		t.Errorf("a request from another site was answered %s", resp.Status)
	}
}
