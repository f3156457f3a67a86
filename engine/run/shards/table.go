package shards

import "slices"

// effects are what an owner of a book has to carry out, in order.
type effects struct{ list []Effect }

func (e *effects) emit(one Effect) { e.list = append(e.list, one) }

// shard is a part of a cycle.
type shard struct {
	id     uint64
	offer  uint64
	to     string  // the worker that it is offered to; "" for all. Meaningless while it is leased
	owner  *worker // has the lease; nil while the shard is offered
	epoch  uint64  // of the newest lease
	agents []int32 // its sessions; those with another entry in table.of have ended
	left   int     // sessions that have not ended
}

// table holds the shards of a cycle whose sessions have not all ended.
type table struct {
	*effects
	shards map[uint64]*shard
	of     []uint64 // by agent: the shard of its session, or 0 if it has none that has not ended
	last   uint64   // the newest shard
	offers uint64   // the newest offer
}

// withdrawAll takes back all shards, which matters only if the run has ended early.
func (t *table) withdrawAll() {
	for _, id := range t.sorted() {
		if s := t.shards[id]; s.owner == nil {
			t.emit(Withdraw{Ticket{s.id, s.offer}})
		}
	}
	t.shards = map[uint64]*shard{}
}

// sorted returns the shards in order of creation.
func (t *table) sorted() []uint64 {
	ids := make([]uint64, 0, len(t.shards))
	for id := range t.shards {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// create makes a shard and offers it to a worker, or to all.
func (t *table) create(agents []int32, to string) {
	t.last++
	s := &shard{id: t.last, agents: agents, left: len(agents)}
	t.shards[s.id] = s
	for _, a := range agents {
		t.of[a] = s.id
	}
	t.offer(s, to)
}

// offer offers a shard that no worker has.
func (t *table) offer(s *shard, to string) {
	t.offers++
	s.offer, s.to, s.owner = t.offers, to, nil
	t.emit(Offer{to, Ticket{s.id, s.offer}})
}

// move offers a shard to another worker.
func (t *table) move(s *shard, to string) {
	t.emit(Withdraw{Ticket{s.id, s.offer}})
	t.offer(s, to)
}

// drop ends the lease of a shard.
func (t *table) drop(s *shard) {
	delete(s.owner.leases, s.id)
	t.emit(Lost{s.owner.name, Lease{s.id, s.epoch}})
	s.owner = nil
}

// take removes sessions from a shard. The shard ends with its last session.
func (t *table) take(s *shard, sessions int) {
	if s.left -= sessions; s.left == 0 {
		delete(s.owner.leases, s.id)
		delete(t.shards, s.id)
	}
}

// held returns the shard of a session that a worker has the lease of, or nil.
func (t *table) held(name string, l Lease, agent int) *shard {
	s := t.shards[l.Shard]
	if s == nil || s.owner == nil || s.owner.name != name || s.epoch != l.Epoch || agent < 0 || agent >= len(t.of) || t.of[agent] != l.Shard {
		return nil
	}
	return s
}

// waiting reports whether an offer waits that a worker may take.
func (t *table) waiting(name string) bool {
	for _, s := range t.shards {
		if s.owner == nil && (s.to == "" || s.to == name) {
			return true
		}
	}
	return false
}

// foreign returns the newest shard that is offered to another worker, which is busy.
func (t *table) foreign(name string, workers map[string]*worker) (newest *shard) {
	for _, s := range t.shards {
		if s.owner == nil && s.to != "" && s.to != name && !workers[s.to].idle && (newest == nil || s.id > newest.id) {
			newest = s
		}
	}
	return newest
}
