package scenario

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.starlark.net/starlark"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain/expr"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/script"
	"github.com/throng-sim/throng/engine/script/value"
	"github.com/throng-sim/throng/engine/suggest"
	"github.com/throng-sim/throng/engine/view"
)

// parameters reads the parameters and sets those that were given. Its error is about what was given.
func (r *reader) parameters(n *doc.Node) error {
	var mistakes []error
	names := map[string]bool{}
	entries := n.Entries()
	if len(entries) > maxNames {
		n.Errorf("", "more than %d parameters", maxNames)
		entries = nil
	}
	for _, e := range entries {
		if isSecretParameter(e.Value) {
			mistakes = append(mistakes, r.secretParameter(e))
			names[e.Key.Text()] = true
			continue
		}
		p := readParameter(e)
		names[p.Name] = true
		if text, ok := r.given[p.Name]; ok {
			parse := p.Parse
			if r.kept {
				parse = p.restore
			}
			value, err := parse(text)
			if err != nil {
				mistakes = append(mistakes, err)
			} else {
				p.Value = value
			}
		}
		r.s.Parameters = append(r.s.Parameters, p)
		r.chains.Fields["params"] = append(r.chains.Fields["params"], p.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(r.given)) {
		if names[name] {
			continue
		}
		hint := "this scenario has none"
		if all := slices.Sorted(maps.Keys(names)); len(all) > 0 {
			hint = "it has " + strings.Join(all, ", ")
			if near := suggest.Nearest(name, all); near != "" {
				hint = "did you mean " + near + "?"
			}
		}
		mistakes = append(mistakes, &engine.FieldError{Field: name, Problem: "the scenario has no such parameter", Hint: hint})
	}
	return errors.Join(mistakes...)
}

// isSecretParameter reports whether a parameter says `secret: true`.
func isSecretParameter(n *doc.Node) bool {
	s := n.Get("secret")
	return s.Kind() == doc.Scalar && s.Bool()
}

// secretParameter reads a parameter whose value is a secret. Its error is about the value that was given.
func (r *reader) secretParameter(e doc.Entry) error {
	p := SecretParameter{Name: e.Key.Text(), Title: e.Value.Get("title").Text(), About: e.Value.Get("about").Text(), Given: strings.TrimSpace(r.given[e.Key.Text()])}
	expr.CheckName(e.Key, p.Name, "a parameter")
	for _, key := range []string{"default", "min", "max", "choices"} {
		e.Value.Get(key).Errorf("remove it", "a secret parameter has no %s: its value must not be in the file", key)
	}
	e.Value.Fields("secret", "title", "about", "default", "min", "max", "choices")
	r.s.Secrets = append(r.s.Secrets, p)
	if _, given := r.given[p.Name]; given && p.Given == "" {
		return &engine.FieldError{Field: p.Name, Problem: "it is empty"}
	}
	return nil
}

// readParameter reads one parameter; its value is the default. The short form is `name: default`.
func readParameter(e doc.Entry) Parameter {
	p := Parameter{ParameterSpec: view.ParameterSpec{Name: e.Key.Text()}, Min: math.Inf(-1), Max: math.Inf(1)}
	expr.CheckName(e.Key, p.Name, "a parameter")
	v, d := e.Value, e.Value
	if v.Kind() == doc.Map {
		v.Fields("default", "min", "max", "title", "about", "choices", "secret")
		v.Require("default")
		d = v.Get("default")
	}
	if d.Kind() == doc.Null {
		d.Errorf("a value, such as 0 or ''", "the parameter %s has no default", p.Name)
	}
	p.Default = scalar(d)
	p.Title, p.About, p.Choices = v.Get("title").Text(), v.Get("about").Text(), v.Get("choices").Texts()
	if p.Title == "" {
		p.Title = strings.ReplaceAll(p.Name, "_", " ")
	}
	if m := v.Get("min"); m != nil {
		p.Min = m.Float(math.Inf(-1), math.Inf(1))
	}
	if m := v.Get("max"); m != nil {
		if p.Max = m.Float(p.Min, math.Inf(1)); p.Max < p.Min { // reported
			p.Max = math.Inf(1)
		}
	}
	if _, isText := p.Default.(starlark.String); isText || p.Default == starlark.True || p.Default == starlark.False {
		for _, bound := range []string{"min", "max"} {
			v.Get(bound).Errorf("remove it", "%s is for numbers, and the default is %s", bound, p.Default)
		}
	}
	p.Value = p.Default
	if problem := p.check(p.Default); problem != "" {
		d.Errorf("", "the default %s", problem)
	}
	return p
}

// scalar is a scalar of the file as data.
func scalar(n *doc.Node) value.Value {
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

// restore reads a value as kept with a run.
func (p *Parameter) restore(text string) (value.Value, error) {
	v, err := value.DecodeJSON([]byte(text))
	if err != nil {
		return nil, &engine.FieldError{Field: p.Name, Problem: err.Error()}
	}
	if text, err = value.Text(v); err != nil {
		return nil, &engine.FieldError{Field: p.Name, Problem: err.Error()}
	}
	return p.Parse(text)
}

// Parse reads a value as given on a command line; its type is the default's. A value that the parameter cannot have is a
// *engine.FieldError.
func (p *Parameter) Parse(text string) (value.Value, error) {
	var v value.Value
	var want string
	if p.Default.Type() != "string" {
		text = strings.TrimSpace(text)
	}
	switch p.Default.(type) {
	case starlark.Int:
		want = "a whole number"
		if i, err := strconv.ParseInt(text, 10, 64); err == nil {
			v = starlark.MakeInt64(i)
		}
	case starlark.Float:
		want = "a number"
		if f, err := strconv.ParseFloat(text, 64); err == nil && !math.IsInf(f, 0) && !math.IsNaN(f) {
			v = starlark.Float(f)
		}
	case starlark.Bool:
		want = "true or false"
		if b, err := strconv.ParseBool(text); err == nil {
			v = starlark.Bool(b)
		}
	default:
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
func (p *Parameter) check(v value.Value) string {
	if text, err := value.Text(v); err == nil && len(p.Choices) > 0 && !slices.Contains(p.Choices, text) {
		return fmt.Sprintf("%q is not one of %s", text, strings.Join(p.Choices, ", "))
	}
	f, ok := starlark.AsFloat(v)
	switch {
	case !ok:
	case f < p.Min:
		return fmt.Sprintf("%s is below %s", v, number(p.Min))
	case f > p.Max:
		return fmt.Sprintf("%s is above %s", v, number(p.Max))
	}
	return ""
}

func number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// environment compiles the functions. Where they have mistakes everything else is still read, without knowing what
// they define.
func (r *reader) environment(n *doc.Node) {
	fields := make([]value.Field, len(r.s.Parameters))
	for i, p := range r.s.Parameters {
		fields[i] = value.Field{Name: p.Name, Value: p.Value}
	}
	cfg := script.Config{Params: value.NewRecord(fields...)}
	inline := false
	if text := n.Text(); text != "" {
		cfg.Functions, inline = r.functions(n, text)
		r.definitions = cfg.Functions.Text
	}
	if inline {
		cfg.Origin = expr.Origin(n)
	}
	env, err := script.New(cfg)
	r.env, r.chains.Env, r.chains.Functions = env, env, n != nil
	r.chains.Blind = r.chains.Blind || err != nil
	var mistakes script.Errors
	switch {
	case err == nil || cfg.Functions == unreadable:
	case inline:
		expr.ReportScript(n, n.Text(), err)
	case errors.As(err, &mistakes):
		for _, m := range mistakes {
			r.report.Add(*m)
		}
	default:
		n.Errorf("", "%v", err)
	}
}

var (
	// fileName is what is meant as the name of a file, not as the functions themselves.
	fileName = regexp.MustCompile(`^[^\s(){}=]+\.[A-Za-z0-9]+$`)
	// unreadable stands for functions that could not be read; being no Starlark, it defines nothing and everything.
	unreadable = &script.Source{Text: "("}
)

// functions returns the functions, from the file itself or from a separate file.
func (r *reader) functions(n *doc.Node, text string) (source *script.Source, inline bool) {
	switch {
	case strings.Contains(text, "\n") || !fileName.MatchString(text):
		return &script.Source{Name: r.name, Text: text}, true
	case path.Ext(text) != ".star":
		n.Errorf("name it .star", "functions are in files that end in .star, not %s", path.Ext(text))
		return unreadable, false
	}
	content, err := r.open(text)
	if err != nil {
		unread(n, "the file must be in the scenario's folder", "the functions cannot be read: ", text, err)
		return unreadable, false
	}
	r.report.AddSource(text, content)
	return &script.Source{Name: text, Text: string(content)}, false
}
