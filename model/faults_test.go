package model_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/holodeck-run/holodeck/fault"
	"github.com/holodeck-run/holodeck/model"
)

// verdict is what a caller must know of a failed call.
type verdict struct {
	kind  fault.Kind
	retry bool
	after time.Duration
	says  string // in the message
}

// everyFault holds a message against what none may do.
func everyFault(t *testing.T, err error) {
	t.Helper()
	e, ok := fault.As(err)
	if !ok {
		t.Fatalf("%T %v is no fault", err, err)
	}
	text := e.Message()
	if strings.Contains(text, secret) {
		t.Errorf("the message holds the key: %s", text)
	}
	if n := utf8.RuneCountInString(text); n > 400 || utf8.RuneCountInString(e.Error()) > 300 || strings.Contains(text, "\n") || !utf8.ValidString(text) {
		t.Errorf("the message has %d characters, or several lines: %q", n, text)
	}
	if strings.Contains(text, "  ") || strings.Contains(text, " :") {
		t.Errorf("the message has holes: %q", text)
	}
}

func judge(t *testing.T, err error, want verdict) {
	t.Helper()
	everyFault(t, err)
	e, _ := fault.As(err)
	if e.Kind != want.kind || e.Retryable() != want.retry || e.RetryAfter != want.after || !strings.Contains(e.Message(), want.says) {
		t.Errorf("fault is %s retryable=%v after=%s %q, want %+v", e.Kind, e.Retryable(), e.RetryAfter, e.Message(), want)
	}
}

func TestStatusesAreClassed(t *testing.T) {
	t.Parallel()
	const openAIError = `{"error":{"message":"Bad thing with ` + secret + `","type":"t","code":"c"}}`
	retry, final, init := verdict{fault.Execution, true, 0, ""}, verdict{fault.Execution, false, 0, ""}, verdict{fault.BackendInit, false, 0, ""}
	with := func(v verdict, says string, after time.Duration) verdict {
		v.says, v.after = says, after
		return v
	}
	cases := []struct {
		name   string
		status int
		body   string
		header []string
		want   verdict
	}{
		{"400", 400, openAIError, nil, with(final, "400 Bad Request: Bad thing with [key]", 0)},
		{"401 with the key in it", 401, openAIError, nil, with(init, "401 Unauthorized: Bad thing with [key]. Check the API key", 0)},
		{"403", 403, openAIError, nil, with(init, "Check the API key", 0)},
		{"404", 404, `{"error":"model \"x\" not found, try pulling it first"}`, nil, with(init, `model "x" not found, try pulling it first. Check model.name`, 0)},
		{"404 of an HTML page", 404, "<html>\n<body>Not\nFound</body></html>", []string{"Content-Type", "text/html"}, with(init, "<html> <body>Not Found</body></html>", 0)},
		{"402", 402, `{"message":"Pay first"}`, nil, with(final, "402 Payment Required: Pay first", 0)},
		{"408", 408, "", nil, with(retry, "408 Request Timeout", 0)},
		{"409", 409, openAIError, nil, retry},
		{"413", 413, openAIError, nil, final},
		{"422 in FastAPI's words", 422, `{"detail":"value is wrong"}`, nil, with(final, "value is wrong", 0)},
		{"422 in FastAPI's other words", 422, `{"detail":[{"msg":"wrong"}]}`, nil, with(final, `[{"msg":"wrong"}]`, 0)},
		{"429 in seconds", 429, openAIError, []string{"Retry-After", "7"}, with(retry, "429 Too Many Requests", 7*time.Second)},
		{"429 in milliseconds", 429, openAIError, []string{"Retry-After-Ms", "1500", "Retry-After", "7"}, with(retry, "", 1500*time.Millisecond)},
		{"429 in fractions", 429, openAIError, []string{"Retry-After", "0.25"}, with(retry, "", 250*time.Millisecond)},
		{"429 for a day", 429, openAIError, []string{"Retry-After", "86400"}, with(retry, "", time.Hour)},
		{"429 for ever", 429, openAIError, []string{"Retry-After", "1e300"}, with(retry, "", time.Hour)},
		{"429 with infinity", 429, openAIError, []string{"Retry-After", "inf"}, with(retry, "", time.Hour)},
		{"429 with nonsense", 429, openAIError, []string{"Retry-After", "nan"}, retry},
		{"429 in the past", 429, openAIError, []string{"Retry-After", "-5"}, retry},
		{"429 at a date in the past", 429, openAIError, []string{"Retry-After", "Mon, 02 Jan 2006 15:04:05 GMT"}, retry},
		{"500 of no words", 500, "", nil, with(retry, "500 Internal Server Error", 0)},
		{"500 that is told not to retry", 500, openAIError, []string{"X-Should-Retry", "false"}, retry},
		{"502 of a proxy", 502, "<html>Bad gateway</html>", []string{"Content-Type", "text/html"}, with(retry, "502 Bad Gateway: <html>", 0)},
		{"503", 503, openAIError, []string{"Retry-After", "2"}, with(retry, "", 2*time.Second)},
		{"529 of no name", 529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, nil, with(retry, "it answered 529: Overloaded", 0)},
		{"500 of many words", 500, `{"error":{"message":"` + strings.Repeat("ä", 5000) + `"}}`, nil, with(retry, strings.Repeat("ä", 200)+"…", 0)},
		{"500 of broken bytes", 500, "\xff\xfe" + strings.Repeat("x", 5000), nil, with(retry, "xxx…", 0)},
		{"500 that quotes control characters", 500, `{"error":{"message":"a\n\tb"}}`, nil, with(retry, ": a b", 0)},
		{"redirect", 302, "", []string{"Location", "https://elsewhere.invalid/"}, with(final, "302 Found. Set model.endpoint to the final address", 0)},
	}
	for _, d := range dialects() {
		for _, c := range cases {
			t.Run(d.name+" "+c.name, func(t *testing.T) {
				t.Parallel()
				p := serve(t, says(c.status, c.body, c.header...))
				_, err := client(t, d.spec(p.URL)).Generate(t.Context(), question())
				judge(t, err, c.want)
				p.only(t)
			})
		}
	}
}

func TestRetryAfterMayBeADate(t *testing.T) {
	t.Parallel()
	p := serve(t, func(w http.ResponseWriter, r *http.Request) {
		says(503, "", "Retry-After", time.Now().Add(90*time.Second).UTC().Format(http.TimeFormat))(w, r)
	})
	_, err := client(t, dialects()[0].spec(p.URL)).Generate(t.Context(), question())
	if e, ok := fault.As(err); !ok || e.RetryAfter < 30*time.Second || e.RetryAfter > 90*time.Second {
		t.Errorf("fault = %+v", e)
	}
}

func TestARedirectIsNotFollowedWithTheKey(t *testing.T) {
	t.Parallel()
	for _, d := range dialects() {
		for _, status := range []int{301, 302, 303, 307, 308} {
			t.Run(fmt.Sprint(d.name, " ", status), func(t *testing.T) {
				t.Parallel()
				elsewhere := serve(t, says(200, d.success))
				p := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, elsewhere.URL, status) })
				_, err := client(t, d.spec(p.URL)).Generate(t.Context(), question())
				judge(t, err, verdict{fault.Execution, false, 0, "model.endpoint"})
				elsewhere.mu.Lock()
				defer elsewhere.mu.Unlock()
				if len(elsewhere.seen) > 0 {
					t.Error("the redirect was followed")
				}
			})
		}
	}
}

func TestAnswersOfAnotherProtocolAreRetried(t *testing.T) {
	t.Parallel()
	html := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<html>Sign in</html>")
	}
	for name, answer := range map[string]http.HandlerFunc{
		"an empty object":   says(200, `{}`),
		"an empty list":     says(200, `[]`),
		"nothing":           says(200, ``),
		"null":              says(200, `null`),
		"no JSON":           says(200, `{"choices": [`),
		"a page":            html,
		"wrong types":       says(200, `{"choices": 5, "content": 5, "message": 5}`),
		"no choices":        says(200, `{"id":"c","model":"m","choices":[],"content":[]}`),
		"an error in a 200": says(200, `{"error":{"message":"quota `+secret+` gone"}}`),
	} {
		for _, d := range dialects() {
			t.Run(d.name+" "+name, func(t *testing.T) {
				t.Parallel()
				p := serve(t, answer)
				_, err := client(t, d.spec(p.URL)).Generate(t.Context(), question())
				judge(t, err, verdict{fault.Execution, true, 0, "the answer is not of its protocol"})
				p.only(t)
			})
		}
	}
}

func TestASlowProviderIsGivenUp(t *testing.T) {
	t.Parallel()
	for _, d := range dialects() {
		for name, early := range map[string]bool{"before the head": false, "in the body": true} {
			t.Run(d.name+" "+name, func(t *testing.T) {
				t.Parallel()
				done := make(chan struct{})
				p := serve(t, func(w http.ResponseWriter, r *http.Request) {
					if early {
						w.Header().Set("Content-Type", "application/json")
						_, _ = io.WriteString(w, `{"id":`)
						w.(http.Flusher).Flush()
					}
					select {
					case <-r.Context().Done():
					case <-done:
					}
				})
				defer close(done)
				s := d.spec(p.URL)
				s.Timeout = 30 * time.Millisecond
				_, err := client(t, s).Generate(t.Context(), question())
				judge(t, err, verdict{fault.Execution, true, 0, "no answer within 30ms. Raise model.timeout"})
				p.only(t)
			})
		}
	}
}

func TestACancelledCallReturnsTheContextsError(t *testing.T) {
	t.Parallel()
	for _, d := range dialects() {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			p := serve(t, func(_ http.ResponseWriter, r *http.Request) {
				cancel()
				<-r.Context().Done()
			})
			if _, err := client(t, d.spec(p.URL)).Generate(ctx, question()); !errors.Is(err, context.Canceled) {
				t.Errorf("Generate() = %v, want context.Canceled", err)
			}
			if _, isFault := fault.As(context.Canceled); isFault {
				t.Error("a cancellation is a fault")
			}
		})
	}
}

// cut answers with half a body and then closes the connection.
func cut(status string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		conn, rw, err := w.(http.Hijacker).Hijack()
		if err != nil {
			return
		}
		if status != "" {
			_, _ = rw.WriteString("HTTP/1.1 " + status + "\r\nContent-Type: application/json\r\nContent-Length: 5000\r\n\r\n{\"id\":")
			_ = rw.Flush()
		}
		_ = conn.Close()
	}
}

func TestACutConnectionIsRetried(t *testing.T) {
	t.Parallel()
	for _, d := range dialects() {
		for name, c := range map[string]struct {
			status, says string
		}{
			"before the head":    {"", "the connection was cut"},
			"in the body":        {"200 OK", "the connection was cut"},
			"in a refusal of it": {"503 Service Unavailable", "503 Service Unavailable"},
		} {
			t.Run(d.name+" "+name, func(t *testing.T) {
				t.Parallel()
				p := serve(t, cut(c.status))
				_, err := client(t, d.spec(p.URL)).Generate(t.Context(), question())
				judge(t, err, verdict{fault.Execution, true, 0, c.says})
			})
		}
	}
}

func TestAProviderThatIsNotThere(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := "http://user:" + secret + "@" + l.Addr().String()
	_ = l.Close()
	for _, d := range dialects() {
		_, err := client(t, d.spec(address)).Generate(t.Context(), question())
		judge(t, err, verdict{fault.Execution, true, 0, "connection refused. Check that the provider runs"})
	}
}

func TestAnEndlessAnswerIsCut(t *testing.T) {
	t.Parallel()
	block := []byte(strings.Repeat("a", 1<<20))
	for _, d := range dialects() {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			p := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(w, `{"id":"`)
				for range 40 {
					if _, err := w.Write(block); err != nil {
						return
					}
				}
				_, _ = io.WriteString(w, `"}`)
			})
			_, err := client(t, d.spec(p.URL)).Generate(t.Context(), question())
			judge(t, err, verdict{fault.Execution, false, 0, "the answer is larger than 32 MiB. Lower model.max_tokens"})
		})
	}
}

func TestWhatCanBeCheckedIsCheckedBeforeACall(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		spec model.Spec
		kind fault.Kind
		says string
	}{
		"an unknown provider":            {model.Spec{Provider: "opneai"}, fault.Config, "openai"},
		"openai without a key":           {model.Spec{Provider: "openai", Name: "m"}, fault.BackendInit, "Set OPENAI_API_KEY"},
		"azure without a key":            {model.Spec{Provider: "azure_openai", Endpoint: "https://x.invalid"}, fault.BackendInit, "Set AZURE_OPENAI_API_KEY"},
		"azure without an endpoint":      {model.Spec{Provider: "azure_openai", APIKey: "k"}, fault.Config, "model.endpoint"},
		"anthropic without a key":        {model.Spec{Provider: "anthropic"}, fault.BackendInit, "Set ANTHROPIC_API_KEY"},
		"a key with its line break":      {model.Spec{Provider: "openai", APIKey: "sk-1\n"}, fault.BackendInit, "line break"},
		"a key in typographic quotes":    {model.Spec{Provider: "anthropic", APIKey: "“sk-1”"}, fault.BackendInit, "Set the key alone"},
		"an endpoint without a scheme":   {model.Spec{Provider: "ollama", Endpoint: "localhost:11434"}, fault.Config, "https://host/v1"},
		"an endpoint that is no web one": {model.Spec{Provider: "openai", Endpoint: "ftp://host"}, fault.Config, "https://host/v1"},
		"an endpoint with a query":       {model.Spec{Provider: "azure_openai", APIKey: "k", Endpoint: "https://x.invalid/openai/deployments/d/chat/completions?api-version=1"}, fault.Config, "without a query"},
		"a folder that is not there":     {model.Spec{Provider: "replay", Recordings: "nowhere"}, fault.BackendInit, "--record DIR"},
	}
	for name, c := range cases {
		_, err := model.New(c.spec)
		if e, ok := fault.As(err); !ok || e.Kind != c.kind || e.Retryable() || !strings.Contains(e.Message(), c.says) {
			t.Errorf("%s: New() = %v", name, err)
		}
	}
}

func TestEndpointsMayBeWrittenAsUsersCopyThem(t *testing.T) {
	t.Parallel()
	want := map[string]string{"openai": "/v1/chat/completions", "azure_openai": "/openai/deployments/my-deployment/chat/completions", "anthropic": "/v1/messages", "ollama": "/api/chat"}
	endings := map[string][]string{
		"openai": {"/v1", "/v1/", "/v1/chat/completions"}, "azure_openai": {"", "/", "/openai", "/openai/v1", "/openai/v1/"},
		"anthropic": {"", "/", "/v1", "/v1/messages"}, "ollama": {"", "/", "/v1", "/api", "/api/chat"},
	}
	for _, d := range dialects() {
		for _, ending := range endings[d.name] {
			p := serve(t, says(200, d.success))
			s := d.spec(p.URL)
			s.Endpoint = p.URL + ending
			if _, err := client(t, s).Generate(t.Context(), question()); err != nil || p.only(t).path != want[d.name] {
				t.Errorf("%s with %q calls %s (%v)", d.name, ending, p.only(t).path, err)
			}
		}
	}
}

func TestTheTransportMayBeReplaced(t *testing.T) {
	t.Parallel()
	for _, d := range dialects() {
		s := d.spec("http://model.invalid")
		s.HTTP = transport(func(r *http.Request) (*http.Response, error) {
			w := httptest.NewRecorder()
			says(200, d.success)(w, r)
			return w.Result(), nil
		})
		if got, err := client(t, s).Generate(t.Context(), question()); err != nil || got.Text != `{"n":1}` {
			t.Errorf("%s: %+v, %v", d.name, got, err)
		}
	}
}

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
