package shards

import (
	"slices"
	"testing"
)

// offers returns the tickets that a book offers.
func offers(b *Book) (all []Ticket) {
	for _, e := range b.Effects() {
		if o, ok := e.(Offer); ok {
			all = append(all, o.Ticket)
		}
	}
	return all
}

// confirm reports for a worker that it has applied its newest share.
func confirm(b *Book, name string, inFlight int) {
	_, version := b.Share(name)
	b.Report(name, Report{Version: version, InFlight: inFlight})
}

// TestWholeCycleInOrder checks that no session of a sequential cycle is offered while an earlier one has not ended, even if it is
// released later or was given back.
func TestWholeCycleInOrder(t *testing.T) {
	b := New(4)
	b.SetLimit(1)
	b.Join("a", 1)
	b.Begin(Cycle{Size: 4, Held: true, Whole: true})
	b.Start(1, false)
	b.Release(3)
	first := offers(b)
	if len(first) != 1 {
		t.Fatalf("%d offers, want 1", len(first))
	}
	g, ok := b.Claim("a", first[0], 1)
	if !ok || !slices.Equal(g.Agents, []int32{0, 1, 2}) {
		t.Fatalf("got %v %v", g, ok)
	}
	b.Release(4)
	b.GiveBack("a", g.Lease, []int32{1, 2})
	if more := offers(b); len(more) != 0 {
		t.Errorf("%v is offered before the first session has ended", more)
	}
	if b.Ended("a", g.Lease, 1) {
		t.Error("a session that was given back is accepted")
	}
	if !b.Ended("a", g.Lease, 0) {
		t.Error("the first session is not accepted")
	}
	b.Settle()
	next := offers(b)
	if len(next) != 1 {
		t.Fatalf("%d offers, want 1", len(next))
	}
	if g, ok = b.Claim("a", next[0], 1); !ok || !slices.Equal(g.Agents, []int32{1, 2, 3}) {
		t.Errorf("got %v %v", g, ok)
	}
}

// TestProbeAloneInWholeCycle checks that no other session of a sequential cycle runs while a probe does.
func TestProbeAloneInWholeCycle(t *testing.T) {
	b := New(4)
	b.Join("a", 1)
	b.SetLimit(1)
	b.Begin(Cycle{Size: 4, Whole: true})
	b.SetLimit(0)
	b.Start(1, true)
	if n := b.Probes("a"); n != 0 {
		t.Errorf("%d probes before the worker has confirmed that it starts no other session", n)
	}
	confirm(b, "a", 0)
	b.SetLimit(1)
	if limit, _ := b.Share("a"); b.Probes("a") != 1 || limit != 0 {
		t.Errorf("%d probes at a share of %d, want 1 and 0", b.Probes("a"), limit)
	}
	b.Probed("a")
	b.Settle()
	if limit, _ := b.Share("a"); limit != 1 {
		t.Errorf("a share of %d after the probe, want 1", limit)
	}
}

// TestProbeWithoutSession checks that a probe ends if other workers have executed all sessions.
func TestProbeWithoutSession(t *testing.T) {
	b := New(1)
	b.Join("a", 1)
	b.Begin(Cycle{Size: 1})
	b.Start(1, true)
	b.SetLimit(1)
	b.Join("b", 1)
	g, ok := b.Claim("b", offers(b)[0], 1)
	if !ok || b.Probes("a") != 1 {
		t.Fatalf("got %v %v, %d probes", g, ok, b.Probes("a"))
	}
	b.Ended("b", g.Lease, 0)
	b.Settle()
	departed := Depart{}
	for _, e := range b.Effects() {
		if d, ok := e.(Depart); ok {
			departed.Slots, departed.Probes = departed.Slots+d.Slots, departed.Probes+d.Probes
		}
	}
	if (departed != Depart{1, 1}) || b.Probes("a") != 0 {
		t.Errorf("departed %+v, %d probes are left", departed, b.Probes("a"))
	}
}
