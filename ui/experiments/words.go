package experiments

import (
	"fmt"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"

	"github.com/throng-sim/throng/engine/experiment/findings"
	"github.com/throng-sim/throng/engine/figures"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// looks are the words, tones and icons of states.
var looks = [...]struct {
	word string
	tone widgets.Tone
	icon fyne.ThemeIconName
}{
	Ready:    {"not started", widgets.Quiet, theme.IconNameMediaRecord},
	Queued:   {"queued", widgets.Accent, theme.IconNameHistory},
	Running:  {"running", widgets.Accent, theme.IconNameMediaPlay},
	Paused:   {"paused", widgets.Warning, theme.IconNameMediaPause},
	Stopping: {"stopping", widgets.Warning, theme.IconNameMediaStop},
	Partial:  {"stopped", widgets.Quiet, theme.IconNameMediaStop},
	Complete: {"complete", widgets.Good, theme.IconNameConfirm},
	Broken:   {"mistakes", widgets.Bad, theme.IconNameError},
}

// progress returns how many runs have ended, such as 34 of 60; "" if their number is unknown.
func (e *Entry) progress() string {
	if e.Total == 0 {
		return ""
	}
	return figures.Count(int64(e.Done)) + " of " + figures.Count(int64(e.Total))
}

// line is one line on the progress of an experiment.
func (e *Entry) line() string {
	var parts []string
	add := func(part string) {
		if part != "" {
			parts = append(parts, part)
		}
	}
	if e.Total > 0 {
		add(e.progress() + " runs")
	}
	if e.Failed > 0 {
		add(figures.Count(int64(e.Failed)) + " failed")
	}
	if e.Skipped > 0 {
		add(figures.Count(int64(e.Skipped)) + " skipped")
	}
	if e.Left > 0 && (e.State == Running || e.State == Paused) {
		add("about " + figures.Duration(e.Left.Round(time.Second)) + " left")
	}
	switch {
	case e.State == Queued && e.Waits != "":
		add("waits until this has ended: " + e.Waits)
	case e.State == Queued:
		add("waits for other runs to end")
	case e.State == Stopping:
		add("waits for the sessions in progress, unless you stop now")
	case e.State == Paused:
		add("no run begins until you continue")
	case e.Elsewhere:
		add("in another process")
	}
	return strings.Join(parts, ", ")
}

// counted returns a number of things.
func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return figures.Count(int64(n)) + " " + many
}

// ready reports whether each point has a run with values, and how many points do.
func ready(t *findings.Table) (points int, all bool) {
	for _, runs := range t.Runs {
		for i := range runs {
			if runs[i].State == findings.Done {
				points++
				break
			}
		}
	}
	return points, points == len(t.Points) && points > 0
}

// missing returns the number of runs that have not ended.
func missing(t *findings.Table) int {
	n, all := 0, 0
	for _, state := range []findings.State{findings.Done, findings.Failed, findings.Skipped} {
		count, of := t.Count(state)
		n, all = n+count, of
	}
	return all - n
}

// provisional says how far an experiment is; "" if all runs have ended.
func provisional(t *findings.Table) string {
	left := missing(t)
	points, all := ready(t)
	_, of := t.Count(findings.Done)
	are := "are"
	if left == 1 {
		are = "is"
	}
	switch {
	case len(t.Points) == 0 || left == 0 && all:
		return ""
	case left == 0:
		return fmt.Sprintf("%s of %s have no run with values. See Runs.", figures.Count(int64(len(t.Points)-points)), counted(len(t.Points), "point", "points"))
	case !all:
		return fmt.Sprintf("Results appear as soon as each point has a run: %d of %s so far.", points, counted(len(t.Points), "point", "points"))
	default:
		return fmt.Sprintf("Provisional: %s of %s %s missing, so figures will still change.", figures.Count(int64(left)), counted(of, "run", "runs"), are)
	}
}
