package experiment

import (
	"encoding/json"
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/scenario"
)

// Setup is what a run with some values of the factors starts with.
type Setup struct {
	// Source is the scenario, with the changed fields of services in its file.
	Source engine.Source
	// Parameters are the values of varied parameters, as on a command line.
	Parameters map[string]string
	// Settings are those of the experiment and of the factors. They take precedence over those of the scenario, and a later
	// one over an earlier one.
	Settings []engine.Assignment
	// Filter selects agents, in addition to the filter of the population; "" selects all. It applies if Filters is set.
	Filter  string
	Filters bool
}

// Setup returns what a run with these values of the factors starts with.
func (e *Experiment) Setup(values []Value) (*Setup, error) {
	s := &Setup{Source: e.Of.Source, Parameters: maps.Clone(e.Params), Settings: append([]engine.Assignment(nil), e.Settings...)}
	var fields []*Factor
	var changed []Value
	for i, v := range values {
		switch f := &e.Factors[i]; f.Kind {
		case Parameter:
			s.Parameters[f.Path[0]] = v.Text
		case RunSetting:
			s.Settings = append(s.Settings, engine.Assignment{Name: f.Path[0], Value: v.Text})
		case Service:
			fields, changed = append(fields, f), append(changed, v)
		case Filter:
			s.Filter, s.Filters = strings.TrimSpace(v.Text), true
		}
	}
	files, err := changedFiles(e.Of, fields, changed)
	s.Source.Files = files
	return s, err
}

// SetupRun returns what a run of a plan starts with, its seed and the length of a prefix included.
func (e *Experiment) SetupRun(r *Run) (*Setup, error) {
	s, err := e.Setup(r.Values)
	if err != nil {
		return nil, err
	}
	s.Settings = append(s.Settings, engine.Assignment{Name: seedSetting, Value: strconv.FormatUint(r.Seed, 10)})
	if r.Cycles > 0 {
		s.Settings = append(s.Settings, engine.Assignment{Name: cyclesSetting, Value: strconv.Itoa(r.Cycles)})
	}
	return s, nil
}

// Scenario reads the scenario of the setup.
func (s *Setup) Scenario() (*scenario.Scenario, error) {
	return scenario.Reread(s.Source, s.Parameters)
}

// changedFiles returns the files of a scenario with fields of its services set. Fields that have the value already do not
// change the text.
func changedFiles(s *scenario.Scenario, fields []*Factor, values []Value) (map[string][]byte, error) {
	files := maps.Clone(s.Source.Files)
	name := s.Source.Name
	for i, f := range fields {
		if was, ok := writtenField(s, f.Path); ok && was.JSON == values[i].JSON {
			continue
		}
		scalar, err := scalarOf(values[i].JSON)
		if err != nil {
			return nil, err
		}
		text, err := doc.Set(name, files[name], append([]string{"services"}, f.Path...), scalar)
		if err != nil {
			return nil, &engine.FieldError{Field: f.Name, Problem: err.Error(), Hint: "use a parameter of the scenario for it: ${params.NAME}"}
		}
		files[name] = text
	}
	return files, nil
}

// scalarOf returns a JSON scalar as an int64, a float64, a bool or a string.
func scalarOf(text string) (any, error) {
	var i int64
	var v any
	if json.Unmarshal([]byte(text), &i) == nil {
		return i, nil
	}
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		return nil, fmt.Errorf("the value %s: %w", text, err)
	}
	return v, nil
}
