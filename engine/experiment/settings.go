package experiment

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/scenario"
	"github.com/throng-sim/throng/engine/script/value"
	"github.com/throng-sim/throng/engine/suggest"
)

const (
	seedSetting   = "seed"
	cyclesSetting = "cycles"
	filterSetting = "filter"
)

// resultSettings are the settings that can change the results of a run. They are part of its identity. The other settings
// change its speed, its limits or what is kept; one of them is part of the identity only if the experiment varies it.
var resultSettings = []string{
	"warm-up", "warm-up-cycles", "sequential", cyclesSetting, "hours", "time-scale",
	"session-timeout", "chain-timeout", "cycle-timeout", "retries",
	"budget", "max-tokens", "max-requests", "max-time",
	"simulation-mode", "agents", filterSetting, "services", "mock-faults", "mock-scarcity", "replay-of",
}

// refusedSetting reports a setting that an experiment cannot set or vary.
func (r *reader) refusedSetting(n *doc.Node, name string, varied bool) bool {
	t := engine.FindSetting(name)
	switch {
	case name == seedSetting:
		n.Errorf("such as replicates: {seeds: [1, 2, 3]}", "the seeds of the runs stand in `replicates`")
	case name == engine.PresetSetting:
		n.Errorf("name the settings themselves", "a preset is a group of settings, which an experiment does not use")
	case varied && !t.Matters() && !t.Fixed:
		n.Errorf("set it in `settings` instead", "%s can change neither the results nor the speed of a run", name)
	default:
		return false
	}
	return true
}

// settings reads the settings of all runs.
func (r *reader) settings(n *doc.Node) {
	var names []string
	for i := range engine.SettingTable {
		if t := &engine.SettingTable[i]; t.HasText() && t.Name != seedSetting && t.Name != engine.PresetSetting {
			names = append(names, t.Name)
		}
	}
	for _, e := range n.Entries() {
		name := e.Key.Text()
		t := engine.FindSetting(name)
		if t == nil || !t.HasText() {
			hint := "throngctl run --help lists the settings"
			e.Key.Guess(suggest.NewGuess(name, names, hint)).Errorf("there is no setting %s", name)
			continue
		}
		if r.refusedSetting(e.Key, name, false) {
			continue
		}
		if f := r.e.Factor("settings." + name); f != nil {
			e.Key.Errorf("remove one of them", "%s is in `vary`, too", name)
		}
		if e.Value.Kind() != doc.Scalar {
			e.Value.Errorf("write a single value", "%s has no single value", name)
			continue
		}
		v, err := settingValue(name, e.Value.Text())
		if err != nil {
			reportField(e.Value, name, err)
			continue
		}
		r.e.Settings = append(r.e.Settings, engine.Assignment{Name: name, Value: v.Text})
	}
	slices.SortFunc(r.e.Settings, func(a, b engine.Assignment) int { return cmp.Compare(a.Name, b.Name) })
}

// Effective returns the settings of a run with these values of the factors. base are the settings before the scenario and
// the experiment. The seed of base is kept.
func (e *Experiment) Effective(base engine.Settings, values []Value) (engine.Settings, error) {
	s := base
	set := func(name, text string) error {
		if err := engine.FindSetting(name).Set(&s, text); err != nil {
			return fmt.Errorf("setting %s: %w", name, err)
		}
		return nil
	}
	for name, text := range e.Of.Settings() { // no two of them depend on each other
		if err := set(name, text); err != nil {
			return s, err
		}
	}
	for _, a := range e.Settings {
		if err := set(a.Name, a.Value); err != nil {
			return s, err
		}
	}
	for i, v := range values {
		switch f := &e.Factors[i]; f.Kind {
		case RunSetting:
			if err := set(f.Path[0], v.Text); err != nil {
				return s, err
			}
		case Filter:
			s.Filter = strings.TrimSpace(v.Text)
		case Parameter, Service:
		}
	}
	return s, nil
}

// results returns the settings that are part of a run's identity, by their key in JSON.
func (e *Experiment) results(s *engine.Settings) (map[string]json.RawMessage, error) {
	text, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	var all, kept map[string]json.RawMessage
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, err
	}
	kept = map[string]json.RawMessage{}
	keep := func(name string) {
		key := engine.FindSetting(name).Key()
		if v, ok := all[key]; ok {
			kept[key] = v
		}
	}
	for _, name := range resultSettings {
		keep(name)
	}
	for i := range e.Factors {
		if e.Factors[i].Kind == RunSetting {
			keep(e.Factors[i].Path[0])
		}
	}
	return kept, nil
}

// usual returns the value of a factor without the experiment; false if it is not known.
func (f *Factor) usual(e *Experiment) (Value, bool) {
	switch f.Kind {
	case Parameter:
		if p := parameter(e.Of, f.Path[0]); p != nil {
			text, err := value.Text(p.Value)
			return Value{text, e.Of.Source.Parameters[p.Name]}, err == nil
		}
	case RunSetting:
		if e.Of == nil {
			return Value{}, false
		}
		s, err := e.Effective(engine.DefaultSettings(), nil)
		if err != nil {
			return Value{}, false
		}
		v, err := shownSetting(engine.FindSetting(f.Path[0]), &s)
		return v, err == nil
	case Service:
		return writtenField(e.Of, f.Path)
	case Filter:
		return Value{"", `""`}, true
	}
	return Value{}, false
}

// writtenField returns what the scenario's file says about a field of a service; false if it has no single value.
func writtenField(s *scenario.Scenario, path []string) (Value, bool) {
	if s == nil {
		return Value{}, false
	}
	n := doc.Parse(s.Source.Name, s.Source.Files[s.Source.Name], &doc.Report{}).Get("services")
	for _, key := range path {
		n = n.Get(key)
	}
	if n.Kind() != doc.Scalar {
		return Value{}, false
	}
	out, err := json.Marshal(n.Scalar())
	return Value{n.Text(), string(out)}, err == nil
}
