package setup

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// notCounted is how many take part before that is known.
const notCounted = -1

// who says which agents take part, as it was typed. The zero value is all.
type who struct {
	Agents string `json:",omitempty"`
	Filter string `json:",omitempty"`
}

// people is who takes part, and how many these are.
type people struct {
	screen         *Screen
	panel          *widgets.Panel
	agents, filter *form.Entry
	rows           form.Form // of both: the mistakes that are found in counting
	words          *form.Note
	writing        *form.Note // who writes them
	taking         int        // how many take part
	of             asking
	asked          int                // answers of all questions but the last are dropped
	cancel         context.CancelFunc // of the last
	timer          *time.Timer        // until the next; nil without
}

// asking is what the number of those that take part depends on.
type asking struct {
	scenario *Scenario
	who      who
	seed     uint64
}

func newPeople(s *Screen) *people {
	p := &people{screen: s, agents: form.NewEntry(), filter: form.NewEntry(), words: form.NewNote(""), writing: form.NewNote(""), taking: notCounted, cancel: func() {}}
	p.agents.SetPlaceHolder("all")
	p.filter.SetPlaceHolder("agent.index < 10")
	agents, filter := form.NewRow("Agents", p.agents), form.NewRow("Filter", p.filter)
	agents.SetHelp("ids with spaces between them; none is all")
	filter.SetHelp("an expression over agent: only those for whom it is true take part")
	s.watch(s.settings.Add(p.rows.Add(agents, "agents"), "agents"), p.agents)
	s.watch(s.settings.Add(p.rows.Add(filter, "filter"), "filter"), p.filter)
	p.panel = widgets.NewPanel("Who takes part", form.NewStack(form.NewColumns(16, agents, filter), p.words, p.writing))
	p.writing.Hide()
	return p
}

// typed is what is in the fields.
func (p *people) typed() who {
	return who{strings.TrimSpace(p.agents.Text), strings.TrimSpace(p.filter.Text)}
}

func (p *people) fill(kept who, another bool) {
	if another {
		p.agents.SetText(kept.Agents)
		p.filter.SetText(kept.Filter)
	}
}

func (p *people) into(set *engine.Settings) {
	typed := p.typed()
	set.Agents, set.Filter = nil, typed.Filter
	if ids := strings.FieldsFunc(typed.Agents, func(r rune) bool { return r == ' ' || r == ',' || r == '\t' || r == '\n' }); len(ids) > 0 {
		set.Agents = ids
	}
}

// follow counts those that take part again where that may be another number: at once for another scenario, else when
// nothing was typed for a moment.
func (p *people) follow(o Order) {
	now := asking{p.screen.scenario, p.typed(), o.Settings.Seed}
	if now == p.of {
		return
	}
	another := now.scenario != p.of.scenario
	p.of, p.taking = now, notCounted
	p.asked++
	p.cancel()
	p.stop()
	p.words.SetText("Counting who takes part…")
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

func (p *people) stop() {
	if p.timer != nil {
		p.timer.Stop()
		p.timer = nil
	}
}

// count asks how many take part.
func (p *people) count(o Order) {
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

// wanted reports whether a question is the last one, and its scenario still there: another may have mistakes.
func (p *people) wanted(question int) bool {
	return question == p.asked && p.screen.scenario == p.of.scenario
}

// answer shows how many take part, or beside the fields why nobody can be counted. What a launch gave stays as it is.
func (p *people) answer(n int, err error) {
	s := p.screen
	rest := p.rows.Tell(err)
	switch {
	case rest != nil:
		p.words.SetProblem("It cannot be counted who takes part: " + rest.Error())
	case err != nil:
		p.words.SetText("")
	default:
		p.taking = n
		p.words.Say(takesPart(n, s.scenario.Agents, s.scenario.noun()))
		if s.who[s.shown] != p.of.who {
			s.who[s.shown] = p.of.who
			remember(s.shown, s.kept[s.shown], p.of.who)
		}
	}
	s.follow()
}

// draft says what a model has still to write, or why that is not known.
func (p *people) draft(text, problem string) {
	say(p.writing, text)
	if problem != "" {
		p.writing.SetProblem(problem)
		p.writing.Show()
	}
	p.panel.Refresh()
}

// takesPart says how many take part.
func takesPart(n, of int, noun string) string {
	switch {
	case n == of && of == 1:
		return "takes part: " + heads(of, noun)
	case n == of:
		return "takes part: all " + heads(of, noun)
	}
	return fmt.Sprintf("takes part: %s of %s", engine.FormatCount(int64(n)), heads(of, noun))
}
