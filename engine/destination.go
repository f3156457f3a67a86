package engine

import (
	"net"
	"slices"
	"strings"
)

// Destination is an address outside Throng that a scenario's service uses, and what is sent there. Users confirm it
// before anything is sent. It contains the names of secrets, never their values.
type Destination struct {
	Service  string
	Host     string   // host:port
	Database string   // database name; "" if the service is not a database
	Secrets  []string // names, sorted
	Results  bool     // the database stores the results of runs
}

// Address returns host:port, followed by the name of the database if there is one.
func (d Destination) Address() string {
	if d.Database == "" {
		return d.Host
	}
	return d.Host + "/" + d.Database
}

// Local reports whether the address is on this machine. It makes no network requests.
func (d Destination) Local() bool {
	host, _, err := net.SplitHostPort(d.Host)
	if err != nil {
		host = d.Host
	}
	return IsThisMachine(host)
}

// IsThisMachine reports whether a host, or the folder of a socket, is this machine. It makes no network requests.
func IsThisMachine(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || strings.HasPrefix(host, "/") || strings.HasPrefix(host, "@") || ip != nil && (ip.IsLoopback() || ip.IsUnspecified())
}

// Gets describes what is sent there.
func (d Destination) Gets() string {
	what := "requests"
	if d.Database != "" {
		what = "SQL statements"
	}
	if len(d.Secrets) == 0 {
		return what
	}
	return what + " with the " + secretWord(len(d.Secrets)) + " " + listed(d.Secrets)
}

func secretWord(n int) string {
	if n == 1 {
		return "secret"
	}
	return "secrets"
}

func listed(names []string) string {
	if n := len(names) - 1; n > 0 {
		return strings.Join(names[:n], ", ") + " and " + names[n]
	}
	return strings.Join(names, "")
}

// Merged returns each address once, in order of first occurrence, with everything that is sent there. It joins the services.
func Merged(places []Destination) (all []Destination) {
	for _, p := range places {
		i := slices.IndexFunc(all, func(q Destination) bool { return q.Address() == p.Address() })
		if i < 0 {
			p.Secrets = slices.Clone(p.Secrets)
			all = append(all, p)
			continue
		}
		q := &all[i]
		q.Results = q.Results || p.Results
		if q.Service != p.Service {
			q.Service += ", " + p.Service
		}
		q.Secrets = append(q.Secrets, p.Secrets...)
		slices.Sort(q.Secrets)
		q.Secrets = slices.Compact(q.Secrets)
	}
	return all
}
