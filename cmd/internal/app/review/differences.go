package review

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/scenario"
)

// Inputs are the inputs of a run.
type Inputs struct {
	Source   *engine.Source
	Settings *engine.Settings
}

// Differences describes how the inputs of run b differ from those of run a.
func Differences(a, b Inputs) []string {
	all := slices.Concat(filesDiffer(a.Source, b.Source), parametersDiffer(a.Source.Parameters, b.Source.Parameters))
	was, now := a.Settings, b.Settings
	add := func(what, before, after string) {
		if before != after {
			all = append(all, fmt.Sprintf("%s %s → %s", what, before, after))
		}
	}
	for _, s := range config.RunSettings() {
		add(s.Name, s.Show(was), s.Show(now))
	}
	add("agents", cmp.Or(strings.Join(was.Agents, ", "), "all"), cmp.Or(strings.Join(now.Agents, ", "), "all"))
	add("filter", cmp.Or(was.Filter, "none"), cmp.Or(now.Filter, "none"))
	add("mock", Played(was.Mock), Played(now.Mock))
	add("faults", faultText(was.Mock.Faults), faultText(now.Mock.Faults))
	add("scarcity", fmt.Sprint(was.Mock.Scarcity), fmt.Sprint(now.Mock.Scarcity))
	for _, name := range slices.Sorted(maps.Keys(union(was.Services, now.Services))) {
		if was.Services[name] != now.Services[name] { // an address may hold a secret
			all = append(all, "another address of service "+name)
		}
	}
	return all
}

// filesDiffer lists the changed files by name.
func filesDiffer(was, now *engine.Source) (all []string) {
	if was.Name != now.Name {
		all = append(all, fmt.Sprintf("file %s → %s", was.Name, now.Name))
	}
	for _, name := range slices.Sorted(maps.Keys(union(was.Files, now.Files))) {
		before, had := was.Files[name]
		after, has := now.Files[name]
		switch {
		case name == scenario.PersonasName || name == engine.MockedSteps || name == engine.DrawnReport || name == was.Name && was.Name != now.Name || name == now.Name && was.Name != now.Name:
		case !had:
			all = append(all, "file "+shownFile(name)+" is new")
		case !has:
			all = append(all, "file "+shownFile(name)+" is no longer used")
		case string(before) != string(after):
			all = append(all, "file "+shownFile(name)+" changed")
		}
	}
	return all
}

// shownFile returns the name of a file for the user.
func shownFile(name string) string { return strings.TrimPrefix(name, engine.OwnFiles) }

func parametersDiffer(before, after map[string]string) (all []string) {
	for _, name := range slices.Sorted(maps.Keys(union(before, after))) {
		a, had := before[name]
		b, has := after[name]
		switch {
		case !had:
			all = append(all, fmt.Sprintf("parameter %s is new: %s", name, b))
		case !has:
			all = append(all, fmt.Sprintf("parameter %s is removed: %s", name, a))
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

func faultText(faults map[string]string) string {
	var all []string
	for _, kind := range slices.Sorted(maps.Keys(faults)) {
		all = append(all, kind+" "+faults[kind])
	}
	return cmp.Or(strings.Join(all, ", "), "none")
}

// Played returns the profile of the mocks.
func Played(r engine.Mock) string {
	if r.Profile == "" {
		return "local"
	}
	return r.Profile
}
