package fleet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/codec"
	"github.com/throng-sim/throng/engine/run/shards"
	"github.com/throng-sim/throng/engine/service/lending"
	"github.com/throng-sim/throng/engine/service/merged"
)

// The kinds of requests. A request is its kind and a message in CBOR, except for a packet.
const (
	helloRequest byte = iota + 1
	readyRequest
	claimRequest
	packetRequest
	callRequest
	byeRequest
)

// The methods of calls: what a session needs from its run and cannot have without an answer.
type method byte

const (
	doubtCall method = iota + 1
	tryClaimCall
	claimCall
	awaitSharedCall
	releaseSharedCall
	recallCall
	takeIntentCall
	settleSharedCall
	recordedCall
	admitCall
	tellCall
)

// Info describes a worker to the coordinator.
type Info struct {
	Version string // of Throng
	System  string // operating system and architecture, such as linux/amd64
	Cores   int
	Memory  int64 // bytes that sessions may use; 0 is unlimited
	// Machine identifies the worker's machine; "" if it is unknown.
	Machine string
}

type (
	hello struct {
		Info    Info
		Attempt uint64 // a hello that is sent again has the same
	}
	welcome struct{ Refused string } // why; "" if it does not
	// ready says that a worker can execute sessions of a run, or why it cannot.
	ready struct {
		Session uint64
		Refused string
	}
	claim struct {
		Session uint64
		Number  uint64 // a claim that is sent again has the same
		Ticket  shards.Ticket
		Count   uint64
	}
	// grant answers a claim. Without tasks, nothing is left to do.
	grant struct {
		Refused string // why the coordinator grants this worker nothing; it joins again
		Lease   shards.Lease
		Cycle   cycleOrder
		Tasks   []task
		// Agents are the tasks if those differ in nothing else, as most do: the differences from one agent to the next. Since is theirs.
		Agents []byte
		Since  time.Duration
		// Memory is that of agents whose memory the worker does not have, Changed what changed in that of others. Deltas are those of
		// a sequential cycle so far.
		Memory  map[int]*engine.Memory
		Changed map[int]memoryChange
		Deltas  map[int]engine.Delta
	}
	// task is a session to execute. Since is the time since it could have started; negative means now.
	task struct {
		Agent   int32
		Take    int
		Since   time.Duration
		Arrived bool
		Begun   bool
		Prefix  engine.Prefix
	}
	call struct {
		Session uint64
		ID      uint64 // a call that is sent again has the same
		Oldest  uint64 // the oldest that has no answer yet
		Method  method
		Body    []byte
	}
)

// pack makes a grant short.
func (g *grant) pack() {
	if len(g.Tasks) == 0 {
		return
	}
	g.Since = g.Tasks[0].Since
	for i := range g.Tasks {
		if t := &g.Tasks[i]; t.Take != 0 || t.Begun || t.Arrived || t.Since != g.Since {
			return
		}
	}
	g.Agents = make([]byte, 0, 2*len(g.Tasks))
	last := int64(0)
	for i := range g.Tasks {
		agent := int64(g.Tasks[i].Agent)
		g.Agents, last = binary.AppendVarint(g.Agents, agent-last), agent
	}
	g.Tasks = nil
}

// unpack is the inverse of pack.
func (g *grant) unpack() error {
	last := int64(0)
	for data := g.Agents; len(data) > 0; {
		by, n := binary.Varint(data)
		if n <= 0 {
			return codec.ErrDamaged
		}
		last, data = last+by, data[n:]
		g.Tasks = append(g.Tasks, task{Agent: int32(last), Since: g.Since})
	}
	g.Agents = nil
	return nil
}

// cycleOrder is the cycle that is open.
type cycleOrder struct {
	Number   int
	Now      time.Time     // simulated
	Elapsed  time.Duration // of its clock
	Paused   bool          // its clock stands
	Injected []engine.Injection
}

// order is what a worker should do now. The newest replaces all earlier ones.
type order struct {
	Join    bool   // the coordinator does not know the worker, which joins again
	Run     string // "" means none
	Session uint64 // numbers the times that workers joined the run
	Bundle  string
	Host    engine.HostRun
	Keeps   bool
	Part    Part
	// MemoryBudget is for large answers and the agents' memory, in bytes; 0 is unlimited.
	MemoryBudget int64
	// Limit is the share of the concurrency limit, with its version.
	Limit   int
	Version uint64
	Probes  int // sessions to execute in addition, in total since the run began
	Cycle   cycleOrder
	Open    bool // the cycle is open

	Canceled []engine.Place
	Tracing  tracing
	Recall   recall
	Drains   bool
	Standing
}

// Standing is what holds for all workers, whatever cycle is open.
type Standing struct {
	Settings *engine.Settings
	Memory   int64        // of all agents, in bytes
	Cut      bool         // all sessions are cut
	Ending   bool         // sessions that wait for a service that does not answer are cut
	Tuned    []Tuned      // the newest of each
	Lent     lending.Lent // the newest
}

type (
	tracing struct {
		All   bool
		Agent int
	}
	// recall asks for sessions that have not started. Each has a higher number.
	recall struct {
		Number uint64
		Count  int
	}
)

// Tuned is a value of a service. Without a name, the service's requests in flight are sent again. A later one has a higher number.
type Tuned struct {
	Service, Name, Value string
	Number               uint64
}

// report ends every packet: how far the worker is.
type report struct {
	shards.Report
	Cycle int
}

// appendReport appends a report. It is short, because each packet has one.
func appendReport(dst []byte, r *report) []byte {
	idle := uint64(0)
	if r.Idle {
		idle = 1
	}
	return appendUints(dst, r.Version, uint64(r.InFlight), uint64(r.Queued), idle, uint64(r.Cycle+1))
}

// readReport is the inverse of appendReport.
func readReport(data []byte) (r report, err error) {
	var inFlight, queued, idle, cycle uint64
	_, err = cutUints(data, &r.Version, &inFlight, &queued, &idle, &cycle)
	r.InFlight, r.Queued, r.Idle, r.Cycle = int(inFlight), int(queued), idle != 0, int(cycle)-1
	return r, err
}

// status is what a worker says of itself now and then, for people.
type status struct {
	Cycle    int
	Activity []engine.Activity
	Host     engine.HostMetrics
	Trip     time.Duration // the newest round trip to the coordinator
	Services []merged.Report
}

// The kinds of frames in a packet.
const (
	batchFrame byte = iota + 1
	rowFrame
	settleFrame
	traceFrame
	throttledFrame
	backFrame
	reportFrame
	statusFrame
)

// packetHead begins a packet. The packets of a session have consecutive numbers, from 1. Oldest is the number of the oldest without a reply.
type packetHead struct{ Session, Number, Oldest uint64 }

// packetReply answers a packet once its rows are durable.
type packetReply struct {
	At      time.Time      // by the coordinator's clock
	Stale   []shards.Lease // leases that the worker has lost
	Refused string         // why the coordinator takes nothing from this worker; it joins again
	Failed  string         // why the rows are not in the journal
	Over    bool           // all sessions are cut
}

// append appends a reply. It is short, because each packet has one.
func (r *packetReply) append(dst []byte) []byte {
	var over uint64
	if r.Over {
		over = 1
	}
	dst = appendUints(dst, uint64(r.At.UnixNano()), over, uint64(len(r.Stale)))
	for _, l := range r.Stale {
		dst = appendLease(dst, l)
	}
	return appendText(appendText(dst, r.Refused), r.Failed)
}

// failure is why the rows of the packet are not in the journal.
func (r *packetReply) failure() error {
	if r.Over {
		return fmt.Errorf("%w: %s", engine.ErrCut, r.Failed)
	}
	return errors.New(r.Failed)
}

// readPacketReply is the inverse of append.
func readPacketReply(data []byte) (r packetReply, err error) {
	var at, over, n uint64
	data, err = cutUints(data, &at, &over, &n)
	r.At, r.Over = time.Unix(0, int64(at)), over != 0
	for ; err == nil && n > 0; n-- {
		var l shards.Lease
		if l, data, err = cutLease(data); err == nil {
			r.Stale = append(r.Stale, l)
		}
	}
	for _, text := range []*string{&r.Refused, &r.Failed} {
		var part []byte
		if err == nil {
			part, data, err = cutPart(data)
			*text = string(part)
		}
	}
	return r, err
}

type (
	settled struct{ Claimed, Spent engine.Outlay }
	traced  struct {
		Exchange engine.Exchange
		Failed   bool
	}
	back struct {
		Lease  shards.Lease
		Agents []int32
	}
)

// Bodies of calls.
type (
	agentCall struct{ Cycle, Agent int }
	keyCall   struct {
		Key  engine.SharedKey
		Path string
	}
	sharedCall struct {
		Row   engine.SharedRow
		Spent engine.Outlay
	}
	doubt struct {
		Lease shards.Lease
		Since engine.Inexact
	}
)

// reply answers a call.
type reply struct {
	OK      bool
	Entry   engine.Entry
	Entries engine.Prefix
	Body    []byte
	Error   string // empty on success
	Cut     bool   // the error is an ErrCut
	Alone   string // why one session is cut, if the error is that
	Over    bool   // all sessions are cut
}

// fail puts an error into the reply.
func (r *reply) fail(err error) {
	if err != nil {
		r.Error, r.Cut, r.Alone = err.Error(), errors.Is(err, engine.ErrCut), engine.CutAloneWhy(err)
	}
}

// err is the error of the reply.
func (r *reply) err() error {
	switch {
	case r.Error == "":
		return nil
	case r.Alone != "":
		return engine.CutAlone(r.Alone)
	case r.Cut:
		return fmt.Errorf("%w: %s", engine.ErrCut, r.Error)
	}
	return errors.New(r.Error)
}

// request returns a request of a kind.
func request(kind byte, message any) []byte { return codec.AppendWire([]byte{kind}, message) }

// record reads a message.
func record[T any](body []byte) (v T, err error) {
	err = codec.Unmarshal(body, &v)
	return v, err
}

// appendFrame appends a frame whose body f appends.
func appendFrame(dst []byte, kind byte, f func(dst []byte) []byte) []byte {
	body := f(nil)
	return append(binary.AppendUvarint(append(dst, kind), uint64(len(body))), body...)
}

// appendUints appends numbers.
func appendUints(dst []byte, all ...uint64) []byte {
	for _, n := range all {
		dst = binary.AppendUvarint(dst, n)
	}
	return dst
}

// cutUints is the inverse of appendUints. It also returns the rest of the data.
func cutUints(data []byte, all ...*uint64) (rest []byte, err error) {
	for _, to := range all {
		n, k := binary.Uvarint(data)
		if k <= 0 {
			return nil, codec.ErrDamaged
		}
		*to, data = n, data[k:]
	}
	return data, nil
}

// appendText appends a length and a text.
func appendText(dst []byte, s string) []byte { return append(appendUints(dst, uint64(len(s))), s...) }

// appendLease appends a lease. Most frames have one.
func appendLease(dst []byte, l shards.Lease) []byte { return appendUints(dst, l.Shard, l.Epoch) }

// cutLease is the inverse of appendLease. It also returns the rest of the data.
func cutLease(data []byte) (l shards.Lease, rest []byte, err error) {
	rest, err = cutUints(data, &l.Shard, &l.Epoch)
	return l, rest, err
}

// appendPart appends a length and a message.
func appendPart(dst []byte, message any) []byte {
	part := codec.AppendWire(nil, message)
	return append(binary.AppendUvarint(dst, uint64(len(part))), part...)
}

// cutPart is the inverse of appendPart: it returns the bytes of the message, and the rest.
func cutPart(data []byte) (part, rest []byte, err error) {
	var n uint64
	if data, err = cutUints(data, &n); err != nil || n > uint64(len(data)) {
		return nil, nil, codec.ErrDamaged
	}
	return data[:n], data[n:], nil
}

// packet is what a worker sends at a time.
type packet struct {
	frames []frame
	rows   engine.SessionRows // of all batches, in order
}

// frame is a part of a packet. decode fills in the rest. It is small, because a packet has many.
type frame struct {
	kind  byte
	rows  int          // how many rows of the packet a batch has
	body  []byte       // for a batch: its counts; empty if they say nothing
	lease shards.Lease // of a batch or a row
	row   engine.Row
}

// decode reads the rows of a frame. That is most of the work that a packet makes, so it is done before the packet has its turn.
func (p *packet) decode(f *frame) (err error) {
	if f.kind != batchFrame && f.kind != rowFrame {
		return nil
	}
	rest := f.body
	if f.lease, rest, err = cutLease(rest); err != nil {
		return err
	}
	if f.kind == rowFrame {
		f.row, err = codec.ReadJournaled(rest)
		return err
	}
	if f.body, rest, err = cutPart(rest); err != nil {
		return err
	}
	had := len(p.rows)
	p.rows, err = codec.ReadSessions(p.rows, rest)
	f.rows = len(p.rows) - had
	return err
}

// readPacket reads the body of a packet. Its rows are appended to an empty slice that is not used any more.
func readPacket(data []byte, rows engine.SessionRows) (head packetHead, p packet, err error) {
	p.rows = rows
	if data, err = cutUints(data, &head.Session, &head.Number, &head.Oldest); err != nil {
		return head, p, err
	}
	for len(data) > 0 {
		f := frame{kind: data[0]}
		if f.body, data, err = cutPart(data[1:]); err != nil {
			return head, p, err
		}
		if err := p.decode(&f); err != nil {
			return head, p, err
		}
		p.frames = append(p.frames, f)
	}
	return head, p, nil
}
