package run

import (
	"maps"
	"sync"

	"github.com/throng-sim/throng/engine"
)

// sharedAnswers holds the run's shared answers and what they cost. It is safe for concurrent use.
type sharedAnswers struct {
	mu    sync.RWMutex
	known engine.Shared        // Unanswered holds intents of earlier processes only
	total engine.RequestCounts // total of all finished requests
}

func (s *sharedAnswers) resume(known *engine.Shared, total engine.RequestCounts) {
	s.total, s.known = total, engine.Shared{Answers: maps.Clone(known.Answers), Unanswered: maps.Clone(known.Unanswered)}
}

func (s *sharedAnswers) answer(key engine.SharedKey) (engine.Entry, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	e, ok := s.known.Answers[key]
	return e, ok
}

// takeIntent returns and removes an intent that an earlier process journaled.
func (s *sharedAnswers) takeIntent(key engine.SharedKey, path string) (engine.Entry, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	asked, ok := s.known.Unanswered[key]
	if !ok {
		return engine.Entry{}, false
	}
	delete(s.known.Unanswered, key)
	return engine.Entry{Path: path, Hash: asked.Hash, Spent: asked.Spent}, true
}

func (s *sharedAnswers) add(r *engine.SharedRow) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known.Add(r)
	s.total.Add(r.Record)
}

func (s *sharedAnswers) spent() engine.RequestCounts {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.total
}
