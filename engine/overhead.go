package engine

import "time"

// Purpose is what the time of a session goes to. The times of all purposes add up to that of the session, and to what its
// worker waited after it before the next could begin.
type Purpose uint8

// The purposes: what the services took, and the wait for them after 429s, errors and while their breakers are open; the
// scripts of python steps; wait steps; what rate limiters, bounds, sign-ins and the budget throttled, as the settings ask for;
// the journal, until an intent is durable or finished sessions are queued; and the engine itself: what remains between
// steps (templates, conditions, waits for a core) and until the loop has taken what was finished.
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

// Purposes are all of them.
func Purposes() []Purpose {
	all := make([]Purpose, numPurposes)
	for i := range all {
		all[i] = Purpose(i)
	}
	return all
}

// Times are times by what they went to; the index is the [Purpose].
type Times [numPurposes]time.Duration

// Sum is all of them together.
func (t *Times) Sum() (sum time.Duration) {
	for _, d := range t {
		sum += d
	}
	return sum
}

// Share is the part of some purposes in the sum; NaN where there is nothing.
func (t *Times) Share(of ...Purpose) float64 {
	var part time.Duration
	for _, one := range of {
		part += t[one]
	}
	return Speedup(part, t.Sum())
}

// Lost is the part of the sum that went to nobody's work but the journal's and the engine's; NaN where there is nothing.
func (t *Times) Lost() float64 { return t.Share(ForJournal, ForEngine) }

// Times tells what the sessions' time went to, as far as their rows say. Of sessions that ran steps beside each other
// every step counts with its own time, so that they come to more than it took; what remained in them is not known.
// purpose tells which steps are not the services'; nil knows none.
func (t *Totals) Times(purpose func(step string) Purpose) (u Times) {
	if purpose != nil {
		for _, s := range t.ByStep.List {
			u[purpose(s.Path)] += s.Service.Sum()
		}
	}
	u[ForServices] = t.Service.Sum() - u[ForScripts] - u[ForThinking]
	w := &t.Waits
	u[ForRefusals] = w[RefusalGate] + w[RetryGate] + w[BreakerGate]
	u[ForJournal] = w[JournalGate]
	u[ForPacing] = t.Held.Sum() - u[ForRefusals] - u[ForJournal]
	alone := t.Total.Sum() - t.Flow.Wall
	u[ForEngine] = alone - (t.Service.Sum() - t.Flow.Busy) - (t.Held.Sum() - t.Flow.Held)
	for i := range u {
		u[i] = max(u[i], 0)
	}
	return u
}

// Overhead is where the time of a run went, and what it took of its machine. All are sums over some time; what is not
// known is 0.
type Overhead struct {
	Times    Times `cbor:"1,keyasint"` // of the sessions that ended
	Requests int64 `cbor:"2,keyasint,omitempty"`

	// Span is the wall time that the rest is of: seconds in which the run was not paused. Full is the part in which every
	// place was taken while sessions waited for one, Idle that in which the schedule had no cycle for them, Barrier that in
	// which a cycle was over and its end not durable yet.
	Span    time.Duration `cbor:"3,keyasint,omitempty"`
	Full    time.Duration `cbor:"4,keyasint,omitempty"`
	Idle    time.Duration `cbor:"5,keyasint,omitempty"`
	Barrier time.Duration `cbor:"6,keyasint,omitempty"`

	// Cores is the CPU time that there was: Span times the machine's cores. Machine is what all programs used of it, Process
	// what this one did, and Collector the part of that for collecting garbage.
	Cores     time.Duration `cbor:"7,keyasint,omitempty"`
	Machine   time.Duration `cbor:"8,keyasint,omitempty"`
	Process   time.Duration `cbor:"9,keyasint,omitempty"`
	Collector time.Duration `cbor:"10,keyasint,omitempty"`
	// Writer is for how long the journal's writer was at work, Window the CPU time of the goroutine that draws.
	Writer time.Duration `cbor:"11,keyasint,omitempty"`
	Window time.Duration `cbor:"12,keyasint,omitempty"`

	// What workers waited between sessions: until the journal had queued, and the loop had taken, what they finished.
	Queued time.Duration `cbor:"13,keyasint,omitempty"`
	Handed time.Duration `cbor:"14,keyasint,omitempty"`
}

// Since is what came after an earlier reading of the same run.
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

// Answer is what a request took on the average; 0 without any.
func (o *Overhead) Answer() time.Duration {
	if o.Requests <= 0 {
		return 0
	}
	return o.Times[ForServices] / time.Duration(o.Requests)
}

// Late says by how much times that are measured here may be wrong: at worst, over some time.
type Late struct {
	// Tick is by how much the loop's ticks, ten a second, came too late.
	Tick time.Duration `cbor:"1,keyasint,omitempty"`
	// Core is for how long goroutines that could run waited for a core, at the 99th percentile of a second: a service time
	// may be too long by that.
	Core time.Duration `cbor:"2,keyasint,omitempty"`
}

// Worse is the worst of two times.
func (l Late) Worse(other Late) Late { return Late{max(l.Tick, other.Tick), max(l.Core, other.Core)} }
