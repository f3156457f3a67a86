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

// Session is one agent's pass through the chain in one cycle, as a [Program] sees it. Its worker reuses it for the next
// session. The methods about requests are safe for concurrent use; Row is the caller's.
type Session struct {
	Place
	Now    time.Time // simulated
	Memory *Memory   // as of the start of the cycle; nil without any; never changed
	Row    *SessionRow

	host  Host
	slot  Slot         // nil for a session of the run itself
	claim MemoryClaims // of the slot
	clock *clock.Clock // started by the first step that can wait
	apart *apart       // of a session of the run itself

	mu      sync.Mutex
	prefix  map[string]Entry // what an earlier process journaled of this session and is not taken yet
	pending []Entry          // results of service steps that are not journaled yet
	spending
}

// NewSession returns a session that a worker executes in a slot and fills into row. Reset begins each use of it.
func NewSession(host Host, slot Slot, row *SessionRow) *Session {
	return &Session{host: host, slot: slot, claim: slot.Memory(), Row: row}
}

// Reset begins a session.
func (s *Session) Reset(p Place, now time.Time, memory *Memory) {
	s.Place, s.Now, s.Memory = p, now, memory
	s.clock, s.prefix, s.pending, s.spending = nil, nil, nil, spending{}
	s.Row.Reset(p)
}

// Continue gives the session what an earlier process journaled of it.
func (s *Session) Continue(known Prefix) {
	s.AnswerFrom(known)
	s.begin(known)
}

// AnswerFrom gives the session results of service steps to replay.
func (s *Session) AnswerFrom(known Prefix) {
	s.prefix = make(map[string]Entry, len(known))
	for _, e := range known {
		s.prefix[e.Path] = e
	}
}

// Run returns the ID of the session's run.
func (s *Session) Run() RunID { return s.host.Run().ID }

// Settings returns the run's settings that are in force now; they must not be changed.
func (s *Session) Settings() *Settings { return s.host.Settings() }

// Key is what the session's draws depend on: seed, cycle and agent.
func (s *Session) Key() draw.Key { return SessionKey(s.host.Settings().Seed, s.Cycle, s.Agent) }

// Clock counts the time that the session uses; its context ends when that is over. The first call starts it: from then
// on the session may wait, so its worker first hands on the sessions that it finished before.
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

// Clocked returns the session's context if its clock has started, else nil: a script checks whether to stop without
// starting a clock.
func (s *Session) Clocked() context.Context {
	if s.clock == nil {
		return nil
	}
	return s.clock.Context()
}

// Sleep waits for d. It returns the context's cause if that ends first.
func (s *Session) Sleep(ctx context.Context, d time.Duration) error { return s.host.Sleep(ctx, d) }

// Replaying reports whether the journal holds results of this session that were not taken yet.
func (s *Session) Replaying() bool {
	if s.prefix == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.prefix) > 0
}

// Replay takes the journaled result of a step, if there is one. An Entry with no Attempts is an intent without an
// answer: the request must be sent again with the same key.
func (s *Session) Replay(path string) (Entry, bool) {
	if s.apart != nil {
		e, ok := s.host.TakeIntent(s.apart.key, path)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.spent = s.spent.Plus(e.Spent)
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

// Recording returns the run whose recording answers the session in place of services; "" if services are called.
func (s *Session) Recording() RunID { return s.host.Run().Recording }

// Forget drops what the journal holds of a step, and of those inside it, that will not be executed.
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

// Intend journals that a changing request is about to leave, with the results that are not journaled yet, and waits
// until that is durable. spent is what earlier attempts at the request took, claimed what this one may take: that counts as
// spent where the process dies before there is an answer. The clock must be held meanwhile. A second intent of a path takes
// the place of the first.
func (s *Session) Intend(ctx context.Context, path string, hash uint64, spent, claimed Outlay) error {
	s.mu.Lock()
	if s.apart != nil {
		e := Entry{Path: path, Hash: hash, Spent: s.spent.Plus(claimed)} // its earlier calls have no answer in the journal
		s.mu.Unlock()
		return s.host.Commit(ctx, SharedRow{Key: s.apart.key, Cycle: s.Cycle, Entry: e})
	}
	earlier := s.pending
	s.pending = nil
	s.kept = s.kept.Plus(Prefix(earlier).total())
	s.intends(path, spent.Plus(claimed))
	s.mu.Unlock()
	return s.host.Commit(ctx, IntentRow{s.Place, path, hash, spent.Plus(claimed), earlier})
}

// Answered journals the result of a step that had an intent.
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

// Observed keeps the result of a service step without an intent until the next intent takes it along. A run that records
// journals it at once: there may be no other intent.
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

// Reset empties the row for another session. It keeps the memory of its lists.
func (r *SessionRow) Reset(p Place) {
	clear(r.Steps)
	clear(r.Events)
	*r = SessionRow{Place: p, Steps: r.Steps[:0], Events: r.Events[:0]}
}

// maxError bounds what is kept of an error, in bytes: it may repeat data.
const maxError = 16 << 10

// Fail ends the row with an error: its outcome and class follow from err, path is the step that failed.
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
		if short, ok := errors.AsType[*outOfBudget](err); ok {
			r.OutOfBudget = short.why
		}
	case errors.As(err, &timeout) && timeout.What != "step":
		r.Outcome, r.Class, r.Lasting = TimedOut, Timeout, Lasting{}
	}
}

// SessionKey is what the draws of a session depend on.
func SessionKey(seed uint64, cycle, agent int) draw.Key {
	return draw.Key{}.Int(seed).Int(uint64(cycle)).Int(uint64(agent))
}

// AgentKey is what an agent's attributes depend on.
func AgentKey(seed uint64, agent int) draw.Key {
	return draw.Key{}.Int(seed).Text("agent").Int(uint64(agent))
}

// At says which step the session has come to, one that can wait, and the service that it asks; "" is none. Of steps that
// go on beside each other the newest is shown. Like the two below it may be called of a nil session.
func (s *Session) At(path, service string) {
	s.see(func(d *Doing) {
		*d = Doing{Place: s.Place, Began: d.Began, Path: path, Service: service, Since: time.Now()}
	})
}

// Held says that a gate holds the session back, until Released.
func (s *Session) Held(g Gate) {
	s.see(func(d *Doing) { d.Gate, d.Since = gateWords[g], time.Now() })
}

// Released says that nothing holds the session back any more.
func (s *Session) Released() {
	s.see(func(d *Doing) { d.Gate, d.Since = "", time.Now() })
}

// see changes what is seen of a session that a worker has.
func (s *Session) see(f func(d *Doing)) {
	if s != nil && s.slot != nil {
		s.slot.Show(f)
	}
}
