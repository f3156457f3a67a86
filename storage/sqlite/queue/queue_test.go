package queue

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/throng-sim/throng/engine"
)

func newQueue(t testing.TB) *Queue {
	return Of(t.TempDir(), slog.New(slog.DiscardHandler))
}

func enter(t testing.TB, q *Queue, e Entry) *Place {
	p, err := q.Enter(e)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func works(t testing.TB, q *Queue) (all []string) {
	entries, err := q.List()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		all = append(all, e.Work)
	}
	return all
}

func first(t testing.TB, p *Place) bool {
	yes, err := p.First()
	if err != nil {
		t.Fatal(err)
	}
	return yes
}

// TestOrder checks that priority comes before age, that a start time in the future holds up no other one, and that others can change both.
func TestOrder(t *testing.T) {
	q := newQueue(t)
	now := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	q.now = func() time.Time { return now }
	old := enter(t, q, Entry{Work: "old", Since: now})
	night := enter(t, q, Entry{Work: "night", Priority: 9, Start: now.Add(10 * time.Hour), Since: now.Add(1)})
	young := enter(t, q, Entry{Work: "young", Since: now.Add(2)})
	urgent := enter(t, q, Entry{Work: "urgent", Priority: 1, Since: now.Add(3)})
	if got, want := works(t, q), []string{"urgent", "old", "young", "night"}; !slices.Equal(got, want) {
		t.Errorf("the order is %v, want %v", got, want)
	}
	if !first(t, urgent) || first(t, old) || first(t, night) {
		t.Error("another than the urgent one is first")
	}
	urgent.Leave()
	if !first(t, old) || first(t, young) {
		t.Error("another than the old one is first")
	}
	e, err := young.Entry()
	if err != nil || len(e.ID) != idLength || e.Process != os.Getpid() {
		t.Fatalf("%+v, %v", e, err)
	}
	if err := q.Prioritize(e.ID, 5); err != nil {
		t.Fatal(err)
	}
	if !first(t, young) || first(t, old) {
		t.Error("the new priority does not count")
	}
	now = now.Add(11 * time.Hour) // the night has come
	if got, want := works(t, q), []string{"night", "young", "old"}; !slices.Equal(got, want) {
		t.Errorf("the order is %v, want %v", got, want)
	}
	if all, err := q.List(); err != nil || !all[0].Next || all[1].Next {
		t.Errorf("next are %+v, %v", all, err)
	}
	for _, p := range []*Place{old, night, young} {
		p.Leave()
	}
	if left, err := os.ReadDir(q.dir); err != nil || len(left) > 0 {
		t.Errorf("left are %v, %v", left, err)
	}
}

// TestCancel checks that a wait ends if another process cancels it, and that only what waits can be canceled.
func TestCancel(t *testing.T) {
	q := newQueue(t)
	p := enter(t, q, Entry{Work: "a run"})
	e, err := p.Entry()
	if err != nil {
		t.Fatal(err)
	}
	if err := q.Cancel(e.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := p.First(); !errors.Is(err, ErrCanceled) {
		t.Errorf("a canceled wait continues: %v", err)
	}
	p.Leave()
	for _, err := range []error{q.Cancel(e.ID), q.Prioritize(e.ID, 1), q.Cancel("")} {
		if _, ok := errors.AsType[*engine.FieldError](err); !ok {
			t.Errorf("what does not wait can be changed: %v", err)
		}
	}
	if left, err := os.ReadDir(q.dir); err != nil || len(left) > 0 {
		t.Errorf("left are %v, %v", left, err)
	}
}

// TestDeadProcess checks that the entry of a process that died holds up no other one, and that its files are removed.
func TestDeadProcess(t *testing.T) {
	q := newQueue(t)
	p := enter(t, q, Entry{Work: "a run"})
	dead := filepath.Join(q.dir, Prefix+"00000000000000000001-dead")
	for _, suffix := range []string{"", contentSuffix, cancelSuffix} { // without a lock
		if err := os.WriteFile(dead+suffix, []byte(`{"id": "dead", "priority": 99}`), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := works(t, q); !slices.Equal(got, []string{"a run"}) || !first(t, p) {
		t.Errorf("waiting are %v", got)
	}
	if left, err := filepath.Glob(dead + "*"); err != nil || len(left) > 0 {
		t.Errorf("left are %v, %v", left, err)
	}
	p.Leave()
}

// TestOneIsFirst checks that exactly one of the entries that are due is first, and that it leads the list.
func TestOneIsFirst(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		q := newQueue(t)
		now := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
		q.now = func() time.Time { return now }
		places := make([]*Place, rapid.IntRange(1, 6).Draw(r, "entries"))
		due := 0
		for i := range places {
			e := Entry{Priority: rapid.IntRange(-1, 1).Draw(r, "priority"), Since: now.Add(-time.Duration(rapid.IntRange(1, 3).Draw(r, "age")))}
			if rapid.Bool().Draw(r, "late") {
				e.Start = now.Add(time.Duration(rapid.IntRange(1, 3).Draw(r, "start")))
			} else {
				due++
			}
			places[i] = enter(t, q, e)
		}
		all, err := q.List()
		if err != nil || len(all) != len(places) || all[0].Next != (due > 0) {
			r.Fatalf("%d of %d are listed, %v: %+v", len(all), len(places), err, all)
		}
		firsts := 0
		for _, p := range places {
			if e, err := p.Entry(); err != nil {
				r.Fatal(err)
			} else if first(t, p) {
				if firsts++; e.ID != all[0].ID {
					r.Errorf("%+v is first, and the list begins with %+v", e, all[0])
				}
			}
		}
		if firsts != 1 {
			r.Errorf("%d are first", firsts)
		}
		for _, p := range places {
			p.Leave()
		}
	})
}

// TestCancelWhenItBegins checks that an entry either begins or is canceled, and that the one who cancels it knows.
func TestCancelWhenItBegins(t *testing.T) {
	q := newQueue(t)
	for range 200 {
		p := enter(t, q, Entry{Work: "a run"})
		e, err := p.Entry()
		if err != nil {
			t.Fatal(err)
		}
		began := make(chan error)
		go func() { began <- p.Begin() }()
		canceled := q.Cancel(e.ID)
		switch begun := <-began; {
		case begun == nil && canceled == nil:
			t.Fatal("it began, and was canceled")
		case begun != nil && !errors.Is(begun, ErrCanceled):
			t.Fatal(begun)
		}
		p.Leave()
	}
	if left, err := os.ReadDir(q.dir); err != nil || len(left) > 0 {
		t.Errorf("left are %v, %v", left, err)
	}
}

// TestYield checks that an entry that yields holds up no other one, whatever its priority.
func TestYield(t *testing.T) {
	q := newQueue(t)
	behind, ahead := enter(t, q, Entry{Work: "behind", Priority: 5}), enter(t, q, Entry{Work: "ahead"})
	for _, yields := range []bool{true, false} {
		if err := behind.Yield(yields); err != nil {
			t.Fatal(err)
		}
		all, err := q.List()
		if err != nil || first(t, ahead) != yields || first(t, behind) == yields || (all[0].Work == "ahead") != yields || !all[0].Next {
			t.Errorf("yields: %v; the queue is %+v, %v", yields, all, err)
		}
	}
	ahead.Leave()
	if err := behind.Yield(true); err != nil {
		t.Fatal(err)
	}
	if all, err := q.List(); err != nil || all[0].Next {
		t.Errorf("the queue is %+v, %v", all, err)
	}
	behind.Leave()
	if left, err := os.ReadDir(q.dir); err != nil || len(left) > 0 {
		t.Errorf("left are %v, %v", left, err)
	}
}
