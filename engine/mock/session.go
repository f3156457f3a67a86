package mock

import (
	"sync"

	"github.com/google/uuid"
)

// seenSession is a session and when its user first used it; with that it is forgotten.
type seenSession struct {
	id uuid.UUID
	era
}

// sessions says whose a session id is, in shards.
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

// claim gives the id to u unless somebody has it, and says who has it now and whether that is new.
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

// release forgets the id if it is u's.
func (s *sessions) release(id uuid.UUID, u *user) {
	shard := &s.shards[id[15]%uint8(len(s.shards))]
	shard.mu.Lock()
	defer shard.mu.Unlock()
	if shard.owner[id] == u {
		delete(shard.owner, id)
	}
}
