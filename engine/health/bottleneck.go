package health

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/workers"
)

// Bottleneck is what keeps a run from going faster. The zero value is unknown.
type Bottleneck struct {
	Kind    Bound
	What    string // in words, with the figure that shows it
	Figures string // how fast services answered, and the engine overhead
	Advice  string // what to do about it
}

// String returns everything except the advice; "" if unknown.
func (b Bottleneck) String() string {
	if b.Figures == "" {
		return b.What
	}
	return b.What + "; " + b.Figures
}

// Bound is a kind of bottleneck.
type Bound uint8

// The bounds. Those up to the journal are of this machine, or of the workers of a fleet, and do not describe the backend.
const (
	Unbound Bound = iota
	BoundByWorkers
	BoundByMachine
	BoundByOthers
	BoundByJournal
	BoundByRefusals
	BoundByPacing
	BoundBySchedule
	BoundByLimit
	BoundByScripts
	BoundByServices
	BoundByThinking
	numBounds
)

var boundWords = [numBounds]string{
	"", "the workers", "this machine", "other programs", "the journal", "refusals of services", "pacing", "the schedule", "the concurrency limit", "scripts",
	"the backend", "wait steps",
}

func (b Bound) String() string { return boundWords[b] }

// Short returns the bound in one word.
func (b Bound) Short() string { return boundShort[b] }

var boundShort = [numBounds]string{
	"", "workers", "machine", "others", "journal", "refusals", "pacing", "schedule", "as set", "scripts", "backend", "waits",
}

// IsHere reports whether the bound is this machine's, or that of workers. Then measurements do not describe the backend.
func (b Bound) IsHere() bool { return b >= BoundByWorkers && b <= BoundByJournal }

// bottleneck is a row of the table.
type bottleneck struct {
	kind  Bound
	share func(c *constraint) float64 // NaN if unknown
	least float64                     // threshold of share
	text  func(c *constraint) string
	help  func(c *constraint) string
}

const (
	// busyMachine is the share of the cores from which on waiting for a core matters.
	busyMachine = 0.90
	// much is a share of the sessions' time that matters among others.
	much = 0.25
	// leastSpan is the shortest period with a bottleneck.
	leastSpan = 3 * time.Second
)

// bottlenecks is the table of bottlenecks. The first one whose share reaches its threshold is the run's. Services and settings come
// before the machine, because a faster machine would not help.
var bottlenecks = [...]bottleneck{
	{BoundBySchedule, (*constraint).idle, 0.50, (*constraint).scheduleText, advises("raise the time scale, or the rate of arrivals, for a shorter run")},
	{BoundByRefusals, goesTo(engine.ForRefusals), 0.30, (*constraint).refusalText, advises("lower the limit or the rate: the services accept no more requests")},
	{BoundByPacing, goesTo(engine.ForPacing), 0.50, (*constraint).pacingText, advises("raise the rates and limits of the services, if they have the capacity")},
	{BoundByWorkers, (*constraint).workersCPU, busyMachine, (*constraint).workersText, advises("start more workers; part of the services' time is waiting for a core")},
	{BoundByMachine, (*constraint).ownMachine, busyMachine, (*constraint).machineText, (*constraint).machineHelp},
	{BoundByOthers, (*constraint).others, busyMachine, (*constraint).othersText, advises("close other programs, or use another machine")},
	{BoundByJournal, (*constraint).journal, much, (*constraint).journalText, advises("use a faster disk, or fewer steps that change data: each intent is durable before its request is sent")},
	{BoundByLimit, (*constraint).full, 0.80, (*constraint).limitText, (*constraint).limitHelp},
	{BoundByScripts, goesTo(engine.ForScripts), 0.50, (*constraint).scriptsText, advises("do less in python steps")},
	{BoundByServices, goesTo(engine.ForServices), 0.50, (*constraint).servicesText, advises("look at the slowest step: nothing waits for a slot here")},
	{BoundByThinking, goesTo(engine.ForThinking), 0.50, (*constraint).thinkingText, advises("raise the limit, or shorten wait steps, for a shorter run")},
}

// constraint is the input of the table.
type constraint struct {
	*engine.Overhead
	limit    int
	governor string // that holds the limit; "" for manual
	workers  []workers.State
}

// FindBottleneck returns the bottleneck of a run with a concurrency limit, and the governor that holds the limit.
func FindBottleneck(o *engine.Overhead, limit int, by string) Bottleneck {
	return findBottleneck(o, limit, by, nil)
}

func findBottleneck(o *engine.Overhead, limit int, by string, all []workers.State) Bottleneck {
	if o.Span < leastSpan {
		return Bottleneck{}
	}
	if by == engine.Manual {
		by = ""
	}
	c := &constraint{o, limit, by, all}
	for i := range bottlenecks {
		b := &bottlenecks[i]
		if b.share(c) >= b.least {
			return Bottleneck{b.kind, b.text(c), c.figures(), b.help(c)}
		}
	}
	return Bottleneck{}
}

func advises(text string) func(*constraint) string {
	return func(*constraint) string { return text }
}

func goesTo(u engine.Purpose) func(*constraint) float64 {
	return func(c *constraint) float64 { return c.Times.Share(u) }
}

func (c *constraint) machine() float64 { return over(c.Machine, c.Cores) }
func (c *constraint) idle() float64    { return over(c.Idle, c.Span) }
func (c *constraint) full() float64    { return over(c.Full, c.Span) }

// ownMachine returns the load of the machine if at least half of it is Throng's.
func (c *constraint) ownMachine() float64 {
	if 2*c.Process < c.Machine {
		return math.NaN()
	}
	return c.machine()
}

// others returns the load of the machine if most of it is other programs and sessions wait for a core: much of their time is engine time,
// although the engine has little to do, and at least as much as service time. The sessions of a fleet wait on other machines.
func (c *constraint) others() float64 {
	if len(c.workers) > 0 {
		return math.NaN()
	}
	if waits := c.Times.Share(engine.ForEngine); !(waits >= much && waits >= c.Times.Share(engine.ForServices)) {
		return math.NaN()
	}
	return c.machine()
}

// journal returns the larger of the sessions' wait for the journal and the run's time between cycles.
func (c *constraint) journal() float64 {
	share, barrier := c.Times.Share(engine.ForJournal), over(c.Barrier, c.Span)
	if math.IsNaN(share) {
		return barrier
	}
	return max(share, barrier)
}

// inUse describes the load of the cores.
func (c *constraint) inUse(whose string) string {
	return fmt.Sprintf("%s of %s %s are in use", percent(c.machine()), whose, coresOf(coreCount(c.Overhead)))
}

// answered describes how fast services answered; "" without requests.
func (c *constraint) answered() string {
	if c.Requests <= 0 {
		return ""
	}
	return "services answered in " + engine.FormatDuration(c.Answer())
}

// lost describes the overhead of the engine and the journal.
func (c *constraint) lost() string {
	if lost := c.Times.Lost(); !math.IsNaN(lost) {
		return percent(lost) + " engine overhead"
	}
	return ""
}

// figures returns the figures that are known for any bottleneck.
func (c *constraint) figures() string {
	parts := slices.DeleteFunc([]string{c.answered(), c.lost()}, func(s string) bool { return s == "" })
	return strings.Join(parts, ", ")
}

func (c *constraint) machineText() string {
	if len(c.workers) > 0 {
		return "The coordinator is the limit: " + c.inUse("its")
	}
	return "This machine is the limit: " + c.inUse("its")
}

// machineHelp depends on the largest consumer on this machine.
func (c *constraint) machineHelp() string {
	const fewer = "lower the limit, or use another machine"
	if len(c.workers) > 0 {
		return "more workers do not help: run the coordinator on a machine with more or faster cores, and the workers elsewhere"
	}
	switch {
	case over(c.Collector, c.Process) >= much:
		return "garbage collection takes " + percent(over(c.Collector, c.Process)) + " of Throng's CPU: use fewer sessions in flight, smaller answers and less agent memory; " + fewer
	case c.Times.Share(engine.ForScripts) >= much:
		return "do less in python steps; " + fewer
	}
	return fewer + "; part of the services' time is waiting for a core"
}

func (c *constraint) othersText() string {
	return "Other programs are the limit: " + c.inUse("this machine's") + ", by Throng " + percent(over(c.Process, c.Cores)) +
		", and sessions waited for a core " + percent(c.Times.Share(engine.ForEngine)) + " of their time"
}

func (c *constraint) journalText() string {
	return "The journal is the limit: " + percent(c.Times.Share(engine.ForJournal)) + " of the sessions' time was spent waiting for it, " + percent(over(c.Barrier, c.Span)) + " of the run between cycles" +
		", its writer was busy " + percent(over(c.Writer, c.Span)) + " of the time"
}

func (c *constraint) refusalText() string {
	return "The backend is the limit: " + percent(c.Times.Share(engine.ForRefusals)) + " of the sessions' time was spent waiting after 429s, errors and open breakers"
}

func (c *constraint) pacingText() string {
	return "Pacing is the limit: it throttled " + percent(c.Times.Share(engine.ForPacing)) + " of the sessions' time"
}

func (c *constraint) scheduleText() string {
	return "The schedule is the limit: no further session was due " + percent(c.idle()) + " of the time"
}

// limitText names the backend if a governor lowered the limit because of it.
func (c *constraint) limitText() string {
	first := fmt.Sprintf("The concurrency limit is %s sessions", engine.FormatCount(int64(c.limit)))
	if c.limit == 1 {
		first = "The concurrency limit is 1 session"
	}
	if c.forBackend() {
		first = fmt.Sprintf("The backend is the limit: the governor (%s) holds the concurrency limit at %s sessions", c.governor, engine.FormatCount(int64(c.limit)))
	}
	return first + ", and all slots were in use " + percent(c.full()) + " of the time"
}

func (c *constraint) limitHelp() string {
	if c.forBackend() {
		return "look at the slowest step, and at the backend's resources"
	}
	return "raise the limit, if the backend has the capacity: use Calibrate to find out"
}

func (c *constraint) forBackend() bool {
	return c.governor == "latency" || c.governor == "success" || c.governor == "connections"
}

func (c *constraint) scriptsText() string {
	return "Scripts are the limit: python steps took " + percent(c.Times.Share(engine.ForScripts)) + " of the sessions' time"
}

func (c *constraint) servicesText() string {
	return "The backend is the limit: services took " + percent(c.Times.Share(engine.ForServices)) + " of the sessions' time"
}

func (c *constraint) thinkingText() string {
	return "Wait steps are the limit: they took " + percent(c.Times.Share(engine.ForThinking)) + " of the sessions' time"
}

// over divides durations; NaN if the whole is 0.
func over(part, whole time.Duration) float64 {
	return ratio(max(part, 0).Seconds(), whole.Seconds())
}
