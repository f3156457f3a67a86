package dash

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/throng-sim/throng/engine"
)

// phase returns the phase of a run, with its symbol.
func (p *picture) phase() (text string, t tone) {
	s := p.status
	switch s.Phase {
	case engine.Running.String():
		return "● " + s.Phase, good
	case engine.Paused.String():
		return "■ " + s.Phase, warning
	case engine.Draining.String():
		return "◐ " + s.Phase, warning
	case engine.Ended.String():
		if s.Ending == engine.EndFinished.String() {
			return "✓ " + s.Ending, good
		}
		return "✖ " + s.Ending, warning
	}
	return "· " + s.Phase, accent
}

// head shows the title, phase and progress of the run.
func (p *picture) head(width int) []line {
	s := p.status
	text, t := p.phase()
	right := say(t, text)
	if s.Inexact != "" {
		right = right.and(plain, "  ").and(warning, "inexact")
	}
	left := say(strong, s.Title).and(quiet, "  "+string(s.Run))
	if s.Reason != "" && s.Phase != engine.Running.String() {
		left = say(strong, s.Title).and(t, "  "+s.Reason)
	}
	room := width - right.width() - 1
	lines := []line{append(left.fit(room).and(plain, " "), right...)}
	return append(lines, p.progress(width))
}

// progress shows progress as a bar and as text.
func (p *picture) progress(width int) line {
	s := p.status
	words := fmt.Sprintf(" %4s  %s", s.Percent(), s.Done())
	switch {
	case s.Phase == engine.Ended.String():
		words += ", took " + seconds(s.Elapsed)
	case s.TimeLeft() != "":
		words += ", " + s.TimeLeft()
	}
	if utf8.RuneCountInString(words) > width-10 {
		return say(plain, strings.TrimSpace(words))
	}
	return append(bar(s.Share(), width-utf8.RuneCountInString(words)), span{words, plain})
}

// foot shows the result of the last order, and the keys.
func (p *picture) foot(width int) []line {
	keys := []string{"+ − limit", "p pause", "c checkpoint", "q stop", "Tab view", "? help"}
	if p.status.Phase == engine.Paused.String() {
		keys[1] = "p continue"
	}
	if !p.own {
		keys[3] = "q leave"
	}
	if p.status.Phase == engine.Draining.String() && p.own {
		keys[3] = "q stop now"
	}
	if !p.governed() {
		keys = slices.Insert(keys, 1, "a automatic")
	}
	l := say(inverse, " "+viewNames[p.view]+" ")
	for _, k := range keys {
		name, what, _ := strings.Cut(k, " ")
		if name == "+" {
			name, what = "+ −", strings.TrimPrefix(k, "+ − ")
		}
		if l.width()+len(k)+2 > width {
			break
		}
		l = l.and(plain, "  ").and(accent, name).and(quiet, " "+what)
	}
	return []line{say(p.said.tone, p.said.text).fit(width), l.fit(width)}
}

// governed reports whether a governor moves the limit.
func (p *picture) governed() bool {
	return p.status.Governor != "" && p.status.Governor != engine.Manual
}

func seconds(s float64) string { return engine.FormatDuration(time.Duration(s * float64(time.Second))) }

// rough formats a duration without false precision.
func rough(s float64) string {
	d := time.Duration(s * float64(time.Second))
	switch {
	case d > time.Hour:
		d = d.Round(time.Minute)
	case d > 10*time.Second:
		d = d.Round(time.Second)
	default:
		d = d.Round(100 * time.Millisecond)
	}
	return engine.FormatDuration(d)
}

// at formats a time of day.
func at(when time.Time) string { return when.Local().Format(time.TimeOnly) }
