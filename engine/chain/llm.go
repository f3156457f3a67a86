package chain

import (
	"errors"

	"go.starlark.net/starlark"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain/expr"
	"github.com/throng-sim/throng/engine/chain/odds"
	"github.com/throng-sim/throng/engine/chain/prompt"
	"github.com/throng-sim/throng/engine/chain/rule"
	"github.com/throng-sim/throng/engine/chain/shape"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/script/value"
	"github.com/throng-sim/throng/engine/service"
	"github.com/throng-sim/throng/engine/service/llm"
)

// completion is an llm step: one chat completion. Its output is the answer in its shape or, without a shape, a record
// with the text and the model's name.
type completion struct {
	services []*Service // tried in this order, each with its models
	prompt.Request
	shape *shape.Shape // nil allows any text
	rule.Rule
	cache   *prompt.Cache // nil asks each time
	tools   *toolbox      // nil offers none
	private bool
}

func readLLM(r *reader, n *doc.Node) action {
	n.Require("service")
	c := &completion{}
	if s := n.Get("service"); s != nil {
		c.services = append(c.services, r.serviceOf(s, "llm"))
	}
	for _, s := range listOf(n.Get("fallback")) {
		c.services = append(c.services, r.serviceOf(s, "llm"))
	}
	r = r.telling("the prompt differs between runs")
	in := r
	if names := n.Get("cache"); names != nil {
		c.cache = prompt.ReadCache(&r.Compiler, names)
		inner := *r
		inner.Names, inner.scope, inner.known = c.cache.Names, nil, nil
		inner.look()
		in = &inner
	}
	c.Request = prompt.Read(&in.Compiler, &r.Compiler, n)
	if a := n.Get("answer"); a != nil {
		c.shape = shape.Read(a)
	}
	c.private = n.Get("private").Bool()
	c.tools = r.toolbox(c, n)
	c.Rule = rule.Read(&r.Compiler, n, rule.Step{Shape: c.shape, Private: c.private, Tools: c.tools != nil, Agents: r.Agents, Open: r.open})
	return c
}

// listOf returns a list node, or a list of the one node.
func listOf(n *doc.Node) []*doc.Node {
	if n.Kind() == doc.List {
		return n.List()
	}
	if n == nil {
		return nil
	}
	return []*doc.Node{n}
}

func (c *completion) changes() *Service { return nil }

func (c *completion) asks() ([]*Service, odds.Odds) {
	often := c.Often()
	if c.cache != nil { // another agent may have asked
		often = often.And(odds.Perhaps)
	}
	return c.services, often
}

func (c *completion) run(t *turn) (value.Value, error) {
	asks, err := c.Chosen(t, t.x.s, t.path)
	if err != nil {
		return nil, err
	}
	if !asks {
		out, err := c.replacement(t)
		if err == nil {
			err = c.shadowed(t, out)
		}
		return out, err
	}
	if err := t.dry(); err != nil {
		return nil, err
	}
	out, err := c.question(t)
	if err == nil {
		c.compared(t, out)
		return out, nil
	}
	if !c.Replaces() || !passes(t, err) {
		return out, err
	}
	if step, ok := errors.AsType[*engine.StepError](err); ok {
		t.record().Class = step.Class
	}
	return c.replacement(t)
}

// question asks the model.
func (c *completion) question(t *turn) (value.Value, error) {
	chat, err := c.chat(t)
	if err != nil {
		return nil, err
	}
	if c.cache != nil {
		return c.shared(t, chat)
	}
	return c.ask(t, chat)
}

// passes reports whether a fallback may replace the failure: it was a service, and there is time.
func passes(t *turn, err error) bool {
	if cause, _ := t.over(err); cause != nil || errors.Is(err, service.ErrDiverged) {
		return false
	}
	step, ok := errors.AsType[*engine.StepError](err)
	if !ok {
		return false
	}
	switch step.Class {
	case engine.RateLimited, engine.Timeout, engine.ServerError, engine.ClientError, engine.Network, engine.BadAnswer:
		return true
	default:
		return false
	}
}

var writtenShape = value.NewShape("text", "model")

// written is the output of a step without a shape.
func written(text, model string) value.Value {
	return writtenShape.Record(starlark.String(text), starlark.String(model))
}

// chat evaluates the request, except for the model.
func (c *completion) chat(t *turn) (chat llm.Chat, err error) {
	var with expr.Contexts = t
	if c.cache != nil {
		if with, err = c.cache.Eval(t); err != nil {
			return chat, err
		}
	}
	return c.Chat(with, t)
}
