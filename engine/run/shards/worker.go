package shards

import (
	"slices"
)

// worker is what the book knows of a worker.
type worker struct {
	name    string
	present bool
	drains  bool
	weight  int // for its share of the limit
	most    int // by hand; 0 is no limit
	leases  map[uint64]*shard

	share   int    // of the limit, as ordered last
	version uint64 // of the share
	held    int    // the most sessions that it may have in flight, until it has confirmed a lower share

	// As reported last.
	inFlight int
	queued   int
	idle     bool // it has room for sessions and has none
	recalled bool // it was asked to give sessions back
}

// takes reports whether a worker may receive shards.
func (w *worker) takes() bool { return w.present && !w.drains && w.share > 0 }

// Join adds a worker, or one that had been lost. Its weight is its part of the limit in relation to that of others.
func (b *Book) Join(name string, weight int) {
	w := b.workers[name]
	if w == nil {
		w = &worker{name: name, leases: map[uint64]*shard{}}
		b.workers[name] = w
		b.names = append(b.names, name)
		slices.Sort(b.names)
	}
	w.present, w.weight, w.drains = true, max(weight, 1), false
	w.version++
	b.settle()
}

// Leave removes a worker that is lost or has ended. Its shards are offered again.
func (b *Book) Leave(name string) {
	w := b.workers[name]
	if w == nil || !w.present {
		return
	}
	w.present, w.share, w.held, w.inFlight, w.queued, w.idle, w.recalled = false, 0, 0, 0, 0, false, false
	w.version++
	for i, at := range b.probes {
		if at == name {
			b.probes[i] = ""
		}
	}
	for _, id := range b.sorted() {
		s := b.shards[id]
		switch {
		case s.owner == w:
			b.emit(Withdraw{Ticket{s.id, s.offer}}) // the transport would deliver it again, but may not know yet that the worker is lost
			b.drop(s)
			b.offer(s, "")
		case s.owner == nil && s.to == name:
			b.move(s, "")
		}
	}
	b.settle()
}

// Drain lets a worker end its sessions in flight and start no others.
func (b *Book) Drain(name string) {
	w := b.workers[name]
	if w == nil || !w.present || w.drains {
		return
	}
	w.drains = true
	b.settle()
}

// Drained reports whether a draining worker holds nothing.
func (b *Book) Drained(name string) bool {
	w := b.workers[name]
	return w != nil && w.drains && w.held == 0 && len(w.leases) == 0
}

// LimitWorker sets the highest share of a worker; 0 sets none.
func (b *Book) LimitWorker(name string, most int) {
	if w := b.workers[name]; w != nil {
		w.most = most
		b.settle()
	}
}

// Report is what a worker says of itself. Reports of one worker arrive in order.
type Report struct {
	Version  uint64 // of the newest share that it has applied
	InFlight int
	Queued   int // sessions that it has not started
	Idle     bool
}

// Report records the state of a worker.
func (b *Book) Report(name string, r Report) {
	w := b.workers[name]
	if w == nil || !w.present {
		return
	}
	w.inFlight, w.queued, w.idle = r.InFlight, r.Queued, r.Idle
	if r.Version == w.version {
		w.held = max(w.share, r.InFlight)
	}
	b.settle()
}

// MaxShare returns the highest share of a worker by hand; 0 means none.
func (b *Book) MaxShare(name string) int {
	if w := b.workers[name]; w != nil {
		return w.most
	}
	return 0
}

// Share returns the share of a worker and its version.
func (b *Book) Share(name string) (limit int, version uint64) {
	w := b.workers[name]
	if w == nil {
		return 0, 0
	}
	return w.share, w.version
}

// Probes returns how many probes a worker must execute.
func (b *Book) Probes(name string) (n int) {
	for _, at := range b.probes {
		if at == name {
			n++
		}
	}
	return n
}

// Start starts slots. A probe executes one session, whatever the limit is.
func (b *Book) Start(slots int, probe bool) {
	if probe {
		for range slots {
			b.probes = append(b.probes, "")
		}
	} else {
		b.slots += slots
	}
	b.settle()
}

// Probed records that a worker has executed a probe.
func (b *Book) Probed(name string) {
	if at := slices.Index(b.probes, name); at >= 0 {
		b.probes = slices.Delete(b.probes, at, at+1)
		b.emit(Depart{1, 1})
		b.emit(Share{name})
	}
}

// SetLimit sets the limit of the sessions in flight.
func (b *Book) SetLimit(limit int) {
	b.limit = limit
	b.settle()
}

// Progress is the progress of the open cycle.
type Progress struct {
	Slots    int // in use, probes included
	Started  int // sessions that have ended, and one for each slot in use; requeued ones included
	Released int // sessions that may have started, requeued ones included
	Requeued int // sessions that were requeued; part of Released
}

// Progress returns the progress of the open cycle. A slot counts as in use from the moment at which the run starts it: which of the
// workers has already begun a session in it is known only later.
func (b *Book) Progress() Progress {
	p := Progress{Slots: b.slots + len(b.probes), Released: b.released + b.requeued, Requeued: b.requeued}
	p.Started = p.Released - b.left + min(p.Slots, b.left)
	return p
}

// Settle draws the consequences of sessions that ended or were cut. The other events do so themselves.
func (b *Book) Settle() { b.settle() }

// settle draws the consequences of an event: shares, probes, sessions that move, and slots that are free.
func (b *Book) settle() {
	b.divide()
	b.placeProbes()
	if b.open {
		b.offerWhole()
		b.balance()
	}
	b.depart()
}

// targets divides the limit by weight among the workers that may have sessions, none above its own limit.
func (b *Book) targets() map[string]int {
	targets, takers := map[string]int{}, []*worker{}
	for _, name := range b.names {
		if w := b.workers[name]; w.present && !w.drains {
			takers = append(takers, w)
		}
	}
	// If the limit is too low for all, those that have sessions keep their part.
	slices.SortStableFunc(takers, func(a, b *worker) int { return min(len(b.leases), 1) - min(len(a.leases), 1) })
	left := b.shared()
	for left > 0 && len(takers) > 0 {
		weights := 0
		for _, w := range takers {
			weights += w.weight
		}
		given := 0
		next := takers[:0:0]
		for i, w := range takers {
			part := left * w.weight / weights
			if i < left-floorSum(takers, left, weights) { // what rounding leaves
				part++
			}
			if w.most > 0 {
				part = min(part, w.most-targets[w.name])
			}
			targets[w.name] += part
			given += part
			if w.most == 0 || targets[w.name] < w.most {
				next = append(next, w)
			}
		}
		if given == 0 {
			break
		}
		left, takers = left-given, next
	}
	return targets
}

// shared returns the limit of sessions in flight without probes. In a whole cycle a probe runs alone.
func (b *Book) shared() int {
	if b.cycle.Whole {
		return max(b.limit-len(b.probes), 0)
	}
	return b.limit
}

// floorSum is the sum of the parts, rounded down.
func floorSum(takers []*worker, left, weights int) (sum int) {
	for _, w := range takers {
		sum += left * w.weight / weights
	}
	return sum
}

// divide moves the shares toward their targets. The number of sessions in flight never grows above the limit: lower shares go first,
// and others are raised when those are confirmed. While more are in flight than the limit, no worker may have more than it has.
func (b *Book) divide() {
	targets := b.targets()
	free := b.shared()
	for _, name := range b.names {
		free -= b.workers[name].held
	}
	for _, name := range b.names {
		w := b.workers[name]
		target := targets[name]
		if free < 0 {
			target = min(target, w.inFlight)
		}
		if w.present && target < w.share {
			b.share(w, target)
		}
	}
	for _, name := range b.names {
		w := b.workers[name]
		if to := min(targets[name], w.held+free); free >= 0 && w.present && to > w.share {
			b.share(w, to)
			free -= max(to-w.held, 0)
			w.held = max(w.held, to)
		}
	}
}

func (b *Book) share(w *worker, limit int) {
	w.share = limit
	w.version++
	b.emit(Share{w.name})
	if w.share == 0 { // it takes no more shards
		for _, id := range b.sorted() {
			if s := b.shards[id]; s.owner == nil && s.to == w.name {
				b.move(s, "")
			}
		}
	}
}

// Stop ends the probes that no worker has begun, because the run is cut.
func (b *Book) Stop() {
	b.stopped = true
	b.settle()
}

// placeProbes finds a worker for each probe.
func (b *Book) placeProbes() {
	if b.stopped {
		b.probes = slices.DeleteFunc(b.probes, func(at string) bool {
			if at == "" {
				b.emit(Depart{1, 1})
			}
			return at == ""
		})
	}
	if b.cycle.Whole && b.allHeld() > 0 {
		return
	}
	for i, at := range b.probes {
		if at != "" {
			continue
		}
		var best *worker
		for _, name := range b.names {
			w := b.workers[name]
			if w.present && !w.drains && (best == nil || w.queued > best.queued) {
				best = w
			}
		}
		if best != nil {
			b.probes[i] = best.name
			b.emit(Share{best.name})
		}
	}
}

// balance moves sessions to workers that have none.
func (b *Book) balance() {
	for _, name := range b.names {
		w := b.workers[name]
		if w.drains && w.present && len(w.leases) > 0 && w.queued > 0 {
			b.recall(w, w.queued)
		}
		if !w.idle || !w.takes() || b.waiting(name) {
			continue
		}
		if s := b.foreign(name); s != nil {
			b.move(s, name)
			continue
		}
		switch from := b.busiest(name); {
		case from == nil:
		case !b.cycle.Whole:
			b.recall(from, (from.queued+1)/2)
		case from.share == 0:
			b.recall(from, from.queued)
		}
	}
}

// waiting reports whether an offer waits that a worker may take.
func (b *Book) waiting(name string) bool {
	for _, s := range b.shards {
		if s.owner == nil && (s.to == "" || s.to == name) {
			return true
		}
	}
	return false
}

// foreign returns the newest shard that is offered to another worker, which is busy.
func (b *Book) foreign(name string) (newest *shard) {
	for _, s := range b.shards {
		if s.owner == nil && s.to != "" && s.to != name && !b.workers[s.to].idle && (newest == nil || s.id > newest.id) {
			newest = s
		}
	}
	return newest
}

// busiest returns the worker with the most sessions that it has not started, or nil.
func (b *Book) busiest(name string) (most *worker) {
	for _, other := range b.names {
		w := b.workers[other]
		if other != name && w.present && w.queued > 0 && (most == nil || w.queued > most.queued) {
			most = w
		}
	}
	return most
}

func (b *Book) recall(w *worker, count int) {
	if !w.recalled {
		w.recalled = true
		b.emit(Recall{w.name, count})
	}
}

// allHeld returns the most sessions that the workers may have in flight, without probes.
func (b *Book) allHeld() (sum int) {
	for _, w := range b.workers {
		sum += w.held
	}
	return sum
}

// depart frees slots that no session can use: those above the limit, as far as workers have confirmed that, and those above the
// number of sessions that are left. If none is left, other workers have executed those that were meant for probes.
func (b *Book) depart() {
	for _, at := range b.probes {
		if b.left == 0 {
			b.emit(Depart{1, 1})
			if at != "" {
				b.emit(Share{at})
			}
		}
	}
	if b.left == 0 {
		b.probes = nil
	}
	keep := min(b.slots, max(b.limit, b.allHeld()), max(b.left-len(b.probes), 0))
	if !b.open {
		keep = 0
	}
	if free := b.slots - keep; free > 0 {
		b.slots = keep
		b.emit(Depart{free, 0})
	}
}
