package bus

import (
	"sync"
	"time"

	"github.com/throng-sim/throng/engine/fleet"
)

// Times of presence.
const (
	// reconnectGrace is how long a worker may need for a new connection after the server has seen its end.
	reconnectGrace = 300 * time.Millisecond
	// nameHeld is how long a name is kept for a worker that has enrolled and was not heard yet.
	nameHeld = 10 * time.Second
)

// roster knows the workers of a fleet: their names, and which are present.
type roster struct {
	present, absent func(worker string)

	calls sync.Mutex // is held during present and absent, so that they come in order

	mu      sync.Mutex
	closed  bool
	workers map[string]*member
}

// member is a worker that has enrolled, or was heard.
type member struct {
	present  bool
	removed  bool
	prepared bool      // its queue exists
	deadline time.Time // when it becomes absent, or its name free
	timer    *time.Timer
}

func newRoster(present, absent func(worker string)) *roster {
	return &roster{present: present, absent: absent, workers: map[string]*member{}}
}

// enroll returns a name for a worker that wants one: that itself, or with a number if another worker has it. Connected tells whether
// a worker with a name has a connection.
func (r *roster) enroll(wanted string, connected func(name string) bool) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	for n := 1; ; n++ {
		name := numbered(wanted, n)
		m := r.member(name)
		if m == nil {
			return name
		}
		if m.present || time.Now().Before(m.deadline) || connected(name) {
			continue
		}
		m.removed = false
		m.extend(nameHeld)
		return name
	}
}

// member returns a worker's entry, and makes it if there is none. It returns nil if the roster is closed. Lock is held.
func (r *roster) member(name string) *member {
	m := r.workers[name]
	if m == nil && !r.closed {
		m = &member{}
		m.timer = time.AfterFunc(time.Hour, func() { r.lapse(name) })
		r.workers[name] = m
	}
	return m
}

func (m *member) extend(d time.Duration) {
	m.deadline = time.Now().Add(d)
	m.timer.Reset(d)
}

// heard notes a sign of life. It tells whether the worker is still a member.
func (r *roster) heard(name string) bool {
	if ok, done := r.quick(name); done {
		return ok
	}
	r.calls.Lock()
	defer r.calls.Unlock()
	if ok, done := r.quick(name); done {
		return ok
	}
	r.mu.Lock()
	m := r.member(name)
	if m != nil {
		m.present = true
		m.extend(fleet.LeaseTime)
	}
	r.mu.Unlock()
	if m != nil {
		r.present(name)
	}
	return m != nil
}

// quick is heard for a worker that is present or was removed.
func (r *roster) quick(name string) (ok, done bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	m := r.workers[name]
	switch {
	case r.closed, m != nil && m.removed:
		return false, true
	case m == nil || !m.present:
		return false, false
	}
	m.extend(fleet.LeaseTime)
	return true, true
}

// lapse makes a worker absent if its time has passed.
func (r *roster) lapse(name string) {
	r.calls.Lock()
	defer r.calls.Unlock()
	r.mu.Lock()
	m := r.workers[name]
	left := time.Until(m.deadline)
	was := m.present
	switch {
	case r.closed:
		was = false
	case left > 0:
		m.timer.Reset(left)
		was = false
	default:
		m.present = false
	}
	r.mu.Unlock()
	if was {
		r.absent(name)
	}
}

// hurry makes a worker absent after a time, unless it is heard before.
func (r *roster) hurry(name string, d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if m := r.workers[name]; m != nil && time.Until(m.deadline) > d {
		m.extend(d)
	}
}

// prepare notes that a worker's queue exists.
func (r *roster) prepare(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if m := r.member(name); m != nil {
		m.prepared = true
	}
}

// unprepare notes that the queues of all workers were lost.
func (r *roster) unprepare() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, m := range r.workers {
		m.prepared = false
	}
}

// prepared tells whether a worker's queue exists.
func (r *roster) prepared(name string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	m := r.workers[name]
	return m != nil && m.prepared
}

// remove refuses a worker until it enrolls again.
func (r *roster) remove(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if m := r.member(name); m != nil {
		m.removed = true
		m.extend(0)
	}
}

func (r *roster) close() {
	r.calls.Lock() // a call that has begun ends before
	defer r.calls.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	for _, m := range r.workers {
		m.timer.Stop()
	}
}
