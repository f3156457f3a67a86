package run

import (
	"slices"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/run/shards"
)

// simJob is the run that a worker executes sessions of.
type simJob struct {
	node     *simNode
	session  uint64
	ready    bool
	refused  bool
	fenced   bool // it has lost its sessions and cannot know
	order    simOrder
	cycle    int
	sequence *sequentialMemory
	queue    []*simTask
	leases   map[uint64]*simLeased
	running  []*simTask
	limit    int
	probes   int // in flight
	probed   int // started
	recalls  uint64
	canceled map[simCanceled]bool
	fetching bool
	claiming bool
	claims   uint64
	frames   []simFrame
	urgent   bool
	due      bool // a packet is about to be sent
	number   uint64
	pending  int
}

// simLeased is a shard that a worker has.
type simLeased struct {
	shards.Lease
	delivery simDelivery
	left     int
	dead     bool
}

// simTask is a session that a worker executes.
type simTask struct {
	job                  *simJob
	lease                *simLeased
	place                engine.Place
	memory               *engine.Memory
	sequence             *sequentialMemory // of its cycle, as of its start
	injected             []engine.Injection
	row                  engine.SessionRow
	until                time.Time // it does not end earlier
	cancel, hangs, probe bool
}

// simFrame is a part of a packet: sessions that ended or were cut, or that go back to the coordinator.
type simFrame struct {
	lease    shards.Lease
	rows     []*engine.SessionRow
	cutAgent int // -1 if none was cut
	cutAlone string
	probe    bool
	back     []int32
	done     *simLeased // complete
}

type simPacket struct {
	session, number uint64
	frames          []simFrame
	report          shards.Report
	cycle           int
}

func (j *simJob) isOpen() bool { return j.node.up && j.node.job == j && !j.refused }

// mayEnd reports whether a session can end now. Some ignore a cut.
func (t *simTask) mayEnd() bool {
	n := t.job.node
	if t.job.order.cut {
		return n.hung.IsZero() && !t.hangs
	}
	return n.hung.IsZero() && !t.until.After(n.fleet.at)
}

// apply does what the newest order says.
func (j *simJob) apply(o *simOrder) {
	j.order, j.limit = *o, o.limit
	for _, c := range o.canceled {
		if j.canceled[c] {
			continue
		}
		j.canceled[c] = true
		for _, t := range j.running {
			t.cancel = t.cancel || t.place.Agent == c.agent
		}
	}
	if o.recalls > j.recalls {
		j.recalls = o.recalls
		j.giveBack(o.recall)
	}
	j.pump()
	j.send()
}

// giveBack gives up to count sessions back that have not started, the newest first.
func (j *simJob) giveBack(count int) {
	count = min(count, len(j.queue))
	at := len(j.frames)
	for _, t := range j.queue[len(j.queue)-count:] {
		i := at
		for i < len(j.frames) && j.frames[i].lease != t.lease.Lease {
			i++
		}
		if i == len(j.frames) {
			j.frames = append(j.frames, simFrame{lease: t.lease.Lease, cutAgent: -1})
		}
		j.frames[i].back = append(j.frames[i].back, int32(t.place.Agent))
		if j.close(t.lease) {
			t.lease.delivery.done(j.node)
		}
	}
	j.queue = j.queue[:len(j.queue)-count]
	if count == 0 {
		j.frames = append(j.frames, simFrame{cutAgent: -1, back: []int32{}})
	}
	j.send()
}

// close counts a session that is no longer one of a lease, and reports whether it was the last one.
func (j *simJob) close(l *simLeased) bool {
	if l.left--; l.left > 0 {
		return false
	}
	delete(j.leases, l.Shard)
	return true
}

// pump starts as many sessions as the share allows, and the probes that were ordered.
func (j *simJob) pump() {
	for j.order.probes > j.probed && (len(j.queue) > 0 || j.order.cut) {
		j.probed++
		j.probes++
		if !j.start(true) {
			j.probes--
			j.add(simFrame{cutAgent: -1, probe: true})
		}
	}
	for len(j.running)-j.probes < j.limit && !j.order.cut && j.start(false) {
		continue
	}
	j.fetch()
}

// start starts the next session. A session of an agent whose earlier session has not ended here waits for that.
func (j *simJob) start(probe bool) bool {
	f := j.node.fleet
	i := slices.IndexFunc(j.queue, func(t *simTask) bool {
		return !slices.ContainsFunc(j.running, func(o *simTask) bool { return o.place == t.place })
	})
	if i < 0 {
		return false
	}
	t := j.queue[i]
	j.queue = slices.Delete(j.queue, i, i+1)
	t.job, t.probe, t.hangs = j, probe, f.draw.IntN(4) == 0
	if f.draw.IntN(3) == 0 {
		t.until = f.at.Add(time.Duration(f.draw.IntN(300)) * time.Millisecond)
	}
	if t.sequence = j.sequence; t.sequence != nil {
		t.memory = j.sequence.Of(t.place.Agent)
	}
	f.log("%s begins %v under %v", j.node.name, t.place, t.lease.Lease)
	f.session(&t.row, t.place, t.memory, t.injected)
	j.running = append(j.running, t)
	return true
}

// end ends a session.
func (j *simJob) end(t *simTask) {
	f := j.node.fleet
	j.running = slices.DeleteFunc(j.running, func(o *simTask) bool { return o == t })
	frame := simFrame{cutAgent: -1, probe: t.probe}
	if t.probe {
		j.probes--
	}
	switch {
	case j.order.cut:
		frame.cutAgent = t.place.Agent
	case f.budgetUsedUp && f.draw.IntN(2) == 0:
		frame.cutAgent, frame.cutAlone = t.place.Agent, budgetReason
	case f.waitsEnded && f.draw.IntN(4) == 0:
		frame.cutAgent, frame.cutAlone = t.place.Agent, "a service does not answer"
	default:
		if t.cancel {
			t.row.Outcome, t.row.Class, t.row.Delta = engine.Canceled, engine.NoError, engine.Delta{}
		}
		frame.rows = []*engine.SessionRow{&t.row}
		if t.sequence != nil && t.row.Outcome.Commits() {
			t.sequence.commit(t.place.Agent, &t.row.Delta)
		}
	}
	f.log("%s ends %v", j.node.name, t.place)
	switch l := t.lease; {
	case !l.dead:
		frame.lease = l.Lease
		if j.close(l) {
			frame.done = l
		}
		j.add(frame)
	case t.probe:
		j.add(simFrame{cutAgent: -1, probe: true})
	}
	j.pump()
}

// add adds a frame.
func (j *simJob) add(frame simFrame) {
	j.frames = append(j.frames, frame)
	j.schedule(5 * time.Millisecond)
}

// send has a packet sent even if there is nothing to say.
func (j *simJob) send() {
	j.urgent = true
	j.schedule(0)
}

func (j *simJob) schedule(d time.Duration) {
	if j.due {
		return
	}
	j.due = true
	j.node.later(d, func() {
		j.due = false
		j.flush()
	})
}

// flush sends a packet if few are under way.
func (j *simJob) flush() {
	if !j.isOpen() || j.pending >= 4 || len(j.frames) == 0 && !j.urgent {
		return
	}
	j.number++
	j.pending++
	p := &simPacket{session: j.session, number: j.number, frames: j.frames, cycle: j.cycle}
	idle := len(j.queue) == 0 && len(j.running) < j.order.limit
	p.report = shards.Report{Version: j.order.version, InFlight: len(j.running), Queued: len(j.queue), Idle: idle}
	j.frames, j.urgent = nil, false
	n := j.node
	request(n, j.isOpen, func(answer func(simReply)) { n.fleet.packet(n, p, answer) }, func(r simReply, sent time.Time) { j.replied(p, &r, sent) })
}

// replied takes the reply to a packet.
func (j *simJob) replied(p *simPacket, r *simReply, sent time.Time) {
	if r.refused {
		j.refused = true
		return
	}
	j.pending--
	j.node.heard(sent)
	for _, frame := range p.frames {
		if frame.done != nil {
			frame.done.delivery.done(j.node)
		}
	}
	for _, of := range r.stale {
		if l := j.leases[of.Shard]; l != nil && l.Lease == of {
			l.dead = true
			delete(j.leases, of.Shard)
			j.queue = slices.DeleteFunc(j.queue, func(t *simTask) bool { return t.lease == l })
		}
	}
	j.pump()
	if len(j.frames) > 0 || j.urgent {
		j.schedule(0)
	}
}

// wants returns how many further sessions the worker could take.
func (j *simJob) wants() int {
	o := &j.order
	probes := o.probes - j.probed
	if o.drains || o.cut || j.refused || o.limit == 0 && probes <= 0 {
		return 0
	}
	return max(o.limit-len(j.running), 0) + (o.limit+3)/4 - len(j.queue) + probes
}

// fetch waits for a ticket while there is room. A ticket that is on its way when there is no room anymore is taken nevertheless.
func (j *simJob) fetch() {
	n := j.node
	switch {
	case j.wants() <= 0:
		j.fetching, n.waits = false, false
	case !j.fetching && !j.claiming:
		j.fetching, n.waits = true, true
		n.fleet.after(n.fleet.delay(), n.fleet.match)
	}
}

// take claims a shard that was delivered.
func (j *simJob) take(d simDelivery) {
	n := j.node
	if j.claiming || !j.isOpen() {
		d.giveBack(n)
		return
	}
	j.fetching, n.waits, j.claiming = false, false, true
	j.claims++
	of := simClaim{j.session, j.claims, d.ticket.Ticket, d.count}
	request(n, j.isOpen, func(answer func(simGrant)) { n.fleet.claim(n, of, answer) }, func(g simGrant, _ time.Time) {
		j.claiming = false
		j.granted(d, &g)
	})
}

// granted takes the answer to a claim.
func (j *simJob) granted(d simDelivery, g *simGrant) {
	l := j.leases[g.lease.Shard]
	switch {
	case g.refused:
		d.giveBack(j.node)
		j.refused = true
		return
	case len(g.tasks) == 0:
		d.done(j.node)
	case l != nil && l.Lease == g.lease:
		l.delivery = d
	default:
		j.begin(g)
		l = &simLeased{Lease: g.lease, delivery: d, left: len(g.tasks)}
		j.leases[l.Shard] = l
		for i := range g.tasks {
			t := g.tasks[i] // the answer may arrive twice
			t.lease = l
			j.queue = append(j.queue, &t)
		}
	}
	j.pump()
}

// begin opens the cycle of a grant, if it is new.
func (j *simJob) begin(g *simGrant) {
	f := j.node.fleet
	if g.cycle == j.cycle && !f.params.sequential {
		return
	}
	for _, l := range j.leases {
		l.dead = true
	}
	j.cycle, j.queue, j.leases = g.cycle, nil, map[uint64]*simLeased{}
	if f.params.sequential {
		settings := f.settings()
		j.sequence = newSequentialMemory(&settings, g.before, g.deltas, g.cycle)
	}
}
