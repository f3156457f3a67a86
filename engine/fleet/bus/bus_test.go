package bus

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"go.uber.org/goleak"

	"github.com/throng-sim/throng/engine/fleet"
)

func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "8"); err != nil { // they mostly wait
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

// patience is how long tests wait for what must come, on a slow machine.
const patience = 3 * time.Minute

// recorder is a handler that echoes requests, and records presence.
type recorder struct {
	handle func(worker string, request []byte, reply func([]byte))
	events chan string
}

func newRecorder() *recorder {
	return &recorder{
		handle: func(_ string, request []byte, reply func([]byte)) { reply(request) },
		events: make(chan string, 1000),
	}
}

func (r *recorder) Request(worker string, request []byte, reply func([]byte)) {
	r.handle(worker, request, reply)
}

func (r *recorder) Present(worker string) { r.events <- "+" + worker }

func (r *recorder) Absent(worker string) { r.events <- "-" + worker }

// expect waits for an event.
func (r *recorder) expect(t *testing.T, want string) {
	t.Helper()
	select {
	case got := <-r.events:
		if got != want {
			t.Fatalf("event %q, want %q", got, want)
		}
	case <-time.After(patience):
		t.Fatalf("no event, want %q", want)
	}
}

func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// serve starts a coordinator that ends with the test.
func serve(t *testing.T, c Config, h fleet.Handler) *Server {
	t.Helper()
	s, err := Serve(within(t), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	s.Listen(h)
	return s
}

// join joins a worker that ends with the test.
func join(t *testing.T, s *Server, name string) *Link {
	t.Helper()
	return joinAs(t, s, WorkerConfig{Name: name})
}

func joinAs(t *testing.T, s *Server, c WorkerConfig) *Link {
	t.Helper()
	c.Access = s.config.Access
	l, err := Join(within(t), s.Join(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

// cluster starts a plain NATS server and returns its URL.
func cluster(t *testing.T, change func(*server.Options)) string {
	t.Helper()
	o := &server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, NoLog: true, NoSigs: true, JetStream: true, StoreDir: t.TempDir(),
		JetStreamMaxMemory: 1 << 30, JetStreamMaxStore: 1 << 20,
	}
	if change != nil {
		change(o)
	}
	s, err := server.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() {
		s.Shutdown()
		s.WaitForShutdown()
	})
	if !s.ReadyForConnections(patience) {
		t.Fatal("the server has not started")
	}
	return s.ClientURL()
}

// kinds are the ways to serve a fleet.
var kinds = map[string]func(t *testing.T) Config{
	"plain": func(*testing.T) Config { return Config{} },
	"tls":   func(*testing.T) Config { return Config{TLS: true} },
	"cluster": func(t *testing.T) Config {
		t.Helper()
		return Config{URL: cluster(t, nil)}
	},
}

func eachKind(t *testing.T, test func(t *testing.T, c Config)) {
	t.Helper()
	for kind, config := range kinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			test(t, config(t))
		})
	}
}

func ticket(shard uint64) fleet.Ticket { return fleet.Ticket{Run: "run", Shard: shard, Offer: 1} }

// fetch fetches a ticket and checks it.
func fetch(t *testing.T, l *Link, want fleet.Ticket, count uint64) fleet.Delivery {
	t.Helper()
	d, err := l.Fetch(within(t))
	if err != nil {
		t.Fatal(err)
	}
	if d.Ticket() != want || d.Count() != count {
		t.Fatalf("ticket %v, count %d; want %v, %d", d.Ticket(), d.Count(), want, count)
	}
	return d
}

// stored waits until the queue has a number of tickets.
func stored(t *testing.T, s *Server, want uint64) {
	t.Helper()
	ctx := within(t)
	stream, err := s.js.Stream(ctx, s.names.tickets())
	last := uint64(0)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for ; err == nil; <-tick.C {
		info, err2 := stream.Info(ctx)
		if err = err2; err == nil {
			if last = info.State.Msgs; last == want {
				return
			}
		}
	}
	t.Fatalf("the queue has %d tickets, want %d: %v", last, want, err)
}

func TestTicketsAreDeliveredOnceUntilTheirLeaseLapses(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, c Config) {
		s := serve(t, c, newRecorder())
		a, b := join(t, s, "a"), join(t, s, "b")
		s.Offer("", ticket(1))
		first := fetch(t, a, ticket(1), 1)
		began := time.Now()
		for range 4 { // longer than the lease
			fetchNone(t, b, fleet.BeatEvery)
			first.Extend()
		}
		again := fetch(t, b, ticket(1), 2)
		if d := time.Since(began); d < 3*fleet.BeatEvery+fleet.LeaseTime || d > patience/6 {
			t.Errorf("redelivered after %v", d)
		}
		beat(t, b)   // what it has sent before has arrived
		first.Done() // a lapsed lease ends nothing
		beat(t, a)
		stored(t, s, 1)
		again.Return()
		third := fetch(t, b, ticket(1), 3)
		third.Done()
		third.Extend()
		beat(t, b)
		stored(t, s, 0)
		if n := len(s.tickets.offers); n != 0 {
			t.Errorf("%d offers are kept after their end", n)
		}
	})
}

func beat(t *testing.T, l *Link) {
	t.Helper()
	if err := l.Beat(within(t)); err != nil {
		t.Fatal(err)
	}
}

// keepBeating sends beats until stop is called, which may be called again.
func keepBeating(t *testing.T, l *Link) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(within(t))
	var beats sync.WaitGroup
	beats.Go(func() {
		tick := time.NewTicker(fleet.BeatEvery)
		defer tick.Stop()
		for {
			if err := l.Beat(ctx); err != nil && ctx.Err() == nil {
				t.Error(err)
			}
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
		}
	})
	return func() {
		cancel()
		beats.Wait()
	}
}

// fetchNone checks that no ticket comes for a time.
func fetchNone(t *testing.T, l *Link, d time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	if d, err := l.Fetch(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("fetched %v, %v", d, err)
	}
}

func TestOwnTicketsComeBeforeSharedOnes(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, c Config) {
		s := serve(t, c, newRecorder())
		a, b := join(t, s, "a"), join(t, s, "b")
		for i := range uint64(4) {
			s.Offer("", ticket(10+i))
		}
		for i := range uint64(4) {
			s.Offer("a", ticket(20+i))
			s.Offer("b", ticket(30+i))
		}
		stored(t, s, 12)
		for i := range uint64(4) {
			fetch(t, a, ticket(20+i), 1).Done()
		}
		for i := range uint64(4) {
			fetch(t, a, ticket(10+i), 1).Done()
		}
		fetchNone(t, a, 50*time.Millisecond) // those of b
		for i := range uint64(4) {
			fetch(t, b, ticket(30+i), 1).Done()
		}
		stored(t, s, 0)
	})
}

func TestATicketGoesBackIfNoFetchWaitsForIt(t *testing.T) {
	t.Parallel()
	s := serve(t, Config{}, newRecorder())
	a, b := join(t, s, "a"), join(t, s, "b")
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		_, err := a.Fetch(ctx)
		ended <- err
	}()
	shared, err := s.js.Consumer(within(t), s.names.tickets(), s.names.consumer(""))
	for err == nil {
		info, err2 := shared.Info(within(t))
		if err = err2; err == nil && info.NumWaiting == 1 {
			break
		}
	}
	cancel() // its request stays with the server
	if err2 := <-ended; err != nil || !errors.Is(err2, context.Canceled) {
		t.Fatal(err, err2)
	}
	began := time.Now()
	s.Offer("", ticket(1))
	fetch(t, b, ticket(1), 2).Done()
	if d := time.Since(began); d >= fleet.LeaseTime {
		t.Errorf("the ticket came after %v: its lease lapsed", d)
	}
}

func TestFetchEndsWithItsContextAndTheLink(t *testing.T) {
	t.Parallel()
	s := serve(t, Config{}, newRecorder())
	l := join(t, s, "a")
	ended := make(chan error)
	for range 2 {
		go func() {
			_, err := l.Fetch(context.WithoutCancel(t.Context()))
			ended <- err
		}()
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := <-ended; !errors.Is(err, fleet.ErrClosed) {
			t.Errorf("Fetch: %v", err)
		}
	}
	if _, err := l.Request(t.Context(), nil); !errors.Is(err, fleet.ErrClosed) {
		t.Errorf("Request: %v", err)
	}
}

func TestWithdrawnTicketsDoNotStay(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, c Config) {
		s := serve(t, c, newRecorder())
		l := join(t, s, "a")
		const n = 3000
		for i := range uint64(n) {
			s.Offer("", ticket(i))
			if i%3 == 0 {
				s.Withdraw(ticket(i)) // mostly before it is confirmed
			}
		}
		s.Withdraw(ticket(n)) // was not offered
		stored(t, s, n-n/3)
		for i := range uint64(n) {
			if i%3 == 1 {
				s.Withdraw(ticket(i)) // after it was confirmed
			}
		}
		stored(t, s, n/3)
		held := fetch(t, l, ticket(2), 1)
		s.Withdraw(held.Ticket()) // while a worker has it
		stored(t, s, n/3-1)
		held.Extend()
		held.Return()
		fetch(t, l, ticket(5), 1)
		if err := s.Reset(within(t)); err != nil {
			t.Fatal(err)
		}
		stored(t, s, 0)
		s.Offer("", ticket(2)) // an offer of another run may be equal
		fetch(t, l, ticket(2), 1)
	})
}

func TestAllOffersArrive(t *testing.T) {
	t.Parallel()
	s := serve(t, Config{}, newRecorder())
	const n, workers = 12000, 4 // more than a server keeps unconfirmed
	began := time.Now()
	for i := range uint64(n) {
		s.Offer("", ticket(i))
	}
	if d := time.Since(began); d > time.Second {
		t.Errorf("Offer blocks: %v", d)
	}
	stored(t, s, n)
	var mu sync.Mutex
	var got []uint64
	var group sync.WaitGroup
	for i := range workers {
		l := join(t, s, fmt.Sprint("w", i))
		group.Go(func() {
			for range 500 {
				d, err := l.Fetch(within(t))
				if err != nil {
					t.Error(err)
					return
				}
				d.Done()
				mu.Lock()
				got = append(got, d.Ticket().Shard)
				mu.Unlock()
			}
		})
	}
	group.Wait()
	slices.Sort(got)
	if len(slices.Compact(got)) != 500*workers {
		t.Errorf("%d different tickets, want %d", len(slices.Compact(got)), 500*workers)
	}
	stored(t, s, n-500*workers)
}
