package mock

import (
	"sync"

	"github.com/google/uuid"
)

// seenSession is a session and the time at which its user first used it; it expires after that time.
type seenSession struct {
	id uuid.UUID
	era
}

// sessions maps session IDs to their users, in shards.
type sessions struct {
	shards [64]struct {
		mu    sync.Mutex
		owner map[uuid.UUID]*user
	}
}

func newSessions() *sessions {
	s := &sessions{}
	for i := range s.shards {
		s.shards[i].owner = map[uuid.UUID]*user{}
	}
	return s
}

// claim assigns the ID to u unless it has an owner. It returns the owner, and whether the assignment is new.
func (s *sessions) claim(id uuid.UUID, u *user) (owner *user, fresh bool) {
	shard := &s.shards[id[15]%uint8(len(s.shards))]
	shard.mu.Lock()
	defer shard.mu.Unlock()
	if owner := shard.owner[id]; owner != nil {
		return owner, false
	}
	shard.owner[id] = u
	return u, true
}

// release removes the ID if it belongs to u.
func (s *sessions) release(id uuid.UUID, u *user) {
	shard := &s.shards[id[15]%uint8(len(s.shards))]
	shard.mu.Lock()
	defer shard.mu.Unlock()
	if shard.owner[id] == u {
		delete(shard.owner, id)
	}
}
