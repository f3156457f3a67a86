package live

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/internal/words"
)

// phase describes what a run does, or how it ended.
func phase(s *engine.Snapshot) (word string, tone widgets.Tone) {
	switch {
	case s.Phase == engine.Paused || s.Phase == engine.Draining:
		return s.Phase.String(), widgets.Warning
	case s.Phase != engine.Ended:
		return s.Phase.String(), widgets.Accent
	case s.Ending == engine.NotEnded:
		return "interrupted", widgets.Warning
	case s.Ending == engine.EndFinished && (s.Ended == 0 || s.Outcomes[engine.Failed]+s.Outcomes[engine.TimedOut] < s.Ended):
		return s.Ending.String(), widgets.Good
	case s.Ending == engine.EndStopped:
		return s.Ending.String(), widgets.Quiet
	case s.Ending == engine.EndOutOfBudget:
		return s.Ending.String(), widgets.Warning
	default:
		return s.Ending.String(), widgets.Bad
	}
}

// cost returns the cost of model calls so far.
func cost(s *engine.Snapshot) (text string, tone widgets.Tone) {
	if n := s.Labels[engine.Recorded]; n > 0 {
		return "none (replay)", widgets.Neutral
	}
	if s.Usage == (engine.Usage{}) {
		return "no models used", widgets.Quiet
	}
	return engine.FormatCost(&s.Usage) + ", " + count(s.Usage.Calls, "call"), widgets.Neutral
}

// simulatedHint explains the times below the progress of a run.
const simulatedHint = "Simulated: the date and time in the scenario, which agents see. It advances with each cycle.\nElapsed: real time since the run started."

// simulated returns the simulated time, as such.
func simulated(s *engine.Snapshot) string { return "simulated " + s.SimTime.Format("Mon 2 Jan 15:04") }

// asOf describes the shown moment of the history.
func asOf(f *feed) string {
	s := f.snap
	parts := []string{words.Stamp(s.At), simulated(s), "return to Live to control the run"}
	if f.idle {
		parts[2] = "Throng was not running"
	}
	return strings.Join(parts, "  ·  ")
}

// openCycle describes the progress of the open cycle; "" for a survey, which is a single one.
func openCycle(s *engine.Snapshot) string {
	if s.CycleTotal == 0 || s.Phase == engine.Ended || s.Survey {
		return ""
	}
	return fmt.Sprintf("cycle %d: %s of %s", s.Cycle, engine.FormatCount(s.CycleEnded), engine.FormatCount(s.CycleTotal))
}

// state describes the run below its progress, the most important fact first.
func state(job *Job, s *engine.Snapshot) string {
	var parts []string
	if job.Origin != "" {
		parts = append(parts, job.Origin)
	}
	if s.Phase == engine.Ended && !failed(s) {
		word, _ := phase(s)
		if s.Reason != "" && (!s.Survey || s.Reason != engine.AllDone) {
			word += ": " + s.Reason
		}
		parts = append(parts, word)
	}
	if s.Inexact != nil {
		parts = append(parts, s.Inexact.String())
	}
	if open := openCycle(s); open != "" {
		parts = append(parts, open)
	}
	parts = append(parts, simulated(s), engine.FormatDuration(elapsed(s))+" elapsed")
	if text, tone := schedule(job, s); tone == widgets.Warning {
		parts = append(parts, text)
	}
	if s.Usage != (engine.Usage{}) {
		spent, _ := cost(s)
		parts = append(parts, spent)
	}
	if s.Checkpoints > 0 {
		parts = append(parts, "checkpoints "+saved(s))
	}
	return strings.Join(parts, "  ·  ")
}

// details lists what is seldom needed about a run.
func details(job *Job, s *engine.Snapshot, where string) [][2]string {
	keeps, _ := schedule(job, s)
	spent, _ := cost(s)
	exact := "exact"
	if s.Inexact != nil {
		exact = s.Inexact.String()
	}
	rows := [][2]string{
		{"Run", string(job.ID())},
		{"Agents", engine.FormatCount(int64(job.Agents))},
		{"Random seed", fmt.Sprint(job.Settings.Seed)},
		{"Simulated time", s.SimTime.Format("Mon 2 Jan 2006 15:04")},
		{"Elapsed", engine.FormatDuration(elapsed(s))},
		{"Schedule", keeps},
		{"Arrivals", cmp.Or(s.Arrivals, "together")},
		{"Checkpoints", saved(s)},
		{"Events", engine.FormatCount(s.Events)},
		{"Cost so far", spent},
		{"Results", where},
		{"Exactness", exact},
	}
	if job.Origin != "" {
		rows = append(rows, [2]string{"Origin", job.Origin})
	}
	if n := s.Labels[engine.Recorded]; n > 0 {
		rows = append(rows, [2]string{"Recorded answers", engine.FormatCount(n) + " steps"})
	} else if s.Usage != (engine.Usage{}) {
		rows = append(rows, [2]string{"Model calls", view.FormatUsage(&s.Usage)})
	}
	return rows
}

// failed reports whether a run ended with an error.
func failed(s *engine.Snapshot) bool {
	return s.Phase == engine.Ended && (s.Ending == engine.EndFailed || s.Ending == engine.EndHopeless)
}

// failure explains the error that ended a run, and how to continue; "" if there is none.
func failure(f *feed) string {
	s := f.snap
	switch {
	case f.past || !failed(s):
		return ""
	case s.Ending == engine.EndHopeless:
		return words.Sentence(orNoReason(s.Reason)) + "\nCorrect it (Edit scenario… in Setup) and launch again. Runs shows how to continue this run."
	}
	return words.Sentence(orNoReason(s.Reason))
}

func orNoReason(reason string) string {
	if reason == "" {
		return "no reason given"
	}
	return reason
}

func count(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return engine.FormatCount(n) + " " + what + "s"
}

// roughly rounds a duration to the digits that matter.
func roughly(d time.Duration) string {
	switch {
	case d < 0:
		return "0 s"
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < 10*time.Minute:
		d = d.Truncate(5 * time.Second)
	case d < 48*time.Hour:
		d = d.Truncate(time.Minute)
	default:
		d = d.Truncate(24 * time.Hour)
	}
	return engine.FormatDuration(d)
}

// saved describes the checkpoints.
func saved(s *engine.Snapshot) string {
	if s.LastCheckpoint.IsZero() {
		if s.Checkpoints == 0 {
			return "none yet"
		}
		return fmt.Sprintf("%d, none since resumed", s.Checkpoints)
	}
	took := ""
	if s.CheckpointTook > 0 {
		took = ", took " + engine.FormatDuration(s.CheckpointTook)
	}
	if s.Phase == engine.Ended {
		return fmt.Sprintf("%d, last at %s", s.Checkpoints, s.LastCheckpoint.Local().Format("15:04:05")) + took
	}
	since := s.At.Sub(s.LastCheckpoint)
	switch {
	case since < 10*time.Second:
		return fmt.Sprintf("%d, just now", s.Checkpoints) + took
	case since < time.Minute:
		since = since.Truncate(10 * time.Second)
	default:
		since = since.Truncate(time.Minute)
	}
	return fmt.Sprintf("%d, last %s ago", s.Checkpoints, roughly(since)) + took
}

// schedule describes how a run keeps to its time scale, and to the intended starts of its sessions.
func schedule(job *Job, s *engine.Snapshot) (text string, tone widgets.Tone) {
	switch {
	case job.Settings.TimeScale == 0 && s.Arrivals == "":
		return "as fast as possible", widgets.Neutral
	case s.Lag < time.Second:
		return "on time", widgets.Neutral
	default:
		text = roughly(s.Lag) + " behind"
		if s.Overdue > 0 {
			text += ", " + short(s.Overdue) + " overdue"
		}
		return text, widgets.Warning
	}
}

// share returns a share in percent.
func share(part, whole int64) string { return view.FormatShare(part, whole) }

// rate writes a number per second with two or three digits.
func rate(v float64) string { return view.FormatPerSecond(v) }

// short writes a count with three or four digits at most.
func short(n int64) string {
	switch {
	case n < 100_000:
		return engine.FormatCount(n)
	case n < 10_000_000:
		return engine.FormatCount(n/1000) + "k"
	default:
		return fmt.Sprintf("%.1fM", float64(n)/1e6)
	}
}
