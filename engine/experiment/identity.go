package experiment

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine"
)

// content is what the results of a run depend on, apart from its seed. The keys of its maps are sorted in JSON, so the order
// of a file does not matter. Parameters and settings have their values in force, so a factor that keeps the default of the
// scenario is the same as no factor.
type content struct {
	Version    int                        `json:"version"`
	Scenario   string                     `json:"scenario"` // the hash of its files
	Parameters map[string]json.RawMessage `json:"parameters"`
	Services   map[string]json.RawMessage `json:"services"` // fields that differ from the file
	Settings   map[string]json.RawMessage `json:"settings"`
	Changes    []change                   `json:"changes"` // in the course of the run, by cycle
}

// change is what changes at the start of a cycle.
type change struct {
	Cycle  int                        `json:"cycle"`
	Values map[string]json.RawMessage `json:"values"`
}

// identityVersion is part of every identity. Another one makes all runs of earlier experiments different runs.
const identityVersion = 1

// identifier computes identities.
type identifier struct {
	e        *Experiment
	base     engine.Settings
	settings map[string]map[string]json.RawMessage // by the values of the factors that are settings, and the cycles
	written  map[int]Value                         // fields of services in the scenario's file, by factor
}

func newIdentifier(e *Experiment, base engine.Settings) identifier {
	id := identifier{e: e, base: base, settings: map[string]map[string]json.RawMessage{}, written: map[int]Value{}}
	for i := range e.Factors {
		if f := &e.Factors[i]; f.Kind == Service {
			id.written[i], _ = writtenField(e.Of, f.Path)
		}
	}
	return id
}

// hash returns the SHA-256 of what a run with these values depends on, apart from its seed, in hex. With cycles above 0, the
// run ends after so many.
func (id *identifier) hash(values []Value, cycles int) (string, error) {
	e := id.e
	c := content{
		Version: identityVersion, Scenario: e.Of.Source.Hash,
		Parameters: make(map[string]json.RawMessage, len(e.Of.Source.Parameters)), Services: map[string]json.RawMessage{}, Changes: []change{},
	}
	for name, text := range e.Of.Source.Parameters {
		c.Parameters[name] = json.RawMessage(text)
	}
	first := e.before(values, 0)
	for i, v := range first {
		f := &e.Factors[i]
		switch f.Kind {
		case Parameter:
			c.Parameters[f.Path[0]] = json.RawMessage(v.JSON)
		case Service:
			if id.written[i].JSON != v.JSON {
				c.Services[strings.Join(f.Path, ".")] = json.RawMessage(v.JSON)
			}
		case RunSetting, Filter:
		}
	}
	for i, v := range values {
		if f := &e.Factors[i]; v.JSON != first[i].JSON {
			at := slices.IndexFunc(c.Changes, func(x change) bool { return x.Cycle == f.At })
			if at < 0 {
				at = len(c.Changes)
				c.Changes = append(c.Changes, change{f.At, map[string]json.RawMessage{}})
			}
			c.Changes[at].Values[f.Name] = json.RawMessage(v.JSON)
		}
	}
	slices.SortFunc(c.Changes, func(a, b change) int { return cmp.Compare(a.Cycle, b.Cycle) })
	var err error
	if c.Settings, err = id.resultSettings(first, cycles); err != nil {
		return "", err
	}
	text, err := json.Marshal(c)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}

// resultSettings returns the settings that are part of the identity.
func (id *identifier) resultSettings(values []Value, cycles int) (map[string]json.RawMessage, error) {
	var key strings.Builder
	fmt.Fprint(&key, cycles)
	for i, v := range values {
		if k := id.e.Factors[i].Kind; k == RunSetting || k == Filter {
			key.WriteString(" " + v.JSON)
		}
	}
	if known, ok := id.settings[key.String()]; ok {
		return known, nil
	}
	s, err := id.e.Effective(id.base, values)
	if err != nil {
		return nil, err
	}
	if cycles > 0 {
		s.Cycles, s.Hours = cycles, 0
	}
	if err := s.Validate(); err != nil {
		return nil, err
	}
	kept, err := id.e.results(&s)
	id.settings[key.String()] = kept
	return kept, err
}

// runID returns the identity of a run: the SHA-256 of the hash of its content and of its seed, in hex.
func runID(hash string, seed uint64) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "throng run\n%s\n%d\n", hash, seed))
	return hex.EncodeToString(sum[:])
}

// before returns values with the baseline in place of the factors that change after the start of a cycle.
func (e *Experiment) before(values []Value, cycle int) []Value {
	all := slices.Clone(values)
	for i := range all {
		if e.Factors[i].At > cycle {
			all[i] = e.Baseline[i]
		}
	}
	return all
}
