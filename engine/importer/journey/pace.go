package journey

import (
	"fmt"
	"math"
	"time"

	"github.com/throng-sim/throng/engine/importer"
)

const (
	shortestPause = 500 * time.Millisecond // shorter gaps are programs at work
	longestPause  = 2 * time.Minute        // longer gaps are people who did something else
	fewPauses     = 5                      // fewer say nothing about their spread
	usualSigma    = 0.6
)

// pauses returns the pause before each request: how long after the end of everything before it, if that is long enough to be a
// person's. Requests of a page or a script, which follow each other or run in parallel, have none. long counts capped pauses.
func pauses(all []request) (list []time.Duration, long int) {
	list = make([]time.Duration, len(all))
	var end time.Time
	for i := range all {
		r := &all[i]
		if r.Start.IsZero() {
			continue
		}
		if gap := r.Start.Sub(end); !end.IsZero() && gap >= shortestPause {
			if gap > longestPause {
				gap = longestPause
				long++
			}
			list[i] = gap
		}
		for _, e := range []time.Time{r.Ended(), r.answer().Ended()} {
			if e.After(end) {
				end = e
			}
		}
	}
	return list, long
}

// fit returns the lognormal distribution of pauses, after its moments on the logarithmic scale.
func fit(list []time.Duration) importer.Think {
	var logs []float64
	sum := 0.0
	for _, d := range list {
		if d > 0 {
			logs = append(logs, math.Log(d.Seconds()))
			sum += logs[len(logs)-1]
		}
	}
	if len(logs) == 0 {
		return importer.Think{}
	}
	mean := sum / float64(len(logs))
	sigma := usualSigma
	if len(logs) >= fewPauses {
		squares := 0.0
		for _, l := range logs {
			squares += (l - mean) * (l - mean)
		}
		const least, most = 0.1, 1.5
		sigma = min(max(math.Sqrt(squares/float64(len(logs)-1)), least), most)
	}
	median := time.Duration(math.Exp(mean) * float64(time.Second)).Round(100 * time.Millisecond)
	return importer.Think{Median: median, Sigma: math.Round(sigma*100) / 100}
}

// pace sets the pauses before steps. Each pause is drawn from the distribution of all of them, because one observed
// pause says little about the next.
func (b *builder) pace() {
	var all []time.Duration
	long := 0
	for _, v := range b.visits {
		list, n := pauses(v.requests)
		v.pauses = list
		all, long = append(all, list...), long+n
	}
	think := fit(all)
	for i, c := range b.visits[0].calls {
		if b.visits[0].pauses[i] > 0 {
			c.step.Think = think
		}
	}
	most := int(longestPause.Minutes())
	switch {
	case long == 1:
		b.draft.Notes = append(b.draft.Notes, fmt.Sprintf("One pause of the recording was longer than %d minutes and counts as %d minutes.", most, most))
	case long > 1:
		b.draft.Notes = append(b.draft.Notes, fmt.Sprintf("%d pauses of the recording were longer than %d minutes and count as %d minutes.", long, most, most))
	}
}
