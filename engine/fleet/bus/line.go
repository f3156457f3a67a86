package bus

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"
)

// letters encode tokens and fingerprints: no letter of them means anything to a shell.
var letters = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// scheme begins the join lines of coordinators with their own server. Other lines begin with the URL of a cluster.
const scheme = "throng://"

// random returns a random value of 160 bits as text.
func random() string {
	b := make([]byte, 20)
	_, _ = rand.Read(b) // never fails
	return letters.EncodeToString(b)
}

// fingerprint is the SHA-256 of a certificate as text.
func fingerprint(certificate []byte) string {
	sum := sha256.Sum256(certificate)
	return letters.EncodeToString(sum[:])
}

// line is the content of a join line: throng://HOST:PORT/TOKEN/FINGERPRINT for a coordinator with its own server, without the
// fingerprint if it serves only its own machine, or the URL of a cluster and the fleet's name as its path.
type line struct {
	address     string // host:port
	token       string
	fingerprint string // of the fleet's CA, or ""
	cluster     string // the URL of a cluster, or ""
	fleet       string
}

func (l line) String() string {
	switch {
	case l.cluster != "":
		return l.cluster + "/" + l.fleet
	case l.fingerprint == "":
		return scheme + unbracketed(l.address) + "/" + l.token
	}
	return scheme + unbracketed(l.address) + "/" + l.token + "/" + l.fingerprint
}

// unbracketed removes the brackets of an IPv6 address: a shell may read them as a pattern. The port follows the last colon.
func unbracketed(address string) string {
	return strings.NewReplacer("[", "", "]", "").Replace(address)
}

// Address returns where a join line leads, without its secrets: HOST:PORT, or the URLs of a cluster.
func Address(text string) (string, error) {
	l, err := parseLine(text)
	if err == nil && l.cluster != "" {
		return WithoutSecrets(l.cluster), nil
	}
	return l.address, err
}

// parseLine reads a join line.
func parseLine(text string) (line, error) {
	text = strings.TrimSpace(text)
	rest, ok := strings.CutPrefix(text, scheme)
	if !ok {
		return parseCluster(text)
	}
	parts := strings.Split(strings.TrimSuffix(rest, "/"), "/")
	colon := strings.LastIndex(parts[0], ":")
	if colon < 1 || colon == len(parts[0])-1 || len(parts) < 2 || len(parts) > 3 || parts[1] == "" {
		return line{}, errors.New("the join line is incomplete: expected throng://HOST:PORT/TOKEN/FINGERPRINT, as the coordinator shows it")
	}
	l := line{address: net.JoinHostPort(strings.Trim(parts[0][:colon], "[]"), parts[0][colon+1:]), token: parts[1], fleet: own}
	if len(parts) == 3 {
		l.fingerprint = parts[2]
	} else if !loopback(l.address) {
		return line{}, errors.New("the join line has no fingerprint, which is required on another machine: copy the whole line from the coordinator")
	}
	return l, nil
}

// parseCluster reads the join line of a fleet in an existing cluster.
func parseCluster(text string) (line, error) {
	end := strings.LastIndex(text, "/")
	if end < 0 || !isCluster(text[:end]) || text[end+1:] == "" {
		return line{}, errors.New("this is not a join line: expected throng://HOST:PORT/TOKEN/FINGERPRINT, or nats://HOST:PORT/FLEET for a fleet in a NATS cluster")
	}
	return line{cluster: text[:end], fleet: text[end+1:]}, nil
}

// isCluster tells whether a text is one or more URLs of NATS servers, with commas between them.
func isCluster(urls string) bool {
	for u := range strings.SplitSeq(urls, ",") {
		p, err := url.Parse(u)
		if err != nil || p.Host == "" || (p.Scheme != "nats" && p.Scheme != "tls") {
			return false
		}
	}
	return true
}

// WithoutSecrets removes users, passwords and tokens from the URLs of a cluster. Other texts are removed.
func WithoutSecrets(urls string) string {
	all := strings.Split(urls, ",")
	for i, u := range all {
		all[i] = ""
		if p, err := url.Parse(u); err == nil {
			p.User, p.Path = nil, ""
			all[i] = p.String()
		}
	}
	return strings.Join(all, ",")
}

// loopback tells whether an address can only be reached from this machine.
func loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// reachable returns the address for the join line of a server that listens on address, and the hosts for its certificate.
func reachable(address, advertise string) (string, []string, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return "", nil, fmt.Errorf("address %q: %w", address, err)
	}
	hosts := []string{host}
	if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.IsUnspecified() {
		hosts = addresses()
	}
	if advertise == "" {
		return net.JoinHostPort(hosts[0], port), hosts, nil
	}
	if h, p, err := net.SplitHostPort(advertise); err == nil {
		return net.JoinHostPort(h, p), append(hosts, h), nil
	}
	return net.JoinHostPort(strings.Trim(advertise, "[]"), port), append(hosts, advertise), nil
}

// addresses are the addresses of this machine: IPv4 first, loopback last.
func addresses() []string {
	all, _ := net.InterfaceAddrs() // without them, loopback remains
	var four, six []string
	for _, a := range all {
		p, err := netip.ParsePrefix(a.String())
		switch {
		case err != nil || p.Addr().IsLoopback() || p.Addr().IsLinkLocalUnicast():
		case p.Addr().Is4():
			four = append(four, p.Addr().String())
		default:
			six = append(six, p.Addr().String())
		}
	}
	return append(append(four, six...), "127.0.0.1", "::1", "localhost")
}
