package engine

import (
	"time"
)

// Shared is what the journal contains of answers that belong to the run.
type Shared struct {
	Answers map[SharedKey]Entry
	// Unanswered holds the requests that were sent without an answer: the hash of the first, and the spending of all attempts.
	Unanswered map[SharedKey]Unanswered
}

// Unanswered is a request that was sent but not answered.
type Unanswered struct {
	Hash  uint64
	Spent Outlay // upper limit
}

// Add adds a row. Rows must be added in journal order.
func (s *Shared) Add(r *SharedRow) {
	asked, open := s.Unanswered[r.Key]
	if r.Record != nil {
		delete(s.Unanswered, r.Key)
	} else {
		if s.Unanswered == nil {
			s.Unanswered = map[SharedKey]Unanswered{}
		}
		if !open {
			asked.Hash = r.Entry.Hash
		}
		asked.Spent = r.Entry.Spent
		s.Unanswered[r.Key] = asked
	}
	if r.Answers() {
		if s.Answers == nil {
			s.Answers = map[SharedKey]Entry{}
		}
		s.Answers[r.Key] = r.Entry
	}
}

// apart is the state of a session of the run itself.
type apart struct {
	key   SharedKey
	asker Place // the session that needs the answer
	limit time.Duration
	cause error
	entry Entry // the latest; without Attempts if there is none
}

// Recall returns an answer that the run already has. It must not be changed.
func (s *Session) Recall(key SharedKey) (Entry, bool) { return s.host.Recall(key) }

// AwaitShared is like Session.Recall, but first waits while another process of the run requests the answer. Without an answer or an
// error, the caller may request it. It must call release afterward in any case.
func AwaitShared(s *Session, key SharedKey) (e Entry, known bool, release func(), err error) {
	return s.host.AwaitShared(s.host.Context(), key)
}

// ForRun returns a session of the run itself, with Agent -1, to request an answer that all sessions share. It has its
// own clock, which starts on first use, ends with cause after limit, and does not pause with the clock of s. Replay
// returns, once, the intent that an earlier process left without an answer. Answered and Observed keep an entry for
// Settle, which the caller must call after a request. Only one request per key may be in progress: call Recall before
// starting one.
func (s *Session) ForRun(key SharedKey, limit time.Duration, cause error) *Session {
	place := Place{Cycle: s.Cycle, Agent: -1}
	return &Session{
		Place: place, Now: s.Now, Row: &SessionRow{Place: place}, host: s.host,
		apart: &apart{key: key, asker: asker(s), limit: limit, cause: cause},
	}
}

// Settle ends a session that ForRun returned and waits until the outcome is durable. If the last entry and record are
// ok, Recall returns that entry from then on. Otherwise there is no answer. In both cases record counts in the run's
// figures. An error means that nothing was stored because the run was cut or its journal is closed. Waiting sessions
// are then cut too.
func (s *Session) Settle(record StepRecord) error {
	if s.clock != nil {
		s.clock.Stop()
	}
	row := SharedRow{Key: s.apart.key, Cycle: s.Cycle, Record: &record}
	s.mu.Lock()
	if e := s.apart.entry; e.Status == StepOK && record.Status == StepOK {
		row.Entry = e
	}
	spent := s.spent
	s.mu.Unlock()
	return s.host.SettleShared(row, spent)
}
