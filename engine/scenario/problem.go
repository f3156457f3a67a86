package scenario

import (
	"errors"
	"maps"
	"slices"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/view"
	"go.starlark.net/starlark"
)

// Problems are all of them by file and position, warnings too.
func (m *Mistakes) Problems() []view.Problem { return view.Problems(m.report) }

// Warnings are what is worth a look but keeps nothing from running.
func (s *Scenario) Warnings() []view.Problem { return view.Problems(s.report) }

// AgentFields returns the names of the fields of agents that expressions can use: ID, index, columns of the population and attributes. It
// returns nil if they are unknown.
func (s *Scenario) AgentFields() []string { return slices.Clone(s.population.fields) }

// Kept is text to write into a scenario's own file.
type Kept struct {
	Parameters map[string]string // defaults by name, as written on a command line
	Cycles     int               // 0 leaves it
	Services   map[string]string // addresses by name
}

// Keep returns the text of the scenario's own file with defaults and settings changed in their places. Every other byte
// stays. Its errors are *engine.FieldError for what cannot be a value, or say why the file must be edited by hand.
func (s *Scenario) Keep(k Kept) ([]byte, error) {
	name := s.Source.Name
	text := s.Source.Files[name]
	set := func(path []string, value any) (err error) {
		changed, err := doc.Set(name, text, path, value)
		if err == nil {
			text = changed
		}
		return err
	}
	for _, p := range slices.Sorted(maps.Keys(k.Parameters)) {
		path, value, err := s.keptDefault(p, text, k.Parameters[p])
		if err == nil {
			err = set(path, value)
		}
		if err != nil {
			return nil, keeping(p, err)
		}
	}
	if k.Cycles > 0 && k.Cycles != s.Cycles {
		if err := set([]string{"clock", "cycles"}, int64(k.Cycles)); err != nil {
			return nil, keeping("cycles", err)
		}
	}
	for _, service := range slices.Sorted(maps.Keys(k.Services)) {
		if err := set([]string{"services", service, "url"}, k.Services[service]); err != nil {
			return nil, keeping("service "+service, err)
		}
	}
	return text, nil
}

// keeping says which value could not be written into the file.
func keeping(field string, err error) error {
	if _, ok := errors.AsType[*engine.FieldError](err); ok {
		return err
	}
	return &engine.FieldError{Field: field, Problem: err.Error()}
}

// keptDefault is where the default of a parameter stands, and what is to stand there.
func (s *Scenario) keptDefault(name string, text []byte, given string) (path []string, value any, err error) {
	i := slices.IndexFunc(s.Parameters, func(p Parameter) bool { return p.Name == name })
	if i < 0 {
		return nil, nil, &engine.FieldError{Field: name, Problem: "the scenario has no such parameter"}
	}
	v, err := s.Parameters[i].Parse(given)
	if err != nil {
		return nil, nil, err
	}
	path = []string{"parameters", name}
	if doc.Parse(s.Source.Name, text, &doc.Report{}).Get("parameters").Get(name).Kind() == doc.Map {
		path = append(path, "default")
	}
	switch v := v.(type) {
	case starlark.Int:
		value, _ = v.Int64() // as it was parsed
	case starlark.Float:
		value = float64(v)
	case starlark.Bool:
		value = bool(v)
	case starlark.String:
		value = string(v)
	}
	return path, value, nil
}
