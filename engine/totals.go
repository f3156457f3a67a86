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
	return Quantiles{n, h.Sum() / time.Duration(n), h.Quantile(0.50), h.Quantile(0.95), h.Quantile(0.99), h.Max()}
}

// Totals are the figures of a run so far. All but Peaks and Shared can be recomputed from its session rows, with Add, or
// with [Resumption.Count] where sessions were requeued by hand: Outcomes, Errors, Acted, Events and FailedAgents count a
// session's last take only, all else counts every take.
type Totals struct {
	Outcomes    [Cut]int64 `cbor:"1,keyasint"` // by Outcome
	Errors      Errors     `cbor:"2,keyasint"` // sessions that failed or timed out, by class
	Acted       int64      `cbor:"3,keyasint"`
	Steps       int64      `cbor:"4,keyasint"`
	Requests    int64      `cbor:"5,keyasint"` // attempts that left; 429s are not attempts
	Retries     int64      `cbor:"6,keyasint"`
	RateLimited int64      `cbor:"7,keyasint"` // 429s
	Events      int64      `cbor:"8,keyasint"`
	Labels      Labels     `cbor:"9,keyasint"` // service steps by Label
	Inexact     *Inexact   `cbor:"10,keyasint,omitempty"`

	Total   stats.Histogram `cbor:"11,keyasint"` // of sessions
	Service stats.Histogram `cbor:"12,keyasint"`
	Held    stats.Histogram `cbor:"13,keyasint"`
	Queue   stats.Histogram `cbor:"14,keyasint"`

	Peaks Peaks `cbor:"15,keyasint"`

	Usage Usage `cbor:"17,keyasint,omitzero"` // of the steps of sessions
	// Shared is what the run itself asked, for answers that its sessions share; nothing above has it. It is the sum
	// over the [SharedRow]s with a Record.
	Shared Asked `cbor:"18,keyasint,omitzero"`

	// FailedAgents holds a bit per agent that had a session which failed or timed out.
	FailedAgents []uint64 `cbor:"16,keyasint,omitempty"`

	ByStep StepTable `cbor:"19,keyasint"`
	Flow   Flow      `cbor:"20,keyasint"`
	Waits  Waits     `cbor:"21,keyasint,omitzero"` // of the steps of sessions
}

// Peaks are the worst values that were seen, and times that were measured; they cannot be recomputed from the journal.
type Peaks struct {
	Memory            uint64        `cbor:"1,keyasint"`
	Connections       int           `cbor:"2,keyasint"`
	ServerConnections int           `cbor:"3,keyasint"`
	Cycle             time.Duration `cbor:"4,keyasint"`
	CheckpointGap     time.Duration `cbor:"5,keyasint"`
	Elapsed           time.Duration `cbor:"6,keyasint"` // of all processes that worked on the run
	Lag               time.Duration `cbor:"7,keyasint"`
	// Worked is the time that the cycles took, and Apart the service time of sessions whose part of their cycle is not
	// in it, for an interruption came between.
	Worked time.Duration `cbor:"8,keyasint"`
	Apart  time.Duration `cbor:"9,keyasint"`
	// Open is the part of Apart that is of the open cycle.
	Open time.Duration `cbor:"12,keyasint,omitempty"`
	// Beside is what was spent beyond what the steps' records and Totals.Shared say: sign-ins, attempts of sessions that
	// were cut; less attempts that never left. It may be negative.
	Beside Outlay `cbor:"10,keyasint,omitzero"`
	// Spent is all that was spent, by sessions that had not ended too.
	Spent Outlay `cbor:"11,keyasint,omitzero"`
	// Overhead is as of the newest second, Late the worst of all.
	Overhead Overhead `cbor:"13,keyasint,omitzero"`
	Late     Late     `cbor:"14,keyasint,omitzero"`
	// Stored is how many bytes the run has taken in the store; 0 is not known.
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
	t.Held.Record(r.Held)
	t.Queue.Record(r.Queue)
}

// addSteps counts the steps of a session.
func (t *Totals) addSteps(r *SessionRow) {
	t.Steps += int64(len(r.Steps))
	t.Flow.add(r)
	t.ByStep.begin()
	asked := t.Own()
	for i := range r.Steps {
		s := &r.Steps[i]
		if s.Status != StepSkipped && s.Status != StepCancelled && s.Class.Timing() { // also where it took something else instead
			t.InexactSince(Inexact{r.Cycle, r.Agent, s.Path, "a step gave up: " + s.Class.String()})
		}
		if s.Label == Unconfirmed {
			t.InexactSince(Inexact{r.Cycle, r.Agent, s.Path, UnconfirmedWhy})
		}
		limited := asked.RateLimited
		asked.Add(s)
		if of := t.ByStep.of(s.Path); of != nil {
			of.add(s, asked.RateLimited-limited)
		}
	}
	t.Usage, t.Requests, t.Retries, t.RateLimited, t.Labels = asked.Usage, asked.Requests, asked.Retries, asked.RateLimited, asked.Labels
	t.Waits = asked.Waits
}

// Own returns what sessions asked, without what the run itself asked.
func (t *Totals) Own() Asked {
	return Asked{t.Usage, t.Requests, t.Retries, t.RateLimited, t.Labels, t.Waits}
}

// Asked is what sessions and the run itself asked of services.
func (t *Totals) Asked() Asked {
	all := t.Own()
	all.merge(&t.Shared)
	return all
}

// InexactSince keeps the earliest reason why the run is inexact, in whatever order reasons arrive.
func (t *Totals) InexactSince(i Inexact) {
	if was := t.Inexact; was == nil || i.Cycle < was.Cycle || i.Cycle == was.Cycle && i.Agent < was.Agent {
		t.Inexact = &i
	}
}

// inexactBecause says why a bad ending may depend on timing; "" when it does not.
func inexactBecause(r *SessionRow) string {
	switch {
	case r.Outcome == TimedOut:
		return "timed out"
	case r.Class.Timing():
		return "gave up after its retries: " + r.Class.String()
	}
	return ""
}

// Timing reports whether a failure of the class may depend on timing or chance: a model may answer well the next time.
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

// Failures returns the agents that had a session which failed or timed out, at most so many of them, and how many
// there are in all.
func (t *Totals) Failures(most int) (first []int, all int) {
	for i, w := range t.FailedAgents {
		all += bits.OnesCount64(w)
		for ; w != 0 && len(first) < most; w &= w - 1 {
			first = append(first, i*64+bits.TrailingZeros64(w))
		}
	}
	return first, all
}

// Ended is how many sessions have ended.
func (t *Totals) Ended() int64 {
	var n int64
	for _, c := range t.Outcomes {
		n += c
	}
	return n
}

// Bad is how many sessions failed or timed out.
func (t *Totals) Bad() int64 { return t.Outcomes[Failed] + t.Outcomes[TimedOut] }

// AllFailed reports whether sessions failed or timed out, and none ended otherwise, but for those of retired agents.
func (t *Totals) AllFailed() bool { return t.Bad() > 0 && t.Bad() == t.Ended()-t.Outcomes[Cancelled] }

// Clone returns a copy that shares nothing with t.
func (t *Totals) Clone() Totals {
	c := *t
	c.Total, c.Service, c.Held, c.Queue = t.Total.Clone(), t.Service.Clone(), t.Held.Clone(), t.Queue.Clone()
	c.FailedAgents = append([]uint64(nil), t.FailedAgents...)
	c.ByStep = t.ByStep.clone()
	if t.Inexact != nil {
		i := *t.Inexact
		c.Inexact = &i
	}
	return c
}
