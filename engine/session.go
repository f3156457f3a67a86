package engine

import (
	"context"
	"errors"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/throng-sim/throng/engine/internal/clock"
	"github.com/throng-sim/throng/engine/internal/draw"
)

// Session is one agent's pass through the chain in one cycle, as a [Program] sees it. Its worker reuses it for the
// next session. The methods about requests are safe for concurrent use. The caller owns Row.
type Session struct {
	Place
	Now    time.Time // simulated
	Memory *Memory   // as of the start of the cycle; nil if there is none; read-only
	Row    *SessionRow

	host  Host
	slot  Slot         // nil for a session of the run itself
	clock *clock.Clock // started by the first step that can wait
	apart *apart       // for a session of the run itself

	mu      sync.Mutex
	prefix  map[string]Entry // journal entries from an earlier process that are not replayed yet
	pending []Entry          // results of service steps that are not in the journal yet
	spending
	MemoryAccount
}

// NewSession returns a session for a worker to execute in a slot. It records the session in row. Call Reset before
// each use.
func NewSession(host Host, slot Slot, row *SessionRow) *Session {
	s := &Session{host: host, slot: slot, Row: row}
	s.MemoryAccount = MemoryAccount{claims: slot.Memory(), session: s}
	return s
}

// Reset prepares the session for place p.
func (s *Session) Reset(p Place, now time.Time, memory *Memory) {
	s.Place, s.Now, s.Memory = p, now, memory
	s.clock, s.prefix, s.pending, s.spending = nil, nil, nil, spending{}
	s.Row.Reset(p)
}

// Continue sets the entries that an earlier process journaled for the session.
func (s *Session) Continue(known Prefix) {
	s.AnswerFrom(known)
	s.begin(known)
}

// AnswerFrom sets the results of service steps to replay.
func (s *Session) AnswerFrom(known Prefix) {
	s.prefix = make(map[string]Entry, len(known))
	for _, e := range known {
		s.prefix[e.Path] = e
	}
}

// Run identifies the run of the session.
func (s *Session) Run() HostRun { return s.host.Run() }

// Settings returns the current settings of the run. They must not be changed.
func (s *Session) Settings() *Settings { return s.host.Settings() }

// Clock returns the clock that measures the session's time. The clock's context ends at the timeout. The first call
// starts the clock. From then on the session may wait, so its worker first delivers the sessions that it has finished.
func (s *Session) Clock() *clock.Clock {
	switch {
	case s.clock != nil:
	case s.apart != nil:
		s.clock = clock.New(s.host.Context(), s.apart.limit, s.apart.cause)
	default:
		s.clock = s.slot.Start()
	}
	return s.clock
}

// Clocked returns the session's context if its clock has started, and nil otherwise. Scripts use it to check for
// cancellation without starting the clock.
func (s *Session) Clocked() context.Context {
	if s.clock == nil {
		return nil
	}
	return s.clock.Context()
}

// Sleep waits for d. If ctx ends first, Sleep returns its cause.
func (s *Session) Sleep(ctx context.Context, d time.Duration) error { return s.host.Sleep(ctx, d) }

// Replaying reports whether journaled results of this session remain to be replayed.
func (s *Session) Replaying() bool {
	if s.prefix == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.prefix) > 0
}

// Replay removes and returns the journaled result of a step, if there is one. An Entry without Attempts is an intent
// without an answer: the caller must resend the request with the same key.
func (s *Session) Replay(path string) (Entry, bool) {
	if s.apart != nil {
		e, ok := s.host.TakeIntent(s.apart.key, path)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.spent.Add(&e.Spent)
		return e, ok
	}
	if s.prefix == nil {
		return Entry{}, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.prefix[path]
	delete(s.prefix, path)
	return e, ok
}

// Forget removes the journal entries of a step that will not run, and of the steps inside it.
func (s *Session) Forget(path string) {
	if s.prefix == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.prefix, func(of string, _ Entry) bool {
		rest, ok := strings.CutPrefix(of, path)
		return ok && (rest == "" || strings.ContainsRune(".[~!", rune(rest[0])))
	})
}

// Intend journals that a changing request is about to be sent, together with the results that are not journaled yet.
// It returns once they are durable. spent is what earlier attempts used. claimed is the most that this attempt may
// use, and counts as spent if the process dies before the answer. The session's clock must be paused during the call.
// A second intent for a path replaces the first.
func (s *Session) Intend(ctx context.Context, path string, hash uint64, spent, claimed *Outlay) error {
	return s.host.Commit(ctx, intentOf(s, path, hash, spent, claimed))
}

// intentOf returns the row of an intent. Rows are large: they must not be on the stack of a session that waits for the journal.
func intentOf(s *Session, path string, hash uint64, spent, claimed *Outlay) Row {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.apart != nil {
		e := Entry{Path: path, Hash: hash, Spent: s.spent.Plus(*claimed)} // the journal has no answer for the earlier calls
		return SharedRow{Key: s.apart.key, Cycle: s.Cycle, Entry: e}
	}
	row := IntentRow{s.Place, path, hash, spent.Plus(*claimed), s.pending}
	s.pending = nil
	s.intends(&row)
	return row
}

// Answered journals the result of a step that has an intent.
func (s *Session) Answered(e Entry) {
	if s.apart != nil {
		s.Observed(e)
		return
	}
	s.host.Append(AnswerRow{s.Place, e})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answered(&e)
}

// Observed keeps the result of a service step that has no intent, and journals it with the next intent. A run that
// records journals it immediately, because no other intent may follow.
func (s *Session) Observed(e Entry) {
	if s.apart == nil && !s.host.Keeps() {
		return
	}
	if s.apart == nil && s.host.Settings().Record {
		s.Answered(e)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.apart != nil {
		s.apart.entry = e
		return
	}
	s.pending = append(s.pending, e)
}

// Reset clears the row for another session but keeps the capacity of its lists.
func (r *SessionRow) Reset(p Place) {
	clear(r.Steps)
	clear(r.Events)
	*r = SessionRow{Place: p, Steps: r.Steps[:0], Events: r.Events[:0]}
}

// maxError is the maximum length of a stored error in bytes. Errors may repeat data.
const maxError = 16 << 10

// Fail records an error. Outcome and class follow from err. path is the step that failed.
func (r *SessionRow) Fail(path string, err error) {
	r.Path, r.Error = path, err.Error()
	if len(r.Error) > maxError {
		r.Error = strings.ToValidUTF8(r.Error[:maxError], "") + "…"
	}
	r.Outcome, r.Class = Failed, Script
	if step, ok := errors.AsType[*StepError](err); ok {
		r.Class = step.Class
	}
	var timeout *TimeoutError
	r.Lasting = lastsOf(err, r)
	switch {
	case errors.Is(err, ErrCut):
		r.Outcome = Cut
		r.CutAlone = CutAloneWhy(err)
	case errors.As(err, &timeout) && timeout.What != "step":
		r.Outcome, r.Class, r.Lasting = TimedOut, Timeout, Lasting{}
	}
}

// SessionKey returns the key for the random draws of a session.
func SessionKey(seed uint64, cycle, agent int) draw.Key {
	return draw.Key{}.Int(seed).Int(uint64(cycle)).Int(uint64(agent))
}

// AgentKey returns the key for the random draws of an agent's attributes.
func AgentKey(seed uint64, agent int) draw.Key {
	return draw.Key{}.Int(seed).Text("agent").Int(uint64(agent))
}

// Park leaves a session's slot to other sessions until the returned function is called, which waits for a slot again.
func Park(s *Session) (back func()) { return s.slot.Park() }

// Idle reports whether no session in the process of a session can do anything but wait like a parked one, and none will start by itself.
func Idle(s *Session) bool { return s.slot.Idle() }

// At records the waiting step that the session has reached and the service that it calls, or "". For parallel steps,
// the latest is shown. At, Throttle and Unthrottle accept a nil session.
func (s *Session) At(path, service string) {
	show(s, func(d *Activity) {
		*d = Activity{Place: s.Place, Began: d.Began, Path: path, Service: service, Since: time.Now()}
	})
}

// Throttle records that the session is throttled until Unthrottle.
func (s *Session) Throttle(by ThrottleCause) {
	show(s, func(d *Activity) { d.ThrottledBy, d.Since = by.Text(), time.Now() })
}

// Unthrottle records that the session is no longer throttled.
func (s *Session) Unthrottle() {
	show(s, func(d *Activity) { d.ThrottledBy, d.Since = "", time.Now() })
}

// show updates the published state of a session in flight.
func show(s *Session, f func(d *Activity)) {
	if s != nil && s.slot != nil {
		s.slot.Show(f)
	}
}
