// Package learned reads rules that were learned from answers of models, and answers with them in the place of a model.
package learned

import (
	"encoding/json"
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain/expr"
	"github.com/throng-sim/throng/engine/chain/shape"
	"github.com/throng-sim/throng/engine/decision"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/script"
	"github.com/throng-sim/throng/engine/script/value"
	"github.com/throng-sim/throng/engine/suggest"
	"github.com/throng-sim/throng/engine/surrogate"
)

// Rule answers a step for an agent.
type Rule struct {
	rule   *surrogate.Rule
	file   string
	shape  *shape.Shape // nil for a text
	likely bool
}

// Is reports whether a node of `otherwise` names a rule instead of being an expression.
func Is(n *doc.Node) bool { return n.Kind() == doc.Map }

// Read reads `{learned: rule.json, answer: draw}` for a step whose answers have a shape, or none. open opens a file of the scenario's
// folder.
func Read(in *expr.Compiler, n *doc.Node, answers *shape.Shape, open func(string) ([]byte, error)) *Rule {
	n.Fields("learned", "answer")
	n.Require("learned")
	r := &Rule{shape: answers, file: n.Get("learned").Text()}
	if a := n.Get("answer"); a != nil {
		r.likely = a.OneOf("draw", "likely") == "likely"
	}
	if r.file == "" {
		return r
	}
	at := n.Get("learned")
	text, err := open(r.file)
	if err != nil {
		at.Errorf("a file that `throngctl learn` wrote", "cannot read the rule: %v", err)
		return r
	}
	if r.rule, err = surrogate.Parse(text); err != nil {
		at.Errorf("a file that `throngctl learn` wrote", "%s: %v", r.file, err)
		return r
	}
	for _, name := range r.rule.Names() {
		checkField(in, at, r.file, name)
	}
	for i := range r.rule.Answers {
		a := &r.rule.Answers[i]
		all := a.Examples
		if len(all) == 0 {
			all = []json.RawMessage{a.Value}
		}
		for _, one := range all {
			if _, err := r.answer(one); err != nil {
				at.Errorf("learn it again from a run of this step", "%s answers %s, which does not fit `answer`", r.file, one)
				return r
			}
		}
	}
	return r
}

// checkField reports a field that agents of the scenario cannot have.
func checkField(in *expr.Compiler, at *doc.Node, file, name string) {
	parts := strings.Split(name, ".")
	known, isKnown := in.File.Fields[parts[0]]
	switch {
	case !slices.Contains(in.Names, parts[0]) || len(parts) < 2:
		at.Errorf("rules know agent.NAME, agent.memory.NAME, now.weekday and now.hour", "%s needs %s, which a step cannot see", file, name)
	case isKnown && !slices.Contains(known, parts[1]):
		at.Guess(suggest.NewGuess(parts[1], slices.Clone(known), "give agents this attribute, or learn the rule without it")).
			Errorf("%s needs %s, and %s has no %s here", file, name, parts[0], parts[1])
	}
}

// Answer returns the rule's answer for what a step sees. It is drawn from the context's key.
func (r *Rule) Answer(c *script.Context) (value.Value, error) {
	odds, err := r.rule.Odds(func(name string) (any, error) { return look(c.Names, name) })
	if err != nil {
		return nil, engine.Fail(engine.Script, "%s: %w", r.file, err)
	}
	source := c.Key.Text(c.Field).Text("learned").Source()
	u, example := source.Float64(), source.Float64()
	if r.likely {
		return r.answer(r.rule.Likely(odds, example))
	}
	return r.answer(r.rule.Draw(odds, u, example))
}

// answer converts an answer of the rule to one that fits the shape: texts that were not learned are empty.
func (r *Rule) answer(text json.RawMessage) (value.Value, error) {
	if r.shape == nil {
		var label string
		if err := json.Unmarshal(text, &label); err != nil {
			return nil, engine.Fail(engine.Script, "%s answers %s, but the step needs a text", r.file, text)
		}
		return starlark.String(label), nil
	}
	v, err := value.DecodeJSON(decision.Filled(text, r.shape.Schema))
	if err == nil {
		err = r.shape.Accept(v)
	}
	return v, err
}

// look returns a field that a step sees: a text, a float64, a bool, or nil if it is missing or something else.
func look(names script.Names, path string) (any, error) {
	first, rest, _ := strings.Cut(path, ".")
	v, err := names.Lookup(first)
	for err == nil && rest != "" {
		fields, ok := v.(starlark.HasAttrs)
		if !ok {
			return nil, nil //nolint:nilnil // missing
		}
		first, rest, _ = strings.Cut(rest, ".")
		v, err = fields.Attr(first)
		if v == nil {
			return nil, nil //nolint:nilnil,nilerr // a field that does not exist is missing
		}
	}
	if err != nil {
		return nil, err
	}
	switch x := v.(type) {
	case starlark.String:
		return string(x), nil
	case starlark.Bool:
		return bool(x), nil
	case starlark.Int, starlark.Float:
		f, _ := starlark.AsFloat(x)
		return f, nil
	}
	return nil, nil //nolint:nilnil // missing
}
