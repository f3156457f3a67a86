package app

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/cmd/internal/app/review"
	"github.com/throng-sim/throng/engine"
)

// Differences says in words what a fork has otherwise than its parent, such as "seed 1 → 2"; nothing for any other launch.
func (l *Launch) Differences() []string {
	if l.Fork == nil {
		return nil
	}
	p := l.Fork
	return review.Differences(review.Inputs{Source: &p.Scenario.Source, Settings: &p.Record.Settings}, review.Inputs{Source: &l.Scenario.Source, Settings: &l.Settings})
}

// Warnings says what a fork cannot bring back, or leaves behind.
func (l *Launch) Warnings() (all []string) {
	if l.Fork == nil {
		return nil
	}
	p := l.Fork
	if of := p.Record.Settings.Replay; of != "" && l.Settings.Replay == "" {
		all = append(all, fmt.Sprintf("run %s was answered from the recording of %s: the fork asks the services itself, models too, and pays for it", p.Record.ID, of))
	}
	if outside := p.outside(); len(outside) > 0 && p.Record.Done > 0 {
		all = append(all, fmt.Sprintf("what run %s did at %s cannot be taken back: the fork finds it as it is now", p.asked(), strings.Join(outside, ", ")))
	}
	if before := (&Launch{Scenario: p.Scenario, Settings: p.Record.Settings}); l.Services().mocksShop() && l.first() > 0 {
		_, err := os.Stat(config.ShopLog(l.Services().shopFolder(), p.asked()))
		switch {
		case !before.Services().mocksShop():
			all = append(all, "the parent's shop was not the mock: that of the fork begins empty")
		case errors.Is(err, fs.ErrNotExist):
			all = append(all, fmt.Sprintf("the mock of run %s kept no log: the shop of the fork begins empty", p.asked()))
		}
	}
	if f, err := l.takeover(); err == nil { // else the launch says what is wrong
		if gone := p.Scenario.Agents - len(f.Moved); f.Moved != nil && gone > 0 {
			all = append(all, fmt.Sprintf("%s of the parent are not there any more: what they remembered is left behind", howMany(gone, "agent", "agents")))
		}
		if more := l.Scenario.Agents - p.Scenario.Agents; more > 0 {
			all = append(all, fmt.Sprintf("%s more than the parent had: they begin without memory", howMany(more, "agent", "agents")))
		}
		if f.Unanswered {
			all = append(all, "a model is asked at another address: answers that the parent kept are asked for again")
		}
	}
	return all
}

func howMany(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return engine.FormatCount(int64(n)) + " " + many
}

// outside are the services at which the parent changed something that is not the mock's.
func (p *Parent) outside() (names []string) {
	before := Launch{Scenario: p.Scenario, Settings: p.Record.Settings}
	for _, step := range p.Scenario.Chain.Asking() {
		if step.Writes && !before.Services().mocks(step.Service) && !slices.Contains(names, step.Service.Name) {
			names = append(names, step.Service.Name)
		}
	}
	return names
}
