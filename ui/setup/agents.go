package setup

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/internal/drawn"
	"github.com/throng-sim/throng/ui/internal/form"
)

// notCounted is the number of active agents before it is known.
const notCounted = -1

// selection says which agents are active, as typed. The zero value is all of them.
type selection struct {
	Agents string `json:",omitempty"`
	Filter string `json:",omitempty"`
}

// agentsPanel chooses the active agents and shows their number.
type agentsPanel struct {
	screen         *Screen
	panel          *form.Fold
	agents, filter *form.Entry
	rows           form.Form // of both fields: for errors found while counting
	words          *form.Note
	writing        *form.Note        // the model that writes their personas
	drawn          *drawn.Population // how they were drawn from a file
	taking         int               // the number of active agents
	of             countInput
	asked          int                // number of the newest request; results of older ones are dropped
	cancel         context.CancelFunc // cancels the newest request
	timer          *time.Timer        // until the next request; nil if none is scheduled
}

// countInput is what the number of active agents depends on.
type countInput struct {
	scenario  *Scenario
	selection selection
	seed      uint64
}

func newAgentsPanel(s *Screen) *agentsPanel {
	p := &agentsPanel{screen: s, agents: form.NewEntry(), filter: form.NewEntry(), words: form.NewNote(""), writing: form.NewNote(""), drawn: drawn.NewPopulation(), taking: notCounted, cancel: func() {}}
	p.agents.SetPlaceHolder("all")
	p.filter.SetPlaceHolder("agent.index < 10")
	agents, filter := form.NewRow("Agents", p.agents), form.NewRow("Filter", p.filter)
	agents.SetHelp("IDs, separated by spaces; empty: all")
	filter.SetHelp("an expression over agent; only matching agents are active")
	s.watch(s.settings.Add(p.rows.Add(agents, "agents"), "agents"), p.agents)
	s.watch(s.settings.Add(p.rows.Add(filter, "filter"), "filter"), p.filter)
	p.panel = form.NewFold("Active agents", form.NewStack(form.NewColumns(16, agents, filter), p.words, p.writing, p.drawn.Content))
	p.writing.Hide()
	return p
}

// typed returns what the fields contain.
func (p *agentsPanel) typed() selection {
	return selection{strings.TrimSpace(p.agents.Text), strings.TrimSpace(p.filter.Text)}
}

func (p *agentsPanel) fill(kept selection, another bool) {
	if another {
		p.agents.SetText(kept.Agents)
		p.filter.SetText(kept.Filter)
	}
}

func (p *agentsPanel) into(set *engine.Settings) {
	typed := p.typed()
	set.Agents, set.Filter = nil, typed.Filter
	if ids := strings.FieldsFunc(typed.Agents, func(r rune) bool { return r == ' ' || r == ',' || r == '\t' || r == '\n' }); len(ids) > 0 {
		set.Agents = ids
	}
}

// follow counts the active agents if the input has changed: immediately for another scenario, otherwise after a pause in typing.
func (p *agentsPanel) follow(o Order) {
	now := countInput{p.screen.scenario, p.typed(), o.Settings.Seed}
	if now == p.of {
		return
	}
	another := now.scenario != p.of.scenario
	p.of, p.taking = now, notCounted
	if another && now.scenario != nil {
		p.drawn.Show(now.scenario.Population)
		p.panel.Refresh()
	}
	p.asked++
	p.cancel()
	p.stop()
	p.words.SetText("Counting agents…")
	if another {
		p.count(o)
		return
	}
	this := p.asked
	p.timer = time.AfterFunc(pause, func() {
		async.Do(func() {
			if p.wanted(this) {
				p.count(o)
			}
		})
	})
}

func (p *agentsPanel) stop() {
	if p.timer != nil {
		p.timer.Stop()
		p.timer = nil
	}
}

// count requests the number of active agents.
func (p *agentsPanel) count(o Order) {
	p.stop()
	this := p.asked
	ctx, cancel := context.WithCancel(context.Background())
	p.cancel = cancel
	async.Work(func() (int, error) { return p.screen.desk.Choose(ctx, o) }, func(n int, err error) {
		cancel()
		if p.wanted(this) {
			p.answer(n, err)
		}
	})
}

// wanted reports whether a result is of the newest request and of the shown scenario.
func (p *agentsPanel) wanted(question int) bool {
	return question == p.asked && p.screen.scenario == p.of.scenario
}

// answer shows the number of active agents, or the errors at the fields. It does not clear the message about the last launch.
func (p *agentsPanel) answer(n int, err error) {
	s := p.screen
	rest := p.rows.Tell(err)
	switch {
	case rest != nil:
		p.words.SetProblem("Cannot count the active agents: " + rest.Error())
	case err != nil:
		p.words.SetText("")
	default:
		p.taking = n
		p.words.Say(activeText(n, s.scenario.Agents, s.scenario.noun()))
		if s.chosen[s.shown] != p.of.selection {
			s.chosen[s.shown] = p.of.selection
			s.note(s.kept[s.shown])
		}
	}
	s.follow()
}

// draft shows what a model will write, or why that is unknown.
func (p *agentsPanel) draft(text, problem string) {
	say(p.writing, text)
	if problem != "" {
		p.writing.SetProblem(problem)
		p.writing.Show()
	}
	p.panel.Refresh()
}

// activeText describes how many agents are active.
func activeText(n, of int, noun string) string {
	switch {
	case n == of && of == 1:
		return "active: " + heads(of, noun)
	case n == of:
		return "active: all " + heads(of, noun)
	}
	return fmt.Sprintf("active: %s of %s", engine.FormatCount(int64(n)), heads(of, noun))
}
