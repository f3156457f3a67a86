package setup

import (
	"fmt"
	"strings"

	"github.com/throng-sim/throng/engine"
)

// summarize shows on each closed panel of the form what it holds.
func (s *Screen) summarize(o Order) {
	set := &o.Settings
	s.parameters.more.SetSummary(s.parameters.others())
	s.concurrency.panel.SetSummary(concurrencySummary(set))
	s.workers.Panel.SetSummary(s.workers.Summary())
	s.length.panel.SetSummary(s.length.summary(o))
	s.budget.panel.SetSummary(budgetSummary(set.Budget))
	s.agentsPanel.panel.SetSummary(agentsSummary(set, s.taking(), s.scenario))
	s.services.panel.SetSummary(s.services.summary())
	s.remote.panel.SetSummary(s.remote.summary())
	s.chain.panel.SetSummary("what each agent does in a session")
}

// others names the parameters below the essential ones, with the values that differ from their defaults.
func (p *parameters) others() string {
	var all []string
	for i, f := range p.fields {
		if i < essential {
			continue
		}
		if text := f.text(); f.differs(text) && f.Kind != Text {
			all = append(all, f.Title+": "+text)
		} else {
			all = append(all, f.Title)
		}
	}
	return strings.Join(all, ", ")
}

func concurrencySummary(set *engine.Settings) string {
	if !set.Governed() {
		return fmt.Sprintf("manual, %s at a time", engine.FormatCount(int64(set.Limit)))
	}
	return fmt.Sprintf("automatic, %s to %s at a time", engine.FormatCount(int64(set.Floor)), engine.FormatCount(int64(set.Ceiling)))
}

func (l *length) summary(o Order) string {
	parts := []string{"as fast as possible"}
	if l.arrivals != "" {
		parts[0] = "arrivals: " + l.arrivals
	}
	if o.Settings.TimeScale > 0 {
		parts[0] = fmt.Sprintf("%s times as fast as real time", decimal(o.Settings.TimeScale))
	}
	parts = append(parts, fmt.Sprintf("seed %d", o.Settings.Seed))
	if l.latency.Visible() && l.profile.Selected != "" {
		name, _, _ := strings.Cut(l.profile.Selected, ",")
		parts = append(parts, "mock latency "+name)
	}
	if !o.At.IsZero() {
		parts = append(parts, "starts at "+o.At.Local().Format("15:04"))
	}
	return strings.Join(parts, ", ")
}

func budgetSummary(b engine.Budget) string {
	var parts []string
	if b.Dollars > 0 {
		parts = append(parts, "$"+decimal(b.Dollars))
	}
	if b.Tokens > 0 {
		parts = append(parts, engine.FormatCount(b.Tokens)+" tokens")
	}
	if b.Requests > 0 {
		parts = append(parts, engine.FormatCount(b.Requests)+" requests")
	}
	if b.Wall > 0 {
		parts = append(parts, engine.FormatDuration(b.Wall))
	}
	if len(parts) == 0 {
		return "unlimited"
	}
	return "at most " + strings.Join(parts, ", ")
}

func agentsSummary(set *engine.Settings, taking int, sc *Scenario) string {
	if len(set.Agents) == 0 && set.Filter == "" {
		return "all " + heads(sc.Agents, sc.noun())
	}
	return engine.FormatCount(int64(taking)) + " of " + heads(sc.Agents, sc.noun())
}

func (v *services) summary() string {
	var all []string
	for _, a := range v.fields {
		all = append(all, a.service.Name+" at "+a.url())
	}
	return strings.Join(all, ", ")
}

func (r *remote) summary() string {
	if r.send.Visible() && r.send.Checked {
		return "on this machine and in Postgres"
	}
	return "on this machine"
}
