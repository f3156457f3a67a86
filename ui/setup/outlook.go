package setup

import (
	"context"
	"maps"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/async"
)

// prospect asks what is to be known before a launch: which secrets are missing, and what is to be written.
type prospect struct {
	screen  *Screen
	known   *Outlook // nil while it is asked for
	of      looking
	asked   int // answers of all questions but the last are dropped
	cancel  context.CancelFunc
	timer   *time.Timer // until the next question; nil without
	failure string      // why it is not known
}

// looking is what an outlook depends on.
type looking struct {
	scenario *Scenario
	services map[string]string
	seed     uint64
	settings engine.Settings // all of them
}

func newProspect(s *Screen) *prospect { return &prospect{screen: s, cancel: func() {}} }

// follow asks again where the answer may be another one: at once for another scenario, else when nothing was typed for a
// moment.
func (p *prospect) follow(o Order) {
	now := looking{p.screen.scenario, o.Settings.Services, o.Settings.Seed, o.Settings}
	if now.scenario == p.of.scenario && now.seed == p.of.seed && maps.Equal(now.services, p.of.services) && sameOrder(now.scenario, &now.settings, &p.of.settings) {
		return
	}
	another := now.scenario != p.of.scenario
	p.of, p.known = now, nil
	p.ask(o, another)
}

// again asks anew: something was done about what is missing.
func (p *prospect) again() {
	if p.screen.scenario == nil {
		return
	}
	o, _, _ := p.screen.order()
	p.ask(o, true)
}

func (p *prospect) ask(o Order, now bool) {
	p.asked++
	p.cancel()
	if p.timer != nil {
		p.timer.Stop()
		p.timer = nil
	}
	this := p.asked
	look := func() {
		if this != p.asked {
			return
		}
		ctx, cancel := context.WithCancel(context.Background())
		p.cancel = cancel
		async.Work(func() (Outlook, error) { return p.screen.desk.Outlook(ctx, o) }, func(found Outlook, err error) {
			cancel()
			if this == p.asked && p.screen.scenario == p.of.scenario {
				p.answer(found, err)
			}
		})
	}
	if now {
		look()
		return
	}
	p.timer = time.AfterFunc(pause, func() { async.Do(look) })
}

// answer shows what was found, each beside the place where something can be done about it.
func (p *prospect) answer(found Outlook, err error) {
	p.known, p.failure = &found, ""
	if err != nil {
		p.failure = "It is not known what a launch would need: " + err.Error()
	}
	p.screen.services.miss(found.Missing)
	high := p.screen.head.panel.MinSize().Height
	if err == nil {
		p.screen.head.differ(p.screen.scenario, found)
	} else {
		p.screen.head.forget()
	}
	p.screen.stay(p.screen.head.panel, high)
	p.screen.people.draft(found.Writing, p.failure)
	p.screen.follow()
}

// unwritten says in the summary that personas are to be written first.
func (p *prospect) unwritten() string {
	if p.known == nil || p.known.Unwritten == 0 {
		return ""
	}
	return ", " + count(p.known.Unwritten, "persona") + " written first"
}

// missing are the secrets that a launch would ask for in vain.
func (p *prospect) missing() []Missing {
	if p.known == nil {
		return nil
	}
	return p.known.Missing
}
