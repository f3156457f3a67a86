package consent

import (
	"net"
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine"
)

// usualPorts are the ports implied by a host without a port.
var usualPorts = []string{"80", "443", "5432"}

// Named reports whether a list such as that of --allow includes an address: HOST:PORT, HOST alone for the default port of
// another machine, or HOST:PORT/DATABASE. The database that holds the results of runs must be named in full.
func Named(list []string, p engine.Destination) bool {
	return slices.ContainsFunc(list, func(name string) bool {
		name = strings.ToLower(strings.TrimSpace(name))
		switch {
		case name == strings.ToLower(p.Address()):
			return true
		case p.Results:
			return false
		case name == strings.ToLower(p.Host):
			return true
		}
		host, port, err := net.SplitHostPort(p.Host)
		return err == nil && !p.Local() && name == strings.ToLower(host) && slices.Contains(usualPorts, port)
	})
}

// Name returns the shortest text that [Named] matches with an address.
func Name(p engine.Destination) string {
	if p.Results {
		return p.Address()
	}
	if host, port, err := net.SplitHostPort(p.Host); err == nil && !p.Local() && slices.Contains(usualPorts, port) && !strings.Contains(host, ":") {
		return host
	}
	return p.Host
}
