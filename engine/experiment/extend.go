package experiment

import (
	"fmt"
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/internal/doc"
)

// Changes are additions to an experiment. All runs that it has stay a part of it.
type Changes struct {
	Seeds    int      // more replicates of each point
	Levels   []Level  // further levels of factors, in order
	Measures []string // further measures
}

// Level is a further level of a factor, as on a command line.
type Level struct{ Factor, Value string }

// Extend returns the text of the experiment's file with additions. Everything else in it stays, comments included. The caller checks the
// result with [Read]. file is the name of the file in messages.
func (e *Experiment) Extend(file string, text []byte, c Changes) (extended []byte, err error) {
	x := &extension{e, file, text}
	if c.Seeds != 0 {
		err = x.seeds(c.Seeds)
	}
	var values []any
	for i, level := range c.Levels {
		if err != nil {
			break
		}
		var v any
		if v, err = x.level(level); err != nil {
			break
		}
		if values = append(values, v); i+1 == len(c.Levels) || c.Levels[i+1].Factor != level.Factor {
			err = x.add(x.levels(level.Factor), values)
			values = nil
		}
	}
	if err == nil && len(c.Measures) > 0 {
		err = x.measures(c.Measures)
	}
	return x.text, err
}

// extension adds to the text of a file.
type extension struct {
	e    *Experiment
	file string // its name in messages
	text []byte
}

// root reads the text, which is valid YAML.
func (x *extension) root() *doc.Node { return doc.Parse(x.file, x.text, &doc.Report{}) }

func (x *extension) set(path []string, value any) error {
	text, err := doc.Set(x.file, x.text, path, value)
	if err == nil {
		x.text = text
	}
	return err
}

func (x *extension) add(path []string, values []any) error {
	text, err := doc.Append(x.file, x.text, path, values)
	if err == nil {
		x.text = text
	}
	return err
}

// seeds adds replicates.
func (x *extension) seeds(n int) error {
	if n < 0 {
		return &engine.FieldError{Field: "seeds", Problem: "seeds cannot be removed", Hint: "give the number of seeds to add"}
	}
	r := &x.e.Replicates
	at, where := x.root().Get("replicates"), []string{"replicates"}
	if k := at.Kind(); k == doc.Map || k == doc.Absent || k == doc.Null {
		at, where = at.Get("seeds"), append(where, "seeds")
	}
	if at.Kind() != doc.List {
		return x.set(where, int64(len(r.Seeds)+n))
	}
	var more []any
	for k := range n {
		more = append(more, int64(r.Seed(len(r.Seeds)+k))) // seeds of a file fit
	}
	return x.add(where, more)
}

// levels returns where the levels of a factor are.
func (x *extension) levels(factor string) []string {
	where := []string{"vary", factor}
	if x.root().Get("vary").Get(factor).Kind() == doc.Map {
		where = append(where, "levels")
	}
	return where
}

// level returns a further level, of the type of the others.
func (x *extension) level(l Level) (any, error) {
	f := x.e.Factor(l.Factor)
	var names []string
	for i := range x.e.Factors {
		names = append(names, x.e.Factors[i].Name)
	}
	refused := func(hint, format string, args ...any) error {
		return &engine.FieldError{Field: "level", Problem: fmt.Sprintf(format, args...), Hint: hint}
	}
	switch {
	case f == nil:
		return nil, refused("factors: "+strings.Join(names, ", "), "the experiment does not vary %s", l.Factor)
	case x.e.Design.Kind == Points:
		return nil, refused("add points to the file", "the design lists its points, so more levels of %s change nothing", l.Factor)
	case f.Range != nil || doc.At(x.root(), x.levels(l.Factor)...) == nil:
		return nil, refused("change it in the file", "%s is varied over a range, not a list", l.Factor)
	case slices.ContainsFunc(f.Levels, func(v Value) bool { return v.Text == l.Value }):
		return nil, refused("", "%s has the level %s already", l.Factor, l.Value)
	}
	texts := !slices.ContainsFunc(f.Levels, func(v Value) bool { return !strings.HasPrefix(v.JSON, `"`) })
	v, err := scalarOf(l.Value)
	switch v.(type) {
	case int64, float64, bool:
		if err == nil && !texts {
			return v, nil
		}
	}
	return l.Value, nil
}

// measures adds measures. If the file has none, it gets the usual ones, too.
func (x *extension) measures(names []string) error {
	var all []any
	for _, name := range names {
		if slices.ContainsFunc(x.e.Measures, func(m Measure) bool { return m.Name == name }) {
			return &engine.FieldError{Field: "measure", Problem: name + " is measured already"}
		}
		all = append(all, name)
	}
	if x.root().Get("measures") == nil {
		var usual []any
		for i := range x.e.Measures {
			usual = append(usual, x.e.Measures[i].Name)
		}
		all = append(usual, all...)
	}
	return x.add([]string{"measures"}, all)
}
