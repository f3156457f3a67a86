package chain

import (
	"bytes"
	"time"

	"go.starlark.net/starlark"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain/expr"
	"github.com/throng-sim/throng/engine/chain/message"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/script/value"
	"github.com/throng-sim/throng/engine/service/redact"
)

// say sends a message to other agents. It is in their inbox from the next cycle on, until one of their sessions
// succeeds. Its output is the message.
type say struct {
	to    expr.Value
	text  expr.Value
	data  expr.Value
	shape *value.Shape
	// fixed is what a message without expressions says; nil for others.
	fixed *spoken
}

// spoken is what a message says.
type spoken struct {
	text, data value.Value
	body       []byte
}

func readSay(r *reader, n *doc.Node) action {
	n.Require("to")
	s := &say{to: r.Data(n.Get("to"), "to"), text: r.Data(n.Get("text"), "text"), data: r.Data(n.Get("data"), "data")}
	if s.text == nil && s.data == nil {
		n.Errorf("`text: …` or `data: {…}`", "nothing to say")
	}
	s.shape = value.NewShape("to", "text", "data")
	if constant(s.text) && constant(s.data) {
		if fixed, err := s.speak(&turn{x: new(execution)}); err == nil {
			s.fixed = &fixed
		}
	}
	return s
}

// constant reports whether a value has no expressions; nil has none.
func constant(v expr.Value) bool {
	c, ok := v.(expr.Const)
	return v == nil || ok && c.V != nil
}

func (s *say) run(t *turn) (value.Value, error) {
	to, err := s.to.Eval(t)
	if err != nil {
		return nil, err
	}
	recipients, err := message.Recipients(t.x.in.Agents, t.x.s.Agent, to, t.x.in.Memory.To)
	if err != nil {
		return nil, err
	}
	m := s.fixed
	if m == nil {
		var own spoken
		if own, err = s.speak(t); err != nil {
			return nil, err
		}
		m = &own
	}
	if len(m.body) > maxMessage {
		return nil, engine.Fail(engine.Script, "a message of %s; at most %d kB", engine.FormatBytes(int64(len(m.body))), maxMessage>>10)
	}
	if len(recipients) > 0 {
		t.x.in.Memory.Say(engine.Message{To: recipients, Body: m.body})
		t.traceMessage(to, m.text, m.body)
	}
	return t.x.output(t, s.shape, to, m.text, m.data), nil
}

// speak evaluates what the message says.
func (s *say) speak(t *turn) (m spoken, err error) {
	m.text, m.data = value.Missing, value.Missing
	if s.text != nil {
		v, err := s.text.Eval(t)
		if err != nil {
			return m, err
		}
		line, err := value.Text(v)
		if err != nil {
			return m, err
		}
		m.text = starlark.String(line)
	}
	if s.data != nil {
		if m.data, err = t.data(s.data); err != nil {
			return m, err
		}
	}
	t.x.text, err = message.AppendBody(t.x.text[:0], m.text, m.data)
	m.body = bytes.Clone(t.x.text)
	return m, err
}

// traceMessage reports a message to the session's tracer, if it wants it.
func (t *turn) traceMessage(to, text value.Value, body []byte) {
	if !t.x.s.Traced(false) {
		return
	}
	said, isText := starlark.AsString(text)
	if !isText {
		said = string(body)
	}
	names, isName := starlark.AsString(to)
	if !isName {
		names = value.Shown(to)
	}
	t.x.s.Trace(engine.Exchange{
		At: time.Now(), Path: t.path, Attempt: 1, Speech: engine.Speech{Reply: redact.Shorten(redact.Unnamed(said), maxMessage), To: names},
	}, false)
}
