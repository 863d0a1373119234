package model

import (
	"context"
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

// maxAnswer caps the body of a provider's answer.
const maxAnswer = 32 << 20

// httpClient follows no redirect (a key must not travel on) and holds no more
// of an answer than the cap.
func (s Spec) httpClient() *http.Client {
	next := s.HTTP
	if next == nil {
		next = http.DefaultTransport
	}
	return &http.Client{
		Transport:     capped{next},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

type capped struct{ next http.RoundTripper }

func (c capped) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := c.next.RoundTrip(r)
	if err == nil {
		resp.Body = cappedBody{io.LimitReader(resp.Body, maxAnswer), resp.Body}
	}
	return resp, err
}

type cappedBody struct {
	io.Reader
	io.Closer
}

// statusFault classes an HTTP error status. message is the provider's own
// explanation; it is shortened.
func statusFault(provider string, status int, header http.Header, message string) error {
	e := fault.New(fault.Execution, "call "+provider, "", "it answered %d %s%s", status, http.StatusText(status), tail(message))
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		e.Kind = fault.BackendInit
		e.Hint = "Check the API key and what it may use."
	case status == http.StatusNotFound:
		e.Kind = fault.BackendInit
		e.Hint = "Check model.name and model.endpoint."
	case status == http.StatusRequestTimeout, status == http.StatusConflict, status == http.StatusTooManyRequests, status >= 500:
		e.RetryAfter = retryAfter(header)
	default:
		e.Permanent = true
		e.Hint = "Change the request: the provider refuses this one whenever it is sent."
	}
	return e
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

// Shorten cuts a text to what a failure message may show of it.
func Shorten(text string) string {
	if len(text) <= maxQuote {
		return text
	}
	cut := maxQuote
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}

// retryAfter reads Retry-After (RFC 9110 §10.2.3: seconds or a date) and the
// retry-after-ms that OpenAI sends; capped at an hour.
func retryAfter(h http.Header) time.Duration {
	var d time.Duration
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil {
		d = time.Duration(ms * float64(time.Millisecond))
	} else if s, err := strconv.ParseFloat(h.Get("Retry-After"), 64); err == nil {
		d = time.Duration(s * float64(time.Second))
	} else if at, err := http.ParseTime(h.Get("Retry-After")); err == nil {
		d = time.Until(at)
	}
	return min(max(d, 0), time.Hour)
}

// callFault classes an error that is no HTTP status. ctx is the caller's: its
// own end is passed on, the call's time-out is not.
func callFault(ctx context.Context, provider string, timeout time.Duration, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return fault.New(fault.Execution, "call "+provider, "Raise model.timeout if the model is that slow.", "no answer within %s", timeout)
	}
	e := &fault.Error{Kind: fault.Execution, Op: "call " + provider, Err: err}
	if u, ok := errors.AsType[*url.Error](err); ok {
		e.Err = u.Err
	}
	if o, ok := errors.AsType[*net.OpError](err); ok && o.Op == "dial" {
		e.Hint = "Check that the provider runs and model.endpoint names it."
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		e.Err = errors.New("the connection was cut in mid-answer")
	}
	return e
}

// badAnswer is for a 200 whose body is not what the protocol promises.
func badAnswer(provider, what string) error {
	return fault.New(fault.Execution, "call "+provider, "", "the answer is not of its protocol: %s", what)
}

// baseURL returns a checked endpoint that ends in a slash.
func baseURL(provider, endpoint, suffix string) (string, error) {
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", fault.New(fault.Config, "prepare "+provider, "Set model.endpoint to a URL such as https://host/v1.", "model.endpoint is %q", endpoint)
	}
	return strings.TrimRight(endpoint, "/") + fmt.Sprintf("/%s", suffix), nil
}
