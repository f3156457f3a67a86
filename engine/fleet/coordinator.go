package fleet

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/codec"
	"github.com/throng-sim/throng/engine/run"
	"github.com/throng-sim/throng/engine/workers"
)

// Coordinator knows the workers of a fleet and hands them the run of this process. Its methods are safe for concurrent use.
type Coordinator struct {
	bus     Bus
	check   func(of Info) error
	changed func()
	machine string

	mu      sync.Mutex
	members map[string]*member
	pool    *Pool // of the run in progress; nil if there is none
	runs    int
	newest  uint64 // session of a worker in a run
	closed  bool
}

// Config describes a coordinator.
type Config struct {
	// Check returns why a worker cannot be used, or nil.
	Check func(of Info) error
	// Changed, if set, is called after a worker joined, left, or was refused. It must not block.
	Changed func()
	// Machine identifies this machine, as Info.Machine does; "" if it is unknown.
	Machine string
}

// member is a worker that has joined.
type member struct {
	Info
	state   workers.Status
	why     string
	since   time.Time
	present bool
	unfit   bool      // for any run
	drains  bool      // by hand
	most    int       // sessions in flight, by hand; 0 means any number
	greeted uint64    // its newest attempt to join; 0 before the first
	waits   bool      // for a part of the run
	heard   time.Time // when its newest packet arrived or was answered, or it joined the run
	asking  int       // packets without an answer, such as while the journal cannot be written
	inbox   *inbox    // closed by Close
}

// willing returns the status of a worker that nothing keeps from executing sessions.
func (m *member) willing() workers.Status {
	if m.drains {
		return workers.Draining
	}
	return workers.Ready
}

// New returns a coordinator that talks to its workers over a bus. Close closes the bus.
func New(bus Bus, cfg Config) *Coordinator {
	c := &Coordinator{bus: bus, check: cfg.Check, changed: cfg.Changed, machine: cfg.Machine, members: map[string]*member{}, newest: rand.Uint64() >> 1}
	if c.check == nil {
		c.check = func(Info) error { return nil }
	}
	if c.changed == nil {
		c.changed = func() {}
	}
	bus.Listen(c)
	return c
}

// Close ends the fleet. The run in progress has ended before.
func (c *Coordinator) Close() error {
	c.mu.Lock()
	c.closed = true
	members := c.members
	c.members = map[string]*member{}
	c.mu.Unlock()
	err := c.bus.Close()
	for _, m := range members {
		m.inbox.close()
	}
	return err
}

// session returns the number of a new session. Numbers do not repeat between runs, and hardly between coordinators.
func (c *Coordinator) session() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.newest++
	return c.newest
}

// keptLost is how long a lost worker is listed at least. It goes when another one joins.
const keptLost = time.Hour

// forget removes the workers that were lost before a moment.
func forget(members map[string]*member, before time.Time) {
	for name, m := range members {
		if !m.present && m.state == workers.Lost && m.since.Before(before) {
			delete(members, name)
			m.inbox.close()
		}
	}
}

// member returns a worker, which may be new. mu is held.
func (c *Coordinator) member(name string) *member {
	m := c.members[name]
	if m == nil {
		forget(c.members, time.Now().Add(-keptLost))
		m = &member{inbox: newInbox(), since: time.Now()}
		c.members[name] = m
	}
	return m
}

// Request handles a request of a worker.
func (c *Coordinator) Request(worker string, data []byte, answer func([]byte)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || len(data) == 0 {
		return
	}
	kind, body, pool := data[0], data[1:], c.pool
	var f func()
	switch kind {
	case helloRequest:
		f = func() { c.greet(worker, body, answer) }
	case readyRequest:
		f = func() { c.prepared(worker, body, answer) }
	case byeRequest:
		f = func() {
			c.lose(worker, "it ended")
			answer(nil)
		}
	default:
		f = func() { intake{pool}.receive(worker, kind, body, answer) }
		if pool == nil {
			f = func() { refuse(kind, answer) }
		}
	}
	m := c.member(worker)
	if kind == packetRequest {
		m.heard = time.Now()
		reply := answer
		answer = func(data []byte) {
			c.answered(m)
			reply(data)
		}
	}
	if m.inbox.add(f) && kind == packetRequest { // otherwise it repeats the request
		m.asking++
	}
}

// answered records that a packet of a worker has its answer.
func (c *Coordinator) answered(m *member) {
	c.mu.Lock()
	defer c.mu.Unlock()
	m.heard, m.asking = time.Now(), m.asking-1
}

// noRun is why a worker is refused whose run has ended.
const noRun = "the coordinator has no run in progress"

// refuse answers a request that belongs to no run.
func refuse(kind byte, answer func([]byte)) {
	switch kind {
	case packetRequest:
		answer((&packetReply{At: time.Now(), Refused: noRun}).append(nil))
	case claimRequest:
		answer(codec.AppendWire(nil, grant{Refused: noRun}))
	case callRequest:
		answer(codec.AppendWire(nil, reply{Error: noRun, Cut: true}))
	}
}

// greet answers a worker that joins.
func (c *Coordinator) greet(name string, body []byte, answer func([]byte)) {
	of, err := record[hello](body)
	if err == nil {
		err = c.check(of.Info)
	}
	c.mu.Lock()
	m := c.members[name]
	if m == nil { // the fleet has ended
		c.mu.Unlock()
		return
	}
	if err == nil && m.present && m.greeted == of.Attempt { // a late copy
		c.mu.Unlock()
		answer(codec.AppendWire(nil, welcome{}))
		return
	}
	m.Info, m.present, m.since, m.greeted = of.Info, true, time.Now(), of.Attempt
	if m.unfit = err != nil; m.unfit {
		m.state, m.why = workers.Refused, err.Error()
	} else {
		m.state, m.why = m.willing(), ""
	}
	pool := c.pool
	if pool == nil {
		c.bus.Order(name, codec.AppendWire(nil, order{})) // an earlier one may say something else; a later run orders after this
	}
	c.mu.Unlock()
	if err != nil {
		answer(codec.AppendWire(nil, welcome{Refused: err.Error()}))
	} else {
		c.invite(pool, name)
		answer(codec.AppendWire(nil, welcome{}))
	}
	c.changed()
}

// prepared records that a worker can execute sessions of the run, or why not.
func (c *Coordinator) prepared(name string, body []byte, answer func([]byte)) {
	of, err := record[ready](body)
	if err != nil {
		return
	}
	defer answer(nil)
	c.mu.Lock()
	m, pool := c.members[name], c.pool
	c.mu.Unlock()
	if m == nil || pool == nil || !(crew{pool}).invited(name, of.Session) { // of an earlier run, or late
		return
	}
	c.mu.Lock()
	m.state, m.why, m.since, m.heard = m.willing(), of.Refused, time.Now(), time.Now()
	if of.Refused != "" {
		m.state = workers.Refused
	}
	drains, most := m.drains, m.most
	c.mu.Unlock()
	if of.Refused == "" {
		crew{pool}.join(name, of.Session, drains, most)
	} else {
		crew{pool}.lose(name, "") // its part is free
		c.inviteWaiting(pool)
	}
	c.changed()
}

// later has f called in the turn of a worker, because it may have to wait for the journal.
func (c *Coordinator) later(worker string, f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return
	}
	if !c.member(worker).inbox.add(f) {
		go f()
	}
}

// Present implements [Handler]. A worker that had been lost joins again.
func (c *Coordinator) Present(worker string) { c.later(worker, func() { c.present(worker) }) }

func (c *Coordinator) present(worker string) {
	c.mu.Lock()
	m, pool := c.members[worker], c.pool
	if m == nil {
		c.mu.Unlock()
		return
	}
	again := m.state == workers.Lost && !m.unfit
	m.present = true
	if m.greeted == 0 { // it joins, or has joined a coordinator that was here before
		time.AfterFunc(BeatEvery, func() { c.later(worker, func() { know(c, worker) }) })
	}
	if again {
		m.state, m.why, m.since = m.willing(), "", time.Now()
	}
	c.mu.Unlock()
	if again {
		c.invite(pool, worker)
		c.changed()
	}
}

// know has a worker join that is present, but only an earlier coordinator knows.
func know(c *Coordinator, worker string) {
	c.mu.Lock()
	m := c.members[worker]
	stranger := m != nil && m.present && m.greeted == 0
	c.mu.Unlock()
	if stranger {
		c.bus.Order(worker, codec.AppendWire(nil, order{Join: true}))
	}
}

// Absent implements [Handler]: the worker is lost.
func (c *Coordinator) Absent(worker string) {
	c.later(worker, func() { c.lose(worker, "it has been silent for "+engine.FormatDuration(LeaseTime)) })
}

func (c *Coordinator) lose(worker, why string) {
	c.mu.Lock()
	m, pool := c.members[worker], c.pool
	if m == nil || !m.present {
		c.mu.Unlock()
		return
	}
	m.present, m.state, m.why, m.since = false, workers.Lost, why, time.Now()
	c.mu.Unlock()
	if pool != nil {
		crew{pool}.lose(worker, why)
		c.inviteWaiting(pool)
	}
	c.changed()
}

// inviteWaiting invites the workers that wait for a part, because one may be free.
func (c *Coordinator) inviteWaiting(pool *Pool) {
	var names []string
	c.mu.Lock()
	for name, m := range c.members {
		if m.present && m.waits {
			names = append(names, name)
		}
	}
	c.mu.Unlock()
	slices.Sort(names)
	for _, waiting := range names {
		c.invite(pool, waiting)
	}
}

// invite asks a worker to prepare for a run; there may be none.
func (c *Coordinator) invite(pool *Pool, worker string) {
	if pool == nil {
		return
	}
	refused := crew{pool}.invite(worker)
	c.mu.Lock()
	defer c.mu.Unlock()
	if m := c.members[worker]; m != nil {
		m.waits = refused != ""
		m.state, m.why = m.willing(), refused
		if m.waits {
			m.state = workers.Refused
		}
	}
}

// fit returns the workers that any run may use, even if an earlier one refused them.
func (c *Coordinator) fit() (names []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for name, m := range c.members {
		if m.present && !m.unfit && m.greeted != 0 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// silent returns the workers that are connected but have not reported for the time of a lease, with their packets that have no answer.
func (c *Coordinator) silent(now time.Time) map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	asking := map[string]int{}
	for name, m := range c.members {
		if m.present && now.Sub(m.heard) > LeaseTime {
			asking[name] = m.asking
		}
	}
	return asking
}

// stall records that a worker is connected but hangs.
func (c *Coordinator) stall(worker string) {
	c.mu.Lock()
	if m := c.members[worker]; m != nil {
		m.state, m.why, m.since = workers.Stalled, "it is connected but does not report", time.Now()
	}
	c.mu.Unlock()
	c.changed()
}

// ErrBusy is returned while the fleet has a run in progress.
var ErrBusy = errors.New("the fleet executes another run; wait for its end or stop it")

// Pool returns the function that creates the pool of a run, for [run.Config]. The bundle contains what workers need to execute its
// sessions; each worker receives it once.
func (c *Coordinator) Pool(ctx context.Context, bundle []byte, of PoolConfig) func(run.PoolConfig) (run.WorkerPool, error) {
	return func(cfg run.PoolConfig) (run.WorkerPool, error) {
		if cfg.Trail != nil {
			return nil, errors.New("traces of sessions stay on their worker: leave out the export of traces, or the fleet")
		}
		c.mu.Lock()
		if c.pool != nil {
			c.mu.Unlock()
			return nil, ErrBusy
		}
		c.runs++
		name := fmt.Sprintf("%s.%d.%x", cfg.Host.Run().ID, c.runs, time.Now().UnixNano())
		p := newPool(c, name, cfg, of)
		c.pool = p
		c.mu.Unlock()
		err := c.bus.Reset(ctx)
		if err == nil {
			err = c.bus.Publish(ctx, name, bundle)
		}
		if err != nil {
			close(p.closed)
			c.release(p)
			return nil, fmt.Errorf("offer the run to the workers: %w", err)
		}
		go p.deliver()
		for _, worker := range c.fit() {
			c.invite(p, worker)
		}
		return p, nil
	}
}

// ready returns the workers that may execute sessions.
func (c *Coordinator) ready() (names []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for name, m := range c.members {
		if m.present && m.greeted != 0 && m.state != workers.Refused {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// release ends the run of a pool. Nothing that workers could still read of it stays.
func (c *Coordinator) release(p *Pool) {
	ctx, cancel := context.WithTimeout(context.Background(), LeaseTime)
	_ = c.bus.Reset(ctx) // the next run does it, too
	cancel()
	c.mu.Lock()
	if c.pool == p {
		c.pool = nil
	}
	for name, m := range c.members {
		if m.present && !m.unfit { // the next run may use it
			m.state, m.why, m.waits = m.willing(), "", false
			c.bus.Order(name, codec.AppendWire(nil, order{})) // with the lock: the next run orders after this
		}
	}
	c.mu.Unlock()
	c.changed()
}

// Ready returns how many workers are present and not refused.
func (c *Coordinator) Ready() int { return len(c.ready()) }
