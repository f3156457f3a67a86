package engine

import (
	"sync"
	"time"
)

// mostTrail bounds how many of each kind a trail keeps: the first ones.
const mostTrail = 1000

// Trail is when a session did what. [Config.Trail] receives it with the session's row complete; the worker reuses all of it.
// Its methods are safe for concurrent use, and do nothing on a nil Trail.
type Trail struct {
	Row      *SessionRow
	Steps    []StepTime // in the order in which they ended, those that were not reached left out
	Attempts []Attempt
	Holds    []Hold
	Left     int // of all three, how many had no room

	mu sync.Mutex // steps go on beside each other
}

// StepTime is when a step was carried out.
type StepTime struct {
	Path, Kind   string
	Began, Ended time.Time
}

// Attempt is a request of a step, or a statement, that was answered or not.
type Attempt struct {
	Path, Service string
	Began         time.Time
	Took          time.Duration
	Status        int // of HTTP; 0 is none
	Failed        bool
}

// Hold is a wait of a step's request at a gate.
type Hold struct {
	Path  string
	Gate  Gate
	Began time.Time
	Took  time.Duration
}

// Trail is where the session's times are noted; nil where nobody wants to hear of them. It may be asked of a nil session.
func (s *Session) Trail() *Trail {
	if s == nil || s.slot == nil {
		return nil
	}
	return s.slot.Trail()
}

// Step notes that a step ended now.
func (t *Trail) Step(path, kind string, began time.Time) {
	if t != nil {
		noteIn(t, &t.Steps, StepTime{path, kind, began, time.Now()})
	}
}

// Attempt notes an attempt.
func (t *Trail) Attempt(a Attempt) {
	if t != nil {
		noteIn(t, &t.Attempts, a)
	}
}

// Hold notes a wait that ended now.
func (t *Trail) Hold(path string, g Gate, began time.Time) {
	if t != nil {
		noteIn(t, &t.Holds, Hold{path, g, began, time.Since(began)})
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

func (t *Trail) Reset() {
	clear(t.Steps)
	clear(t.Attempts)
	clear(t.Holds)
	t.Steps, t.Attempts, t.Holds, t.Left = t.Steps[:0], t.Attempts[:0], t.Holds[:0], 0
}
