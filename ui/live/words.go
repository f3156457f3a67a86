package live

import (
	"fmt"
	"strings"
	"time"

	"github.com/throng-sim/throng/engine"
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
	case s.Ending == engine.EndFinished:
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

// asOf describes the shown moment of the history.
func asOf(f *feed) string {
	s := f.snap
	text := fmt.Sprintf("%s, cycle %s", words.Stamp(s.At), engine.FormatCount(int64(s.Cycle)))
	if f.idle {
		return text + ": Throng was not running"
	}
	return text + "  ·  return to Live to control the run"
}

func exactness(s *engine.Snapshot) (word string, tone widgets.Tone) {
	if s.Inexact != nil {
		return "inexact", widgets.Warning
	}
	return "exact", widgets.Good
}

// state describes the run next to the badges, the most important fact first.
func state(job *Job, s *engine.Snapshot) string {
	var parts []string
	if s.Phase > engine.Running && !failed(s) {
		word, _ := phase(s)
		parts = append(parts, word+": "+orNoReason(s.Reason))
	}
	if s.Phase == engine.Draining && s.InFlight > 0 {
		parts = append(parts, "waiting for sessions in flight; Cut now cancels them, and a resume runs them again")
	}
	if s.Inexact != nil {
		parts = append(parts, s.Inexact.String())
	}
	parts = append(parts, "run "+string(job.ID()), count(int64(job.Agents), "agent"), fmt.Sprintf("seed %d", job.Settings.Seed))
	if n := s.Labels[engine.Recorded]; n > 0 {
		parts = append(parts, engine.FormatCount(n)+" steps answered from a recording")
	} else if s.Usage != (engine.Usage{}) {
		parts = append(parts, "model calls "+engine.FormatUsage(&s.Usage))
	}
	return strings.Join(parts, "  ·  ")
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
		return words.Sentence(orNoReason(s.Reason)) + "\nCorrect it (Edit scenario… in Setup) and launch again. Checkpoints shows how to continue this run."
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

// done returns the progress of a run, as text and as a share.
func done(s *engine.Snapshot) (left, right string, share float64) {
	left = count(s.Ended, "session")
	if s.Total > 0 {
		left = engine.FormatCount(s.Ended) + " of " + count(s.Total, "session")
	}
	switch {
	case s.Total > 0:
		share = float64(s.Ended) / float64(s.Total)
	case s.Remaining >= 0 && s.Elapsed > 0: // the duration limits the run
		share = float64(s.Elapsed) / float64(s.Elapsed+s.Remaining)
	}
	right = fmt.Sprintf("%.0f%%", 100*min(share, 1))
	if s.Remaining >= 0 && s.Phase != engine.Ended {
		right += ", " + roughly(s.Remaining) + " left"
	}
	return left, right, share
}

// cycle returns the progress of the current cycle.
func cycle(s *engine.Snapshot) (left, right string, share float64) {
	left = "cycle " + engine.FormatCount(int64(s.Cycle))
	if s.Cycles > 0 {
		left += "/" + engine.FormatCount(int64(s.Cycles))
	}
	switch {
	case s.CycleTotal > 0:
		share = float64(s.CycleEnded) / float64(s.CycleTotal)
		right = engine.FormatCount(s.CycleEnded) + " of " + engine.FormatCount(s.CycleTotal)
	case s.Phase == engine.Ended && s.Ending == engine.EndFinished:
		share, right = 1, "all done"
	}
	return left, right, share
}

// roughly rounds a duration to the digits that matter.
func roughly(d time.Duration) string {
	switch {
	case d < 0:
		return "0s"
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < 10*time.Minute:
		d = d.Truncate(5 * time.Second)
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	default:
		return fmt.Sprintf("%d days", int(d.Hours())/24)
	}
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
	return fmt.Sprintf("%d, last %s ago", s.Checkpoints, strings.TrimSuffix(roughly(since), "00s")) + took
}

// schedule describes how a run keeps to its time scale.
func schedule(job *Job, s *engine.Snapshot) (text string, tone widgets.Tone) {
	switch {
	case job.Settings.TimeScale == 0:
		return "as fast as possible", widgets.Neutral
	case s.Lag < time.Second:
		return "on time", widgets.Neutral
	default:
		return roughly(s.Lag) + " behind", widgets.Warning
	}
}

// share returns a share in percent.
func share(part, whole int64) string {
	if whole <= 0 {
		return "0%"
	}
	p := 100 * float64(part) / float64(whole)
	switch {
	case p > 0 && p < 0.1:
		return "< 0.1%"
	case p > 0 && p < 10:
		return fmt.Sprintf("%.1f%%", p)
	default:
		return fmt.Sprintf("%.0f%%", p)
	}
}

// rate writes a number per second with two or three digits.
func rate(v float64) string {
	switch {
	case v >= 100:
		return engine.FormatCount(int64(v+0.5)) + "/s"
	case v >= 10:
		return fmt.Sprintf("%.0f/s", v)
	default:
		return fmt.Sprintf("%.1f/s", v)
	}
}

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
