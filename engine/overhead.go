package engine

import "time"

// Purpose is what a session's time is spent on. The times of all purposes add up to the time of the session plus the
// time its worker then waits before the next session can begin.
type Purpose uint8

// The purposes: services, including waits after 429s and errors and while their breakers are open; scripts of python
// steps; wait steps; throttling by rate limiters, limits, sign-ins and the budget, as configured; the journal, until
// an intent is durable or finished sessions are queued; and the engine itself. The engine's time is what remains
// between steps (templates, conditions, waits for a core) and until the loop has taken finished sessions.
const (
	ForServices Purpose = iota
	ForRefusals
	ForScripts
	ForThinking
	ForPacing
	ForJournal
	ForEngine
	numPurposes
)

var purposeWords = [numPurposes]string{"services", "refusals", "scripts", "wait steps", "pacing", "journal", "engine"}

func (u Purpose) String() string { return purposeWords[u] }

// Purposes returns all purposes.
func Purposes() []Purpose {
	all := make([]Purpose, numPurposes)
	for i := range all {
		all[i] = Purpose(i)
	}
	return all
}

// Times holds a time per purpose; the index is the [Purpose].
type Times [numPurposes]time.Duration

// Sum returns the sum of all times.
func (t *Times) Sum() (sum time.Duration) {
	for _, d := range t {
		sum += d
	}
	return sum
}

// Share returns the fraction of the sum that some purposes use; NaN if the sum is zero.
func (t *Times) Share(of ...Purpose) float64 {
	var part time.Duration
	for _, one := range of {
		part += t[one]
	}
	return Speedup(part, t.Sum())
}

// Lost returns the fraction of the sum used by the journal and the engine; NaN if the sum is zero.
func (t *Times) Lost() float64 { return t.Share(ForJournal, ForEngine) }

// Times breaks down the time of the sessions, as far as their rows tell. In sessions with parallel steps, every step
// counts with its own time, so the sum exceeds the duration of the session and the remainder is unknown. purpose
// returns the purpose of steps that call no service; it may be nil.
func (t *Totals) Times(purpose func(step string) Purpose) (u Times) {
	if purpose != nil {
		for _, s := range t.ByStep.List {
			u[purpose(s.Path)] += s.Service.Sum()
		}
	}
	w := &t.Waits
	u[ForServices] = t.Service.Sum() - u[ForScripts] - u[ForThinking] + w[ThrottledByBatch]
	u[ForRefusals] = w[ThrottledByRefusal] + w[ThrottledByRetry] + w[ThrottledByBreaker]
	u[ForJournal] = w[ThrottledByJournal]
	u[ForPacing] = t.Throttled.Sum() - u[ForRefusals] - u[ForJournal] - w[ThrottledByBatch]
	alone := t.Total.Sum() - t.Flow.Wall
	u[ForEngine] = alone - (t.Service.Sum() - t.Flow.Busy) - (t.Throttled.Sum() - t.Flow.Throttled)
	for i := range u {
		u[i] = max(u[i], 0)
	}
	return u
}

// Overhead is how the time of a run was used, and what it used of its machine. All values are sums over some period;
// unknown values are 0.
type Overhead struct {
	Times    Times `cbor:"1,keyasint"` // of the sessions that ended
	Requests int64 `cbor:"2,keyasint,omitempty"`

	// Span is the wall time that the following values refer to: seconds in which the run was not paused. In Full, all
	// slots were taken while sessions were queued. In Idle, the schedule had no active cycle, or no further session was due. In Barrier, a cycle was over
	// but its end was not durable yet.
	Span    time.Duration `cbor:"3,keyasint,omitempty"`
	Full    time.Duration `cbor:"4,keyasint,omitempty"`
	Idle    time.Duration `cbor:"5,keyasint,omitempty"`
	Barrier time.Duration `cbor:"6,keyasint,omitempty"`

	// Cores is the available CPU time: Span times the number of cores. Machine is the part used by all programs, Process
	// the part used by this one, and Collector the part of Process used by garbage collection.
	Cores     time.Duration `cbor:"7,keyasint,omitempty"`
	Machine   time.Duration `cbor:"8,keyasint,omitempty"`
	Process   time.Duration `cbor:"9,keyasint,omitempty"`
	Collector time.Duration `cbor:"10,keyasint,omitempty"`
	// Writer is how long the journal's writer was active. Window is the CPU time of the goroutine that draws the window.
	Writer time.Duration `cbor:"11,keyasint,omitempty"`
	Window time.Duration `cbor:"12,keyasint,omitempty"`

	// What workers waited between sessions: until the journal had queued, and the loop had taken, what they finished.
	Queued time.Duration `cbor:"13,keyasint,omitempty"`
	Handed time.Duration `cbor:"14,keyasint,omitempty"`
}

// Since returns the difference from an earlier reading of the same run.
func (o *Overhead) Since(was *Overhead) Overhead {
	d := *o
	for i := range d.Times {
		d.Times[i] = max(o.Times[i]-was.Times[i], 0)
	}
	d.Requests -= was.Requests
	for _, p := range []struct {
		of   *time.Duration
		less time.Duration
	}{
		{&d.Span, was.Span},
		{&d.Full, was.Full},
		{&d.Idle, was.Idle},
		{&d.Barrier, was.Barrier},
		{&d.Cores, was.Cores},
		{&d.Machine, was.Machine},
		{&d.Process, was.Process},
		{&d.Collector, was.Collector},
		{&d.Writer, was.Writer},
		{&d.Window, was.Window},
		{&d.Queued, was.Queued},
		{&d.Handed, was.Handed},
	} {
		*p.of -= p.less
	}
	return d
}

// Answer returns the average duration of a request; 0 if there were none.
func (o *Overhead) Answer() time.Duration {
	if o.Requests <= 0 {
		return 0
	}
	return o.Times[ForServices] / time.Duration(o.Requests)
}

// Late is the maximum error of measured times over some period.
type Late struct {
	// Tick is how late a tick of the loop was. There are ten per second.
	Tick time.Duration `cbor:"1,keyasint,omitempty"`
	// Core is how long runnable goroutines waited for a core, at the 99th percentile of a second. Service times may read
	// high by this much.
	Core time.Duration `cbor:"2,keyasint,omitempty"`
}

// Worse returns the maximum of both.
func (l Late) Worse(other Late) Late { return Late{max(l.Tick, other.Tick), max(l.Core, other.Core)} }
