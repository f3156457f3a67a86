package health

import (
	"fmt"
	"math"
	"strings"

	"github.com/throng-sim/throng/engine"
)

// DescribeTimes lists the parts of the sessions' time, largest first; "" if unknown.
func DescribeTimes(t *engine.Times) string {
	var parts []string
	left := *t
	for range left { // at most this many
		most := engine.ForServices
		for k := range left {
			if left[k] > left[most] {
				most = engine.Purpose(k)
			}
		}
		if left[most] <= 0 {
			break
		}
		parts = append(parts, most.String()+" "+percent(t.Share(most)))
		left[most] = 0
	}
	return strings.Join(parts, ", ")
}

// DescribeMachine summarizes the run's use of the machine; "" if unknown.
func DescribeMachine(o *engine.Overhead) string {
	if o.Machine <= 0 {
		return ""
	}
	parts := []string{fmt.Sprintf("%s of %s in use", percent(over(o.Machine, o.Cores)), coresOf(coreCount(o))), "by Throng " + percent(over(o.Process, o.Cores))}
	for _, part := range []struct {
		name  string
		share float64
	}{
		{"garbage collection", over(o.Collector, o.Cores)}, {"the journal's writer busy", over(o.Writer, o.Span)}, {"the window", over(o.Window, o.Span)},
	} {
		if part.share > 0 {
			parts = append(parts, part.name+" "+percent(part.share))
		}
	}
	return strings.Join(parts, ", ")
}

func coresOf(n int) string {
	if n == 1 {
		return "1 core"
	}
	return fmt.Sprintf("%d cores", n)
}

// percent formats a share.
func percent(share float64) string {
	switch p := 100 * share; {
	case math.IsNaN(p):
		return "unknown"
	case p > 0 && p < 0.1:
		return "under 0.1%"
	case p < 10:
		return fmt.Sprintf("%.1f%%", p)
	default:
		return fmt.Sprintf("%.0f%%", p)
	}
}

// OverheadLine is one line of an overhead summary.
type OverheadLine struct {
	Name  string
	Value string // a share, or a time
	About string
}

// purposeAbout explains the purposes.
var purposeAbout = [...]string{
	"waiting for services to answer", "waiting after 429s and errors, and for open breakers", "python steps", "wait steps: think time in the scenario",
	"throttled by rates, concurrency limits, sign-ins and the budget", "waiting until intents were durable and finished sessions queued",
	"templates, conditions, waiting for a core, passing on results",
}

// OverheadLines returns the parts of the sessions' time, then the run's use of the machine, and the inaccuracy of measured times. It
// omits unknown figures.
func OverheadLines(o *engine.Overhead, late engine.Late) (all []OverheadLine) {
	for _, p := range engine.Purposes() {
		if o.Times[p] <= 0 {
			continue
		}
		about := purposeAbout[p]
		if p == engine.ForServices && o.Requests > 0 {
			about = fmt.Sprintf("%s, %s on average", about, engine.FormatDuration(o.Answer()))
		}
		all = append(all, OverheadLine{p.String(), percent(o.Times.Share(p)), about})
	}
	add := func(known bool, name, value, about string) {
		if known {
			all = append(all, OverheadLine{name, value, about})
		}
	}
	add(o.Machine > 0, "machine's CPU", percent(over(o.Machine, o.Cores)), "of "+coresOf(coreCount(o))+", all programs")
	add(o.Process > 0 && o.Cores > 0, "Throng's CPU", percent(over(o.Process, o.Cores)), "of "+coresOf(coreCount(o))+", "+percent(over(o.Collector, o.Process))+" of it for garbage collection")
	add(o.Writer > 0, "journal's writer", percent(over(o.Writer, o.Span)), "of the time at work")
	add(o.Window > 0, "window", percent(over(o.Window, o.Span)), "of a core, for drawing")
	add(o.Barrier > 0, "between cycles", percent(over(o.Barrier, o.Span)), "of the time, until the results of a cycle were durable")
	add(late != engine.Late{}, "timer lag", engine.FormatDuration(max(late.Tick, late.Core)), "measured times may read high by this: ticks were up to "+
		engine.FormatDuration(late.Tick)+" late, goroutines waited up to "+engine.FormatDuration(late.Core)+" for a core (p99)")
	return all
}

func coreCount(o *engine.Overhead) int { return int(math.Round(over(o.Cores, o.Span))) }
