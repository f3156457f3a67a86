package bus

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"
)

// The oldest version of a cluster's servers: earlier ones cannot send the messages of a bundle in batches.
const (
	oldestMajor = 2
	oldestMinor = 11
)

// options are the options of a connection to a cluster with these credentials. Beyond this machine, it uses TLS.
func (a Access) options(urls string) []nats.Option {
	var o []nats.Option
	if !onlyHere(urls) {
		o = append(o, nats.Secure())
	}
	if a.Credentials != "" {
		o = append(o, nats.UserCredentials(a.Credentials))
	}
	if a.User != "" {
		o = append(o, nats.UserInfo(a.User, a.Password))
	}
	if a.Token != "" {
		o = append(o, nats.Token(a.Token))
	}
	if a.Authorities != "" {
		o = append(o, nats.RootCAs(a.Authorities))
	}
	return o
}

// onlyHere tells whether the servers of a cluster are all on this machine.
func onlyHere(urls string) bool {
	for u := range strings.SplitSeq(urls, ",") {
		p, err := url.Parse(u)
		if err != nil || !loopback(net.JoinHostPort(p.Hostname(), "0")) {
			return false
		}
	}
	return true
}

// checkVersion refuses servers that are too old.
func checkVersion(version string) error {
	parts := strings.SplitN(version, ".", 3)
	if len(parts) > 1 {
		major, err1 := strconv.Atoi(parts[0])
		minor, err2 := strconv.Atoi(parts[1])
		if err1 == nil && err2 == nil && (major > oldestMajor || major == oldestMajor && minor >= oldestMinor) {
			return nil
		}
	}
	return fmt.Errorf("the NATS cluster has version %s: Throng needs %d.%d or later", version, oldestMajor, oldestMinor)
}

// errJetStream is why a cluster is not usable.
var errJetStream = errors.New("the NATS cluster has JetStream off for this account: enable it, because tickets are messages of its work queues")
