package setup

import (
	"context"
	"maps"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/async"
)

// requirements finds out what is missing for a launch: secrets, and personas that a model must write.
type requirements struct {
	screen  *Screen
	known   *Requirements // nil while a request is in progress
	of      requirementsInput
	asked   int // number of the newest request; results of older ones are dropped
	cancel  context.CancelFunc
	timer   *time.Timer // until the next request; nil if none is scheduled
	failure string      // why the requirements are unknown
}

// requirementsInput is what the requirements depend on.
type requirementsInput struct {
	scenario *Scenario
	services map[string]string
	seed     uint64
	settings engine.Settings // all settings
}

func newRequirements(s *Screen) *requirements { return &requirements{screen: s, cancel: func() {}} }

// follow requests the requirements if their input has changed: immediately for another scenario, otherwise after a pause in typing.
func (p *requirements) follow(o Order) {
	now := requirementsInput{p.screen.scenario, o.Settings.Services, o.Settings.Seed, o.Settings}
	if now.scenario == p.of.scenario && now.seed == p.of.seed && maps.Equal(now.services, p.of.services) && sameOrder(now.scenario, &now.settings, &p.of.settings) {
		return
	}
	another := now.scenario != p.of.scenario
	p.of, p.known = now, nil
	p.ask(o, another)
}

// again requests the requirements again, for example after a secret was entered.
func (p *requirements) again() {
	if p.screen.scenario == nil {
		return
	}
	o, _, _ := p.screen.order()
	p.ask(o, true)
}

func (p *requirements) ask(o Order, now bool) {
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
		async.Work(func() (Requirements, error) { return p.screen.desk.Requirements(ctx, o) }, func(found Requirements, err error) {
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

// answer shows each requirement next to the field that solves it.
func (p *requirements) answer(found Requirements, err error) {
	p.known, p.failure = &found, ""
	if err != nil {
		p.failure = "Cannot check what the launch needs: " + err.Error()
	}
	p.screen.services.secrets(&found)
	if err == nil { // else the answer to the question stays
		p.screen.workers.SetSecrets(found.secrets())
	}
	high := p.screen.head.panel.MinSize().Height
	if err == nil {
		p.screen.head.differ(p.screen.scenario, found)
	} else {
		p.screen.head.forget()
	}
	p.screen.stay(p.screen.head.panel, high)
	p.screen.agentsPanel.draft(found.Writing, p.failure)
	p.screen.follow()
}

// unwritten returns a part of the summary on the personas to write first.
func (p *requirements) unwritten() string {
	if p.known == nil || p.known.Unwritten == 0 {
		return ""
	}
	return ", " + count(p.known.Unwritten, "persona") + " to write first"
}

// missing returns the missing secrets.
func (p *requirements) missing() []Missing {
	if p.known == nil {
		return nil
	}
	return p.known.Missing
}
