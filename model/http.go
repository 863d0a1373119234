package model

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/holodeck-run/holodeck/fault"
)

const (
	// maxAnswer caps the body of a provider's answer.
	maxAnswer = 32 << 20
	// maxExplanation caps what is read of the body of a refusal.
	maxExplanation = 64 << 10
)

// httpClient follows no redirect (a key must not travel on) and holds no more
// of an answer than the cap.
func (s Spec) httpClient() *http.Client {
	next := s.HTTP
	if next == nil {
		next = http.DefaultTransport
	}
	return &http.Client{
		Transport:     exchange{next},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// exchange makes an error of every answer that is not a success, so that all
// providers' refusals are classed in one place, and by their status whatever
// their body looks like.
type exchange struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (x exchange) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := x.next.RoundTrip(r)
	if err != nil {
		return nil, cutOr(err)
	}
	if resp.StatusCode/100 == 2 {
		resp.Body = &cappedBody{resp.Body, maxAnswer}
		return resp, nil
	}
	defer func() { _ = resp.Body.Close() }()
	data, _ := io.ReadAll(io.LimitReader(resp.Body, maxExplanation)) // half an explanation will do
	return nil, &refusal{resp.StatusCode, resp.Header, explanation(data)}
}

var errCut = errors.New("the connection was cut in mid-answer")

// cutOr names a cut connection, which later cannot be told from JSON that ends
// too early.
func cutOr(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return errCut
	}
	return err
}

var errTooLarge = fmt.Errorf("the answer is larger than %d MiB", maxAnswer>>20)

// cappedBody ends in an error, not in silence, when there is more than it may
// hold.
type cappedBody struct {
	io.ReadCloser
	left int64
}

// Read implements io.Reader.
func (b *cappedBody) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, errTooLarge
	}
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.ReadCloser.Read(p)
	b.left -= int64(n)
	if b.left < 0 {
		return n, errTooLarge
	}
	if err != nil && err != io.EOF {
		err = cutOr(err)
	}
	return n, err
}

// refusal is an answer whose status is not a success.
type refusal struct {
	status  int
	header  http.Header
	message string // the provider's own words
}

// Error implements error.
func (r *refusal) Error() string { return fmt.Sprintf("status %d", r.status) }

// explanation digs the provider's words out of the body of a refusal. OpenAI,
// Azure and Anthropic send {"error": {"message": …}}, Ollama {"error": …},
// other servers of the same protocols {"message": …} or {"detail": …}. A body
// of no such shape stands as it is.
func explanation(body []byte) string {
	var shape struct {
		Error   json.RawMessage `json:"error"`
		Message json.RawMessage `json:"message"`
		Detail  json.RawMessage `json:"detail"`
	}
	if json.Unmarshal(body, &shape) != nil {
		return strings.ToValidUTF8(string(body), "\uFFFD")
	}
	for _, raw := range []json.RawMessage{shape.Error, shape.Message, shape.Detail} {
		var text string
		var inner struct {
			Message string `json:"message"`
		}
		if json.Unmarshal(raw, &text) == nil && text != "" {
			return text
		}
		if json.Unmarshal(raw, &inner) == nil && inner.Message != "" {
			return inner.Message
		}
	}
	return string(body)
}

// failed classes whatever ended a call. ctx is the caller's: its own end is
// passed on, the call's time-out is not.
func (s Spec) failed(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if r, ok := errors.AsType[*refusal](err); ok {
		return s.refused(r)
	}
	op := "call " + s.Provider
	switch {
	case errors.Is(err, errTooLarge):
		e := fault.New(fault.Execution, op, "Lower model.max_tokens.", "%w", errTooLarge)
		e.Permanent = true
		return e
	case errors.Is(err, context.DeadlineExceeded):
		return fault.New(fault.Execution, op, "Raise model.timeout if the model is that slow.", "no answer within %s", s.Timeout)
	case isSyntax(err):
		return s.badAnswer("the body is not the JSON it should be")
	}
	e := &fault.Error{Kind: fault.Execution, Op: op, Err: err}
	if u, ok := errors.AsType[*url.Error](err); ok {
		e.Err = u.Err // without the URL, which may hold credentials
	}
	if o, ok := errors.AsType[*net.OpError](err); ok && o.Op == "dial" {
		e.Hint = "Check that the provider runs and model.endpoint names it."
	}
	return e
}

// isSyntax tells an answer of another shape. An SDK has no type for a body
// whose content type is not JSON.
func isSyntax(err error) bool {
	_, syntax := errors.AsType[*json.SyntaxError](err)
	_, mistyped := errors.AsType[*json.UnmarshalTypeError](err)
	return syntax || mistyped || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || strings.Contains(err.Error(), "expected destination type")
}

// refused classes an HTTP status.
func (s Spec) refused(r *refusal) error {
	status := strings.TrimSpace(fmt.Sprintf("%d %s", r.status, http.StatusText(r.status)))
	e := fault.New(fault.Execution, "call "+s.Provider, "", "it answered %s%s", status, tail(s.hideKey(r.message)))
	switch {
	case r.status == http.StatusUnauthorized, r.status == http.StatusForbidden:
		e.Kind = fault.BackendInit
		e.Hint = "Check the API key and what it may use."
	case r.status == http.StatusNotFound:
		e.Kind = fault.BackendInit
		e.Hint = "Check model.name and model.endpoint."
	case r.status == http.StatusRequestTimeout, r.status == http.StatusConflict, r.status == http.StatusTooManyRequests, r.status >= 500:
		e.RetryAfter = retryAfter(r.header, time.Now())
	case r.status < 400:
		e.Permanent = true
		e.Hint = "Set model.endpoint to the final address: a redirect is not followed, since the key would travel on."
	default:
		e.Permanent = true
		e.Hint = "Change the request: the provider refuses this one whenever it is sent."
	}
	return e
}

// hideKey takes the key out of a provider's words: some quote it.
func (s Spec) hideKey(text string) string {
	if s.APIKey == "" {
		return text
	}
	return strings.ReplaceAll(text, s.APIKey, "[key]")
}

// maxQuote is how much of a provider's text a failure may show.
const maxQuote = 200

func tail(message string) string {
	message = strings.Join(strings.Fields(message), " ")
	if message == "" {
		return ""
	}
	return ": " + Shorten(message)
}

// Shorten cuts a text to what a failure message may show of it: 200
// characters.
func Shorten(text string) string {
	if utf8.RuneCountInString(text) <= maxQuote {
		return text
	}
	n := 0
	for i := range text {
		if n == maxQuote {
			return text[:i] + "…"
		}
		n++
	}
	return text
}

// retryAfter reads Retry-After (RFC 9110 §10.2.3: seconds or a date) and the
// retry-after-ms that OpenAI sends; at most an hour, zero for none.
func retryAfter(h http.Header, now time.Time) time.Duration {
	seconds := 0.0
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil {
		seconds = ms / 1000
	} else if s, err := strconv.ParseFloat(h.Get("Retry-After"), 64); err == nil {
		seconds = s
	} else if at, err := http.ParseTime(h.Get("Retry-After")); err == nil {
		seconds = at.Sub(now).Seconds()
	}
	if !(seconds > 0) { // not a number, too
		return 0
	}
	return time.Duration(min(seconds, time.Hour.Seconds()) * float64(time.Second))
}

// badAnswer is for a success whose body is not what the protocol promises.
func (s Spec) badAnswer(what string) error {
	return fault.New(fault.Execution, "call "+s.Provider, "", "the answer is not of its protocol: %s", what)
}

// checkKey refuses a key that no header can carry: usually one read from a
// file with its line break.
func (s Spec) checkKey() error {
	for _, r := range s.APIKey {
		if r <= ' ' || r >= 0x7f {
			return fault.New(fault.BackendInit, "prepare "+s.Provider, "Set the key alone, without quotes, spaces or a line break.", "the API key holds a character that a key cannot have")
		}
	}
	return nil
}

// baseURL returns a checked endpoint that ends in a slash and then suffix,
// which is escaped already. Endings that users copy along are dropped.
func (s Spec) baseURL(suffix string, drop ...string) (string, error) {
	u, err := url.Parse(s.Endpoint)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.RawQuery != "" || u.Fragment != "" {
		return "", fault.New(fault.Config, "prepare "+s.Provider, "Set model.endpoint to a URL such as https://host/v1, without a query.", "model.endpoint is %q", s.Endpoint)
	}
	base := strings.TrimRight(s.Endpoint, "/")
	for _, ending := range drop {
		base = strings.TrimSuffix(base, ending)
	}
	return base + "/" + suffix, nil
}
