package consent

import (
	"net"
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine"
)

// usualPorts are those that a host alone stands for.
var usualPorts = []string{"80", "443", "5432"}

// Named reports whether a list such as that of --allow names a place: HOST:PORT; HOST alone, of another machine, for its
// usual port; HOST:PORT/DATABASE. The database that holds the results of runs has to be named as a whole.
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

// Name is the shortest text by which [Named] knows a place.
func Name(p engine.Destination) string {
	if p.Results {
		return p.Address()
	}
	if host, port, err := net.SplitHostPort(p.Host); err == nil && !p.Local() && slices.Contains(usualPorts, port) && !strings.Contains(host, ":") {
		return host
	}
	return p.Host
}
