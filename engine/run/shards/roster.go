package shards

import "slices"

// worker is what the book knows of a worker.
type worker struct {
	name    string
	present bool
	drains  bool
	weight  int // for its share of the limit
	most    int // by hand; 0 means unlimited
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

// Roster keeps the workers of a run, their shares of the limit, and the slots and probes of the run. A [Book] contains it.
type Roster struct {
	*effects
	workers map[string]*worker
	names   []string // of workers, sorted
	limit   int
	slots   int      // started by the run, and not departed
	probes  []string // the worker of each probe in flight; "" while no worker can take it
	stopped bool     // no further probe starts
	alone   bool     // no other session may run with a probe
}

// Drained reports whether a draining worker holds nothing.
func (r *Roster) Drained(name string) bool {
	w := r.workers[name]
	return w != nil && w.drains && w.held == 0 && len(w.leases) == 0
}

// MaxShare returns the highest share of a worker by hand; 0 means none.
func (r *Roster) MaxShare(name string) int {
	if w := r.workers[name]; w != nil {
		return w.most
	}
	return 0
}

// Share returns the share of a worker and its version.
func (r *Roster) Share(name string) (limit int, version uint64) {
	w := r.workers[name]
	if w == nil {
		return 0, 0
	}
	return w.share, w.version
}

// Probes returns how many probes a worker must execute.
func (r *Roster) Probes(name string) (n int) {
	for _, at := range r.probes {
		if at == name {
			n++
		}
	}
	return n
}

// Probed records that a worker has executed a probe.
func (r *Roster) Probed(name string) {
	if at := slices.Index(r.probes, name); at >= 0 {
		r.probes = slices.Delete(r.probes, at, at+1)
		r.emit(Depart{1, 1})
		r.emit(Share{name})
	}
}

// targets divides the limit by weight among the workers that take shards, none above its own limit.
func (r *Roster) targets() map[string]int {
	targets, takers := map[string]int{}, []*worker{}
	for _, name := range r.names {
		if w := r.workers[name]; w.present && !w.drains {
			takers = append(takers, w)
		}
	}
	// If the limit is too low for all, those with sessions keep their part.
	slices.SortStableFunc(takers, func(a, b *worker) int { return min(len(b.leases), 1) - min(len(a.leases), 1) })
	left := r.shared()
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
func (r *Roster) shared() int {
	if r.alone {
		return max(r.limit-len(r.probes), 0)
	}
	return r.limit
}

// floorSum is the sum of the parts, rounded down.
func floorSum(takers []*worker, left, weights int) (sum int) {
	for _, w := range takers {
		sum += left * w.weight / weights
	}
	return sum
}

// divide moves the shares toward their targets. The number of sessions in flight never grows above the limit: lower shares go first,
// and others are raised when those are confirmed. While more are in flight than the limit, no worker may have more than it has. It
// returns the workers that take no more shards.
func (r *Roster) divide() (without []string) {
	targets := r.targets()
	free := r.shared()
	for _, name := range r.names {
		free -= r.workers[name].held
	}
	for _, name := range r.names {
		w := r.workers[name]
		target := targets[name]
		if free < 0 {
			target = min(target, w.inFlight)
		}
		if w.present && target < w.share {
			if r.setShare(w, target); target == 0 {
				without = append(without, name)
			}
		}
	}
	for _, name := range r.names {
		w := r.workers[name]
		if to := min(targets[name], w.held+free); free >= 0 && w.present && to > w.share {
			r.setShare(w, to)
			free -= max(to-w.held, 0)
			w.held = max(w.held, to)
		}
	}
	return without
}

// setShare orders a share.
func (r *Roster) setShare(w *worker, limit int) {
	w.share = limit
	w.version++
	r.emit(Share{w.name})
}

// placeProbes finds a worker for each probe.
func (r *Roster) placeProbes() {
	if r.stopped {
		r.probes = slices.DeleteFunc(r.probes, func(at string) bool {
			if at == "" {
				r.emit(Depart{1, 1})
			}
			return at == ""
		})
	}
	if r.alone && r.allHeld() > 0 {
		return
	}
	for i, at := range r.probes {
		if at != "" {
			continue
		}
		var best *worker
		for _, name := range r.names {
			w := r.workers[name]
			if w.present && !w.drains && (best == nil || w.queued > best.queued) {
				best = w
			}
		}
		if best != nil {
			r.probes[i] = best.name
			r.emit(Share{best.name})
		}
	}
}

// busiest returns the worker with the most sessions that it has not started, or nil.
func (r *Roster) busiest(name string) (most *worker) {
	for _, other := range r.names {
		w := r.workers[other]
		if other != name && w.present && w.queued > 0 && (most == nil || w.queued > most.queued) {
			most = w
		}
	}
	return most
}

// recall asks a worker for sessions, one time until it has answered.
func (r *Roster) recall(w *worker, count int) {
	if !w.recalled {
		w.recalled = true
		r.emit(Recall{w.name, count})
	}
}

// allHeld returns the most sessions that the workers may have in flight, without probes.
func (r *Roster) allHeld() (sum int) {
	for _, w := range r.workers {
		sum += w.held
	}
	return sum
}

// depart frees slots that no session can use: those above the limit, as far as workers have confirmed that, and those above the
// number of sessions that are left. If none is left, other workers have executed those that were meant for probes.
func (r *Roster) depart(left int, isOpen bool) {
	for _, at := range r.probes {
		if left == 0 {
			r.emit(Depart{1, 1})
			if at != "" {
				r.emit(Share{at})
			}
		}
	}
	if left == 0 {
		r.probes = nil
	}
	keep := min(r.slots, max(r.limit, r.allHeld()), max(left-len(r.probes), 0))
	if !isOpen {
		keep = 0
	}
	if free := r.slots - keep; free > 0 {
		r.slots = keep
		r.emit(Depart{free, 0})
	}
}
