package show

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/cmd/internal/consent"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain"
	"github.com/throng-sim/throng/engine/chain/odds"
	"github.com/throng-sim/throng/engine/scenario"
	"github.com/throng-sim/throng/engine/view"
)

// printService prints the address of a service, whether a run may call it, and the secrets it needs.
func printService(w io.Writer, o app.PlannedService) {
	var notes []string
	switch {
	case o.Embedded:
		notes = append(notes, "mock, in this process")
	case o.Hidden:
		notes = append(notes, "unknown: a secret is missing")
	case len(o.Unallowed) > 0:
		var flags []string
		for _, d := range o.Unallowed {
			flags = append(flags, "--allow "+consent.Name(d))
		}
		notes = append(notes, "not allowed yet: needs "+strings.Join(flags, " "))
	case len(o.Away) > 0:
		notes = append(notes, "another host, allowed")
	default:
		notes = append(notes, "on this machine")
	}
	if o.Replaced {
		notes = append(notes, "instead of "+o.URL)
	}
	switch {
	case o.Unnamed:
		notes = append(notes, "uses the model the server has")
	case o.Kind == "llm" && !slices.Equal(o.Models, o.Named):
		notes = append(notes, "asked for "+strings.Join(o.Models, ", "))
	}
	Row(w, "service %s\t%s\t%s\t%s\n", o.Name, o.Kind, o.Address, strings.Join(notes, ", "))
	for _, secret := range o.Secrets {
		found := "found in " + secret.Place
		if secret.Err != nil {
			found = secret.Err.Error()
		}
		Row(w, "secret %s\tof %s\t%s\n", secret.Name, o.Name, found)
	}
}

// printExpected prints how many requests a session and a cycle are expected to make.
func printExpected(w io.Writer, s *scenario.Scenario) {
	all := s.Chain.Expect()
	if len(all) == 0 {
		return
	}
	Row(w, "\nrequests to\ta session\ta cycle of %s\n", Counted(s.Agents, "agent"))
	for _, r := range all {
		Row(w, "%s\t%s\t%s\n", r.Service.Name, strings.Join(append(span(r, 1), loops(r)...), ", and "), cycle(r, s.Agents))
		if r.Service.Login != nil {
			Row(w, "%s\tone more to log in\tonce per agent, and when a token has expired\n", r.Service.Name)
		}
	}
}

// cycle returns the expected requests of a cycle.
func cycle(r chain.Requests, agents int) string {
	parts := span(r, int64(agents))
	if len(r.Loops) > 0 || r.More {
		parts = append(parts, "those of loops")
	}
	return strings.Join(parts, ", and ")
}

// span returns the expected requests of some sessions, without those in loops of unknown length.
func span(r chain.Requests, sessions int64) []string {
	least, most := engine.FormatCount(r.Least*sessions), engine.FormatCount(r.Most*sessions)
	switch {
	case r.Most >= odds.Endless:
		return []string{least + " or more"}
	case r.Least != r.Most && !math.IsNaN(r.Mean):
		return []string{fmt.Sprintf("%s to %s, %s on average", least, most, strconv.FormatFloat(r.Mean*float64(sessions), 'f', -1, 64))}
	case r.Least != r.Most:
		return []string{least + " to " + most}
	case r.Most == 0 && (len(r.Loops) > 0 || r.More):
		return nil
	}
	return []string{most}
}

// loops returns the requests per pass of each loop.
func loops(r chain.Requests) []string {
	var parts []string
	for _, l := range r.Loops {
		each := engine.FormatCount(l.Least)
		if l.Least != l.Most {
			each += " to " + engine.FormatCount(l.Most)
		}
		parts = append(parts, each+" per "+l.As+" of "+l.Path)
	}
	if r.More {
		parts = append(parts, "those of further loops")
	}
	return parts
}

// Forecast prints the forecast of a run, its basis, and advice.
func Forecast(w io.Writer, f *engine.Forecast, set *engine.Settings) {
	governor := set.Governor
	if !set.Governed() {
		governor = engine.Manual
	}
	Row(w, "\nforecast\tlimit %s at first, governor %s\n", engine.FormatCount(int64(set.Limit)), governor)
	for _, line := range view.ForecastLines(f) {
		text := line.Text
		if line.Name == "cycle" && f.Binds != "" {
			text += "; limited by " + f.Binds
		}
		Row(w, "%s\t%s\n", line.Name, text)
	}
	Row(w, "based on\t%s\n", view.ForecastBasis(f))
	for _, advice := range f.Advice {
		Row(w, "note\t%s\n", advice)
	}
}

// ForecastLine returns the forecast printed at the start of a run.
func ForecastLine(f *engine.Forecast) string {
	return strings.Join(append([]string{"forecast: " + view.ForecastSummary(f) + " (" + view.ForecastBasis(f) + ")"}, f.Advice...), "\nnote: ")
}

// printPlan prints a line for each step and, for parallel steps, what each waits for.
func printPlan(w io.Writer, p chain.Plan, indent string) {
	for _, steps := range p.Segments {
		for _, step := range steps {
			var notes []string
			if step.Label != step.Name {
				notes = append(notes, step.Label)
			}
			if len(step.After) > 0 {
				notes = append(notes, "after "+strings.Join(step.After, ", "))
			} else if len(steps) > 1 {
				notes = append(notes, "starts immediately")
			}
			Row(w, "%s%s\t%s\t%s\n", indent, step.Name, step.Kind, strings.Join(notes, "; "))
			for _, inner := range step.Inner {
				printPlan(w, inner, indent+"  ")
			}
		}
	}
}

// printChain prints the steps of a chain and, if some are parallel, the longest path.
func printChain(w io.Writer, c *chain.Chain) {
	plan := c.Plan()
	fmt.Fprintf(w, "\nchain %s\n", c.Name)
	printPlan(w, plan, "  ")
	if slices.ContainsFunc(plan.Segments, func(steps []chain.Planned) bool { return len(steps) > 1 }) {
		Row(w, "longest path\t%d steps\t%s\n", len(plan.Longest), strings.Join(plan.Longest, ", "))
	}
}

// short cuts a text to the width of a table cell.
func short(text string) string {
	const most = 60
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}

// printPopulation prints how the agents were drawn from a file, with the drawn shares and their targets.
func printPopulation(out io.Writer, p *view.Population) {
	if p == nil {
		return
	}
	Row(out, "population\t%s\n", p.Summary)
	for _, note := range p.Notes {
		Row(out, "\t%s\n", note)
	}
	for _, share := range p.Shares.Rows {
		Row(out, "share %s\tdrawn %s, target %s %s, in the file %s", share[0], share[3], share[2], share[4], share[1])
		if remark := share[5]; remark != "" {
			Row(out, "; %s", remark)
		}
		Row(out, "\n")
	}
}

// Scenario prints the agents, clock, parameters, services, chains and expected requests of a scenario. by describes the
// model that writes the agents, or is "".
func Scenario(out io.Writer, s *scenario.Scenario, by string, services []app.PlannedService) {
	Row(out, "\nagents\t%s%s\n", engine.FormatCount(int64(s.Agents)), by)
	printPopulation(out, s.Population())
	Row(out, "clock\tfrom %s, %s a cycle, %s\n", s.Clock.Start.Format("2006-01-02 15:04"), engine.FormatDuration(s.Clock.Cycle), engine.Counted(int64(max(s.Cycles, 1)), "cycle", "cycles"))
	if plan := s.Clock.Arrivals; plan != nil {
		Row(out, "arrivals\t%s\n", plan)
	}
	for _, p := range s.Parameters {
		Row(out, "parameter %s\t%s\t%s\n", p.Name, short(p.Value.String()), p.Title)
	}
	for _, o := range services {
		printService(out, o)
	}
	printChain(out, s.Chain)
	for _, sub := range s.Chain.Runs() {
		printChain(out, sub)
	}
	printExpected(out, s)
}
