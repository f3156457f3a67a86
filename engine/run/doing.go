package run

import (
	"slices"
	"sync"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/internal/clock"
)

// slot shows a worker's session from the first step that can wait. A session that only computes is not shown.
type slot struct {
	mu    sync.Mutex
	doing engine.Doing
	clock *clock.Clock // of the session shown; nil if there is none
	place int          // index in slots.all
}

func (b *slot) enter(p engine.Place, began time.Time, c *clock.Clock) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.doing.Place != p { // the session has not reported its progress yet
		b.doing = engine.Doing{Place: p, Since: began}
	}
	b.doing.Began, b.clock = began, c
}

func (b *slot) leave() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.doing, b.clock = engine.Doing{}, nil
}

// change applies f to the progress that is shown.
func (b *slot) change(f func(d *engine.Doing)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f(&b.doing)
}

// cancel cancels the session of an agent if this slot shows it.
func (b *slot) cancel(agent int, cause error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.clock != nil && b.doing.Agent == agent {
		b.clock.Cancel(cause)
	}
}

func (b *slot) look() (engine.Doing, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.doing, b.clock != nil
}

// lookIfOlder is like look, but skips a session that started after a given time. The zero time skips none.
func (b *slot) lookIfOlder(than time.Time) (d engine.Doing, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.clock == nil || !than.IsZero() && b.doing.Began.After(than) {
		return d, false
	}
	return b.doing, true
}

// slots holds the slots of all workers. It is safe for concurrent use. Its lock is held briefly, and nothing is allocated
// under it, because all workers of a cycle start and leave at about the same time.
type slots struct {
	mu  sync.Mutex
	all []*slot
}

func (s *slots) add(b *slot) {
	s.mu.Lock()
	for len(s.all) == cap(s.all) {
		n := cap(s.all)
		s.mu.Unlock()
		more := make([]*slot, 0, max(2*n, 64))
		s.mu.Lock()
		if cap(s.all) == n {
			s.all = append(more, s.all...)
		}
	}
	b.place = len(s.all)
	s.all = append(s.all, b)
	s.mu.Unlock()
}

func (s *slots) remove(b *slot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := len(s.all) - 1
	s.all[b.place] = s.all[last]
	s.all[b.place].place = b.place
	s.all[last] = nil
	s.all = s.all[:last]
}

// list returns a copy that can be read without the lock.
func (s *slots) list() []*slot {
	for n := 0; ; {
		all := make([]*slot, 0, n)
		s.mu.Lock()
		if n = len(s.all); n <= cap(all) {
			all = append(all, s.all...)
			s.mu.Unlock()
			return all
		}
		s.mu.Unlock()
		n += n / 8
	}
}

func (s *slots) cancel(agent int, cause error) {
	for _, b := range s.list() {
		b.cancel(agent, cause)
	}
}

// oldest returns the n sessions that started first.
func (s *slots) oldest(n int) []engine.Doing {
	var first []engine.Doing
	var last time.Time // start of the n-th session
	for _, b := range s.list() {
		d, ok := b.lookIfOlder(last)
		if !ok || len(first) == n && !older(&d, &first[n-1]) {
			continue
		}
		at, _ := slices.BinarySearchFunc(first, d, func(a, d engine.Doing) int {
			if older(&a, &d) {
				return -1
			}
			return 1
		})
		first = slices.Insert(first, at, d)[:min(len(first)+1, n)]
		if len(first) == n {
			last = first[n-1].Began
		}
	}
	return first
}

func older(a, b *engine.Doing) bool {
	if c := a.Began.Compare(b.Began); c != 0 {
		return c < 0
	}
	return a.Agent < b.Agent
}

// Oldest returns at most n sessions in flight, the oldest first. It skips sessions that have not yet reached a step that
// can wait.
func (r *Run) Oldest(n int) []engine.Doing {
	first := r.pool.Oldest(n)
	for i := range first {
		if d := &first[i]; r.name != nil {
			if name, err := r.name(d.Agent); err == nil {
				d.Name = name
			}
		}
	}
	return first
}
