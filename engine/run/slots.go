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
	doing engine.Activity
	clock *clock.Clock // of the session shown; nil if there is none
	index int          // index in slots.all
}

func (s *slot) show(p engine.Place, began time.Time, c *clock.Clock) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.doing.Place != p { // the session has not reported its progress yet
		s.doing = engine.Activity{Place: p, Since: began}
	}
	s.doing.Began, s.clock = began, c
}

func (s *slot) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.doing, s.clock = engine.Activity{}, nil
}

// update applies f to the progress that is shown.
func (s *slot) update(f func(d *engine.Activity)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(&s.doing)
}

// cancel cancels the session of an agent if this slot shows it.
func (s *slot) cancel(agent int, cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.clock != nil && s.doing.Agent == agent {
		s.clock.Cancel(cause)
	}
}

func (s *slot) current() (engine.Activity, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.doing, s.clock != nil
}

// currentIfOlder is like current, but skips a session that started after a given time. The zero time skips none.
func (s *slot) currentIfOlder(than time.Time) (d engine.Activity, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.clock == nil || !than.IsZero() && s.doing.Began.After(than) {
		return d, false
	}
	return s.doing, true
}

// slots holds the slots of all workers. It is safe for concurrent use. Its lock is held briefly, and nothing is allocated
// under it, because all workers of a cycle start and leave at about the same time.
type slots struct {
	mu  sync.Mutex
	all []*slot
}

func (s *slots) add(item *slot) {
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
	item.index = len(s.all)
	s.all = append(s.all, item)
	s.mu.Unlock()
}

func (s *slots) remove(item *slot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := len(s.all) - 1
	s.all[item.index] = s.all[last]
	s.all[item.index].index = item.index
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
	for _, item := range s.list() {
		item.cancel(agent, cause)
	}
}

// oldest returns the n sessions that started first.
func (s *slots) oldest(n int) []engine.Activity {
	var first []engine.Activity
	var last time.Time // start of the n-th session
	for _, item := range s.list() {
		d, ok := item.currentIfOlder(last)
		if !ok || len(first) == n && !older(&d, &first[n-1]) {
			continue
		}
		at, _ := slices.BinarySearchFunc(first, d, func(a, d engine.Activity) int {
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

func older(a, b *engine.Activity) bool {
	if c := a.Began.Compare(b.Began); c != 0 {
		return c < 0
	}
	return a.Agent < b.Agent
}

// Oldest returns at most n sessions in flight, the oldest first. It skips sessions that have not yet reached a step that
// can wait.
func (r *Run) Oldest(n int) []engine.Activity {
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
