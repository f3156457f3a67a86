package bus

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/throng-sim/throng/engine/fleet"
)

// order waits for an order.
func expectOrder(t *testing.T, l *Link, want string) {
	t.Helper()
	select {
	case got := <-l.Orders():
		if string(got) != want {
			t.Fatalf("order %q, want %q", got, want)
		}
	case <-time.After(patience):
		t.Fatalf("no order, want %q", want)
	}
}

func TestWorkersReceiveTheNewestOrder(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, c Config) {
		s := serve(t, c, newRecorder())
		s.Order("a", []byte("before it joined"))
		a, b := join(t, s, "a"), join(t, s, "b")
		expectOrder(t, a, "before it joined")
		for i := range 100 {
			s.Order("a", fmt.Append(nil, i))
			s.Order("b", fmt.Append(nil, -i))
		}
		for l, want := range map[*Link]string{a: "99", b: "-99"} {
			for got := ""; got != want; {
				select {
				case o := <-l.Orders():
					got = string(o)
				case <-time.After(patience):
					t.Fatalf("the last order is %q, want %q", got, want)
				}
			}
		}
		a.mu.Lock()
		a.newest, a.delivered = 1, 1 // an order was lost
		a.mu.Unlock()
		beat(t, a)
		expectOrder(t, a, "99")
		a.mu.Lock()
		a.newest += 1e9 // it has one of an earlier coordinator, whose clock was ahead
		a.mu.Unlock()
		s.Order("a", []byte("later"))
		beat(t, a)
		expectOrder(t, a, "later")
		s.Order("a", []byte("last"))
		expectOrder(t, a, "last")
	})
}

func TestPresence(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, c Config) {
		h := newRecorder()
		s := serve(t, c, h)
		a := join(t, s, "a")
		before := time.Now()
		beat(t, a)
		h.expect(t, "+a")
		h.expect(t, "-a") // without beats
		if d := time.Since(before); d < fleet.LeaseTime || d > 2*fleet.LeaseTime {
			t.Errorf("a silent worker is absent after %v", d)
		}
		beat(t, a)
		h.expect(t, "+a")
		stop := keepBeating(t, a) // on a busy machine, joining takes longer than a worker may be silent
		defer stop()
		b, err := Join(within(t), s.Join(), WorkerConfig{Name: "b"})
		if err != nil {
			t.Fatal(err)
		}
		beat(t, b)
		h.expect(t, "+b")
		began := time.Now()
		b.conn.Close() // killed
		if s.embedded == nil {
			return
		}
		h.expect(t, "-b")
		if d := time.Since(began); d > fleet.LeaseTime {
			t.Errorf("a worker whose connection has ended is absent after %v", d)
		}
		stop()
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
		h.expect(t, "-a") // it has left
	})
}

func TestRequestsOfAnySize(t *testing.T) {
	t.Parallel()
	kinds := map[string]Config{
		"plain":   {},
		"tls":     {TLS: true},
		"cluster": {URL: cluster(t, func(o *server.Options) { o.MaxPayload = 64 << 10 })},
	}
	random := rand.NewChaCha8([32]byte{1})
	body := make([]byte, 24<<20)
	_, _ = random.Read(body)
	for kind, c := range kinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			h := newRecorder()
			c.Timeout = patience
			s := serve(t, c, h)
			l := joinAs(t, s, WorkerConfig{Name: "a", Timeout: patience}) // eight concurrent requests of 3 MB take longer on a busy machine
			room := partSize(l.conn.Conn)
			for _, size := range []int{0, 1, room - 1, room, room + 1, 2 * room, 2*room + 1, len(body)} {
				got, err := l.Request(within(t), body[:size])
				if err != nil || !bytes.Equal(got, body[:size]) {
					t.Fatalf("a request of %d bytes: an answer of %d, %v", size, len(got), err)
				}
			}
			var group sync.WaitGroup
			for i := range 8 {
				group.Go(func() {
					part := body[i<<20 : (i+3)<<20]
					if got, err := l.Request(within(t), part); err != nil || !bytes.Equal(got, part) {
						t.Errorf("request %d: an answer of %d bytes, %v", i, len(got), err)
					}
				})
			}
			group.Wait()
			s.requests.mu.Lock()
			defer s.requests.mu.Unlock()
			if len(s.requests.partial) != 0 || s.requests.memory != 0 {
				t.Errorf("%d partial messages with %d bytes are left", len(s.requests.partial), s.requests.memory)
			}
		})
	}
}

func TestRequestsArriveInOrder(t *testing.T) {
	t.Parallel()
	h := newRecorder()
	var mu sync.Mutex
	var got []string
	h.handle = func(worker string, request []byte, reply func([]byte)) {
		mu.Lock()
		defer mu.Unlock()
		got = append(got, worker+string(request))
		go reply(nil)
		go reply([]byte("a second answer")) // is dropped
	}
	s := serve(t, Config{}, h)
	l := join(t, s, "a")
	for i := range 100 {
		if _, err := l.Request(within(t), fmt.Append(nil, i)); err != nil {
			t.Fatal(err)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if len(got) != 100 {
		t.Errorf("%d requests have arrived, want 100", len(got))
	}
	for i, g := range got {
		if g != fmt.Sprint("a", i) {
			t.Fatalf("request %d is %s", i, g)
		}
	}
}

func TestRequestsThatAreNotAnswered(t *testing.T) {
	t.Parallel()
	h := newRecorder()
	h.handle = func(string, []byte, func([]byte)) {}
	s := serve(t, Config{Timeout: 1500 * time.Millisecond, MaxPartial: 8 << 20}, h) // partial requests are kept for 3 s
	l := join(t, s, "a")
	hello := appendPart(kindPart, part{size: 5, data: []byte("hello")})
	if _, err := l.conn.ask(t.Context(), s.names.request("a"), hello, 50*time.Millisecond); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a request without answer: %v", err)
	}
	if _, err := l.Request(t.Context(), make([]byte, 5<<20)); err == nil || !strings.Contains(err.Error(), "too large") {
		t.Errorf("a request that is too large: %v", err)
	}
	send := func(id uint64) error {
		_, err := l.ask(within(t), appendPart(kindPart, part{id: id, size: 4 << 20, data: make([]byte, 1000)}))
		return err
	}
	for id := range uint64(2) {
		if err := send(id); err != nil {
			t.Fatal(err)
		}
	}
	if err := send(2); err == nil || !strings.Contains(err.Error(), ErrOverloaded.Error()) {
		t.Errorf("more than the memory for partial requests: %v", err)
	}
	for ctx := within(t); send(3) != nil; { // until the others are given up
		if ctx.Err() != nil {
			t.Fatal("partial requests are not freed")
		}
	}
}

func TestBundles(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, c Config) {
		s := serve(t, c, newRecorder())
		l := join(t, s, "a")
		big := bytes.Repeat([]byte("0123456789abcdef"), 600_000)
		for name, content := range map[string][]byte{"empty": nil, "small": []byte("x"), "big one.tar": big} {
			if err := s.Publish(within(t), name, []byte("replaced")); err != nil {
				t.Fatal(err)
			}
			if err := s.Publish(within(t), name, content); err != nil {
				t.Fatal(err)
			}
			got, err := l.Bundle(within(t), name)
			if err != nil || !bytes.Equal(got, content) {
				t.Fatalf("bundle %s: %d bytes, %v; want %d", name, len(got), err, len(content))
			}
		}
		if err := s.Reset(within(t)); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"big one.tar", "other"} {
			if _, err := l.Bundle(within(t), name); err == nil || !strings.Contains(err.Error(), "has no bundle") {
				t.Errorf("bundle %s: %v", name, err)
			}
		}
	})
}

func TestWorkersReconnectToARestartedCoordinator(t *testing.T) {
	t.Parallel()
	for _, secure := range []bool{false, true} {
		t.Run(fmt.Sprint("tls=", secure), func(t *testing.T) {
			t.Parallel()
			c := Config{Folder: filepath.Join(t.TempDir(), "keys"), TLS: secure, Listen: free(t)}
			first, err := Serve(within(t), c)
			if err != nil {
				t.Fatal(err)
			}
			h := newRecorder()
			first.Listen(h)
			l := join(t, first, "a")
			beat(t, l)
			first.Order("a", []byte("one"))
			expectOrder(t, l, "one")
			fetched := make(chan fleet.Delivery)
			go func() {
				d, err := l.Fetch(within(t))
				if err != nil {
					t.Error(err)
				}
				fetched <- d
			}()
			line := first.Join()
			if err := first.Close(); err != nil {
				t.Fatal(err)
			}
			h = newRecorder()
			second := serve(t, c, h)
			if second.Join() != line {
				t.Errorf("the join line has changed")
			}
			h.expect(t, "+a") // it beats when it is back
			second.Offer("a", ticket(7))
			if d := <-fetched; d == nil || d.Ticket() != ticket(7) {
				t.Fatalf("fetched %v", d)
			}
			second.Order("a", []byte("two"))
			expectOrder(t, l, "two")
			if got, err := l.Request(within(t), []byte("hello")); err != nil || string(got) != "hello" {
				t.Errorf("%q, %v", got, err)
			}
			if other := join(t, second, "a"); other.Name() != "a-2" {
				t.Errorf("a second worker is %s", other.Name())
			}
			secret(t, c.Folder)
		})
	}
}

// secret checks that only the owner can read what is in a folder.
func secret(t *testing.T, folder string) {
	t.Helper()
	err := filepath.Walk(folder, func(path string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// free returns an address with a free port.
func free(t *testing.T) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // only its address is needed
	return l.Addr().String()
}

func TestALinkGivesUpInTime(t *testing.T) {
	t.Parallel()
	s := serve(t, Config{}, newRecorder())
	l, err := Join(within(t), s.Join(), WorkerConfig{Name: "a", Reconnect: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // the test has ended
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Fetch(within(t)); !errors.Is(err, ErrLost) {
		t.Errorf("Fetch: %v", err)
	}
	if err := l.Beat(within(t)); !errors.Is(err, ErrLost) {
		t.Errorf("Beat: %v", err)
	}
}

func TestCloseLeavesNoFolder(t *testing.T) {
	t.Parallel()
	s, err := Serve(within(t), Config{})
	if err != nil {
		t.Fatal(err)
	}
	folder := s.embedded.scratch.Path
	if info, err := os.Stat(folder); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder: %v, %v", info, err)
	}
	for range 2 {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(folder); !os.IsNotExist(err) {
		t.Errorf("the folder is left: %v", err)
	}
}

func TestNamesOfWorkers(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, c Config) {
		h := newRecorder()
		s := serve(t, c, h)
		a, b, dots := join(t, s, "a"), join(t, s, "a"), join(t, s, "host.example.com")
		if a.Name() != "a" || b.Name() != "a-2" || dots.Name() != "host-example-com" {
			t.Errorf("names %s, %s, %s", a.Name(), b.Name(), dots.Name())
		}
		beat(t, a)
		h.expect(t, "+a")
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
		h.expect(t, "-a")
		if again := join(t, s, "a"); again.Name() != "a" {
			t.Errorf("a worker that has left is %s when it joins again", again.Name())
		}
	})
}

func TestCertificatesAreRenewed(t *testing.T) {
	t.Parallel()
	s := serve(t, Config{TLS: true, CertificateLife: time.Hour}, newRecorder())
	l := join(t, s, "a")
	beat(t, l)
	before := l.certificate
	l.renewAt = time.Now().Add(-time.Second)
	beat(t, l)
	if bytes.Equal(l.certificate.Certificate[0], before.Certificate[0]) {
		t.Fatal("the certificate was not renewed")
	}
	if d := time.Until(l.renewAt); d < 29*time.Minute || d > 30*time.Minute {
		t.Errorf("the next one is due in %v", d)
	}
	s.embedded.disconnect("a")
	for ctx := within(t); l.Beat(ctx) != nil; { // with the new one
		if ctx.Err() != nil {
			t.Fatal("it does not reconnect")
		}
	}
}
