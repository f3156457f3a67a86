package scenario

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/script"
	"go.starlark.net/starlark"
)

// parameters reads the parameters and sets those that were given. Its error is about what was given.
func (r *reader) parameters(n *doc.Node) error {
	var mistakes []error
	names := map[string]bool{}
	for _, e := range n.Entries() {
		p := Parameter{Name: e.Key.Text(), Min: math.Inf(-1), Max: math.Inf(1)}
		if !chain.Identifier.MatchString(p.Name) {
			e.Key.Errorf("letters, digits and _", "%q cannot be the name of a parameter", p.Name)
		}
		names[p.Name] = true
		v := e.Value
		if v.Kind() == doc.Map {
			v.Fields("default", "min", "max", "title", "about", "choices")
			v.Require("default")
		} else {
			p.Default = scalar(v) // the short form: name: default
		}
		if d := v.Get("default"); d != nil {
			p.Default = scalar(d)
		}
		p.Title, p.About, p.Choices = v.Get("title").Text(), v.Get("about").Text(), v.Get("choices").Texts()
		if p.Title == "" {
			p.Title = strings.ReplaceAll(p.Name, "_", " ")
		}
		if m := v.Get("min"); m != nil {
			p.Min = m.Float(math.Inf(-1), math.Inf(1))
		}
		if m := v.Get("max"); m != nil {
			p.Max = m.Float(p.Min, math.Inf(1))
		}
		p.Value = p.Default
		if problem := p.check(p.Default); problem != "" {
			v.Get("default").Errorf("", "the default %s", problem)
		}
		if text, ok := r.given[p.Name]; ok {
			value, err := p.parse(text)
			if err != nil {
				mistakes = append(mistakes, err)
			} else {
				p.Value = value
			}
		}
		r.s.Parameters = append(r.s.Parameters, p)
	}
	for _, name := range slices.Sorted(maps.Keys(r.given)) {
		if names[name] {
			continue
		}
		hint := "this scenario has none"
		if all := slices.Sorted(maps.Keys(names)); len(all) > 0 {
			hint = "it has " + strings.Join(all, ", ")
			if near := doc.Suggest(name, all); near != "" {
				hint = "did you mean " + near + "?"
			}
		}
		mistakes = append(mistakes, &engine.FieldError{Field: name, Problem: "the scenario has no such parameter", Hint: hint})
	}
	return errors.Join(mistakes...)
}

// scalar is a scalar of the file as data.
func scalar(n *doc.Node) script.Value {
	switch v := n.Scalar().(type) {
	case int64:
		return starlark.MakeInt64(v)
	case float64:
		return starlark.Float(v)
	case bool:
		return starlark.Bool(v)
	case string:
		return starlark.String(v)
	}
	return starlark.None
}

// parse reads a value as given on a command line; its type is the default's.
func (p *Parameter) parse(text string) (script.Value, error) {
	var v script.Value
	var want string
	switch p.Default.(type) {
	case starlark.Int:
		want = "a whole number"
		if i, err := strconv.ParseInt(text, 10, 64); err == nil {
			v = starlark.MakeInt64(i)
		}
	case starlark.Float:
		want = "a number"
		if f, err := strconv.ParseFloat(text, 64); err == nil {
			v = starlark.Float(f)
		}
	case starlark.Bool:
		want = "true or false"
		if b, err := strconv.ParseBool(text); err == nil {
			v = starlark.Bool(b)
		}
	default:
		if unquoted, err := strconv.Unquote(text); err == nil && strings.HasPrefix(text, `"`) {
			text = unquoted // as kept with a run
		}
		v = starlark.String(text)
	}
	if v == nil {
		return nil, &engine.FieldError{Field: p.Name, Problem: fmt.Sprintf("%q is not %s", text, want)}
	}
	if problem := p.check(v); problem != "" {
		return nil, &engine.FieldError{Field: p.Name, Problem: problem}
	}
	return v, nil
}

// check says what is wrong with a value; "" is nothing.
func (p *Parameter) check(v script.Value) string {
	if text, ok := starlark.AsString(v); ok {
		if len(p.Choices) > 0 && !slices.Contains(p.Choices, text) {
			return fmt.Sprintf("%q is none of %s", text, strings.Join(p.Choices, ", "))
		}
		return ""
	}
	f, ok := starlark.AsFloat(v)
	switch {
	case !ok:
	case math.IsNaN(f) || f < p.Min:
		return fmt.Sprintf("%s is below %s", v, number(p.Min))
	case f > p.Max:
		return fmt.Sprintf("%s is above %s", v, number(p.Max))
	}
	return ""
}

func number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// environment compiles the functions; false is that nothing else can be read.
func (r *reader) environment(n *doc.Node) bool {
	fields := make([]script.Field, len(r.s.Parameters))
	for i, p := range r.s.Parameters {
		fields[i] = script.Field{Name: p.Name, Value: p.Value}
	}
	cfg := script.Config{Params: script.NewRecord(fields...)}
	inline := false
	if text := n.Text(); text != "" {
		if inline = strings.Contains(text, "\n") || path.Ext(text) != ".star"; inline {
			cfg.Functions = &script.Source{Name: r.name, Text: text}
		} else {
			source, err := r.open(text)
			if err != nil {
				n.Errorf("the file belongs into the scenario's folder", "the functions cannot be read: %v", err)
				return false
			}
			r.report.AddSource(text, source)
			cfg.Functions = &script.Source{Name: text, Text: string(source)}
		}
	}
	env, err := script.New(cfg)
	r.env, r.chains.Env = env, env
	var mistakes script.Errors
	switch {
	case err == nil:
		return true
	case inline:
		chain.ReportScript(n, n.Text(), err)
	case errors.As(err, &mistakes):
		for _, m := range mistakes {
			r.report.Add(doc.Problem{File: m.File, Line: m.Line, Col: m.Col, Problem: m.Problem, Hint: m.Hint})
		}
	default:
		n.Errorf("", "%v", err)
	}
	return false
}
