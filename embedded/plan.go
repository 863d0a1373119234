package embedded

import (
	"fmt"
	"net"
	"slices"
	"strings"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/server/common/dynamicconfig"
	"go.temporal.io/server/common/metrics"
	"go.temporal.io/server/common/persistence/sql/sqlplugin"

	"github.com/holodeck-run/holodeck/fault"
)

const loopback = "127.0.0.1"

// plan is Options checked and completed, and what the steps of a start hand
// to each other.
type plan struct {
	Options
	log     *serverLog
	dynamic dynamicconfig.StaticClient
	pragmas []pragma
	attrs   map[string]enumspb.IndexedValueType

	store   *store
	db      sqlplugin.DB
	held    listeners
	metrics metrics.Handler
}

// plan checks everything that can be wrong before anything is opened.
func (o Options) plan() (*plan, error) {
	p := &plan{Options: o}
	level, err := parseLevel(o.LogLevel)
	if err != nil {
		return nil, err
	}
	p.log = newServerLog(o.Logger, level)
	if p.IP, err = listenIP("--ip", o.IP, loopback); err != nil {
		return nil, err
	}
	if p.UIIP, err = listenIP("--ui-ip", o.UIIP, p.IP); err != nil {
		return nil, err
	}
	if err := p.checkPorts(); err != nil {
		return nil, err
	}
	if p.Namespaces, err = namespaceNames(o.Namespaces); err != nil {
		return nil, err
	}
	if p.attrs, err = searchAttributes(o.SearchAttributes); err != nil {
		return nil, err
	}
	if o.Retention < 0 {
		return nil, fault.New(fault.Config, "read the retention", "Give a time such as 720h with --retention.", "%s is negative", o.Retention)
	}
	if p.dynamic, err = dynamicConfig(o.DynamicConfig); err != nil {
		return nil, err
	}
	if p.pragmas, err = o.pragmaList(); err != nil {
		return nil, err
	}
	p.UIPublicPath, err = publicPath(o.UIPublicPath)
	return p, err
}

func (p *plan) checkPorts() error {
	for flag, port := range map[string]Port{
		"--port": p.Port, "--ui-port": p.UIPort, "--http-port": p.HTTPPort, "--metrics-port": p.MetricsPort,
	} {
		if port.number < 0 || port.number > 65535 {
			return fault.New(fault.Config, "read "+flag, "Choose a port from 1 to 65535.", "%d is not a port", port.number)
		}
	}
	return nil
}

func listenIP(flag, ip, other string) (string, error) {
	switch ip {
	case "":
		return other, nil
	case "localhost":
		return loopback, nil
	}
	if net.ParseIP(ip) == nil {
		return "", fault.New(fault.Config, "read "+flag, "Give an address such as 127.0.0.1 or 0.0.0.0.", "%q is not an IP address", ip)
	}
	return ip, nil
}

func publicPath(path string) (string, error) {
	path = strings.TrimRight(path, "/")
	if path != "" && (!strings.HasPrefix(path, "/") || strings.ContainsAny(path, "\"'<>?#% ")) {
		return "", fault.New(fault.Config, "read --ui-public-path", "Give a path such as /temporal.", "%q is not a path", path)
	}
	return path, nil
}

const (
	defaultNamespace = "default"
	systemNamespace  = "temporal-system"
	maxNameLength    = 1000
)

func namespaceNames(names []string) ([]string, error) {
	all := []string{defaultNamespace}
	for _, n := range names {
		switch {
		case n == "" || strings.TrimSpace(n) != n:
			return nil, fault.New(fault.Config, "read --namespace", "Give a name without blanks around it.", "%q is not a name", n)
		case n == systemNamespace:
			return nil, fault.New(fault.Config, "read --namespace", "Choose another name.", "%s is the server's own", n)
		case len(n) > maxNameLength:
			return nil, fault.New(fault.Config, "read --namespace", "Choose a shorter name.", "a name has %d bytes, at most %d are allowed", len(n), maxNameLength)
		case !slices.Contains(all, n):
			all = append(all, n)
		}
	}
	return all, nil
}

// pragma is one setting of a connection.
type pragma struct{ name, value string }

// pragmaValues are the values of the pragmas that SQLite would silently not
// understand.
func pragmaValues(name string) []string {
	switch name {
	case "journal_mode":
		return []string{"delete", "truncate", "persist", "memory", "wal", "off"}
	case "synchronous":
		return []string{"off", "normal", "full", "extra", "0", "1", "2", "3"}
	case "temp_store":
		return []string{"default", "file", "memory", "0", "1", "2"}
	case "locking_mode":
		return []string{"normal", "exclusive"}
	case "auto_vacuum":
		return []string{"none", "full", "incremental", "0", "1", "2"}
	}
	return nil
}

// pragmaList gives the settings of the connection in the order in which they
// must be made: the page size before anything is written, the journal before
// what depends on it.
func (o Options) pragmaList() ([]pragma, error) {
	synchronous := "normal"
	if o.Durable {
		synchronous = "full"
	}
	list := []pragma{
		{"busy_timeout", "10000"},
		{"page_size", ""},
		{"auto_vacuum", ""},
		{"journal_mode", "wal"},
		{"synchronous", synchronous},
		{"wal_autocheckpoint", "4000"},
		{"journal_size_limit", "67108864"},
		{"cache_size", "-32768"},
		{"temp_store", "memory"},
	}
	if o.DBFile == "" {
		list = []pragma{{"temp_store", "memory"}}
	}
	for _, name := range sortedKeys(o.SQLitePragmas) {
		p := pragma{strings.ToLower(strings.TrimSpace(name)), strings.TrimSpace(o.SQLitePragmas[name])}
		if err := p.check(); err != nil {
			return nil, err
		}
		if i := slices.IndexFunc(list, func(have pragma) bool { return have.name == p.name }); i >= 0 {
			list[i].value = p.value
		} else {
			list = append(list, p)
		}
	}
	return slices.DeleteFunc(list, func(p pragma) bool { return p.value == "" }), nil
}

func (p pragma) check() error {
	op := "read --sqlite-pragma"
	known, err := knownPragmas()
	if err != nil {
		return err
	}
	if !slices.Contains(known, p.name) {
		return fault.New(fault.Config, op, fault.NearestOr(p.name, known, "See https://www.sqlite.org/pragma.html."), "SQLite knows no pragma %s", p.name)
	}
	if values := pragmaValues(p.name); values != nil && !slices.Contains(values, strings.ToLower(p.value)) {
		return fault.New(fault.Config, op, fmt.Sprintf("Known: %s.", strings.Join(values, ", ")), "%q is not a value of %s", p.value, p.name)
	}
	plain := func(r rune) bool {
		return r == '_' || r == '-' || r == '.' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
	}
	if p.value == "" || strings.ContainsFunc(p.value, func(r rune) bool { return !plain(r) }) {
		return fault.New(fault.Config, op, "Give a word or a number.", "%q is not a value of %s", p.value, p.name)
	}
	return nil
}
