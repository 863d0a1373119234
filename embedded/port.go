package embedded

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"

	"github.com/holodeck-run/holodeck/fault"
)

// Port says which port a listener may take. The zero Port takes any free one.
type Port struct {
	number int
	exact  bool
}

// ExactPort takes port n or fails.
func ExactPort(n int) Port { return Port{n, true} }

// PreferPort takes port n, else the next free one above it.
func PreferPort(n int) Port { return Port{n, false} }

// nextPorts is how many ports above a preferred one are tried.
const nextPorts = 100

// addresses are what clients dial.
type addresses struct{ frontend, http, ui, metrics string }

// listeners are the bound sockets of a start; all are held until the services
// take them over.
type listeners struct {
	frontend, history, matching, worker net.Listener
	http, ui, metrics                   net.Listener
}

// claimPorts binds every port before any is given up again, so no two roles
// and no two servers can be handed the same one.
func (s *Server) claimPorts(_ context.Context, p *plan) error {
	for _, want := range p.claims() {
		l, err := want.bind()
		if err != nil {
			return err
		}
		*want.to = l
		s.onStop(want.flag, func() error { return ignoreClosed(l.Close()) })
	}
	s.ports.frontend = dialable(p.held.frontend)
	s.ports.http = dialable(p.held.http)
	if l := p.held.ui; l != nil {
		s.ports.ui = "http://" + dialable(l) + p.UIPublicPath
	}
	if l := p.held.metrics; l != nil {
		s.ports.metrics = dialable(l)
	}
	return nil
}

// claim is one listener wanted.
type claim struct {
	flag string // the option to blame
	ip   string
	port Port
	to   *net.Listener
}

func (p *plan) claims() []claim {
	held := &p.held
	// Exact and preferred ports come first: a free one must not take theirs.
	c := []claim{{"--port", p.IP, p.Port, &held.frontend}}
	if p.UI {
		c = append(c, claim{"--ui-port", p.UIIP, p.UIPort, &held.ui})
	}
	c = append(c, claim{"--http-port", p.IP, p.HTTPPort, &held.http})
	if p.Metrics {
		c = append(c, claim{"--metrics-port", loopback, p.MetricsPort, &held.metrics})
	}
	return append(
		c,
		claim{"history", loopback, Port{}, &held.history},
		claim{"matching", loopback, Port{}, &held.matching},
		claim{"worker", loopback, Port{}, &held.worker},
	)
}

func (c claim) bind() (net.Listener, error) {
	first, last := c.port.number, c.port.number
	if !c.port.exact && first != 0 {
		last = min(first+nextPorts, 65535)
	}
	var firstErr error
	for n := first; n <= last; n++ {
		l, err := net.Listen("tcp", net.JoinHostPort(c.ip, strconv.Itoa(n)))
		if err == nil {
			return l, nil
		}
		if firstErr == nil {
			firstErr = err
		}
		if !portTaken(err) {
			break
		}
	}
	return nil, c.fault(firstErr)
}

func (c claim) fault(err error) error {
	op := "listen on " + c.ip
	switch {
	case portTaken(err) && c.port.exact:
		return fault.New(fault.Config, op, fmt.Sprintf("Stop what uses it or choose another with %s.", c.flag), "port %d is in use", c.port.number)
	case portTaken(err):
		return fault.New(fault.Config, op, fmt.Sprintf("Choose a free one with %s.", c.flag), "ports %d to %d are in use", c.port.number, min(c.port.number+nextPorts, 65535))
	default:
		return &fault.Error{Kind: fault.Config, Op: op, Hint: fmt.Sprintf("Check %s and the address it is bound to.", c.flag), Err: errors.Unwrap(err)}
	}
}

// number is the port a listener took.
func number(l net.Listener) int { return l.Addr().(*net.TCPAddr).Port }

// dialable is the address at which l is reached from this machine.
func dialable(l net.Listener) string {
	a := l.Addr().(*net.TCPAddr)
	host := a.IP.String()
	if a.IP.IsUnspecified() {
		host = loopback
	}
	return net.JoinHostPort(host, strconv.Itoa(a.Port))
}

func ignoreClosed(err error) error {
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}
