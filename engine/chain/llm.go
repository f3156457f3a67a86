package chain

import (
	"errors"

	"go.starlark.net/starlark"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain/expr"
	"github.com/throng-sim/throng/engine/chain/odds"
	"github.com/throng-sim/throng/engine/chain/prompt"
	"github.com/throng-sim/throng/engine/chain/shape"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/script"
	"github.com/throng-sim/throng/engine/script/value"
	"github.com/throng-sim/throng/engine/service"
	"github.com/throng-sim/throng/engine/service/llm"
)

// completion is an llm step: one chat completion. Its output is the answer in its shape or, without a shape, a record
// with the text and the model's name.
type completion struct {
	services []*Service // tried in this order, each with its models
	prompt.Request
	shape     *shape.Shape // nil allows any text
	share     expr.Value   // nil means all
	otherwise *script.Expr // nil means that a failure ends the attempt
	cache     *cached      // nil asks each time
	tools     *toolbox     // nil offers none
	private   bool
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
		c.cache = r.cached(names)
		inner := *r
		inner.Names, inner.scope = c.cache.names, nil
		inner.look()
		in = &inner
	}
	c.Request = prompt.Read(&in.Compiler, &r.Compiler, n)
	if a := n.Get("answer"); a != nil {
		c.shape = shape.Read(a)
	}
	c.otherwise = r.Expression(n.Get("otherwise"))
	if c.share = prompt.ReadNumber(&r.Compiler, n.Get("share"), "share", 1); c.share != nil && c.otherwise == nil && n.Get("otherwise") == nil {
		n.Get("share").Errorf("`otherwise: …`, an expression for the answer of the others", "only a share of the agents asks, and the others have no answer")
	}
	c.private = n.Get("private").Bool()
	c.tools = r.toolbox(c, n)
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
	often := odds.Surely
	if c.share != nil {
		often = odds.Perhaps
	}
	if fixed, ok := c.share.(expr.Const); ok {
		if f, ok := starlark.AsFloat(fixed.V); ok {
			often = odds.Of(f)
		}
	}
	if c.cache != nil { // another agent may have asked
		often = often.And(odds.Perhaps)
	}
	return c.services, often
}

func (c *completion) run(t *turn) (value.Value, error) {
	asks, err := c.chosen(t)
	if err != nil {
		return nil, err
	}
	if !asks {
		return c.replacement(t)
	}
	if err := t.dry(); err != nil {
		return nil, err
	}
	chat, err := c.chat(t)
	if err != nil {
		return nil, err
	}
	var out value.Value
	if c.cache != nil {
		out, err = c.shared(t, chat)
	} else {
		out, err = c.ask(t, chat)
	}
	if err == nil || c.otherwise == nil || !passes(t, err) {
		return out, err
	}
	if step, ok := errors.AsType[*engine.StepError](err); ok {
		t.record().Class = step.Class
	}
	return c.replacement(t)
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

// chosen reports whether this agent asks. It is drawn from the seed, the agent and the step.
func (c *completion) chosen(t *turn) (bool, error) {
	if c.share == nil {
		return true, nil
	}
	share, err := prompt.Number(t, c.share, "share", 1)
	if err != nil || share == 0 || share == 1 {
		return share == 1, err
	}
	return engine.AgentKey(t.x.s.Settings().Seed, t.x.s.Agent).Text("share").Text(t.path).Source().Float64() < share, nil
}

// replacement returns the answer of agents that do not ask, or get no answer.
func (c *completion) replacement(t *turn) (out value.Value, err error) {
	if out, err = t.compute(c.otherwise, "otherwise"); err != nil {
		return nil, err
	}
	if c.shape != nil {
		return out, c.shape.Accept(out)
	}
	text, ok := starlark.AsString(out)
	if !ok {
		return nil, engine.Fail(engine.Script, "otherwise returns %s, but the step needs a text", out.Type())
	}
	return written(text, ""), nil
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
		if with, err = c.cache.eval(t); err != nil {
			return chat, err
		}
	}
	return c.Chat(with, t)
}
