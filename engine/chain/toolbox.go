package chain

import (
	"errors"

	"go.starlark.net/starlark"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain/expr"
	"github.com/throng-sim/throng/engine/chain/tools"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/script/known"
	"github.com/throng-sim/throng/engine/script/value"
	"github.com/throng-sim/throng/engine/service"
)

// ReadTools reads the tools of a file that models may call. All chains must be declared first.
func ReadTools(r *Reader, n *doc.Node) {
	r.tools, r.uses = map[string]*tools.Tool{}, map[*tools.Tool]action{}
	for _, e := range n.Entries() {
		t := tools.Define(e.Key, e.Value)
		r.tools[t.Name] = t
		switch which := e.Value.Only("call", "chain"); {
		case which.Key == nil:
			e.Value.Errorf("`call: search(input.words)`, or `chain: NAME`", "the tool %s does nothing", t.Name)
		case which.Key.Text() == "call":
			in := r.in([]string{"agent", "session", "now", "input"}, nil).knowing("input", func() *known.Shape { return t.Input })
			r.uses[t] = &python{in.Expression(which.Value)}
		default:
			r.feed(which.Value.Text(), t.Input)
			r.uses[t] = chainNamed(r, which.Value, arguments{})
		}
	}
}

// arguments are the arguments of a tool as the input of its chain.
type arguments struct{}

// Eval implements expr.Value.
func (arguments) Eval(c expr.Contexts) (value.Value, error) {
	return c.Context("").Names.Lookup("input")
}

// toolbox is what the model of an llm step may call. Each entry has a block of its own with one step.
type toolbox struct {
	*tools.Box
	inner []*Block
}

// toolbox reads the tools of a step; nil for none.
func (r *reader) toolbox(c *completion, n *doc.Node) *toolbox {
	batched := ""
	for _, s := range c.services {
		if s != nil && s.Batch != nil {
			batched = s.Name
		}
	}
	b := &toolbox{Box: tools.Read(&r.Reader.File, n, r.tools, batched)}
	if b.Box == nil {
		return nil
	}
	for _, e := range b.Entries {
		s := &Step{Kind: "tool", timeout: b.Time, private: c.private, file: e.At.File()}
		s.line, _ = e.At.Position()
		if e.Own != nil {
			s.Name, s.action = e.Own.Name, r.uses[e.Own]
		} else {
			s.Name, s.action = e.Server, &remote{r.namedService(e.At, e.Server, "mcp")}
		}
		s.Label = s.Name
		b.inner = append(b.inner, &Block{Steps: []*Step{s}, segments: []segment{{to: 1}}, index: map[string]int{s.Name: 0}})
	}
	return b
}

// rounds returns how many answers may ask for tools.
func (b *toolbox) rounds() int {
	if b == nil {
		return 0
	}
	return b.Rounds
}

func (c *completion) blocks() []*Block {
	if c.tools == nil {
		return nil
	}
	return c.tools.inner
}

// begin finds out which tools there are.
func (b *toolbox) begin(t *turn) (*tools.Dialog, error) {
	prefix := func(n int) string { return t.path + "[" + itoa(n) + "]." }
	d := &tools.Dialog{
		Box:  b.Box,
		List: func(e *tools.Entry) ([]tools.Tool, error) { return b.remote(e).list(t) },
		Run: func(of *tools.Tool, n int, input value.Value) (value.Value, error) {
			if of.Remote != "" {
				input = remoteShape.Record(starlark.String(of.Remote), input)
			}
			return t.use(&pass{block: b.inner[of.At], owner: t, prefix: prefix(n), input: input, tool: true, timed: &t.timed})
		},
		Misused: func(n int) {
			t.x.row.Steps = append(t.x.row.Steps, engine.StepRecord{Path: prefix(n) + tools.Misuse, Status: engine.StepFailed, Class: engine.BadAnswer})
		},
	}
	return d, d.Begin()
}

// remote returns what calls the tools of a server.
func (b *toolbox) remote(e *tools.Entry) *remote {
	for i, other := range b.Entries {
		if other == e {
			return b.inner[i].Steps[0].action.(*remote)
		}
	}
	return nil
}

// use runs the step of a tool. Its failure is for the model, unless it ends more than the tool.
func (t *turn) use(p *pass) (value.Value, error) {
	err := t.x.run(p)
	failed, ok := errors.AsType[*failedAt](err)
	switch {
	case err == nil && p.last == nil:
		return value.Missing, nil
	case err == nil:
		return p.last, nil
	case !ok, failed.over != nil, t.timed.cause() != nil, errors.Is(err, service.ErrDiverged):
		return nil, err
	}
	if step, ok := errors.AsType[*engine.StepError](err); ok && (step.Class == engine.Panic || step.Class == engine.ConfigError) {
		return nil, err
	}
	return nil, &tools.FailedError{Err: failed.err, Private: p.block.Steps[0].Hides()}
}

var usedShape = value.NewShape("arguments", "result")

// withArguments adds the arguments of a tool to its result, for display.
func (t *turn) withArguments(out value.Value) value.Value {
	if !t.frame.tool {
		return out
	}
	return usedShape.Record(t.frame.input, out)
}
