package experiment

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/scenario"
	"github.com/throng-sim/throng/engine/script/value"
)

// parameter returns a parameter of a scenario; nil if there is none.
func parameter(s *scenario.Scenario, name string) *scenario.Parameter {
	if s == nil {
		return nil
	}
	i := slices.IndexFunc(s.Parameters, func(p scenario.Parameter) bool { return p.Name == name })
	if i < 0 {
		return nil
	}
	return &s.Parameters[i]
}

// canonical returns a value of a factor in canonical form. scalar is the value as the file has it, text as a command line has
// it. The scenario may be nil. Errors are *engine.FieldError, joined.
func (f *Factor) canonical(s *scenario.Scenario, scalar any, text string) (Value, error) {
	switch f.Kind {
	case Parameter:
		if p := parameter(s, f.Path[0]); p != nil {
			return parameterValue(p, text)
		}
	case RunSetting:
		return settingValue(f.Path[0], text)
	case Filter:
		if strings.TrimSpace(text) != "" && s != nil {
			if err := s.CheckFilter(text); err != nil {
				return Value{}, err
			}
		}
		scalar = text
	case Service:
	}
	out, err := json.Marshal(scalar)
	return Value{text, string(out)}, err
}

func parameterValue(p *scenario.Parameter, text string) (Value, error) {
	if strings.Contains(text, "${") {
		return Value{}, &engine.FieldError{Field: p.Name, Problem: "a parameter takes no expression", Hint: "write the value itself"}
	}
	v, err := p.Parse(text)
	if err != nil {
		return Value{}, err
	}
	out, err := value.AppendJSON(nil, v)
	if err != nil {
		return Value{}, err
	}
	text, err = value.Text(v)
	return Value{text, string(out)}, err
}

func settingValue(name, text string) (Value, error) {
	t := engine.FindSetting(name)
	if t == nil || !t.HasText() { // reported
		return Value{text, strconv.Quote(text)}, nil
	}
	s := engine.DefaultSettings()
	if err := t.Set(&s, text); err != nil {
		return Value{}, &engine.FieldError{Field: name, Problem: err.Error()}
	}
	return shownSetting(t, &s)
}

// shownSetting returns the value of a setting.
func shownSetting(t *engine.Setting, s *engine.Settings) (Value, error) {
	text := t.Show(s)
	if f, err := strconv.ParseFloat(text, 64); err == nil {
		out, err := json.Marshal(f)
		return Value{text, string(out)}, err
	}
	out, err := json.Marshal(text)
	return Value{text, string(out)}, err
}

// value reads a value of a factor. It reports mistakes.
func (r factorReader) value(f *Factor, n *doc.Node) (Value, bool) {
	switch n.Kind() {
	case doc.Scalar:
	case doc.Null:
		n.Errorf("a value, such as 0 or ''", "%s has a level without a value", f.Name)
		return Value{}, false
	default:
		n.Errorf("write a single value", "a level of %s cannot be %s", f.Name, kindWords[n.Kind()])
		return Value{}, false
	}
	v, err := f.canonical(r.e.Of, n.Scalar(), n.Text())
	if err == nil && f.Kind == Service {
		err = r.readable(f, v)
	}
	if err != nil {
		reportField(n, f.Name, err)
		return Value{}, false
	}
	return v, true
}

var kindWords = map[doc.Kind]string{doc.List: "a list", doc.Map: "a map of keys", doc.Absent: "nothing"}

// reportField reports the errors of a value at a node.
func reportField(n *doc.Node, name string, err error) {
	var joined interface{ Unwrap() []error }
	if errors.As(err, &joined) {
		for _, e := range joined.Unwrap() {
			reportField(n, name, e)
		}
		return
	}
	if of, ok := errors.AsType[*engine.FieldError](err); ok {
		n.Errorf(of.Hint, "%s: %s", name, of.Problem)
		return
	}
	n.Errorf("", "%s: %v", name, err)
}

// readable checks that the scenario can be read with a field of a service changed.
func (r factorReader) readable(f *Factor, v Value) error {
	if r.e.Of == nil {
		return nil
	}
	files, err := changedFiles(r.e.Of, []*Factor{f}, []Value{v})
	if err != nil {
		return err
	}
	src := r.e.Of.Source
	src.Files = files
	_, err = scenario.Reread(src, nil)
	if mistakes, ok := errors.AsType[*scenario.Mistakes](err); ok {
		return &engine.FieldError{Field: f.Name, Problem: "the scenario does not accept " + v.Text, Hint: mistakes.Error()}
	}
	return err
}
