package dash

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
)

// sessions lists sessions in flight, oldest first.
func (p *picture) sessions(width, height int) []line {
	s := p.status
	lines := []line{titled("Sessions in flight, oldest first", width).line}
	if len(s.Oldest) == 0 {
		return append(lines, say(quiet, "none"))
	}
	lines = append(lines, say(quiet, fmt.Sprintf("%-24s %9s  %-28s %-14s %s", "agent", "for", "step", "service", "waits for")))
	for i := range s.Oldest[:min(len(s.Oldest), max(height-2, 0))] {
		d := &s.Oldest[i]
		lines = append(lines, say(plain, fmt.Sprintf("%s %9s  %s %s ", cell(cmp.Or(d.Name, fmt.Sprint(d.Agent)), 24),
			rough(s.At.Sub(d.Began).Seconds()), cell(d.Path, 28), cell(d.Service, 14))).and(warning, d.ThrottledBy))
	}
	return lines
}

// cell fits a text into a table column.
func cell(text string, width int) string { return say(plain, text).fit(width).text() }

// slowestFirst returns the steps, slowest first.
func slowestFirst(all []view.Step) []view.Step {
	took := func(s *view.Step) float64 {
		if s.Latency == nil {
			return 0
		}
		return s.Latency.Mean * float64(s.Ran)
	}
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b view.Step) int { return cmp.Compare(took(&b), took(&a)) })
	return all
}

// steps lists the steps of the chain, slowest first.
func (p *picture) steps(width, height int) []line {
	lines := []line{titled("Steps, slowest first", width).line}
	all := slowestFirst(p.status.Steps)
	name := max(min(width-58, 48), 16)
	lines = append(lines, say(quiet, fmt.Sprintf("%-*s %9s %8s %8s %8s %9s %9s", name, "step", "ran", "errors", "retries", "429s", "p50", "p95")))
	for i := range all[:min(len(all), max(height-2, 0))] {
		s := &all[i]
		var p50, p95 string
		if s.Latency != nil {
			p50, p95 = seconds(s.Latency.P50), seconds(s.Latency.P95)
		}
		t := plain
		if s.Errors > 0 {
			t = warning
		}
		lines = append(lines, say(plain, fmt.Sprintf("%s %9s ", cell(s.Path, name), engine.FormatCount(s.Ran))).
			and(t, fmt.Sprintf("%8s", engine.FormatCount(s.Errors))).
			and(plain, fmt.Sprintf(" %8s %8s %9s %9s", engine.FormatCount(s.Retries), engine.FormatCount(s.RateLimited), p50, p95)))
	}
	return lines
}

// log lists changes and events, newest first.
func (p *picture) log(width, height int) []line {
	lines := []line{titled("Changes and events, newest first", width).line}
	for i := range p.status.Changes {
		e := &p.status.Changes[len(p.status.Changes)-1-i]
		const stamp = 9
		for k, text := range wrap(changed(e), width-stamp, 3) {
			when := strings.Repeat(" ", stamp)
			if k == 0 {
				when = at(e.At) + " "
			}
			lines = append(lines, say(quiet, when).and(plain, text))
		}
		if len(lines) >= height {
			break
		}
	}
	if len(lines) == 1 {
		lines = append(lines, say(quiet, "nothing yet"))
	}
	return lines
}

// help describes the keys.
func (p *picture) help() (lines []line) {
	stop := []string{
		"q, Ctrl+C   stop: sessions in flight finish, then a checkpoint is taken", "            again: stop immediately; canceled sessions run again on resume",
	}
	if !p.own {
		stop = []string{"q, Ctrl+C   leave the dashboard; the run continues", "S           stop the run after sessions in flight; again: immediately"}
	}
	for _, text := range slices.Concat([]string{
		"", "+ −         set the limit 10% higher or lower; it then stays as set", "a           let the governor set the limit again", "p           pause or continue", "c           take a checkpoint now",
	}, stop, []string{
		"Tab, 1 to 4 " + strings.Join(viewNames[:numViews], ", "), "Ctrl+Z      suspend the program and its run; fg continues", "Ctrl+L      redraw", "?           show or hide this help", "",
		"The run's journal records each order and its sender.",
		"✓ healthy   ▲ warning   ✖ critical: throngctl guide dashboard explains each figure.",
	}) {
		lines = append(lines, say(plain, text))
	}
	return lines
}
