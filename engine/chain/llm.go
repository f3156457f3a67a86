package chain

import (
	"errors"
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain/expr"
	"github.com/throng-sim/throng/engine/chain/extra"
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
	services        []*Service // tried in this order, each with its models
	system          *script.Template
	prompt          *script.Template
	messages        expr.Value   // a list of {role, content}, instead of prompt
	shape           *shape.Shape // nil allows any text
	temperature     expr.Value   // nil is the model's default
	maxTokens       int          // 0 is the model's default
	countsReasoning bool         // maxTokens includes reasoning tokens: max_completion_tokens
	effort          *script.Template
	extra           *extra.Fields
	share           expr.Value   // nil means all
	otherwise       *script.Expr // nil means that a failure ends the attempt
	cache           *cached      // nil asks each time
	stream          bool
	private         bool
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
	c.system = in.Text(n.Get("system"))
	switch which := n.Only("prompt", "messages"); {
	case which.Key == nil:
		n.Errorf("`prompt: …`, or `messages: [{role: user, content: …}]`", "an llm step without a prompt")
	case which.Key.Text() == "prompt":
		c.prompt = in.Text(which.Value)
	default:
		c.messages = in.readMessages(which.Value)
	}
	if a := n.Get("answer"); a != nil {
		c.shape = shape.Read(a)
	}
	c.temperature = r.number(n.Get("temperature"), "temperature", 2)
	if which := n.Only("max_tokens", "max_completion_tokens"); which.Key != nil {
		c.maxTokens, c.countsReasoning = which.Value.Int(1, 1_000_000), which.Key.Text() == "max_completion_tokens"
	}
	c.effort = in.effort(n.Get("reasoning_effort"))
	c.extra = extra.Read(&in.Compiler, n.Get("extra"))
	c.otherwise = r.Expression(n.Get("otherwise"))
	if c.share = r.number(n.Get("share"), "share", 1); c.share != nil && c.otherwise == nil && n.Get("otherwise") == nil {
		n.Get("share").Errorf("`otherwise: …`, an expression for the answer of the others", "only a share of the agents asks, and the others have no answer")
	}
	c.stream, c.private = n.Get("stream").Bool(), n.Get("private").Bool()
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

// number reads a number from 0 to most, or an expression for one; nil for an absent node.
func (r *reader) number(n *doc.Node, field string, most float64) expr.Value {
	v := r.Data(n, field)
	if c, ok := v.(expr.Const); ok && c.V != nil {
		if f, ok := starlark.AsFloat(c.V); !ok || !(f >= 0 && f <= most) {
			n.Errorf("a number, or an expression in ${ }", "%s is from 0 to %v, not %s", field, most, value.Shown(c.V))
		}
	}
	return v
}

// effort reads the reasoning effort.
func (r *reader) effort(n *doc.Node) *script.Template {
	t := r.Text(n)
	if t == nil {
		return nil
	}
	if v := expr.Fixed(t); v != nil {
		word, err := value.Text(v)
		if err == nil {
			err = extra.CheckEffort(word)
		}
		if err != nil {
			n.Errorf("low, medium or high", "%v", err)
		}
	}
	return t
}

// readMessages reads a list of {role, content}, or an expression for one.
func (r *reader) readMessages(n *doc.Node) expr.Value {
	if n.Kind() == doc.List {
		for _, item := range n.List() {
			item.Fields("role", "content")
			item.Require("role", "content")
			role := item.Get("role")
			if role.Kind() == doc.Scalar && !strings.Contains(role.Text(), "${") && !slices.Contains(prompt.Roles, role.Text()) {
				role.Errorf(strings.Join(prompt.Roles, ", "), "there is no role %q in a chat", role.Text())
			}
		}
		if len(n.List()) == 0 {
			n.Errorf("`[{role: user, content: …}]`", "no messages")
		}
	} else if n.Kind() != doc.Scalar {
		n.Errorf("`[{role: user, content: …}]`, or an expression for such a list", "messages are a list")
	}
	return r.Data(n, "messages")
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
	share, err := evalNumber(t, c.share, "share", 1)
	if err != nil || share == 0 || share == 1 {
		return share == 1, err
	}
	return engine.AgentKey(t.x.s.Settings().Seed, t.x.s.Agent).Text("share").Text(t.path).Source().Float64() < share, nil
}

func evalNumber(t expr.Contexts, v expr.Value, field string, most float64) (float64, error) {
	x, err := v.Eval(t)
	if err != nil {
		return 0, err
	}
	f, ok := starlark.AsFloat(x)
	if !ok || !(f >= 0 && f <= most) {
		return 0, engine.Fail(engine.Script, "%s is from 0 to %v, not %s", field, most, value.Shown(x))
	}
	return f, nil
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
	return c.chatOf(with, t)
}

// chatOf evaluates the request; its texts use with, the temperature uses t.
func (c *completion) chatOf(with, t expr.Contexts) (chat llm.Chat, err error) {
	for _, part := range [...]struct {
		role, field string
		text        *script.Template
	}{{"system", "system", c.system}, {"user", "prompt", c.prompt}} {
		if part.text == nil {
			continue
		}
		v, err := part.text.Eval(with.Context(part.field))
		if err != nil {
			return chat, err
		}
		line, err := value.Text(v)
		if err != nil {
			return chat, err
		}
		chat.Messages = append(chat.Messages, llm.Message{Role: part.role, Text: line, Stable: prompt.Stable(part.text, line)})
	}
	if c.messages != nil {
		v, err := c.messages.Eval(with)
		if err != nil {
			return chat, err
		}
		said, err := prompt.Messages(v)
		if err != nil {
			return chat, err
		}
		chat.Messages = append(chat.Messages, said...)
	}
	if c.temperature != nil {
		temperature, err := evalNumber(t, c.temperature, "temperature", 2)
		if err != nil {
			return chat, err
		}
		chat.Temperature = &temperature
	}
	if c.effort != nil {
		if chat.Effort, err = expr.Text(with, c.effort, "reasoning_effort"); err == nil {
			err = extra.CheckEffort(chat.Effort)
		}
		if err != nil {
			return chat, err
		}
	}
	chat.MaxTokens, chat.Completion, chat.Stream = c.maxTokens, c.countsReasoning, c.stream
	chat.Extra, err = c.extra.Eval(with)
	return chat, err
}
