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
)

// Differences describes what a fork changes, for example "seed 1 → 2"; nil for any other launch.
func (l *Launch) Differences() []string {
	if l.Fork == nil {
		return nil
	}
	p := l.Fork
	return review.Differences(review.Inputs{Source: &p.Scenario.Source, Settings: &p.Record.Settings}, review.Inputs{Source: &l.Scenario.Source, Settings: &l.Settings})
}

// Warnings describes what a fork cannot restore or leaves behind; nil for any other launch.
func (l *Launch) Warnings() (all []string) {
	if l.Fork == nil {
		return nil
	}
	p := l.Fork
	if of := p.Record.Settings.Replay; of != "" && l.Settings.Replay == "" {
		all = append(all, fmt.Sprintf("run %s replayed the recording of %s. The fork sends real requests, and pays for model calls", p.Record.ID, of))
	}
	if outside := p.outside(); len(outside) > 0 && p.Record.Done > 0 {
		all = append(all, fmt.Sprintf("changes that run %s made at %s remain: the fork starts with their current state", p.live(), strings.Join(outside, ", ")))
	}
	if before := p.services(); l.mocksShop() && l.first() > 0 {
		_, err := os.Stat(config.ShopLog(l.shopFolder(), p.live()))
		switch {
		case !before.mocksShop():
			all = append(all, "the parent did not use the mock shop: the fork's shop begins empty")
		case errors.Is(err, fs.ErrNotExist):
			all = append(all, fmt.Sprintf("the mock shop of run %s has no log: the fork's shop begins empty", p.live()))
		}
	}
	if f, err := l.inheritance(); err == nil { // else the launch reports the error
		if gone := p.Scenario.Agents - len(f.Moved); f.Moved != nil && gone > 0 {
			all = append(all, fmt.Sprintf("%s of the parent no longer exist: their memory is dropped", plural(int64(gone), "agent", "agents")))
		}
		if more := l.Scenario.Agents - p.Scenario.Agents; more > 0 {
			all = append(all, fmt.Sprintf("%s more than in the parent: they begin without memory", plural(int64(more), "agent", "agents")))
		}
		if f.Unanswered {
			all = append(all, "a model has another address: the fork requests the parent's shared answers again")
		}
	}
	return all
}

// outside returns the services outside of the mocks at which the parent may have changed something.
func (p *Parent) outside() (names []string) {
	before := p.services()
	for _, step := range p.Scenario.Chain.Asking() {
		if step.Writes && !before.mocks(step.Service) && !slices.Contains(names, step.Service.Name) {
			names = append(names, step.Service.Name)
		}
	}
	return names
}
