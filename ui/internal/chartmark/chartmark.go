// Package chartmark makes the markers of charts: the changes of a run, and the times without Throng.
package chartmark

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/chart"
	"github.com/throng-sim/throng/ui/internal/words"
)

// Outage returns the marker where a run was resumed after a time without Throng.
func Outage(at time.Time, away time.Duration) chart.Marker {
	return chart.Marker{At: at, Kind: chart.Resumed, Text: "resumed after " + engine.FormatDuration(away.Truncate(time.Second))}
}

// Of returns the markers of changes, those of governors left out.
func Of(changes []engine.ChangeRow) (all []chart.Marker) {
	for i := range changes {
		if c := &changes[i]; Shown(c) {
			all = append(all, chart.Marker{At: c.At, Kind: Kind(c), Text: Label(c)})
		}
	}
	return all
}

// Kind returns the symbol of a change.
func Kind(c *engine.ChangeRow) chart.MarkerKind {
	switch {
	case c.What == engine.LimitSetting || c.What == engine.CeilingSetting:
		return Direction(c.Old, c.New)
	case c.Who == "rate limiter":
		return chart.Refused
	case c.What == engine.InjectChange:
		return chart.Told
	case c.What == engine.StallChange, c.What == engine.WorkerChange, c.What == engine.SleepChange, c.Who == "breaker":
		return chart.Troubled
	case c.What != engine.PhaseChange:
		return chart.Changed
	case c.New == engine.Paused.String():
		return chart.Paused
	case c.New == engine.Running.String():
		return chart.Resumed
	}
	return chart.Ended
}

// Direction returns the symbol for a change of a number.
func Direction(from, to string) chart.MarkerKind {
	before, err1 := strconv.Atoi(from)
	now, err2 := strconv.Atoi(to)
	switch {
	case err1 != nil || err2 != nil:
		return chart.Changed
	case now < before:
		return chart.Lowered
	}
	return chart.Raised
}

// Shown reports whether a change has a marker. Changes of the limit by a governor have none, because the limit's line shows them.
func Shown(c *engine.ChangeRow) bool {
	switch c.What {
	case engine.LimitChange, engine.RestartChange, engine.FleetChange: // an outage has a marker, and a fleet is there from the start
		return false
	}
	if c.Who == "rate limiter" { // the rate went down
		var before, now float64
		_, err1 := fmt.Sscan(c.Old, &before)
		_, err2 := fmt.Sscan(c.New, &now)
		return err1 == nil && err2 == nil && now < before
	}
	return c.What != "exactness"
}

// Label describes a change, with the worker that it is about.
func Label(c *engine.ChangeRow) string {
	if c.What == engine.WorkerChange {
		return c.What + " " + c.Who + " " + c.New
	}
	return Text(c.What, c.Old, c.New)
}

// Text describes a change of something.
func Text(what, from, to string) string {
	switch what {
	case engine.PhaseChange:
		return to
	case engine.InjectChange:
		return "to " + from
	}
	if words.OfAgent(what) {
		return what + " " + from
	}
	if title := engine.Subject(what); title != what {
		what = strings.ToLower(title[:1]) + title[1:]
	}
	if from == "" {
		return what + " " + to
	}
	return fmt.Sprintf("%s %s to %s", what, from, to)
}
