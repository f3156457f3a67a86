package audit

import (
	"hash/maphash"

	"github.com/throng-sim/throng/engine"
)

// roll records which agents had a session in the open cycle, and which sent requests. The zero value is empty and ready to use. First
// takes are one bit per agent.
type roll struct {
	first, asking bitset
	later, asked  map[engine.Place]bool // further takes
	intents       map[uint64]struct{}
	seed          maphash.Seed
	seeded        bool
}

type bitset struct {
	words []uint64
	count int
}

// add sets a bit and reports whether it was not set before.
func (b *bitset) add(i int) bool {
	for len(b.words) <= i/64 {
		b.words = append(b.words, 0)
	}
	mask := uint64(1) << (i % 64)
	if b.words[i/64]&mask != 0 {
		return false
	}
	b.words[i/64] |= mask
	b.count++
	return true
}

func (b *bitset) has(i int) bool { return i/64 < len(b.words) && b.words[i/64]&(1<<(i%64)) != 0 }

func (b *bitset) reset() {
	clear(b.words)
	b.count = 0
}

func (r *roll) reset() {
	r.first.reset()
	r.asking.reset()
	r.later, r.asked, r.intents = nil, nil, nil
}

// agents returns the number of agents with a session.
func (r *roll) agents() int { return r.first.count }

// add adds a session. It reports whether the session is new and follows its previous take.
func (r *roll) add(p engine.Place) bool {
	if p.Take == 0 {
		return r.first.add(p.Agent)
	}
	if r.later[p] {
		return false
	}
	if r.later == nil {
		r.later = map[engine.Place]bool{}
	}
	r.later[p] = true
	before := p
	before.Take--
	return r.has(before)
}

func (r *roll) has(p engine.Place) bool {
	if p.Take == 0 {
		return r.first.has(p.Agent)
	}
	return r.later[p]
}

// intend adds a request of a session.
func (r *roll) intend(p engine.Place, path string) {
	if p.Take == 0 {
		r.asking.add(p.Agent)
	} else {
		if r.asked == nil {
			r.asked = map[engine.Place]bool{}
		}
		r.asked[p] = true
	}
	if r.intents == nil {
		r.intents = map[uint64]struct{}{}
	}
	r.intents[r.hash(p, path)] = struct{}{}
}

// intended reports whether a request was added.
func (r *roll) intended(p engine.Place, path string) bool {
	_, ok := r.intents[r.hash(p, path)]
	return ok
}

func (r *roll) hash(p engine.Place, path string) uint64 {
	if !r.seeded {
		r.seed, r.seeded = maphash.MakeSeed(), true
	}
	return maphash.Comparable(r.seed, struct {
		engine.Place
		path string
	}{p, path})
}

// orphans returns the sessions that sent requests and have no row.
func (r *roll) orphans() (all []engine.Place) {
	for i := range r.asking.words {
		for b := range 64 {
			if agent := i*64 + b; r.asking.has(agent) && !r.first.has(agent) {
				all = append(all, engine.Place{Agent: agent})
			}
		}
	}
	for p := range r.asked {
		if !r.later[p] {
			all = append(all, p)
		}
	}
	return all
}
