package engine

import (
	"sync"
	"time"

	"github.com/throng-sim/throng/engine/spans"
)

// Tracer receives each finished exchange with a service. It is called from many goroutines and must not block.
type Tracer func(Exchange)

// ContentKeeper keeps what a run exchanges with services for reading. It is called from many goroutines and must not block.
type ContentKeeper interface {
	// Wants reports whether Keep would keep an exchange.
	Wants() bool
	Keep(e Exchange)
}

// Traced reports whether a finished exchange of the session should be traced. failed means that the exchange failed.
// Traced and Trace do nothing on a nil Session.
func (s *Session) Traced(failed bool) bool {
	return s != nil && s.host != nil && s.host.Traced(asker(s).Agent, failed)
}

// Trace reports an exchange of the session and fills in its place. The caller must mask secrets first.
func (s *Session) Trace(e Exchange, failed bool) {
	if s == nil || s.host == nil {
		return
	}
	e.Place = asker(s)
	s.host.Trace(e, failed)
}

// asker returns the place of the session that a request is made for. For a session of the run itself, that is the session that
// first needed the answer.
func asker(s *Session) Place {
	if s.apart != nil {
		return s.apart.asker
	}
	return s.Place
}

// mostTrail is how many entries of each kind a trail keeps. Later ones are dropped.
const mostTrail = 1000

// Trail is the timeline of a session. [Config.Trail] receives it with the completed session row. The worker reuses all
// of it. Its methods are safe for concurrent use, and do nothing on a nil Trail.
type Trail struct {
	Row      *SessionRow
	Steps    []StepTime // in order of end, without steps that were not reached
	Attempts []spans.Attempt
	Holds    []Hold
	Left     int // entries of all three kinds that were dropped

	mu sync.Mutex // steps may run in parallel
}

// StepTime is when a step ran.
type StepTime struct {
	Path, Kind   string
	Began, Ended time.Time
}

// Hold is a throttled wait of a step's request.
type Hold struct {
	Path  string
	Cause ThrottleCause
	Began time.Time
	Took  time.Duration
}

// Trail returns the session's timeline, or nil if it is not recorded. s may be nil.
func (s *Session) Trail() *Trail {
	if s == nil || s.slot == nil {
		return nil
	}
	return s.slot.Trail()
}

// Step records that a step ended now.
func (t *Trail) Step(path, kind string, began time.Time) {
	if t != nil {
		noteIn(t, &t.Steps, StepTime{path, kind, began, time.Now()})
	}
}

// Attempt records an attempt.
func (t *Trail) Attempt(a spans.Attempt) {
	if t != nil {
		noteIn(t, &t.Attempts, a)
	}
}

// Hold records a wait that ended now.
func (t *Trail) Hold(path string, by ThrottleCause, began time.Time) {
	if t != nil {
		noteIn(t, &t.Holds, Hold{path, by, began, time.Since(began)})
	}
}

func noteIn[T any](t *Trail, all *[]T, one T) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(*all) == mostTrail {
		t.Left++
		return
	}
	*all = append(*all, one)
}

// Reset empties the trail for another session. It keeps the memory of its lists.
func (t *Trail) Reset() {
	clear(t.Steps)
	clear(t.Attempts)
	clear(t.Holds)
	t.Steps, t.Attempts, t.Holds, t.Left = t.Steps[:0], t.Attempts[:0], t.Holds[:0], 0
}
