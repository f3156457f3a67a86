package run

import (
	"slices"
	"time"
)

// trouble lets something fail, or changes the fleet by hand.
func (f *simFleet) trouble() {
	n, d := f.nodes[f.draw.IntN(len(f.nodes))], f.draw
	short := time.Duration(50+d.IntN(5000)) * time.Millisecond
	which := d.IntN(11)
	f.log("trouble %d of %s, %v", which, n.name, short)
	switch which {
	case 0, 1:
		n.part(short)
	case 2:
		n.kill()
	case 3:
		n.kill()
		f.after(short/50, n.boot)
	case 4:
		n.hang(short, false)
	case 5:
		n.hang(short, true)
	case 6, 7:
		for _, t := range f.queue.tickets {
			if t.holder != nil {
				t.holder = nil
				f.match()
				break
			}
		}
	case 8:
		if n.client != nil && n.client.joined {
			if n.client.drains = !n.client.drains; n.client.drains {
				f.book.Drain(n.name)
			} else {
				f.book.Undrain(n.name)
			}
			f.markDirty(n)
			f.settleBook()
		}
	case 9:
		f.book.LimitWorker(n.name, d.IntN(4))
		f.settleBook()
	case 10:
		n.leave()
	}
	if !n.up && d.IntN(2) == 0 {
		n.boot()
	}
}

func (f *simFleet) removeObstacles() {
	if f.troubles > 0 || f.abandoned {
		return
	}
	takes := false
	for _, n := range f.nodes {
		n.heal()
		if f.book.MaxShare(n.name) > 0 {
			f.book.LimitWorker(n.name, 0)
			f.settleBook()
		}
		takes = takes || n.up && !n.leaving && (n.client == nil || !n.client.drains)
	}
	if n := f.nodes[0]; !takes {
		n.kill()
		n.boot()
	}
	if f.healed.IsZero() {
		f.healed = f.at
	}
}

// healTime bounds the time of a process once nothing disturbs it.
const healTime = 5 * time.Minute

// check compares the book with the ledger.
func (f *simFleet) check() {
	departed := 0
	for _, b := range f.inTransit {
		departed += b.Departed
	}
	if got, want := f.core.cycles.workers, f.ledger.slots+departed; got != want && !f.abandoned {
		f.fail("%d slots are in use, the core counts %d", want, got)
	}
	if got := f.book.Progress(); !f.abandoned && got.Slots != f.ledger.slots {
		f.fail("%d slots are in use, the book counts %d", f.ledger.slots, got.Slots)
	}
	if !f.healed.IsZero() && f.at.Sub(f.healed) > healTime {
		f.fail("the process has not ended although nothing disturbed it for %v: %v, %d sessions left", healTime, f.core.life.phase, len(f.ledger.left))
	}
}

// checkLimit checks that the workers together never get more sessions in flight than the limit. After it was lowered, they may have
// more, but not more than before. An order that is on its way counts as if it had arrived.
func (f *simFleet) checkLimit() {
	all := 0
	for _, n := range f.nodes {
		if n.up {
			all += n.most()
		}
	}
	if all > f.ledger.inFlight && all > f.limit {
		for _, n := range f.nodes {
			f.log("%s: up %v, silent %v, %d of session %d, sent %v, seen %d job %+v", n.name, n.up, n.silent(), n.most(), n.joined, len(n.sent), n.seen, n.job)
		}
		f.fail("the workers may have %d sessions in flight, at a limit of %d; before they could have %d", all, f.limit, f.ledger.inFlight)
	}
	f.ledger.inFlight = all
}

// most returns how many sessions a worker may have in flight, without probes.
func (n *simNode) most() (most int) {
	j := n.job
	n.sent = slices.DeleteFunc(n.sent, func(o *simOrder) bool {
		return o.number < n.seen || o.number == n.seen && j != nil && j.order.number == n.seen
	})
	for _, o := range n.sent {
		if !n.leaving && o.session == n.joined && (j == nil || j.session < o.session || j.session == o.session && !j.fenced) {
			most = max(most, o.limit)
		}
	}
	if j != nil && !j.fenced {
		most = max(most, len(j.running)-j.probes)
		if j.session == n.joined {
			most = max(most, j.limit)
		}
	}
	return most
}
