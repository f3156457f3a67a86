package report

import (
	"fmt"
	"strconv"
	"time"

	"github.com/throng-sim/throng/engine"
)

// longestGap is the longest gap between two rows without a cut in the axis. After a longer one, no process executed the run.
const longestGap = 30 * time.Second

// axis is the time for which a run was executed, without interruptions. The zero value is empty.
type axis struct {
	start, last time.Time
	cuts        []cut
	missing     time.Duration // total of all cuts
}

// cut is an interruption of the run.
type cut struct {
	at      time.Duration // on the axis
	from    time.Time
	missing time.Duration
}

// see adds the time of the next row.
func (x *axis) see(at time.Time) {
	if x.start.IsZero() {
		x.start, x.last = at, at
		return
	}
	if gap := at.Sub(x.last); gap > longestGap {
		gap -= time.Second // one second of it is on the axis
		x.cuts = append(x.cuts, cut{x.length(), x.last, gap})
		x.missing += gap
	}
	x.last = at
}

// length returns the length of the axis; 0 with fewer than two rows.
func (x *axis) length() time.Duration { return x.last.Sub(x.start) - x.missing }

// since returns the position of a time on the axis; false if it is before or after the axis. Times within an interruption
// are at its cut.
func (x *axis) since(at time.Time) (time.Duration, bool) {
	// A change may be recorded shortly before the first row or after the last one.
	if x.start.IsZero() || at.Before(x.start.Add(-longestGap)) || at.After(x.last.Add(longestGap)) {
		return 0, false
	}
	since := at.Sub(x.start)
	for _, c := range x.cuts {
		if at.After(c.from) {
			since -= min(c.missing, at.Sub(c.from))
		}
	}
	return min(max(since, 0), x.length()), true
}

// share returns a position as a number from 0 to 1.
func (x *axis) share(since time.Duration) float64 {
	return float64(since) / float64(max(x.length(), 1))
}

// timeSteps are the possible distances of ticks.
var timeSteps = []time.Duration{
	time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 15 * time.Second, 30 * time.Second,
	time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour, 48 * time.Hour, 168 * time.Hour,
}

// mostTicks is the maximum number of ticks.
const mostTicks = 6

type tick struct {
	At   float64 // from 0 to 1
	Text string
}

func (x *axis) ticks() (all []tick) {
	length := x.length()
	step := timeSteps[len(timeSteps)-1]
	for _, s := range timeSteps {
		if length/s < mostTicks {
			step = s
			break
		}
	}
	for step*(mostTicks*4) < length { // a run of years
		step *= 2
	}
	for at := time.Duration(0); at <= length; at += step {
		all = append(all, tick{x.share(at), shortDuration(at)})
	}
	return all
}

// shortDuration formats the time since the start of a chart.
func shortDuration(d time.Duration) string {
	switch {
	case d == 0:
		return "0"
	case d < time.Minute:
		return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) + " s"
	}
	return engine.FormatDuration(d)
}

// gaps describes the interruptions of the run.
func (x *axis) gaps() string {
	if len(x.cuts) == 0 {
		return ""
	}
	return fmt.Sprintf("Dashed lines mark interruptions of the run. They lasted %s in total, which is left out.", engine.FormatDuration(x.missing))
}
