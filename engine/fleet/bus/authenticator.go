package bus

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"golang.org/x/time/rate"
)

// The users of connections that are not a worker's. No worker can have such a name.
const (
	userCoordinator = "throng/coordinator"
	userSystem      = "throng/system"  // observes connections
	userEnroll      = "throng/enroll/" // begins that of a process that enrolls
)

// Wrong tokens that a host may send: a few in a row, then one every few seconds.
const (
	wrongTokens     = 10
	wrongTokenEvery = 6 * time.Second
	rememberedHosts = 4096
)

// authenticator authenticates the connections of an embedded server and limits them to the subjects that they need.
type authenticator struct {
	names     names
	authority *authority
	issues    *issues
	inside    string                 // the password of the coordinator's own connections
	tls       bool                   // workers have certificates, not passwords
	system    func() *server.Account // for userSystem

	mu    sync.Mutex
	hosts map[string]*rate.Limiter // what is left of wrongTokens
}

var _ server.Authentication = (*authenticator)(nil)

// Check implements [server.Authentication].
func (a *authenticator) Check(c server.ClientAuthentication) bool {
	if c.Kind() != server.CLIENT {
		return false
	}
	o := c.GetOpts()
	if o.Username == userCoordinator || o.Username == userSystem {
		if !same(o.Password, a.inside) {
			return false
		}
		user := &server.User{Username: o.Username}
		if o.Username == userSystem {
			user.Account = a.system()
		}
		c.RegisterUser(user)
		return true
	}
	if s := c.GetTLSConnectionState(); s != nil && len(s.VerifiedChains) > 0 {
		leaf := s.VerifiedChains[0][0]
		return leaf.SerialNumber.IsUint64() && a.admit(c, leaf.Subject.CommonName, leaf.SerialNumber.Uint64())
	}
	if id, ok := strings.CutPrefix(o.Username, userEnroll); ok {
		return a.enrolls(c, id, o.Password)
	}
	name, issue, ok := readUser(o.Username)
	return ok && !a.tls && same(o.Password, a.password(name, issue)) && a.admit(c, name, issue)
}

// admit lets a worker's connection in, with its rights, unless its identity is revoked.
func (a *authenticator) admit(c server.ClientAuthentication, worker string, issue uint64) bool {
	if worker == "" || worker != workerName(worker) || !a.issues.valid(worker, issue) {
		return false
	}
	c.RegisterUser(&server.User{Username: worker, Permissions: a.names.ofWorker(worker)})
	return true
}

// enrolls admits a connection with the token, which may do nothing but enroll.
func (a *authenticator) enrolls(c server.ClientAuthentication, id, token string) bool {
	host := "?"
	if r := c.RemoteAddress(); r != nil {
		host, _, _ = net.SplitHostPort(r.String())
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	l := a.hosts[host]
	if l == nil {
		if len(a.hosts) >= rememberedHosts {
			clear(a.hosts)
		}
		l = rate.NewLimiter(rate.Every(wrongTokenEvery), wrongTokens)
		a.hosts[host] = l
	}
	if l.Tokens() < 1 {
		return false
	}
	if !same(token, a.authority.token) || len(id) < 26 || strings.Trim(id, "abcdefghijklmnopqrstuvwxyz234567") != "" {
		l.Allow()
		return false
	}
	c.RegisterUser(&server.User{Username: userEnroll + id, Permissions: a.names.ofToken(id)})
	return true
}

// password is the password of a worker without TLS.
func (a *authenticator) password(worker string, issue uint64) string {
	m := hmac.New(sha256.New, a.authority.secret)
	m.Write([]byte("worker " + user(worker, issue)))
	return letters.EncodeToString(m.Sum(nil))
}

// user is the user of a worker without TLS.
func user(worker string, issue uint64) string { return worker + "." + strconv.FormatUint(issue, 10) }

func readUser(u string) (string, uint64, bool) {
	name, number, _ := strings.Cut(u, ".")
	issue, err := strconv.ParseUint(number, 10, 64)
	return name, issue, err == nil
}

// same compares secrets in a time that does not depend on them.
func same(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}
