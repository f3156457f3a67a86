package engine

import (
	"math/bits"
	"time"

	"github.com/throng-sim/throng/engine/internal/stats"
)

// Quantiles describes a set of durations.
type Quantiles struct {
	Count int64         `cbor:"1,keyasint"`
	Mean  time.Duration `cbor:"2,keyasint"`
	P50   time.Duration `cbor:"3,keyasint"`
	P95   time.Duration `cbor:"4,keyasint"`
	P99   time.Duration `cbor:"5,keyasint"`
	Max   time.Duration `cbor:"6,keyasint"`
}

// QuantilesOf returns the quantiles of a histogram of durations.
func QuantilesOf(h *stats.Histogram) Quantiles {
	n := h.Count()
	if n == 0 {
		return Quantiles{}
	}
	p50, p95, p99, most := h.Quantiles()
	return Quantiles{n, h.Sum() / time.Duration(n), p50, p95, p99, most}
}

// Totals are the figures of a run so far. All but Peaks and Shared can be recomputed from its session rows with Add,
// or with [Resumption.Count] if sessions were requeued by hand. Outcomes, Errors, Acted, Events and FailedAgents count
// only the last take of a session. All other fields count every take.
type Totals struct {
	Outcomes [Cut]int64 `cbor:"1,keyasint"` // by Outcome
	Errors   Errors     `cbor:"2,keyasint"` // sessions that failed or timed out, by class
	Acted    int64      `cbor:"3,keyasint"`
	Steps    int64      `cbor:"4,keyasint"`
	Events   int64      `cbor:"8,keyasint"`
	// RequestCounts counts the requests of the steps of sessions.
	RequestCounts `cbor:"5,keyasint"`
	Inexact       *Inexact `cbor:"10,keyasint,omitempty"`

	Total     stats.Histogram `cbor:"11,keyasint"` // of sessions
	Service   stats.Histogram `cbor:"12,keyasint"`
	Throttled stats.Histogram `cbor:"13,keyasint"`
	Queue     stats.Histogram `cbor:"14,keyasint"`

	Peaks Peaks `cbor:"15,keyasint"`

	// Shared counts the run's own requests for answers that its sessions share. RequestCounts excludes them. It is the
	// sum over the [SharedRow]s with a Record.
	Shared RequestCounts `cbor:"18,keyasint,omitzero"`

	// FailedAgents has a bit for each agent with a session that failed or timed out.
	FailedAgents []uint64 `cbor:"16,keyasint,omitempty"`

	ByStep StepTable `cbor:"19,keyasint"`
	Flow   Flow      `cbor:"20,keyasint"`

	// Response is the latency of sessions with an intended start.
	Response stats.Histogram `cbor:"21,keyasint"`
}

// Latency returns how long sessions took for their callers: from their intended start, if they arrive over time.
func (t *Totals) Latency() *stats.Histogram {
	if t.Response.Count() > 0 {
		return &t.Response
	}
	return &t.Total
}

// Peaks are maximum values and measured times. They cannot be recomputed from the journal.
type Peaks struct {
	Memory            uint64        `cbor:"1,keyasint"`
	Connections       int           `cbor:"2,keyasint"`
	ServerConnections int           `cbor:"3,keyasint"`
	Cycle             time.Duration `cbor:"4,keyasint"`
	CheckpointGap     time.Duration `cbor:"5,keyasint"`
	Elapsed           time.Duration `cbor:"6,keyasint"` // over all processes that executed the run
	Lag               time.Duration `cbor:"7,keyasint"`
	// Worked is the time that the cycles took. Interrupted is the service time of sessions that ran in the part of a cycle
	// before an interruption, which Worked excludes.
	Worked      time.Duration `cbor:"8,keyasint"`
	Interrupted time.Duration `cbor:"9,keyasint"`
	// Open is the part of Interrupted that belongs to the open cycle.
	Open time.Duration `cbor:"12,keyasint,omitempty"`
	// Unrecorded is the spending that neither the records of steps nor Totals.Shared contain: sign-ins and attempts of cut
	// sessions, minus attempts that were never sent. It may be negative.
	Unrecorded Outlay `cbor:"10,keyasint,omitzero"`
	// Spent is the total spending, including sessions in progress.
	Spent Outlay `cbor:"11,keyasint,omitzero"`
	// Overhead is as of the latest second, Late the maximum.
	Overhead Overhead `cbor:"13,keyasint,omitzero"`
	Late     Late     `cbor:"14,keyasint,omitzero"`
	// Stored is the number of bytes that the run uses in the store; 0 if unknown.
	Stored int64 `cbor:"15,keyasint,omitempty"`
}

// Add counts one finished session. The order of sessions does not matter.
func (t *Totals) Add(r *SessionRow) {
	t.Outcomes[r.Outcome]++
	if r.Outcome == Failed || r.Outcome == TimedOut {
		t.Errors[r.Class]++
		t.failedAgent(r.Agent)
		if why := inexactBecause(r); why != "" {
			t.InexactSince(Inexact{r.Cycle, r.Agent, r.Path, why})
		}
	}
	if r.Acted {
		t.Acted++
	}
	t.Events += int64(len(r.Events))
	if len(r.Steps) > 0 {
		t.addSteps(r)
	}
	t.Total.Record(r.Total)
	t.Service.Record(r.Service)
	t.Throttled.Record(r.Throttled)
	t.Queue.Record(r.Queue)
	if r.Open {
		t.Response.Record(r.Latency())
	}
}

// addSteps counts the steps of a session.
func (t *Totals) addSteps(r *SessionRow) {
	t.Steps += int64(len(r.Steps))
	t.Flow.add(r)
	t.ByStep.begin()
	for i := range r.Steps {
		s := &r.Steps[i]
		if s.Status != StepSkipped && s.Status != StepCanceled && s.Class.Timing() { // even if a fallback was used
			t.InexactSince(Inexact{r.Cycle, r.Agent, s.Path, "a step gave up: " + s.Class.String()})
		}
		if s.Label == Unconfirmed {
			t.InexactSince(Inexact{r.Cycle, r.Agent, s.Path, UnconfirmedWhy})
		}
		limited := t.RateLimited
		t.RequestCounts.Add(s)
		if of := t.ByStep.of(s.Path); of != nil {
			of.add(s, t.RateLimited-limited)
		}
	}
}

// AllRequests returns the requests of sessions and of the run itself.
func (t *Totals) AllRequests() RequestCounts {
	all := t.RequestCounts
	all.Merge(&t.Shared)
	return all
}

// InexactSince keeps the earliest cause that made the run inexact, in whatever order causes are reported.
func (t *Totals) InexactSince(i Inexact) {
	if was := t.Inexact; was == nil || i.Cycle < was.Cycle || i.Cycle == was.Cycle && i.Agent < was.Agent {
		t.Inexact = &i
	}
}

// inexactBecause returns why a failed session may depend on timing, or "" if it does not.
func inexactBecause(r *SessionRow) string {
	switch {
	case r.Outcome == TimedOut:
		return "timed out"
	case r.Class.Timing():
		return "gave up after its retries: " + r.Class.String()
	}
	return ""
}

// Timing reports whether a failure of the class may depend on timing or chance. For example, a model may answer
// correctly next time.
func (c Class) Timing() bool {
	switch c {
	case RateLimited, Timeout, ServerError, Network, BadAnswer:
		return true
	default:
		return false
	}
}

func (t *Totals) failedAgent(agent int) {
	for len(t.FailedAgents) <= agent/64 {
		t.FailedAgents = append(t.FailedAgents, 0)
	}
	t.FailedAgents[agent/64] |= 1 << (agent % 64)
}

// Failures returns up to most agents with a session that failed or timed out, and the total number of such agents.
func (t *Totals) Failures(most int) (first []int, all int) {
	for i, w := range t.FailedAgents {
		all += bits.OnesCount64(w)
		for ; w != 0 && len(first) < most; w &= w - 1 {
			first = append(first, i*64+bits.TrailingZeros64(w))
		}
	}
	return first, all
}

// Ended returns the number of sessions that have ended.
func (t *Totals) Ended() int64 {
	var n int64
	for _, c := range t.Outcomes {
		n += c
	}
	return n
}

// Bad returns the number of sessions that failed or timed out.
func (t *Totals) Bad() int64 { return t.Outcomes[Failed] + t.Outcomes[TimedOut] }

// AllFailed reports whether there were failures or timeouts and no other outcomes, ignoring sessions of retired
// agents.
func (t *Totals) AllFailed() bool { return t.Bad() > 0 && t.Bad() == t.Ended()-t.Outcomes[Canceled] }

// Clone returns a deep copy of t.
func (t *Totals) Clone() Totals {
	c := *t
	c.Total, c.Service, c.Throttled, c.Queue = t.Total.Clone(), t.Service.Clone(), t.Throttled.Clone(), t.Queue.Clone()
	c.Response = t.Response.Clone()
	c.FailedAgents = append([]uint64(nil), t.FailedAgents...)
	c.ByStep = t.ByStep.clone()
	if t.Inexact != nil {
		i := *t.Inexact
		c.Inexact = &i
	}
	return c
}
