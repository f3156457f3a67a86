package engine

import (
	"maps"
	"sync"
)

// shared are the answers that a run has, and what asking for them took. It is safe for concurrent use.
type shared struct {
	mu    sync.RWMutex
	known Shared // Asked by earlier processes only
	asked Asked  // of all askings that ended
}

func (s *shared) takeUp(known *Shared, asked Asked) {
	s.asked, s.known = asked, Shared{maps.Clone(known.Answers), maps.Clone(known.Asked)}
}

func (s *shared) answer(key SharedKey) (Entry, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	e, ok := s.known.Answers[key]
	return e, ok
}

// replay takes the intent of an earlier process.
func (s *shared) replay(key SharedKey, path string) (Entry, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	asked, ok := s.known.Asked[key]
	if !ok {
		return Entry{}, false
	}
	delete(s.known.Asked, key)
	return Entry{Path: path, Hash: asked.Hash, Spent: asked.Spent}, true
}

func (s *shared) settled(r *SharedRow) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known.Add(r)
	s.asked.Add(r.Record)
}

func (s *shared) figures() Asked {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.asked
}
