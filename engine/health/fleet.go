package health

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/workers"
)

// JudgeWorkers evaluates the workers of a fleet at a time: a finding about workers that were lost or have stalled, and one
// about those whose cores are busy. There is no finding without workers.
func JudgeWorkers(all []workers.State, now time.Time) []Finding {
	if len(all) == 0 {
		return nil
	}
	return []Finding{presence(all, now), workerCPU(all)}
}

// lostFor is how long a lost worker is a problem. After that the run is used to it, and the number of workers still says so.
const lostFor = 5 * time.Minute

// presence is the finding about missing workers.
func presence(all []workers.State, now time.Time) Finding {
	f := Finding{Metric: MetricWorkers, Level: Healthy, Value: workers.Summary(all), Threshold: "lost within 5 min, or stalled; critical without a ready one"}
	var parts []string
	for i := range all {
		w := &all[i]
		text := w.Name + " was lost"
		switch {
		case w.Status == workers.Stalled:
			text = w.Name + " is stalled"
		case w.Status != workers.Lost || now.Sub(w.Since) > lostFor:
			continue
		}
		if w.Why != "" {
			text += ": " + w.Why
		}
		parts = append(parts, text)
	}
	switch {
	case !slices.ContainsFunc(all, isReady):
		f.Level, f.Advice = Critical, strings.Join(append(parts, "the run waits until a worker joins"), "; ")
	case len(parts) == 1:
		f.Level, f.Advice = Warning, parts[0]+". Its sessions run again on the other workers"
	case len(parts) > 1:
		f.Level, f.Advice = Warning, strings.Join(parts, "; ")+". Their sessions run again on the other workers"
	}
	return f
}

// isReady reports whether a worker takes sessions.
func isReady(w workers.State) bool { return w.Status == workers.Ready }

// workerCPU is the finding about the cores of the workers.
func workerCPU(all []workers.State) Finding {
	f := Finding{Metric: MetricWorkerCPU, Threshold: "from 90% of a worker's cores, critical if that holds for all"}
	busy, ready, most := busiest(all)
	if ready == 0 || most == nil {
		return f
	}
	f.Level, f.Value = Healthy, fmt.Sprintf("at most %s, %s", percent(load(most)), most.Name)
	if len(busy) == 0 {
		return f
	}
	f.Level, f.Advice = Warning, "the cores of "+named(busy)+" are busy, so latencies measured there are too high: lower its limit, or start more workers"
	if len(busy) > 1 {
		f.Advice = "the cores of " + named(busy) + " are busy, so latencies measured there are too high: lower their limits, or start more workers"
	}
	if len(busy) == ready {
		f.Level = Critical
	}
	return f
}

// busiest returns the names of the ready workers whose cores are busy, the number of ready workers, and the one with the highest load;
// nil if no load is known.
func busiest(all []workers.State) (busy []string, ready int, most *workers.State) {
	for i := range all {
		w := &all[i]
		if !isReady(*w) {
			continue
		}
		ready++
		if w.Cores <= 0 {
			continue
		}
		if most == nil || load(w) > load(most) {
			most = w
		}
		if BusyWorker(w) {
			busy = append(busy, w.Name)
		}
	}
	return busy, ready, most
}

// BusyWorker reports whether a worker uses almost all of its cores.
func BusyWorker(w *workers.State) bool { return w.Cores > 0 && load(w) >= busyMachine }

// load returns the part of its cores that a worker uses.
func load(w *workers.State) float64 { return w.CPU / 100 / float64(w.Cores) }

// mostNamed is how many workers are named in a sentence.
const mostNamed = 3

// named lists names, and counts those that would make the list too long.
func named(names []string) string {
	switch n := len(names); {
	case n == 1:
		return names[0]
	case n > mostNamed:
		return strings.Join(names[:mostNamed], ", ") + fmt.Sprintf(" and %d more workers", n-mostNamed)
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// FindFleetBottleneck is [FindBottleneck] for a run whose sessions the workers of a fleet execute. The machine of the overhead is the
// coordinator's. Without workers it is FindBottleneck.
func FindFleetBottleneck(o *engine.Overhead, limit int, by string, all []workers.State) Bottleneck {
	return findBottleneck(o, limit, by, all)
}

// workersCPU returns the load of all cores of the ready workers; NaN without workers.
func (c *constraint) workersCPU() float64 {
	used, cores := 0., 0
	for i := range c.workers {
		if w := &c.workers[i]; isReady(*w) && w.Cores > 0 {
			used, cores = used+w.CPU/100, cores+w.Cores
		}
	}
	return ratio(used, float64(cores))
}

func (c *constraint) workersText() string {
	busy, ready, most := busiest(c.workers)
	if len(busy) == 0 { // each is below the threshold of one, but all together are not
		busy = []string{most.Name}
	}
	if ready == 1 {
		return fmt.Sprintf("The worker %s is the limit: %s of its %s are in use", most.Name, percent(c.workersCPU()), coresOf(most.Cores))
	}
	return fmt.Sprintf("The workers are the limit: %s of their cores are in use, most at %s", percent(c.workersCPU()), named(busy))
}
