package shards

// Ticket is an offer of a shard.
type Ticket struct{ Shard, Offer uint64 }

// Lease is a worker's temporary right to execute the sessions of a shard. Each later lease of the shard has a higher epoch.
type Lease struct{ Shard, Epoch uint64 }

// epoch orders the deliveries of all offers of a shard.
func epoch(offer, count uint64) uint64 { return offer<<32 | count&(1<<32-1) }

// Cycle describes the sessions of a cycle.
type Cycle struct {
	Todo []int32 // agents, in the order in which their sessions may start; nil means agents 0 to Size-1
	Size int     // how many agents that is
	// Held sessions wait for Release. The others may all start together.
	Held bool
	// Whole puts all sessions into one shard, which one worker executes in order.
	Whole bool
	// Sticky offers agents first to the worker that had them before, because it has their memory.
	Sticky bool
}

// Book keeps the books of one run in one process.
type Book struct {
	Roster
	table
	*effects

	agents   int
	region   int // agents of a home
	cycle    Cycle
	open     bool
	all      []int32  // agents 0 to agents-1; nil until needed
	homes    []string // by region: the worker that had it last
	later    []int32  // of a whole cycle: sessions that wait until the shard before them has ended
	released int
	left     int // released sessions that have neither ended nor been cut
	requeued int // sessions that were requeued
}

// New returns the book of a run with a number of agents.
func New(agents int) *Book {
	const parts, most = 128, 1024
	region := min(max(agents/parts, 1), most)
	e := &effects{}
	return &Book{
		Roster: Roster{effects: e, workers: map[string]*worker{}}, table: table{effects: e, shards: map[uint64]*shard{}, of: make([]uint64, agents)},
		effects: e, agents: agents, region: region, homes: make([]string, (agents+region-1)/region),
	}
}

// Effects returns what has to be carried out, in order, and forgets it.
func (b *Book) Effects() []Effect {
	list := b.list
	b.list = nil
	return list
}

// Begin opens a cycle. The previous one has ended.
func (b *Book) Begin(c Cycle) {
	b.withdrawAll()
	b.cycle, b.open, b.alone = c, true, c.Whole
	clear(b.of)
	b.released, b.left, b.requeued, b.later = 0, 0, 0, nil
	for _, w := range b.workers {
		w.leases, w.inFlight, w.idle, w.queued = map[uint64]*shard{}, 0, false, 0
	}
	if b.cycle.Todo == nil && b.all == nil {
		b.all = make([]int32, b.agents)
		for i := range b.all {
			b.all[i] = int32(i)
		}
	}
	if !c.Held {
		b.Release(c.Size)
	}
}

// End closes the cycle. Nothing of it is accepted afterward.
func (b *Book) End() {
	b.withdrawAll()
	for _, w := range b.workers {
		w.leases = map[uint64]*shard{}
	}
	b.open = false
	b.settle()
}

// Release lets the sessions of Todo before count start.
func (b *Book) Release(count int) {
	todo := b.cycle.Todo
	if todo == nil {
		todo = b.all[:b.cycle.Size]
	}
	next := todo[b.released:count:count]
	b.released = count
	b.left += len(next)
	switch {
	case len(next) == 0:
	case b.cycle.Whole:
		b.later = append(b.later, next...)
	default:
		b.split(next)
	}
	b.settle()
}

// offerWhole offers the sessions of a whole cycle that may start. Each of them may depend on all before it, so the shard before must have
// ended.
func (b *Book) offerWhole() {
	if next := b.later; len(next) > 0 && len(b.shards) == 0 {
		b.later = nil
		b.add(next)
	}
}

// split makes shards of consecutive agents of one home. Sessions that are released one by one are in order of their start.
func (b *Book) split(agents []int32) {
	for len(agents) > 0 {
		n, home := 1, int(agents[0])/b.region
		for n < len(agents) && n < b.region && int(agents[n])/b.region == home {
			n++
		}
		b.add(agents[:n:n])
		agents = agents[n:]
	}
}

// add makes a shard and offers it to the home of its agents.
func (b *Book) add(agents []int32) { b.create(agents, b.home(agents[0])) }

// home returns the worker that should have an agent, or "" for any.
func (b *Book) home(agent int32) string {
	if !b.cycle.Sticky {
		return ""
	}
	name := b.homes[int(agent)/b.region]
	if w := b.workers[name]; w == nil || !w.takes() {
		return ""
	}
	return name
}

// Grant is the content of a lease: the agents whose sessions have not ended.
type Grant struct {
	Lease
	Agents []int32
	Former string // the worker that had the shard and lost it; "" if there was none
}

// Claim leases a shard to the worker that received a ticket, for the count-th time. A worker that already has the shard keeps its
// lease. Claim returns false if the ticket is stale or nothing is left to do: then the worker acknowledges the ticket.
func (b *Book) Claim(name string, t Ticket, count uint64) (g Grant, ok bool) {
	w, s := b.workers[name], b.shards[t.Shard]
	if w == nil || !w.present || s == nil || t.Offer != s.offer {
		return g, false
	}
	at := epoch(t.Offer, count)
	switch {
	case s.owner == w: // delivered again although it has not been lost
		at = s.epoch
	case at <= s.epoch:
		return g, false
	case s.owner != nil:
		g.Former = s.owner.name
		b.drop(s)
	}
	s.owner, s.epoch, w.leases[s.id] = w, at, s
	w.idle = false
	b.homes[int(s.agents[0])/b.region] = name
	g.Lease = Lease{s.id, at}
	for _, a := range s.agents {
		if b.of[a] == s.id {
			g.Agents = append(g.Agents, a)
		}
	}
	return g, true
}

// Holds reports whether a worker has the lease under which an agent's session has not ended. Everything else that it sends of the
// session is stale.
func (b *Book) Holds(name string, l Lease, agent int) bool {
	return b.held(name, l, agent) != nil
}

// Ended records that a session ended, or was cut: it does not run again in this process. It returns false if the worker does not hold
// the session: then it must not count.
func (b *Book) Ended(name string, l Lease, agent int) bool {
	s := b.held(name, l, agent)
	if s == nil {
		return false
	}
	b.of[agent] = 0
	b.left--
	b.take(s, 1)
	return true
}

// GiveBack takes sessions back that a worker has not started, and offers them again. Agents that it does not hold are ignored.
func (b *Book) GiveBack(name string, l Lease, agents []int32) {
	s := b.shards[l.Shard]
	if w := b.workers[name]; w != nil {
		w.recalled = false
	}
	var back []int32
	for _, a := range agents {
		if b.held(name, l, int(a)) != nil {
			back = append(back, a)
		}
	}
	if len(back) == 0 {
		b.settle()
		return
	}
	b.take(s, len(back))
	if b.cycle.Whole {
		for _, a := range back {
			b.of[a] = 0
		}
		b.later = append(back, b.later...)
		b.settle()
		return
	}
	to := b.idleWorkers(name)
	if len(to) == 0 {
		to = []string{""}
	}
	for i, worker := range to {
		from, upTo := len(back)*i/len(to), len(back)*(i+1)/len(to)
		if part := back[from:upTo:upTo]; len(part) > 0 {
			b.create(part, worker)
		}
	}
	b.settle()
}

// idleWorkers returns the workers that have no sessions, except one.
func (b *Book) idleWorkers(but string) (names []string) {
	for _, name := range b.names {
		if w := b.workers[name]; name != but && w.idle && w.takes() && !b.waiting(name) {
			names = append(names, name)
		}
	}
	return names
}

// Left returns how many released sessions have neither ended nor been cut.
func (b *Book) Left() int { return b.left }

// Requeue adds the session of an agent that has ended.
func (b *Book) Requeue(agent int) {
	b.left++
	b.requeued++
	if b.cycle.Whole {
		b.later = append(b.later, int32(agent))
	} else {
		b.add([]int32{int32(agent)})
	}
	b.settle()
}
