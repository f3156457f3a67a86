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
}

type (
	hello   struct{ Info Info }
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
		Known   bool // the worker already has this lease
		Cycle   cycleOrder
		Tasks   []task
		// Memory of agents that the worker does not have in this version, and the deltas of a sequential cycle.
		Memory map[int]*engine.Memory
		Deltas map[int]engine.Delta
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
	Run     string // "" means none
	Session uint64 // numbers the times that workers joined the run
	Bundle  string
	Host    engine.HostRun
	Keeps   bool
	// MemoryBudget is for large answers and the agents' memory, in bytes; 0 is unlimited.
	MemoryBudget int64
	// Limit is the share of the concurrency limit, with its version.
	Limit   int
	Version uint64
	Probes  int // sessions to execute in addition, in total since the run began
	Cycle   cycleOrder
	Open    bool // the cycle is open

	Canceled []canceled
	Tracing  tracing
	Recall   recall
	Drains   bool
	Standing
}

// Standing is what holds for all workers, whatever cycle is open.
type Standing struct {
	Settings *engine.Settings
	Memory   int64 // of all agents, in bytes
	Cut      bool  // all sessions are cut
	Ending   bool  // sessions that wait for a service that does not answer are cut
	Tuned    []Tuned
	Lent     lending.Lent // the newest
}

type (
	canceled struct{ Cycle, Agent int }
	tracing  struct {
		All   bool
		Agent int
	}
	// recall asks for sessions that have not started. Each has a higher number.
	recall struct {
		Number uint64
		Count  int
	}
)

// Tuned is a value of a service. Without a name, the service's requests in flight are sent again.
type Tuned struct{ Service, Name, Value string }

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
	for _, n := range [...]uint64{r.Version, uint64(r.InFlight), uint64(r.Queued), idle, uint64(r.Cycle + 1)} {
		dst = binary.AppendUvarint(dst, n)
	}
	return dst
}

// readReport is the inverse of appendReport.
func readReport(data []byte) (r report, err error) {
	var n [5]uint64
	for i := range n {
		v, k := binary.Uvarint(data)
		if k <= 0 {
			return r, codec.ErrDamaged
		}
		n[i], data = v, data[k:]
	}
	r.Report = shards.Report{Version: n[0], InFlight: int(n[1]), Queued: int(n[2]), Idle: n[3] != 0}
	r.Cycle = int(n[4]) - 1
	return r, nil
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

// packetHead begins a packet. The packets of a session have consecutive numbers, from 1.
type packetHead struct{ Session, Number uint64 }

// packetReply answers a packet once its rows are durable.
type packetReply struct {
	At      time.Time      // by the coordinator's clock
	Stale   []shards.Lease // leases that the worker has lost
	Refused string         // why the coordinator takes nothing from this worker; it joins again
	Failed  string         // why the rows are not in the journal
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

// appendLease appends a lease. Most frames have one.
func appendLease(dst []byte, l shards.Lease) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(dst, l.Shard), l.Epoch)
}

// cutLease is the inverse of appendLease. It also returns the rest of the data.
func cutLease(data []byte) (l shards.Lease, rest []byte, err error) {
	n, k := binary.Uvarint(data)
	if k <= 0 {
		return l, nil, codec.ErrDamaged
	}
	e, m := binary.Uvarint(data[k:])
	if m <= 0 {
		return l, nil, codec.ErrDamaged
	}
	return shards.Lease{Shard: n, Epoch: e}, data[k+m:], nil
}

// appendPart appends a length and a message.
func appendPart(dst []byte, message any) []byte {
	part := codec.AppendWire(nil, message)
	return append(binary.AppendUvarint(dst, uint64(len(part))), part...)
}

// cutPart is the inverse of appendPart: it returns the bytes of the message, and the rest.
func cutPart(data []byte) (part, rest []byte, err error) {
	n, k := binary.Uvarint(data)
	if k <= 0 || n > uint64(len(data)-k) {
		return nil, nil, codec.ErrDamaged
	}
	return data[k : k+int(n)], data[k+int(n):], nil
}

// frame is a part of a packet.
type frame struct {
	kind byte
	body []byte
}

// readPacket reads the body of a packet.
func readPacket(data []byte) (head packetHead, frames []frame, err error) {
	part, rest, err := cutPart(data)
	if err != nil {
		return head, nil, err
	}
	if head, err = record[packetHead](part); err != nil {
		return head, nil, err
	}
	for len(rest) > 0 {
		f := frame{kind: rest[0]}
		if f.body, rest, err = cutPart(rest[1:]); err != nil {
			return head, nil, err
		}
		frames = append(frames, f)
	}
	return head, frames, nil
}
