package mock

import (
	"maps"
	"sync"
	"sync/atomic"
)

// Stats are figures since Start.
type Stats struct {
	// Requests that arrived; each ends in a status, or in a hang or a cut.
	Requests int64
	// Statuses counts the answers by status.
	Statuses map[int]int64
	// Faults counts the requests that went wrong on purpose.
	Faults map[Fault]int64
	// Replays are answers that a key had kept.
	Replays int64
	// Mutations are the records written, kept refusals and first-seen sessions too.
	Mutations int64
}

// counters are the figures while they grow.
type counters struct {
	requests, replays atomic.Int64
	statuses          [600]atomic.Int64

	mu     sync.Mutex // holds faults
	faults map[Fault]int64
}

func (c *counters) fault(f Fault) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.faults == nil {
		c.faults = map[Fault]int64{}
	}
	c.faults[f]++
}

// byStatus is how many answers had each status.
func (c *counters) byStatus() map[int]int64 {
	statuses := map[int]int64{}
	for status := range c.statuses {
		if n := c.statuses[status].Load(); n > 0 {
			statuses[status] = n
		}
	}
	return statuses
}

// byFault is how many requests met each fault.
func (c *counters) byFault() map[Fault]int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	faults := maps.Clone(c.faults)
	if faults == nil {
		faults = map[Fault]int64{}
	}
	return faults
}

// Stats returns the figures as they are now.
func (s *Shop) Stats() Stats {
	return Stats{
		Requests:  s.count.requests.Load(),
		Statuses:  s.count.byStatus(),
		Faults:    s.count.byFault(),
		Replays:   s.count.replays.Load(),
		Mutations: s.mutations.Load(),
	}
}

// Orders says what was ordered, for tests of exactly-once.
type Orders struct {
	// Total and ByUser count completed orders, those of the log's earlier life too.
	Total  int64
	ByUser map[string]int64
	// DoubledKeys counts the orders that had the key of an earlier order of their user, among the last 100 of each.
	// Anything but 0 is a defect, except where a key was used again after it was forgotten.
	DoubledKeys int64
}

// Orders counts the completed orders. It looks at every user.
func (s *Shop) Orders() Orders {
	o := Orders{ByUser: map[string]int64{}}
	keys := map[keyHash]bool{}
	s.users.all(func(u *user) {
		if u.orders == 0 {
			return
		}
		o.Total += u.orders
		o.ByUser[u.id] = u.orders
		clear(keys)
		for _, order := range u.last {
			if order.keyed && keys[order.key] {
				o.DoubledKeys++
			}
			keys[order.key] = keys[order.key] || order.keyed
		}
	})
	return o
}

// OrderCount is how many orders a user completed.
func (s *Shop) OrderCount(user string) int64 {
	u := s.users.known(user)
	if u == nil {
		return 0
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.orders
}
