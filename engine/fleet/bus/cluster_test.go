package bus

import (
	"context"
	"errors"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/throng-sim/throng/engine/fleet"
)

func TestFleetsShareACluster(t *testing.T) {
	t.Parallel()
	url := cluster(t, nil)
	h1, h2 := newRecorder(), newRecorder()
	s1, s2 := serve(t, Config{URL: url}, h1), serve(t, Config{URL: url}, h2)
	a1, a2 := join(t, s1, "a"), join(t, s2, "a")
	s1.Offer("", ticket(1))
	s2.Offer("", ticket(2))
	s1.Order("a", []byte("one"))
	s2.Order("a", []byte("two"))
	fetch(t, a1, ticket(1), 1).Done()
	fetch(t, a2, ticket(2), 1).Done()
	expectOrder(t, a1, "one")
	expectOrder(t, a2, "two")
	b := join(t, s1, "b")
	beat(t, b)
	for e := ""; e != "+b"; {
		select {
		case e = <-h1.events:
		case e = <-h2.events:
			if strings.Contains(e, "b") {
				t.Fatalf("the other fleet has %s", e)
			}
		case <-time.After(patience):
			t.Fatal("b is not present")
		}
	}
	if err := s1.Close(); err != nil {
		t.Fatal(err)
	}
	var left []string
	for name := range s2.js.StreamNames(within(t)).Name() {
		if !strings.Contains(name, s2.names.fleet) {
			left = append(left, name)
		}
	}
	if left != nil {
		t.Errorf("streams %v are left after Close", left)
	}
	beat(t, a2)
}

func TestTheQueuesOfARestartedClusterAreMadeAgain(t *testing.T) {
	t.Parallel()
	at := free(t)
	start := func() *server.Server {
		_, port, _ := net.SplitHostPort(at)
		number, _ := strconv.Atoi(port)
		n, err := server.NewServer(&server.Options{
			Host: "127.0.0.1", Port: number, NoLog: true, NoSigs: true, JetStream: true, StoreDir: t.TempDir(), JetStreamMaxStore: 1 << 20,
		})
		if err != nil {
			t.Fatal(err)
		}
		n.Start()
		if !n.ReadyForConnections(patience) {
			t.Fatal("the server has not started")
		}
		return n
	}
	stop := func(n *server.Server) {
		n.Shutdown()
		n.WaitForShutdown()
	}
	first := start()
	h := newRecorder()
	s := serve(t, Config{URL: "nats://" + at}, h)
	l := join(t, s, "a")
	s.Order("a", []byte("one"))
	expectOrder(t, l, "one")
	if err := s.Publish(within(t), "run", []byte("scenario")); err != nil {
		t.Fatal(err)
	}
	s.Offer("a", ticket(1))
	s.Offer("", ticket(2))
	s.Offer("", ticket(3))
	stored(t, s, 3)
	s.Withdraw(ticket(3))
	stored(t, s, 2)
	stop(first)
	second := start()
	t.Cleanup(func() { stop(second) })
	got := map[uint64]bool{}
	for ctx := within(t); len(got) < 2; {
		_ = l.Beat(ctx) // makes its queue again, when the coordinator is back too
		short, cancel := context.WithTimeout(ctx, fleet.BeatEvery)
		d, err := l.Fetch(short)
		cancel()
		if err == nil {
			got[d.Ticket().Shard] = true
			d.Done()
		} else if ctx.Err() != nil {
			t.Fatalf("fetched only %v", got)
		}
	}
	if !got[1] || !got[2] {
		t.Errorf("fetched %v", got)
	}
	for ctx := within(t); ; { // workers that noticed the restart prepare again
		content, err := l.Bundle(ctx, "run")
		if err == nil && string(content) == "scenario" {
			break
		}
		if ctx.Err() != nil {
			t.Fatalf("the bundle is %q: %v", content, err)
		}
	}
	s.Order("a", []byte("two"))
	expectOrder(t, l, "two")
	beat(t, l)
	stored(t, s, 0)
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil { // before its cluster
		t.Error(err)
	}
}

func TestClustersThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	off := cluster(t, func(o *server.Options) { o.JetStream = false })
	locked := cluster(t, func(o *server.Options) { o.Username, o.Password = "u", "p" })
	for name, test := range map[string]struct {
		config Config
		want   string
	}{
		"JetStream off":    {Config{URL: off}, "has JetStream off"},
		"wrong password":   {Config{URL: locked, Access: Access{User: "u", Password: "x"}}, "refuses these credentials"},
		"no server":        {Config{URL: "nats://" + free(t)}, "no coordinator can be reached"},
		"no URL":           {Config{URL: "http://x"}, "not the URL"},
		"bad name":         {Config{URL: locked, Fleet: "a.b"}, "not usable"},
		"no address":       {Config{Listen: "here"}, "address for workers"},
		"no port":          {Config{Listen: "127.0.0.1:http1"}, "not a number"},
		"address in use":   {Config{Listen: strings.TrimPrefix(off, "nats://")}, "in use"},
		"folder is a file": {Config{Folder: "config.go"}, "config.go"},
	} {
		if _, err := Serve(within(t), test.config); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	s := serve(t, Config{URL: strings.Replace(locked, "nats://", "nats://u:p@", 1)}, newRecorder())
	if strings.Contains(s.Join(), "u:p") {
		t.Errorf("the join line %s has a password", s.Join())
	}
	if _, err := Join(within(t), s.Join(), WorkerConfig{}); !errors.Is(err, ErrCredentials) {
		t.Errorf("a worker without credentials: %v", err)
	}
	for version, ok := range map[string]bool{"2.10.22": false, "2.11.0": true, "3.0.0": true, "1.4.1": false, "": false, "2.12.0-RC.1": true} {
		if err := checkVersion(version); (err == nil) != ok {
			t.Errorf("version %s: %v", version, err)
		}
	}
}
