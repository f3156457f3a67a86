package health

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/throng-sim/throng/engine"
)

// Bottleneck is what keeps a run from going faster. The zero value is that nobody knows, or nothing stands out.
type Bottleneck struct {
	Kind    Bound
	What    string // in words, with the figure that it is told by
	Figures string // how fast services answered, and what was lost here
	Advice  string // what to do about it
}

// String says all but the advice; "" is that nothing is known.
func (b Bottleneck) String() string {
	if b.Figures == "" {
		return b.What
	}
	return b.What + "; " + b.Figures
}

// Bound is a kind of bottleneck.
type Bound uint8

// The bounds. The first three are of this machine, and say nothing about the backend.
const (
	Unbound Bound = iota
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
	"", "this machine", "other programs", "the journal", "the services' refusals", "the pacing", "the schedule", "the limit", "the scripts",
	"the backend", "the wait steps",
}

func (b Bound) String() string { return boundWords[b] }

// Short is the bound in a word.
func (b Bound) Short() string { return boundShort[b] }

var boundShort = [numBounds]string{
	"", "machine", "others", "journal", "refusals", "pacing", "schedule", "as set", "scripts", "backend", "waits",
}

// IsHere reports whether the bound is this machine's: what is measured then is not the backend.
func (b Bound) IsHere() bool { return b >= BoundByMachine && b <= BoundByJournal }

// bottleneck is a line of the table.
type bottleneck struct {
	kind  Bound
	share func(c *constraint) float64 // NaN is not known
	least float64                     // from where it is the bottleneck, if none above is
	text  func(c *constraint) string
	help  func(c *constraint) string
}

const (
	// busyMachine is the share of the cores from which on what waits for one is felt.
	busyMachine = 0.90
	// much is a share of the sessions' time that matters beside others.
	much = 0.25
	// leastSpan is over how long a bottleneck is told at least.
	leastSpan = 3 * time.Second
)

// bottlenecks is the one table of them: the first whose share reaches its least is the run's. What the services and the
// settings ask for comes before the machine: a faster one would not help.
var bottlenecks = [...]bottleneck{
	{BoundBySchedule, (*constraint).idle, 0.50, (*constraint).scheduleText, advises("raise the time scale, if the run is to be over sooner")},
	{BoundByRefusals, goesTo(engine.ForRefusals), 0.30, (*constraint).refusalText, advises("lower the limit or the rate: the services take no more")},
	{BoundByPacing, goesTo(engine.ForPacing), 0.50, (*constraint).pacingText, advises("raise the rates and bounds of the services, if they bear it")},
	{BoundByMachine, (*constraint).ownMachine, busyMachine, (*constraint).machineText, (*constraint).machineHelp},
	{BoundByOthers, (*constraint).others, busyMachine, (*constraint).othersText, advises("close other programs, or use another machine")},
	{BoundByJournal, (*constraint).journal, much, (*constraint).journalText, advises("use a faster disk, or fewer steps that change something: each is durable before it is asked for")},
	{BoundByLimit, (*constraint).full, 0.80, (*constraint).limitText, (*constraint).limitHelp},
	{BoundByScripts, goesTo(engine.ForScripts), 0.50, (*constraint).scriptsText, advises("do less in python steps")},
	{BoundByServices, goesTo(engine.ForServices), 0.50, (*constraint).servicesText, advises("look at the slowest step: nothing here waits for a place")},
	{BoundByThinking, goesTo(engine.ForThinking), 0.50, (*constraint).thinkingText, advises("raise the limit, or let wait steps be shorter, if the run is to be over sooner")},
}

// constraint is what the table looks at.
type constraint struct {
	*engine.Overhead
	limit    int
	governor string // that holds the limit; "" is a person
}

// FindBottleneck returns what keeps a run from going faster. limit is its concurrency limit, by the governor that holds it.
func FindBottleneck(o *engine.Overhead, limit int, by string) Bottleneck {
	if o.Span < leastSpan {
		return Bottleneck{}
	}
	if by == engine.Manual {
		by = ""
	}
	c := &constraint{o, limit, by}
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

// ownMachine is how busy the machine is, where that is at least half Throng's doing.
func (c *constraint) ownMachine() float64 {
	if 2*c.Process < c.Machine {
		return math.NaN()
	}
	return c.machine()
}

// others is how busy the machine is, where that is mostly other programs' doing and sessions wait for a core: much of their
// time goes to the engine, which has little to do, and no less than to services.
func (c *constraint) others() float64 {
	if waits := c.Times.Share(engine.ForEngine); !(waits >= much && waits >= c.Times.Share(engine.ForServices)) {
		return math.NaN()
	}
	return c.machine()
}

// journal is the greater of what sessions waited for it and what the run did between its cycles.
func (c *constraint) journal() float64 {
	share, barrier := c.Times.Share(engine.ForJournal), over(c.Barrier, c.Span)
	if math.IsNaN(share) {
		return barrier
	}
	return max(share, barrier)
}

// inUse says how busy the cores are.
func (c *constraint) inUse(whose string) string {
	return fmt.Sprintf("%s of %s %s are in use", percent(c.machine()), whose, coresOf(coreCount(c.Overhead)))
}

// answered says how fast services were; "" where none was asked.
func (c *constraint) answered() string {
	if c.Requests <= 0 {
		return ""
	}
	return "services answered in " + engine.FormatDuration(c.Answer())
}

// lost says what the engine and the journal took.
func (c *constraint) lost() string {
	if lost := c.Times.Lost(); !math.IsNaN(lost) {
		return percent(lost) + " of the sessions' time was lost here"
	}
	return ""
}

// figures are what there is to know beside, whatever the bottleneck is.
func (c *constraint) figures() string {
	parts := slices.DeleteFunc([]string{c.answered(), c.lost()}, func(s string) bool { return s == "" })
	return strings.Join(parts, ", ")
}

func (c *constraint) machineText() string {
	return "This machine is the limit: " + c.inUse("its")
}

// machineHelp goes by what takes the most here.
func (c *constraint) machineHelp() string {
	const fewer = "lower the limit, or use another machine"
	switch {
	case over(c.Collector, c.Process) >= much:
		return "garbage collection takes " + percent(over(c.Collector, c.Process)) + " of Throng's CPU: fewer in flight, smaller answers and memory; " + fewer
	case c.Times.Share(engine.ForScripts) >= much:
		return "do less in python steps; " + fewer
	}
	return fewer + "; what services seem to take is partly a wait for a core"
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
	return "The backend is the limit: " + percent(c.Times.Share(engine.ForRefusals)) + " of the sessions' time went by after 429s, errors and open breakers"
}

func (c *constraint) pacingText() string {
	return "The pacing is the limit: it throttled " + percent(c.Times.Share(engine.ForPacing)) + " of the sessions' time"
}

func (c *constraint) scheduleText() string {
	return "The schedule is the limit: " + percent(c.idle()) + " of the time no cycle was due"
}

// limitText names the backend where a governor lowered the limit for its sake.
func (c *constraint) limitText() string {
	first := fmt.Sprintf("The limit of %s sessions is the limit", engine.FormatCount(int64(c.limit)))
	if c.limit == 1 {
		first = "The limit of 1 session is the limit"
	}
	if c.forBackend() {
		first = fmt.Sprintf("The backend is the limit: for its sake the governor (%s) holds it at %s sessions", c.governor, engine.FormatCount(int64(c.limit)))
	}
	return first + ": all places were taken " + percent(c.full()) + " of the time"
}

func (c *constraint) limitHelp() string {
	if c.forBackend() {
		return "look at the slowest step, and at what the backend runs on"
	}
	return "raise the limit, if the backend bears it: Calibrate finds out"
}

func (c *constraint) forBackend() bool {
	return c.governor == "latency" || c.governor == "success" || c.governor == "connections"
}

func (c *constraint) scriptsText() string {
	return "The scripts are the limit: python steps took " + percent(c.Times.Share(engine.ForScripts)) + " of the sessions' time"
}

func (c *constraint) servicesText() string {
	return "The backend is the limit: services took " + percent(c.Times.Share(engine.ForServices)) + " of the sessions' time"
}

func (c *constraint) thinkingText() string {
	return "The wait steps are the limit: they took " + percent(c.Times.Share(engine.ForThinking)) + " of the sessions' time"
}

// over divides durations; NaN if the whole is 0.
func over(part, whole time.Duration) float64 {
	return ratio(max(part, 0).Seconds(), whole.Seconds())
}
