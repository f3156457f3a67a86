// Package rule reads how a step answers without its model, for which agents, and which sessions ask both.
package rule

import (
	"encoding/json"

	"go.starlark.net/starlark"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain/expr"
	"github.com/throng-sim/throng/engine/chain/learned"
	"github.com/throng-sim/throng/engine/chain/memory"
	"github.com/throng-sim/throng/engine/chain/odds"
	"github.com/throng-sim/throng/engine/chain/prompt"
	"github.com/throng-sim/throng/engine/chain/shape"
	"github.com/throng-sim/throng/engine/decision"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/script"
	"github.com/throng-sim/throng/engine/script/value"
)

// Rule is how a step answers without its model.
type Rule struct {
	share     expr.Value    // agents that ask the model; nil means all
	otherwise *script.Expr  // nil, without learned, means that there is no rule
	learned   *learned.Rule // instead of otherwise
	shadow    expr.Value    // sessions of a cycle that ask the model even if the rule answers; nil means none
	step      Step
	labels    bool // answers can be compared
}

// Step is what a rule needs of its step.
type Step struct {
	Shape   *shape.Shape // of the answers; nil is a text
	Private bool
	Tools   bool // the model has tools
	Agents  *int // of the scenario, known after reading; nil means one
	Open    func(file string) ([]byte, error)
}

// mostShadow limits the sessions of a cycle that ask the model too.
const mostShadow = 1_000_000

// Read reads share, otherwise and shadow of a step.
func Read(in *expr.Compiler, n *doc.Node, step Step) Rule {
	r := Rule{step: step, labels: !step.Private && (step.Shape == nil || decision.HasLabels(step.Shape.Schema))}
	instead := n.Get("otherwise")
	if learned.Is(instead) {
		r.learned = learned.Read(in, instead, step.Shape, step.Open)
	} else {
		r.otherwise = in.Expression(instead)
		r.fits(in, n)
	}
	if r.share = prompt.ReadNumber(in, n.Get("share"), "share", 1); r.share != nil && instead == nil {
		n.Get("share").Errorf("`otherwise: …`, an expression for the answer of the others", "only a share of the agents asks, and the others have no answer")
	}
	r.shadow = prompt.ReadNumber(in, n.Get("shadow"), "shadow", mostShadow)
	switch {
	case r.shadow == nil:
	case r.share == nil:
		n.Get("shadow").Errorf("`share: …` below 1, or leave out `shadow`", "all agents ask the model already")
	case step.Tools:
		n.Get("shadow").Errorf("leave out `tools` or `shadow`", "a model with tools may change something, though the session does not use its answer")
	case step.Private:
		n.Get("shadow").Errorf("leave out `private` or `shadow`", "answers that are private are not compared")
	case !r.labels:
		n.Get("shadow").Errorf("a truth value, a number or a list of choices in `answer`", "the answers are free texts, which cannot be compared")
	}
	return r
}

// Replaces reports whether there is an answer without the model.
func (r *Rule) Replaces() bool { return r.otherwise != nil || r.learned != nil }

// Often returns how often a session asks the model.
func (r *Rule) Often() odds.Odds {
	if r.share == nil {
		return odds.Surely
	}
	asks, known := fixed(r.share)
	also, alsoKnown := fixed(r.shadow)
	if !known || !alsoKnown {
		return odds.Perhaps
	}
	agents := 1
	if r.step.Agents != nil {
		agents = max(*r.step.Agents, 1)
	}
	shadowed := min(also/float64(agents), 1)
	return odds.Of(asks + (1-asks)*shadowed)
}

// fixed returns a number that is not computed; 0 for nil.
func fixed(v expr.Value) (n float64, known bool) {
	if v == nil {
		return 0, true
	}
	if v, ok := v.(expr.Const); ok {
		return starlark.AsFloat(v.V)
	}
	return 0, false
}

// Chosen reports whether a session's agent asks the model. It is drawn from the seed, the agent and the path of the step.
func (r *Rule) Chosen(t expr.Contexts, s *engine.Session, path string) (bool, error) {
	if r.share == nil {
		return true, nil
	}
	share, err := prompt.Number(t, r.share, "share", 1)
	if err != nil || share == 0 || share == 1 {
		return share == 1, err
	}
	return engine.AgentKey(s.Settings().Seed, s.Agent).Text("share").Text(path).Source().Float64() < share, nil
}

// Shadowed reports whether a session asks the model too. It is drawn from the seed, the cycle, the agent among all agents, and the step.
func (r *Rule) Shadowed(t expr.Contexts, s *engine.Session, path string, agents int) (bool, error) {
	if r.shadow == nil {
		return false, nil
	}
	n, err := prompt.Number(t, r.shadow, "shadow", mostShadow)
	if err != nil {
		return false, err
	}
	key := engine.SessionKey(s.Settings().Seed, s.Cycle, 0).Text("shadow").Text(engine.StepName(path))
	return decision.Sampled(key, s.Agent, max(agents, 1), int(n)), nil
}

// Answer returns the rule's answer. It must not be called without a rule.
func (r *Rule) Answer(t expr.Contexts) (out value.Value, err error) {
	if r.learned != nil {
		return r.learned.Answer(t.Context("otherwise"))
	}
	if out, err = r.otherwise.Eval(t.Context("otherwise")); err == nil {
		out, err = value.Data(out)
	}
	switch {
	case err != nil:
		return nil, err
	case r.step.Shape != nil:
		return out, r.step.Shape.Accept(out)
	}
	if _, ok := starlark.AsString(out); !ok {
		return nil, engine.Fail(engine.Script, "otherwise returns %s, but the step needs a text", out.Type())
	}
	return out, nil
}

// Labeled reports whether answers can be compared.
func (r *Rule) Labeled() bool { return r.labels }

// Labels returns what can be compared of an answer: of the record with its text, or of the text, if it has no shape.
func (r *Rule) Labels(out value.Value) []byte {
	if r.step.Shape == nil {
		if of, ok := out.(*value.Record); ok {
			out, _ = of.Field("text")
		}
		text, _ := starlark.AsString(out)
		return decision.TextLabel(text)
	}
	text, err := value.AppendJSON(nil, out)
	if err != nil {
		return nil
	}
	return decision.Labels(text, r.step.Shape.Schema)
}

// Seen returns what an agent remembers, for [decision.Pair].
func Seen(m *memory.View) []byte {
	known := map[string]json.RawMessage{}
	for _, name := range m.Names() {
		if v, err := m.Field(name); err == nil && value.Weight(v) < decision.MostBytes {
			known[name], _ = value.AppendJSON(nil, v)
		}
	}
	return decision.Plain(known)
}
