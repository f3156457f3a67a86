package mock

import (
	"maps"
	"sync"
	"sync/atomic"
)

// Stats are the counters since Start.
type Stats struct {
	// Requests that arrived. Each ends in a status, a hang or a cut.
	Requests int64
	// Statuses counts the answers by status.
	Statuses map[int]int64
	// Faults counts the requests with an injected fault.
	Faults map[Fault]int64
	// Replays counts the stored answers sent again for a repeated idempotency key.
	Replays int64
	// Mutations counts the log records written, including stored refusals and first-seen sessions.
	Mutations int64
}

// counters are the live counters.
type counters struct {
	requests, replays atomic.Int64
	statuses          [600]atomic.Int64

	mu     sync.Mutex // guards faults
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

// byStatus returns the number of answers by status.
func (c *counters) byStatus() map[int]int64 {
	statuses := map[int]int64{}
	for status := range c.statuses {
		if n := c.statuses[status].Load(); n > 0 {
			statuses[status] = n
		}
	}
	return statuses
}

// byFault returns the number of requests by fault.
func (c *counters) byFault() map[Fault]int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	faults := maps.Clone(c.faults)
	if faults == nil {
		faults = map[Fault]int64{}
	}
	return faults
}

// Stats returns the current counters.
func (s *Shop) Stats() Stats {
	return Stats{
		Requests:  s.count.requests.Load(),
		Statuses:  s.count.byStatus(),
		Faults:    s.count.byFault(),
		Replays:   s.count.replays.Load(),
		Mutations: s.mutations.Load(),
	}
}

// Orders summarizes the orders, for tests of exactly-once.
type Orders struct {
	// Total and ByUser count completed orders, including those in the log at the start.
	Total  int64
	ByUser map[string]int64
	// DoubledKeys counts the orders with the key of an earlier order of their user, among the last 100 of each user. More than 0 is a
	// defect, unless a key was reused after it expired.
	DoubledKeys int64
}

// Orders counts the completed orders of all users.
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

// OrderCount returns the number of completed orders of a user.
func (s *Shop) OrderCount(user string) int64 {
	u := s.users.known(user)
	if u == nil {
		return 0
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.orders
}
