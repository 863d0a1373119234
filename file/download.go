package file

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"code.dny.dev/ssrf"

	"github.com/holodeck-run/holodeck/fault"
)

const (
	maxRedirects    = 5
	connectTimeout  = 10 * time.Second
	headerTimeout   = 30 * time.Second
	downloadTimeout = 5 * time.Minute
)

// newClient returns a client whose every connection passes the address guard,
// so that redirects and names that resolve inwards are refused when dialled.
func newClient(o Options) *http.Client {
	c := &http.Client{Timeout: downloadTimeout, Transport: o.Transport, CheckRedirect: checkRedirect}
	if c.Transport != nil {
		return c
	}
	guarded := &net.Dialer{Timeout: connectTimeout, Control: ssrf.New(ssrf.WithAnyPort()).Safe}
	trusted := &net.Dialer{Timeout: connectTimeout}
	c.Transport = &http.Transport{
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			host, _, _ := net.SplitHostPort(addr)
			if slices.Contains(o.AllowHosts, host) || slices.Contains(o.AllowHosts, addr) {
				return trusted.DialContext(ctx, network, addr)
			}
			return guarded.DialContext(ctx, network, addr)
		},
		ForceAttemptHTTP2:     true,
		TLSHandshakeTimeout:   connectTimeout,
		ResponseHeaderTimeout: headerTimeout,
		DisableCompression:    true, // a small answer must not unfold into a large one
	}
	return c
}

func checkRedirect(r *http.Request, via []*http.Request) error {
	switch {
	case len(via) > maxRedirects:
		return fmt.Errorf("%w: more than %d redirects", errRefused, maxRedirects)
	case via[len(via)-1].URL.Scheme == "https" && r.URL.Scheme != "https":
		return fmt.Errorf("%w: redirect from https to %s", errRefused, r.URL.Scheme)
	}
	return checkURL(r.URL)
}

var errRefused = errors.New("refused")

func checkURL(u *url.URL) error {
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("%w: scheme %q is neither http nor https", errRefused, u.Scheme)
	case u.Host == "":
		return fmt.Errorf("%w: the url names no host", errRefused)
	case u.User != nil:
		return fmt.Errorf("%w: the url carries credentials", errRefused)
	}
	return nil
}

// download fetches raw into a temporary file.
func (s *Source) download(ctx context.Context, raw string) (*File, error) {
	u, err := url.Parse(raw)
	if err == nil {
		err = checkURL(u)
	}
	if err != nil {
		return nil, downloadFault(raw, err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), http.NoBody)
	if err != nil {
		return nil, downloadFault(raw, err)
	}
	req.Header.Set("User-Agent", "holodeck")
	resp, err := s.client.Do(req)
	if err != nil {
		return nil, downloadFault(raw, err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return nil, statusFault(raw, resp)
	}
	if resp.ContentLength > s.maxBytes {
		return nil, tooBig(fault.Download, "fetch "+display(raw), resp.ContentLength, s.maxBytes)
	}
	return s.save(resp, raw)
}

func (s *Source) save(resp *http.Response, raw string) (_ *File, err error) {
	name, extension := remoteName(resp)
	tmp, err := os.CreateTemp(s.tempDir, "holodeck-*"+extension)
	if err != nil {
		return nil, fmt.Errorf("create temporary file: %w", err)
	}
	remove := func() error {
		return errors.Join(tmp.Close(), os.Remove(tmp.Name()))
	}
	defer func() {
		if err != nil {
			_ = remove()
		}
	}()
	n, err := io.Copy(tmp, io.LimitReader(resp.Body, s.maxBytes+1))
	if err != nil {
		return nil, downloadFault(raw, err)
	}
	if n > s.maxBytes {
		return nil, tooBig(fault.Download, "fetch "+display(raw), n, s.maxBytes)
	}
	return &File{Name: name, Size: n, extension: extension, r: tmp, close: remove}, nil
}

// remoteName takes the name from Content-Disposition, else from the final
// URL's path, and the extension from that name, else from the media type.
func remoteName(resp *http.Response) (name, extension string) {
	name = path.Base(resp.Request.URL.Path)
	if _, params, err := mime.ParseMediaType(resp.Header.Get("Content-Disposition")); err == nil && params["filename"] != "" {
		name = path.Base(strings.ReplaceAll(params["filename"], `\`, "/"))
	}
	if name == "/" || name == "." {
		name = resp.Request.URL.Hostname()
		extension = mediaExtension(resp.Header.Get("Content-Type"))
	} else if extension = strings.ToLower(path.Ext(name)); byExtension(extension) == "" {
		extension = mediaExtension(resp.Header.Get("Content-Type"))
	}
	return name, extension
}

func mediaExtension(contentType string) string {
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		return ""
	}
	switch media {
	case "application/pdf":
		return ".pdf"
	case "text/csv":
		return ".csv"
	case "text/html":
		return ".html"
	case "application/json":
		return ".json"
	default:
		return ""
	}
}

func statusFault(raw string, resp *http.Response) error {
	e := fault.New(fault.Download, "fetch "+display(raw), "", "the server answered %s", resp.Status)
	switch code := resp.StatusCode; {
	case code == http.StatusRequestTimeout, code == http.StatusTooEarly, code == http.StatusTooManyRequests, code >= 500:
		e.Hint = "Try again later."
		e.RetryAfter = retryAfter(resp.Header.Get("Retry-After"))
	default:
		e.Permanent = true
		e.Hint = "Check the url and that it can be read without credentials."
	}
	return e
}

func retryAfter(header string) time.Duration {
	if n, err := strconv.Atoi(header); err == nil && n > 0 {
		return min(time.Duration(n)*time.Second, time.Hour)
	}
	return 0
}

// downloadFault classes what net/http returned: refusals are final, the
// caller's own cancellation is passed on, the rest is the network's.
func downloadFault(raw string, err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	op := "fetch " + display(raw)
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err
	}
	e := &fault.Error{Kind: fault.Download, Op: op, Err: err, Hint: "Try again later."}
	blocked := errors.Is(err, ssrf.ErrProhibitedIP) || errors.Is(err, ssrf.ErrProhibitedPort) || errors.Is(err, ssrf.ErrProhibitedNetwork)
	dns, isDNS := errors.AsType[*net.DNSError](err)
	switch {
	case blocked:
		e.Permanent = true
		e.Err = errors.New("the address lies in a blocked range")
		e.Hint = "Give a public address, or add the host to files.allow_hosts."
	case errors.Is(err, errRefused):
		e.Permanent = true
		e.Hint = "Give a plain http or https url."
	case isDNS && dns.IsNotFound:
		e.Hint = "Check the host's name."
	case errors.Is(err, syscall.ECONNREFUSED):
		e.Hint = "Check that the server runs."
	case !isNetwork(err):
		e.Permanent = true
		e.Hint = "Check the url."
	}
	return e
}

func isNetwork(err error) bool {
	_, isNet := errors.AsType[net.Error](err)
	return isNet || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) || errors.Is(err, context.DeadlineExceeded)
}

// display shows a URL without its query, which may hold a signature.
func display(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return strconv.Quote(raw)
	}
	u.RawQuery, u.Fragment, u.User = "", "", nil
	return u.String()
}
