package engine

import (
	"time"
)

// Shared is what the journal holds of answers that belong to the run.
type Shared struct {
	Answers map[SharedKey]Entry
	// Asked are the requests that left and got no answer: the hash of the first of each asking, and what all of it took.
	Asked map[SharedKey]Unanswered
}

// Unanswered is a request that left and got no answer.
type Unanswered struct {
	Hash  uint64
	Spent Outlay // at most
}

// Add takes in a row; the order matters.
func (s *Shared) Add(r *SharedRow) {
	asked, open := s.Asked[r.Key]
	if r.Record != nil {
		delete(s.Asked, r.Key)
	} else {
		if s.Asked == nil {
			s.Asked = map[SharedKey]Unanswered{}
		}
		if !open {
			asked.Hash = r.Entry.Hash
		}
		asked.Spent = r.Entry.Spent
		s.Asked[r.Key] = asked
	}
	if r.Answers() {
		if s.Answers == nil {
			s.Answers = map[SharedKey]Entry{}
		}
		s.Answers[r.Key] = r.Entry
	}
}

// apart is what a session of the run itself asks.
type apart struct {
	key   SharedKey
	asker Place // who needs the answer
	limit time.Duration
	cause error
	entry Entry // the newest; without Attempts there is none
}

// Recall returns an answer that the run has; it must not be changed.
func (s *Session) Recall(key SharedKey) (Entry, bool) { return s.host.Recall(key) }

// Apart returns a session of the run itself, its Agent -1, to ask for an answer that all sessions share. Its clock is
// its own: it begins when it is first asked for, ends with cause after limit, and is held by nothing that holds s.
// Replay gives, once, the intent of an earlier process that got no answer. Answered and Observed keep an entry for
// Settle, which must follow once there was a request. One asking goes on for a key at a time: whoever begins one looks
// with Recall first.
func (s *Session) Apart(key SharedKey, limit time.Duration, cause error) *Session {
	place := Place{Cycle: s.Cycle, Agent: -1}
	return &Session{
		Place: place, Now: s.Now, Row: &SessionRow{Place: place}, host: s.host,
		apart: &apart{key: key, asker: s.asker(), limit: limit, cause: cause},
	}
}

// Settle ends a session that Apart made, and waits until it is durable how: with the entry that it got last, if that
// and record are ok, and Recall finds that from then on; or without an answer. Either way record counts in the run's
// figures. An error says that nothing was kept, since the run was cut or its journal is closed: who waits is cut too.
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
