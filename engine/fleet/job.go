package fleet

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/codec"
	"github.com/throng-sim/throng/engine/internal/stopping"
	"github.com/throng-sim/throng/engine/memories"
	"github.com/throng-sim/throng/engine/run"
	"github.com/throng-sim/throng/engine/run/shards"
	"github.com/throng-sim/throng/engine/service/lending"
)

// lastAnswer is when a request was sent that the coordinator has answered.
type lastAnswer struct {
	first time.Time
	nanos atomic.Int64 // since first
}

func (l *lastAnswer) note(sent time.Time) {
	for at := int64(sent.Sub(l.first)); ; {
		was := l.nanos.Load()
		if at <= was || l.nanos.CompareAndSwap(was, at) {
			return
		}
	}
}

func (l *lastAnswer) at() time.Time { return l.first.Add(time.Duration(l.nanos.Load())) }

// job is a run that a worker executes sessions of.
type job struct {
	cfg      *WorkerConfig
	of       string
	session  uint64
	beats    *beats
	ctx      context.Context // of sessions
	cancel   context.CancelCauseFunc
	ending   func()
	life     context.Context // of the goroutines
	stop     context.CancelFunc
	all      sync.WaitGroup
	feed     *feed
	host     *host
	outbox   *outbox
	borrower *lending.Borrower
	prepared *Prepared
	pool     run.WorkerPool
	refused  atomic.Bool
	trip     atomic.Int64
	skew     skew
	room     chan struct{} // wakes fetch
	claims   uint64        // so far; only fetch uses it

	memory map[int]kept // only fetch uses it

	mu    sync.Mutex
	order order
	applied
}

// applied is how much of the orders a job has carried out.
type applied struct {
	probes  int    // started
	tuned   uint64 // number of the newest value
	recalls uint64
	cut     atomic.Bool // all sessions are; mu is not needed
}

func newJob(ctx context.Context, cfg *WorkerConfig, o *order, b *beats) *job {
	j := &job{
		cfg: cfg, of: o.Run, session: o.Session, beats: b, feed: newFeed(), order: *o, memory: map[int]kept{}, room: make(chan struct{}, 1),
	}
	j.life, j.stop = context.WithCancel(context.WithoutCancel(ctx)) // a worker that ends completes its sessions
	sessions, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	j.cancel = cancel
	j.ctx, j.ending = stopping.Context(sessions)
	j.host = newHost(cfg.Link, o, j.ctx, j.feed, j.over)
	j.outbox = newOutbox(cfg.Link, o.Session, j.report, j.replied)
	j.host.outbox = j.outbox
	j.borrower = lending.NewBorrower(lender{j.host}, o.Lent)
	return j
}

// lender asks the coordinator for admissions. It implements [lending.Lender].
type lender struct{ host *host }

func (l lender) Admit(ctx context.Context, a lending.Ask) (g lending.Grant, err error) {
	r := l.host.call(ctx, admitCall, a)
	if err := r.err(); err != nil {
		return g, err
	}
	return record[lending.Grant](r.Body)
}

func (l lender) Tell(ctx context.Context, n lending.Notes) (t lending.Lent, err error) {
	r := l.host.call(ctx, tellCall, n)
	if err := r.err(); err != nil {
		return t, err
	}
	return record[lending.Lent](r.Body)
}

// start begins to fetch and execute sessions.
func (j *job) start(p *Prepared) {
	j.prepared = p
	j.pool = run.NewLocalPool(run.PoolConfig{
		Program: p.Program, Host: j.host, MemoryBudget: smaller(j.order.MemoryBudget, j.cfg.Info.Memory),
		Throttled: func(why string) {
			j.outbox.add(throttledFrame, false, nil, func(dst []byte) []byte { return append(dst, why...) })
		},
	})
	j.pool.SetLimit(0)
	for _, f := range []func(){func() { j.outbox.run(j.life) }, j.fetch, j.deliver, j.watch} {
		j.all.Go(f)
	}
}

// smaller returns the smaller of two amounts of memory; 0 is unlimited.
func smaller(a, b int64) int64 {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}

// apply does what the newest order says.
func (j *job) apply(o *order) {
	j.feed.setLimit(min(o.Limit, j.feed.share())) // a lower share holds before it is confirmed
	j.mu.Lock()
	j.order = *o
	var tuned []Tuned
	for _, t := range o.Tuned { // in order of their numbers
		if t.Number > j.tuned {
			j.tuned, tuned = t.Number, append(tuned, t)
		}
	}
	recalled := 0
	if o.Recall.Number > j.recalls {
		j.recalls, recalled = o.Recall.Number, o.Recall.Count
	}
	j.mu.Unlock()
	j.host.settings.Store(o.Settings)
	j.host.tracing.Store(&o.Tracing)
	j.borrower.Use(o.Lent) // before the share may grow
	j.feed.setLimit(o.Limit)
	j.pool.SetLimit(o.Limit)
	j.pool.Use(o.Settings)
	j.pool.SetMemorySize(o.Memory)
	if o.Open && j.feed.isOpen(o.Cycle.Number) {
		j.pool.PauseClock(o.Cycle.Paused)
	}
	j.cancelRetired()
	for _, t := range tuned {
		j.tune(t)
	}
	if o.Ending {
		j.ending()
	}
	if o.Cut {
		j.over()
	}
	if recalled > 0 {
		j.giveBack(recalled)
	}
	j.pump()
	j.outbox.send() // confirms the share
}

func (j *job) tune(t Tuned) {
	for _, s := range j.prepared.Services {
		switch {
		case s.State(time.Now()).Name != t.Service:
		case t.Name == "":
			s.Renew()
		default:
			_, _ = s.Tune(t.Name, t.Value) // the coordinator has checked it
		}
	}
}

// over cuts all sessions.
func (j *job) over() {
	j.cut.Store(true)
	j.cancel(engine.ErrCut)
}

// giveBack returns up to n sessions that have not started.
func (j *job) giveBack(n int) {
	all, complete := j.feed.takeBack(n)
	if len(all) == 0 {
		all = []back{{}} // says that there is nothing
	}
	for _, b := range all {
		j.outbox.add(backFrame, true, nil, func(dst []byte) []byte { return codec.AppendWire(dst, b) })
	}
	for _, l := range complete {
		j.feed.done(l)
	}
}

// pump starts as many sessions as the share allows, and the probes that were ordered.
func (j *job) pump() {
	j.mu.Lock()
	defer j.mu.Unlock()
	_, queued := j.feed.counts()
	for ; j.order.Probes > j.probes && (queued > 0 || j.cut.Load()); queued-- { // a cut ends those that have no session
		j.probes++
		j.feed.probe(1)
		j.pool.Start(1, true)
	}
	if n := min(j.order.Limit-j.pool.Progress().InFlight, queued, j.feed.waiting()); n > 0 && j.ctx.Err() == nil {
		j.pool.Start(n, false)
	}
	select {
	case j.room <- struct{}{}:
	default:
	}
}

// wants returns how many further sessions the worker could take.
func (j *job) wants() int {
	inFlight, queued := j.feed.counts()
	j.mu.Lock()
	defer j.mu.Unlock()
	o := &j.order
	probes := o.Probes - j.probes
	if o.Drains || j.cut.Load() || j.refused.Load() || o.Limit == 0 && probes <= 0 {
		return 0
	}
	ahead := (o.Limit + 3) / 4 // so that the next session is there when one ends
	return max(o.Limit-inFlight, 0) + ahead - queued + probes
}

// idle reports whether the worker could execute sessions and has none.
func (j *job) idle(inFlight, queued int) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return queued == 0 && inFlight < j.order.Limit
}

// fetch fetches shards while there is room.
func (j *job) fetch() {
	for j.life.Err() == nil {
		for j.wants() <= 0 {
			select {
			case <-j.room:
			case <-j.life.Done():
				return
			}
		}
		ctx, cancel := context.WithCancel(j.life)
		done := make(chan struct{})
		go func() { // a share of 0 ends the wait
			defer cancel()
			for j.wants() > 0 {
				select {
				case <-j.room:
				case <-done:
					return
				}
			}
		}()
		d, err := j.cfg.Link.Fetch(ctx)
		close(done)
		<-ctx.Done()
		switch {
		case err == nil:
			j.take(d)
		case j.life.Err() != nil:
			return
		default:
			select {
			case <-time.After(retryAfter):
			case <-j.life.Done():
				return
			}
		}
	}
}

// take claims a shard that was delivered.
func (j *job) take(d Delivery) {
	t := d.Ticket()
	if t.Run != j.of { // of a later run, whose order has not arrived yet
		d.Return()
		select {
		case <-time.After(retryAfter):
		case <-j.life.Done():
		}
		return
	}
	defer keepTicket(d)()
	j.claims++
	of := claim{j.session, j.claims, shards.Ticket{Shard: t.Shard, Offer: t.Offer}, d.Count()}
	var g grant
	for { // until there is an answer: the coordinator may have granted it
		var err error
		if g, err = send[grant](j.life, j.cfg.Link, claimRequest, of); err == nil {
			err = g.unpack()
		}
		if err == nil {
			break
		}
		select {
		case <-time.After(retryAfter):
		case <-j.life.Done():
			d.Return()
			return
		}
	}
	if g.Refused != "" {
		j.giveUp(d)
		return
	}
	if len(g.Tasks) == 0 {
		d.Done()
		return
	}
	if j.feed.renew(g.Lease, d) { // it was delivered again
		return
	}
	if !j.begin(&g) {
		j.giveUp(d)
		return
	}
	now := time.Now()
	j.cancelLost(j.feed.add(&lease{Lease: g.Lease, delivery: d}, tasksOf(&g, j.memory, now)))
	j.pump()
}

// keepTicket keeps others from receiving a ticket while the coordinator, whose disk may be slow, has not answered its claim.
func keepTicket(d Delivery) (end func()) {
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		tick := time.NewTicker(BeatEvery)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				d.Extend()
			case <-ctx.Done():
				return
			}
		}
	}()
	return cancel
}

// giveUp has the worker join again, because the coordinator and it disagree.
func (j *job) giveUp(d Delivery) {
	d.Return()
	j.refused.Store(true)
	j.cancel(errParted)
}

// begin opens the cycle of a grant, if it is new, and takes the memory that the grant brings. It reports whether that fits what the
// worker has. Only fetch calls it.
func (j *job) begin(g *grant) bool {
	number := g.Cycle.Number
	j.host.injected.Store(&g.Cycle.Injected)
	if !j.feed.isOpen(number) || j.host.Settings().Sequential { // others may have executed part of a sequential cycle in the meantime
		for agent, k := range j.memory {
			if k.cycle < number-1 {
				delete(j.memory, agent)
			}
		}
		if j.feed.begin(number) {
			j.pool.End()
		}
		j.pool.Begin(&run.Shard{
			Cycle: number, Now: g.Cycle.Now, Ready: time.Now(), Injected: g.Cycle.Injected, Paused: g.Cycle.Paused, Elapsed: g.Cycle.Elapsed,
			Memory: memories.NewTable(g.Memory), Deltas: g.Deltas, Feed: func() (run.Task, bool) { return j.feed.next(number) },
		})
		j.mu.Lock()
		if o := &j.order; o.Open && o.Cycle.Number == number { // a later order may have come before the grant
			j.pool.PauseClock(o.Cycle.Paused)
		}
		j.mu.Unlock()
	}
	for _, t := range g.Tasks {
		agent := int(t.Agent)
		has := j.memory[agent].memory
		if c, ok := g.Changed[agent]; ok {
			if has == nil {
				return false
			}
			if has, ok = c.apply(has); !ok {
				return false
			}
		}
		if m, ok := g.Memory[agent]; ok {
			has = m
		}
		if has != nil {
			j.memory[agent] = kept{has, number}
		}
	}
	return true
}

// replied takes the reply to a packet.
func (j *job) replied(r *packetReply, sent time.Time) {
	if r.Over {
		j.over()
	}
	j.trip.Store(int64(time.Since(sent)))
	j.skew.learn(sent, r.At, time.Now())
	if r.Refused != "" {
		j.refused.Store(true)
		j.cancel(errParted)
		return
	}
	j.beats.heard.note(sent)
	if len(r.Stale) == 0 {
		return
	}
	j.cancelLost(j.feed.lose(r.Stale))
	j.pump()
}

// cancelRetired cancels the sessions in flight of retired agents, also those that this worker has taken over from a lost one since.
func (j *job) cancelRetired() {
	j.mu.Lock()
	all := j.order.Canceled
	j.mu.Unlock()
	for _, agent := range j.feed.inFlight(all) {
		j.pool.Cancel(agent, engine.ErrRetired)
	}
}

// cancelLost cancels the sessions in flight that the worker has lost.
func (j *job) cancelLost(agents []int) {
	for _, agent := range agents {
		j.pool.Cancel(agent, errLost)
	}
}

// leaveTime is how long the sessions in flight of a worker may take that ends.
const leaveTime = 10 * time.Second

// leave returns what has not started, and waits for the sessions in flight while the coordinator answers, because the worker ends.
func (j *job) leave() {
	j.mu.Lock()
	j.order.Limit, j.order.Drains = 0, true
	j.mu.Unlock()
	j.feed.setLimit(0)
	j.pool.SetLimit(0)
	j.giveBack(1 << 30)
	late := time.NewTimer(leaveTime)
	defer late.Stop()
	tick := time.NewTicker(retryAfter)
	defer tick.Stop()
	for {
		if inFlight, _ := j.feed.counts(); inFlight == 0 && j.outbox.empty() || j.beats.silent() {
			return
		}
		select {
		case <-tick.C:
		case <-late.C:
			return
		}
	}
}

// end ends the work on the run.
func (j *job) end() {
	j.cancel(engine.ErrCut)
	j.stop()
	j.all.Wait()
	j.host.alarm.Close()
	j.pool.Close()
	j.borrower.Close()
	if j.prepared.Close != nil {
		if err := j.prepared.Close(); err != nil {
			j.cfg.Say(err.Error())
		}
	}
}
