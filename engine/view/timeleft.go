package view

import (
	"fmt"
	"time"

	"github.com/throng-sim/throng/engine"
)

// Estimating is shown instead of the time left while too little is known.
const Estimating = "estimating…"

// No estimate is shown before this share of the sessions has ended, and in the first seconds.
const (
	estimateShare = 0.05
	estimateAfter = 10 * time.Second
)

// TimeLeft says when the run will end, such as "12 min left". It is Estimating while too little is known, and "" if the run
// is not running.
func (p *Progress) TimeLeft() string {
	switch {
	case p.Phase != engine.Running.String():
		return ""
	case p.Remaining == nil:
		return Estimating
	case p.Planned > 0 && (float64(p.Sessions) < estimateShare*float64(p.Planned) || p.Elapsed < estimateAfter.Seconds()):
		return Estimating
	}
	return coarse(time.Duration(*p.Remaining*float64(time.Second))) + " left"
}

// Share returns the completed fraction of the run: of its sessions or, if its duration limits it, of its time.
func (p *Progress) Share() float64 {
	switch {
	case p.Planned > 0:
		return p.Done().Share()
	case p.Remaining != nil && p.Elapsed+*p.Remaining > 0:
		return p.Elapsed / (p.Elapsed + *p.Remaining)
	}
	return 0
}

// Done returns the sessions that are done.
func (p *Progress) Done() Done { return Done{p.Sessions, p.Kept, p.Planned, p.Survey} }

// Percent formats the completed fraction. Only a run whose last session has ended has 100%.
func (p *Progress) Percent() string { return wholePercent(p.Share()) }

// TimeLeft is the TimeLeft of a snapshot's progress.
func TimeLeft(s *engine.Snapshot) string {
	p := brief(s)
	return p.TimeLeft()
}

// Share is the Share of a snapshot's progress.
func Share(s *engine.Snapshot) float64 {
	p := brief(s)
	return p.Share()
}

// SharePercent is the text of Share of a snapshot's progress.
func SharePercent(s *engine.Snapshot) string {
	p := brief(s)
	return p.Percent()
}

// brief returns the part of the progress that TimeLeft and Share need.
func brief(s *engine.Snapshot) Progress {
	p := Progress{Phase: s.Phase.String(), Sessions: s.Ended, Kept: s.Kept, Planned: s.Total, Elapsed: s.Elapsed.Seconds()}
	if s.Remaining >= 0 {
		left := s.Remaining.Seconds()
		p.Remaining = &left
	}
	return p
}

// coarse formats a duration in steps that seldom change.
func coarse(d time.Duration) string {
	switch {
	case d < 5*time.Second:
		return "a few seconds"
	case d < 55*time.Second:
		return fmt.Sprintf("%d s", d.Round(5*time.Second)/time.Second)
	case d < 90*time.Minute:
		return fmt.Sprintf("%d min", max(d.Round(time.Minute)/time.Minute, 1))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", d.Round(time.Hour)/time.Hour)
	}
	return fmt.Sprintf("%d days", d.Round(24*time.Hour)/(24*time.Hour))
}
