package fleet

import (
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/codec"
	"github.com/throng-sim/throng/engine/run"
	"github.com/throng-sim/throng/engine/run/shards"
	"github.com/throng-sim/throng/engine/service/merged"
)

// deliver sends what the pool finishes.
func (j *job) deliver() {
	for {
		select {
		case b := <-j.pool.Results():
			j.pass(b)
			j.pool.Recycle(b)
			j.pump()
		case <-j.life.Done():
			return
		}
	}
}

// pass sends the sessions of a batch, by lease.
func (j *job) pass(b *run.Batch) {
	parts, byLease := []*part{{}}, map[*lease]*part{}
	of := func(l *lease) *part {
		p := byLease[l]
		if p == nil {
			if p = parts[0]; p.lease != nil {
				p = &part{}
				parts = append(parts, p)
			}
			p.lease, byLease[l] = l, p
		}
		return p
	}
	rows := b.Rows()
	counts := b.BatchCounts
	j.feed.probe(-counts.Probes)
	// The number of sessions in flight must change together with what is sent.
	j.outbox.mu.Lock()
	defer j.outbox.mu.Unlock()
	for i := range rows {
		l, complete := j.feed.end(rows[i].Place)
		if l == nil { // another worker has it: its cost remains
			counts.Unrecorded = counts.Unrecorded.Plus(engine.OutlayOf(rows[i].Steps))
			continue
		}
		p := of(l)
		p.rows, p.complete = append(p.rows, rows[i]), complete
		started := &p.rows[len(p.rows)-1].Started
		*started = started.Add(j.skew.get())
	}
	for _, agent := range counts.CutAgents {
		l, complete := j.feed.cut(int(agent))
		switch {
		case l == nil:
		case counts.CutAlone != "" || j.cut.Load():
			p := of(l)
			p.cut, p.complete = append(p.cut, agent), complete
		case j.ctx.Err() == nil: // only this worker dropped the session; while it ends, the coordinator takes all it has
			b := back{l.Lease, []int32{agent}}
			j.outbox.addLocked(backFrame, true, nil, func(dst []byte) []byte { return codec.AppendWire(dst, b) })
		}
	}
	for i, p := range parts {
		var c run.BatchCounts
		if i == 0 {
			c = counts
		}
		c.Cut, c.CutAgents = len(p.cut), p.cut
		if c.CutAlone = counts.CutAlone; len(p.cut) == 0 {
			c.CutAlone = ""
		}
		if p.lease == nil && c.Probes == 0 && c.Unrecorded == (engine.Outlay{}) {
			continue
		}
		var of shards.Lease
		if p.lease != nil {
			of = p.lease.Lease
		}
		j.outbox.addLocked(batchFrame, c.Probes > 0, p.acknowledge(j.feed), func(dst []byte) []byte {
			return codec.AppendSessions(appendCounts(appendLease(dst, of), &c), p.rows)
		})
	}
}

// appendCounts appends the counts of a batch, or nothing if they say nothing.
func appendCounts(dst []byte, c *run.BatchCounts) []byte {
	if c.Cut == 0 && c.Probes == 0 && c.Unrecorded == (engine.Outlay{}) {
		return append(dst, 0)
	}
	return appendPart(dst, c)
}

// part is what a batch contains of one lease.
type part struct {
	lease    *lease
	rows     engine.SessionRows
	cut      []int32
	complete bool
}

// acknowledge returns what to do when the coordinator has the rows: a complete shard is not offered again.
func (p *part) acknowledge(f *feed) func(*packetReply) {
	if !p.complete {
		return nil
	}
	return func(r *packetReply) {
		if r != nil && r.Failed == "" && r.Refused == "" {
			f.done(p.lease)
		}
	}
}

// reportEvery is how often a worker reports if it has nothing else to say.
const reportEvery = 200 * time.Millisecond

// watch reports and keeps the leases.
func (j *job) watch() {
	tick := time.NewTicker(reportEvery)
	defer tick.Stop()
	extended := time.Now()
	for {
		select {
		case now := <-tick.C:
			j.describe()
			j.cancelRetired()
			if now.Sub(extended) >= BeatEvery {
				extended = now
				j.feed.extend()
			}
		case <-j.life.Done():
			return
		}
	}
}

// report appends the report that ends a packet: it counts what comes before it as sent.
func (j *job) report(dst []byte) []byte {
	version := j.version() // first: sessions that started under an older share are counted then
	inFlight, queued := j.feed.counts()
	r := report{shards.Report{Version: version, InFlight: inFlight, Queued: queued, Idle: j.idle(inFlight, queued)}, j.feed.number()}
	return appendFrame(dst, reportFrame, func(dst []byte) []byte { return appendReport(dst, &r) })
}

// describe sends what people see of this worker. While packets wait for the coordinator's journal, it does not: all that it would say
// meanwhile would be in one packet.
func (j *job) describe() {
	if j.outbox.full() {
		return
	}
	s := status{Cycle: j.feed.number(), Activity: j.pool.Oldest(mostShown), Trip: time.Duration(j.trip.Load())}
	if j.cfg.Host != nil {
		s.Host = j.cfg.Host()
	}
	now := time.Now()
	for _, of := range j.prepared.Services {
		s.Services = append(s.Services, merged.ReportOf(of, now))
	}
	j.outbox.add(statusFrame, true, nil, func(dst []byte) []byte { return codec.AppendWire(dst, &s) })
}

func (j *job) version() uint64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.order.Version
}
