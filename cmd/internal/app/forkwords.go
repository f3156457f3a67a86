package app

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/scenario"
)

// Differences says in words what a fork has otherwise than its parent, such as "seed 1 → 2"; nothing for any other launch.
func (l *Launch) Differences() []string {
	if l.Fork == nil {
		return nil
	}
	p := l.Fork
	return differences(made{&p.Scenario.Source, &p.Record.Settings}, made{&l.Scenario.Source, &l.Settings})
}

// made is what a run is made from.
type made struct {
	source   *engine.Source
	settings *engine.Settings
}

// differences says in words what one run has otherwise than another.
func differences(a, b made) []string {
	all := slices.Concat(filesDiffer(a.source, b.source), parametersDiffer(a.source.Parameters, b.source.Parameters))
	was, now := a.settings, b.settings
	add := func(what, before, after string) {
		if before != after {
			all = append(all, fmt.Sprintf("%s %s → %s", what, before, after))
		}
	}
	for _, s := range RunSettings() {
		add(s.Name, s.Show(was), s.Show(now))
	}
	add("agents", cmp.Or(strings.Join(was.Agents, ", "), "all"), cmp.Or(strings.Join(now.Agents, ", "), "all"))
	add("filter", cmp.Or(was.Filter, "none"), cmp.Or(now.Filter, "none"))
	add("mock", played(was.Mock), played(now.Mock))
	add("faults", inWords(was.Mock.Faults), inWords(now.Mock.Faults))
	add("scarcity", fmt.Sprint(was.Mock.Scarcity), fmt.Sprint(now.Mock.Scarcity))
	for _, name := range slices.Sorted(maps.Keys(union(was.Services, now.Services))) {
		if was.Services[name] != now.Services[name] { // an address may hold a secret
			all = append(all, "another address of service "+name)
		}
	}
	return all
}

// filesDiffer lists the files that changed, by their names.
func filesDiffer(was, now *engine.Source) (all []string) {
	if was.Name != now.Name {
		all = append(all, fmt.Sprintf("file %s → %s", was.Name, now.Name))
	}
	for _, name := range slices.Sorted(maps.Keys(union(was.Files, now.Files))) {
		before, had := was.Files[name]
		after, has := now.Files[name]
		switch {
		case name == scenario.PersonasName || name == engine.MockedSteps || name == was.Name && was.Name != now.Name || name == now.Name && was.Name != now.Name:
		case !had:
			all = append(all, "file "+shownFile(name)+" is new")
		case !has:
			all = append(all, "file "+shownFile(name)+" is not used")
		case string(before) != string(after):
			all = append(all, "file "+shownFile(name)+" changed")
		}
	}
	return all
}

// shownFile is what people call a file of a source.
func shownFile(name string) string { return strings.TrimPrefix(name, engine.OwnFiles) }

func parametersDiffer(before, after map[string]string) (all []string) {
	for _, name := range slices.Sorted(maps.Keys(union(before, after))) {
		a, had := before[name]
		b, has := after[name]
		switch {
		case !had:
			all = append(all, fmt.Sprintf("parameter %s is new: %s", name, b))
		case !has:
			all = append(all, fmt.Sprintf("parameter %s is gone, it was %s", name, a))
		case a != b:
			all = append(all, fmt.Sprintf("parameter %s %s → %s", name, a, b))
		}
	}
	return all
}

func union[V any](a, b map[string]V) map[string]V {
	all := maps.Clone(a)
	if all == nil {
		all = map[string]V{}
	}
	maps.Copy(all, b)
	return all
}

func inWords(faults map[string]string) string {
	var all []string
	for _, kind := range slices.Sorted(maps.Keys(faults)) {
		all = append(all, kind+" "+faults[kind])
	}
	return cmp.Or(strings.Join(all, ", "), "none")
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
	if before := (&Launch{Scenario: p.Scenario, Settings: p.Record.Settings}); l.mocksShop() && l.first() > 0 {
		_, err := os.Stat(ShopLog(l.shopFolder(), p.asked()))
		switch {
		case !before.mocksShop():
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
		if step.Writes && !before.mocks(step.Service) && !slices.Contains(names, step.Service.Name) {
			names = append(names, step.Service.Name)
		}
	}
	return names
}
