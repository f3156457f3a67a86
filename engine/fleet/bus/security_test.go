package bus

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"golang.org/x/time/rate"

	"github.com/throng-sim/throng/engine/fleet"
)

// refused checks that a connection may not publish to a subject.
func refused(t *testing.T, c *nats.Conn, subject string, data []byte) {
	t.Helper()
	errs := make(chan error, 10)
	c.SetErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { errs <- err })
	if err := c.PublishRequest(subject, c.NewInbox(), data); err != nil {
		t.Fatal(err)
	}
	permission(t, c, errs, "publish to "+subject)
}

// deaf checks that a connection may not subscribe to a subject.
func deaf(t *testing.T, c *nats.Conn, subject string) {
	t.Helper()
	errs := make(chan error, 10)
	c.SetErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { errs <- err })
	if _, err := c.SubscribeSync(subject); err != nil {
		t.Fatal(err)
	}
	permission(t, c, errs, "subscribe to "+subject)
}

func permission(t *testing.T, c *nats.Conn, errs chan error, what string) {
	t.Helper()
	if err := c.FlushTimeout(patience); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-errs:
		if !errors.Is(err, nats.ErrPermissionViolation) {
			t.Errorf("%s: %v", what, err)
		}
	case <-time.After(patience):
		t.Errorf("it may %s", what)
	}
}

func TestWorkersMayDoNothingElse(t *testing.T) {
	t.Parallel()
	for kind, config := range map[string]Config{"plain": {}, "tls": {TLS: true}} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := serve(t, config, newRecorder())
			a, b := join(t, s, "a"), join(t, s, "b")
			n, c := s.names, a.conn.Conn
			for _, subject := range []string{
				n.offers(""), n.offers("a"), n.request("b"), n.order("a"), n.order("b"), n.inbox("b") + ".x", n.enroll(), n.confirmations() + ".1",
				n.pull("b"), n.withdrawal(), n.readOrder("b"), "$JS.API.DIRECT.GET.KV_" + n.ordersBucket(),
				"$JS.API.STREAM.MSG.GET." + n.tickets(), "$JS.API.STREAM.MSG.GET.KV_" + n.ordersBucket(), "$JS.API.STREAM.PURGE." + n.tickets(),
				"$JS.API.STREAM.DELETE." + n.tickets(), "$JS.API.STREAM.CREATE.x", "$JS.API.STREAM.LIST", "$JS.API.INFO",
				"$JS.API.CONSUMER.CREATE." + n.tickets() + ".x", "$JS.API.CONSUMER.DELETE." + n.tickets() + ".any",
				"$JS.API.CONSUMER.CREATE.OBJ_" + n.bundlesBucket() + ".x.y", "$SYS.REQ.SERVER.PING", "$O." + n.bundlesBucket() + ".C.x",
			} {
				refused(t, c, subject, []byte("{}"))
			}
			for _, subject := range []string{
				">", "*", n.fleet + ".>", "$JS.>", "$KV.>", "$SYS.>", "_INBOX.>", n.order("b"), n.order("*"), n.request("a"), n.request("*"),
				n.inbox("b") + ".>", n.inbox("*") + ".>", n.offers(""), n.offers("a"), n.enroll(), n.enrolling("*") + ".>", n.confirmations() + ".>",
			} {
				deaf(t, c, subject)
			}
			foreignAcks(t, s, a, b)
			foreignAnswers(t, s, a, b)
		})
	}
}

// foreignAcks checks that a cannot acknowledge what b has.
func foreignAcks(t *testing.T, s *Server, a, b *Link) {
	t.Helper()
	s.Offer("", ticket(1))
	s.Offer("a", ticket(2))
	s.Offer("b", ticket(3))
	stored(t, s, 3)
	mine := fetch(t, a, ticket(2), 1).(*lease)
	own := fetch(t, b, ticket(3), 1).(*lease)
	shared := fetch(t, b, ticket(1), 1).(*lease)
	beat(t, a)
	beat(t, b)
	refused(t, a.conn.Conn, shared.message.Reply, []byte(ackDone))
	forged := appendTicket([]byte("a guess"), ticket(1))
	a.acks.add(ack{ackDone, shared.message.Reply, forged})              // without its proof
	a.acks.add(ack{ackDone, shared.message.Reply, mine.message.Data})   // with the proof of another ticket
	a.acks.add(ack{ackDone, own.message.Reply, own.message.Data})       // of the other's own queue
	a.acks.add(ack{ackDone, "fleet.shards.any", shared.message.Data})   // elsewhere
	a.acks.add(ack{ackDone, n9(mine.message.Reply), mine.message.Data}) // with another sequence
	beat(t, a)
	stored(t, s, 3)
	for _, d := range []fleet.Delivery{mine, own, shared} {
		d.Done()
	}
	stored(t, s, 0)
}

// n9 replaces the sequence in the reply subject of a delivery.
func n9(reply string) string {
	t := strings.Split(reply, ".")
	t[5] = "1"
	return strings.Join(t, ".")
}

// foreignAnswers checks that a cannot make the coordinator publish for it.
func foreignAnswers(t *testing.T, s *Server, a, b *Link) {
	t.Helper()
	request := appendPart(kindPart, part{id: 1, size: 3, data: []byte("abc")})
	for _, reply := range []string{s.names.offers(""), s.names.order("b"), s.names.inbox("b") + ".x", s.names.inbox("a")} {
		if err := a.conn.PublishRequest(s.names.request("a"), reply, request); err != nil {
			t.Fatal(err)
		}
	}
	// The server itself answers anywhere: the worker then sees that it is not for it.
	if err := a.conn.PublishRequest(s.names.readOrder("a"), s.names.order("b"), nil); err != nil {
		t.Fatal(err)
	}
	beat(t, a)
	beat(t, b)
	stored(t, s, 0)
	select {
	case o := <-b.Orders():
		t.Errorf("b has the order %q", o)
	default:
	}
}

func TestATokenIsOnlyForEnrolling(t *testing.T) {
	t.Parallel()
	for kind, config := range map[string]Config{"plain": {}, "tls": {TLS: true}} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := serve(t, config, newRecorder())
			l := s.line
			o := []nats.Option{nats.CustomInboxPrefix(s.names.enrolling("x"))}
			if config.TLS {
				o = append(o, nats.Secure(pinned(l.fingerprint)))
			}
			id := random()
			c, err := nats.Connect("nats://"+l.address, append(o, nats.UserInfo(userEnroll+id, l.token))...)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			for _, subject := range []string{s.names.request("a"), s.names.offers(""), "$JS.API.INFO", s.names.pull(""), s.names.order("a")} {
				refused(t, c, subject, nil)
			}
			for _, subject := range []string{">", s.names.enroll(), s.names.enrolling("*") + ".>", s.names.enrolling(random()) + ".>", "_INBOX.>"} {
				deaf(t, c, subject)
			}
			for _, user := range []string{"", "a", "a.1", userCoordinator, userSystem, userEnroll, userEnroll + "*", userEnroll + "a.b", userEnroll + strings.Repeat(">", 30)} {
				if c, err := nats.Connect("nats://"+l.address, append(o, nats.UserInfo(user, l.token))...); err == nil {
					c.Close()
					t.Errorf("user %q is admitted with the token", user)
				}
			}
			if c, err := nats.Connect("nats://"+l.address, o...); err == nil {
				c.Close()
				t.Error("a connection without a token is admitted")
			}
		})
	}
}

func TestWrongTokens(t *testing.T) {
	t.Parallel()
	for _, config := range []Config{{}, {TLS: true}} {
		s := serve(t, config, newRecorder())
		wrong := s.line
		wrong.token = random()
		s.embedded.auth.hosts["127.0.0.1"] = rate.NewLimiter(rate.Every(time.Hour), wrongTokens) // also on a slow machine
		for range wrongTokens {
			if _, err := Join(within(t), wrong.String(), WorkerConfig{}); !errors.Is(err, ErrToken) {
				t.Fatalf("a wrong token: %v", err)
			}
		}
		if _, err := Join(within(t), s.Join(), WorkerConfig{}); !errors.Is(err, ErrToken) {
			t.Errorf("the right token after too many wrong ones: %v", err)
		}
		if len(s.line.token) < 26 {
			t.Errorf("the token has %d letters of 5 bits", len(s.line.token))
		}
	}
}

func TestAWrongFingerprintIsRefusedBeforeTheTokenIsSent(t *testing.T) {
	t.Parallel()
	s := serve(t, Config{TLS: true}, newRecorder())
	wrong := s.line
	wrong.fingerprint = fingerprint([]byte("another"))
	if _, err := Join(within(t), wrong.String(), WorkerConfig{}); !errors.Is(err, errFingerprint) {
		t.Errorf("another fingerprint: %v", err)
	}
	// A machine between presents the right CA certificate, which is public, but has another key.
	other, err := newAuthority()
	if err != nil {
		t.Fatal(err)
	}
	config, err := other.serving([]string{"127.0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	config.Certificates[0].Certificate[1] = s.embedded.auth.authority.certificate.Raw
	between := s.line
	received := make(chan string, 1)
	between.address = impostor(t, config, received)
	if _, err := Join(within(t), between.String(), WorkerConfig{}); !errors.Is(err, errFingerprint) {
		t.Errorf("a machine between: %v", err)
	}
	if got := <-received; got != "" {
		t.Errorf("it has received %q", got)
	}
	// One without TLS receives nothing either.
	between.address = impostor(t, nil, received)
	if _, err := Join(within(t), between.String(), WorkerConfig{}); err == nil {
		t.Error("a server without TLS is trusted")
	}
	if got := <-received; got != "" {
		t.Errorf("it has received %q", got)
	}
}

// impostor is a server that presents a certificate and tells what it receives then.
func impostor(t *testing.T, config *tls.Config, received chan<- string) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close() //nolint:errcheck // the test has ended
		info := `INFO {"server_id":"x","version":"2.15.3","max_payload":1000,"tls_required":` + map[bool]string{true: "true", false: "false"}[config != nil] + "}\r\n"
		_, _ = io.WriteString(c, info)
		if config != nil {
			c = tls.Server(c, config)
		}
		b, _ := io.ReadAll(c)
		received <- string(b)
	}()
	return l.Addr().String()
}

func TestDismiss(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, c Config) {
		h := newRecorder()
		if c.URL == "" {
			c.Folder, c.Listen = t.TempDir(), free(t)
		}
		s, err := Serve(within(t), c)
		if err != nil {
			t.Fatal(err)
		}
		s.Listen(h)
		a, b := join(t, s, "a"), join(t, s, "b")
		beat(t, a)
		beat(t, b)
		h.expect(t, "+a")
		h.expect(t, "+b")
		s.Dismiss("a")
		h.expect(t, "-a")
		if c.URL == "" {
			if _, err := a.Fetch(within(t)); !errors.Is(err, ErrRemoved) {
				t.Errorf("Fetch: %v", err)
			}
		}
		if err := a.Beat(within(t)); !errors.Is(err, ErrRemoved) {
			t.Errorf("Beat: %v", err)
		}
		if _, err := a.Fetch(within(t)); !errors.Is(err, ErrRemoved) {
			t.Errorf("Fetch after Beat: %v", err)
		}
		beat(t, b)
		again := join(t, s, "a")
		if again.Name() != "a" {
			t.Errorf("it joins again as %s", again.Name())
		}
		beat(t, again)
		if c.URL != "" {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			return
		}
		s.Dismiss("b")
		if err := s.Close(); err != nil { // before b has noticed
			t.Fatal(err)
		}
		serve(t, c, newRecorder())
		if _, err := b.Fetch(within(t)); !errors.Is(err, ErrRemoved) {
			t.Errorf("after a restart, Fetch: %v", err)
		}
		beat(t, again)
	})
}

func TestWorkersWithTLSHaveNoPasswords(t *testing.T) {
	t.Parallel()
	s := serve(t, Config{TLS: true}, newRecorder())
	issue := s.issues.next()
	c, err := nats.Connect("nats://"+s.line.address, nats.Secure(pinned(s.line.fingerprint)),
		nats.UserInfo(user("a", issue), s.embedded.auth.password("a", issue)))
	if err == nil {
		c.Close()
		t.Error("a password is enough")
	}
}

func TestJoinLinesSurviveAShell(t *testing.T) {
	t.Parallel()
	s := serve(t, Config{TLS: true, Advertise: "coordinator.example.com:4711"}, newRecorder())
	if !strings.HasPrefix(s.Join(), "throng://coordinator.example.com:4711/") {
		t.Errorf("join line %s", s.Join())
	}
	out, err := exec.CommandContext(t.Context(), "sh", "-c", "echo "+s.Join()).Output()
	if err != nil || strings.TrimSpace(string(out)) != s.Join() {
		t.Errorf("a shell prints %s, %v", out, err)
	}
}
