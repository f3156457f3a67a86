package show

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/health"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/engine/visible"
)

// lineEvery is the interval of progress lines outside of a terminal.
const lineEvery = 5 * time.Second

// Progress shows a run: as one updating line in a terminal, or as a line every few seconds.
type Progress struct {
	out    io.Writer
	Moving bool
	Every  time.Duration // interval of calls to Show
	shown  bool
	last   time.Time                // time of the last line
	Line   func(s *engine.Snapshot) // writes a line of JSON; nil for text
}

// NewProgress returns the progress of a run on out. With lines, it never updates a line in place.
func NewProgress(out io.Writer, lines bool) *Progress {
	p := &Progress{out: out, Every: time.Second}
	if f, ok := Raw(out).(*os.File); ok && !lines && os.Getenv("TERM") != "dumb" && term.IsTerminal(int(f.Fd())) {
		p.Moving, p.Every = true, 250*time.Millisecond
	}
	return p
}

// Show shows a snapshot.
func (p *Progress) Show(s *engine.Snapshot) {
	if p.Line == nil {
		p.Say(s.At, Describe(s), s.Phase == engine.Ended)
		return
	}
	if s.Phase == engine.Ended || s.At.Sub(p.last) >= lineEvery {
		p.last = s.At
		p.Line(s)
	}
}

// Say shows a line. The last line is always shown.
func (p *Progress) Say(at time.Time, line string, last bool) {
	if p.Moving {
		width := 80
		if f, ok := Raw(p.out).(*os.File); ok {
			if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 1 {
				width = w
			}
		}
		runes := []rune(visible.Line(line))
		if len(runes) >= width {
			runes = runes[:width-1]
		}
		fmt.Fprintf(Raw(p.out), "\r\x1b[K%s", string(runes))
		p.shown = true
		return
	}
	if last || at.Sub(p.last) >= lineEvery {
		p.last = at
		fmt.Fprintln(p.out, visible.Line(line))
	}
}

// End moves to the line below the updating line.
func (p *Progress) End() {
	if p.shown {
		fmt.Fprintln(p.out)
		p.shown = false
	}
}

// Describe returns the state of a run in one line.
func Describe(s *engine.Snapshot) string {
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	done := view.DoneIn(s)
	add("%s", Join(", ", done.String(), done.Percent()))
	for _, v := range view.Unavailable(s) {
		add("%s %s", v.Name, v.BreakerWhy)
	}
	if !s.Survey {
		add("%s", view.CyclesDone(s.Cycle, s.Cycles))
		if took := cmp.Or(s.LastCycle.Took, s.CycleTook); took > 0 {
			add("cycle time %s", engine.FormatDuration(took))
		}
	}
	add("limit %d", s.Limit)
	add("in flight %d", s.InFlight)
	add("mean %s", engine.FormatDuration(s.Latency.Mean))
	add("p95 %s", engine.FormatDuration(s.Latency.P95))
	add("errors %s", engine.FormatCount(s.Outcomes[engine.Failed]+s.Outcomes[engine.TimedOut]))
	if s.PerSecond > 0 {
		add("%.0f/s", s.PerSecond)
	}
	if s.Metrics.WritesPerSec > 0 {
		add("%.0f writes/s", s.Metrics.WritesPerSec)
	}
	if spent := s.Budget.Describe(s.Elapsed); spent != "" && s.Phase != engine.Ended {
		add("spent %s", spent)
	}
	if b := health.FindBottleneck(&s.Overhead, s.Limit, s.Binds); b.Kind.IsHere() {
		add("limited by %s", b.Kind)
	}
	switch {
	case s.Phase == engine.Ended:
		add("%s", s.Ending)
	case s.Phase != engine.Running:
		add("%s: %s", s.Phase, s.Reason)
		if last := view.WaitsFor(s); last != "" {
			add("%s", last)
		}
	default:
		if left := view.TimeLeft(s); left != "" {
			add("%s", left)
		}
	}
	if s.Phase == engine.Running && s.Budget.Short != "" {
		add("%s", s.Budget.Short)
	}
	return strings.Join(parts, "  ")
}

// Stop returns the answer to a stop. again is set for the second one.
func Stop(s *engine.Snapshot, again bool) string {
	if again {
		return "stopping immediately: sessions in flight are canceled and run again on resume"
	}
	var away []string
	for _, v := range view.Unavailable(s) {
		away = append(away, v.Name)
	}
	text := "stopping: sessions in flight finish, then a checkpoint; press again to stop immediately"
	if len(away) == 0 {
		return text
	}
	return strings.Replace(text, "finish, then", "finish, except those that wait for "+strings.Join(away, ", ")+", which does not answer: they run again on resume; then", 1)
}
