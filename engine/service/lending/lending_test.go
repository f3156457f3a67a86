package lending

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/internal/pace"
	"github.com/throng-sim/throng/engine/service/admission"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const endpoint = "GET /"

// bench is a lending with one service and one worker, whose messages the test sends.
type bench struct {
	*testing.T
	*Lending
	control *admission.Controller
	lent    Lent
	number  uint64
}

// try runs a test with a lending.
func try(t *testing.T, limits admission.Limits, f func(b *bench)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := &bench{T: t, control: admission.New(limits, nil)}
		b.Lending = New(Config{Services: map[string]*admission.Controller{"shop": b.control}})
		defer b.Close()
		b.lent = b.Join("a")
		f(b)
	})
}

func (b *bench) admit(id uint64, n int) Grant {
	b.Helper()
	g, err := b.Admit(b.Context(), "a", Ask{ID: id, Service: "shop", Endpoint: endpoint, Requests: n, Member: b.lent.Member})
	if err != nil {
		b.Fatal(err)
	}
	return g
}

func (b *bench) tell(all ...Note) Notes {
	b.Helper()
	b.number++
	n := Notes{Number: b.number, Lent: b.lent.Version, All: all, Member: b.lent.Member}
	if _, err := b.Tell("a", n); err != nil {
		b.Fatal(err)
	}
	return n
}

// inFlight checks the number of requests in flight.
func (b *bench) inFlight(want int) {
	b.Helper()
	var s engine.ServiceState
	if b.control.Fill(&s, time.Now()); s.InFlight != want {
		b.Errorf("%d requests in flight, want %d", s.InFlight, want)
	}
}

// TestRepeatedMessages checks that a message that is repeated counts once.
func TestRepeatedMessages(t *testing.T) {
	try(t, admission.Limits{Connections: 5}, func(b *bench) {
		first := b.admit(1, 3)
		if again := b.admit(1, 3); first.Requests != 3 || again.First != first.First || again.Requests != 3 {
			b.Errorf("%+v, repeated %+v", first, again)
		}
		b.inFlight(3)
		n := b.tell(Note{Kind: Began, Service: "shop", N: 4}, Note{Kind: Ended, ID: first.First})
		if _, err := b.Tell("a", n); err != nil {
			b.Error(err)
		}
		b.inFlight(6) // above the limit, because they began without an admission
		b.tell(Note{Kind: Over, Service: "shop"}, Note{Kind: Ended, ID: first.First}, Note{Kind: Ended, ID: 99})
		b.inFlight(5)
		b.tell(Note{Kind: Ended, ID: first.First + 1})
		b.inFlight(4)
		if late, err := b.Admit(b.Context(), "a", Ask{ID: 7, Over: 7, Service: "shop", Requests: 1, Member: b.lent.Member}); err != nil || late.Requests != 0 {
			b.Errorf("an ask that is over received %+v, %v", late, err)
		}
		b.inFlight(4)
	})
}

// TestWithdrawnAsks checks that a withdrawn ask holds nothing, whenever it is withdrawn.
func TestWithdrawnAsks(t *testing.T) {
	try(t, admission.Limits{Connections: 1}, func(b *bench) {
		b.tell(Note{Kind: Withdrawn, ID: 1}) // overtakes the ask
		if g := b.admit(1, 1); g.Requests != 0 {
			b.Errorf("a withdrawn ask received %+v", g)
		}
		b.admit(2, 1)
		b.inFlight(1)
		if g := b.admit(3, 1); g.Requests != 0 || g.Cause != engine.ThrottledBySlots {
			b.Errorf("an ask above the limit received %+v", g)
		}
		b.tell(Note{Kind: Withdrawn, ID: 3}, Note{Kind: Withdrawn, ID: 2}) // the answer to 2 was lost
		synctest.Wait()
		b.inFlight(0)
		if g := b.admit(4, 2); g.Requests != 1 {
			b.Errorf("the slot was not returned: %+v", g)
		}
	})
}

// TestReturnedTurns checks that the turn of a request that was not sent goes to the next.
func TestReturnedTurns(t *testing.T) {
	try(t, admission.Limits{Connections: 5, Whole: pace.Limits{Mode: pace.Fixed, Start: 0.5}, Undivided: true}, func(b *bench) {
		began := time.Now()
		g := b.admit(1, 5)
		if g.Requests != 1 || !g.Rated {
			b.Errorf("%+v", g)
		}
		b.tell(Note{Kind: Returned, ID: g.First}, Note{Kind: Ended, ID: g.First})
		if g = b.admit(2, 1); g.Requests != 1 || time.Since(began) != 0 {
			b.Errorf("%+v after %v", g, time.Since(began))
		}
		b.tell(Note{Kind: Ended, ID: g.First})
		for g = b.admit(3, 1); g.Requests == 0; g = b.admit(3, 1) {
			if g.Cause != engine.ThrottledByRate {
				b.Errorf("throttled by %v", g.Cause)
			}
		}
		if took := time.Since(began); took != 2*time.Second {
			b.Errorf("the next turn came after %v, want 2 s", took)
		}
	})
}

// TestUnknownWorkers checks whose messages are refused.
func TestUnknownWorkers(t *testing.T) {
	try(t, admission.Limits{Connections: 1}, func(b *bench) {
		before := b.lent
		b.admit(1, 1)
		b.lent = b.Join("a")
		b.inFlight(0)
		for name, member := range map[string]uint64{"a": before.Member, "b": b.lent.Member} {
			if _, err := b.Admit(b.Context(), name, Ask{ID: 1, Service: "shop", Requests: 1, Member: member}); !errors.Is(err, ErrUnknown) {
				b.Errorf("an ask of %s, member %d: %v", name, member, err)
			}
			if _, err := b.Tell(name, Notes{Number: 9, Member: member}); !errors.Is(err, ErrUnknown) {
				b.Errorf("notes of %s, member %d: %v", name, member, err)
			}
		}
		if _, err := b.Admit(b.Context(), "a", Ask{ID: 1, Service: "none", Requests: 1, Member: b.lent.Member}); err == nil {
			b.Error("an unknown service has no error")
		}
	})
}

// link connects a borrower to a bench.
type link struct{ *bench }

func (l link) Admit(ctx context.Context, a Ask) (Grant, error) { return l.Lending.Admit(ctx, "a", a) }
func (l link) Tell(_ context.Context, n Notes) (Lent, error)   { return l.Lending.Tell("a", n) }

// impatient is a request whose context ends when it has waited for a while.
type impatient struct{}

var errOver = errors.New("over")

func (impatient) Hold(engine.ThrottleCause, func() (engine.ThrottleCause, error)) error {
	synctest.Wait() // the admission arrives
	return errOver
}

// TestAdmissionArrivesTooLate checks that the admission of a request that ended in the meantime is returned.
func TestAdmissionArrivesTooLate(t *testing.T) {
	try(t, admission.Limits{Connections: 1}, func(b *bench) {
		from := NewBorrower(link{b}, b.lent)
		defer from.Close()
		shop := from.Service("shop")
		if err := shop.Enter(b.Context(), &admission.Request{Endpoint: endpoint}, impatient{}); !errors.Is(err, errOver) {
			b.Errorf("%v, want %v", err, errOver)
		}
		synctest.Wait()
		b.inFlight(0)
		var s engine.ServiceState
		if shop.Fill(&s, time.Now()); s.InFlight != 0 || s.Waiting != 0 {
			b.Errorf("%+v", s)
		}
	})
}
