package run

import (
	"maps"
	"sync"

	"github.com/throng-sim/throng/engine"
)

// shared holds the run's shared answers and what they cost. It is safe for concurrent use.
type shared struct {
	mu    sync.RWMutex
	known engine.Shared        // Asked holds intents of earlier processes only
	asked engine.RequestCounts // total of all finished requests
}

func (s *shared) takeUp(known *engine.Shared, asked engine.RequestCounts) {
	s.asked, s.known = asked, engine.Shared{Answers: maps.Clone(known.Answers), Unanswered: maps.Clone(known.Unanswered)}
}

func (s *shared) answer(key engine.SharedKey) (engine.Entry, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	e, ok := s.known.Answers[key]
	return e, ok
}

// replay returns and removes an intent that an earlier process journaled.
func (s *shared) replay(key engine.SharedKey, path string) (engine.Entry, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	asked, ok := s.known.Unanswered[key]
	if !ok {
		return engine.Entry{}, false
	}
	delete(s.known.Unanswered, key)
	return engine.Entry{Path: path, Hash: asked.Hash, Spent: asked.Spent}, true
}

func (s *shared) settled(r *engine.SharedRow) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known.Add(r)
	s.asked.Add(r.Record)
}

func (s *shared) figures() engine.RequestCounts {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.asked
}
