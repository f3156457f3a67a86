package chain

import (
	"go.starlark.net/starlark"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain/expr"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/script"
)

// emit adds a row to the results; its output is the row's data.
type emit struct {
	event expr.Value
	data  expr.Value // nil if there is no data
}

func readEmit(r *reader, n *doc.Node) action {
	n.Require("event")
	r = r.telling("results hold `session.seed_uuid` in its place")
	e := &emit{r.Data(n.Get("event"), "event"), r.Data(n.Get("data"), "data")}
	if c, ok := e.event.(expr.Const); ok && c.V != nil {
		if name, ok := starlark.AsString(c.V); !ok || name == "" {
			n.Get("event").Errorf("a name, such as order", "an event without a name")
		}
	}
	return e
}

func (e *emit) run(t *turn) (script.Value, error) {
	name, err := e.event.Eval(t)
	if err != nil {
		return nil, err
	}
	event := engine.Event{Path: t.path}
	if event.Name, err = script.Text(name); err != nil {
		return nil, err
	}
	if event.Name == "" {
		return nil, engine.Fail(engine.Script, "an event without a name")
	}
	if n := len(event.Name); n > maxWords {
		return nil, engine.Fail(engine.Script, "the name of an event has %d bytes; at most %d", n, maxWords)
	}
	out := script.Missing
	if e.data != nil {
		if out, event.Data, err = data(t, e.data); err != nil {
			return nil, err
		}
	}
	event.Name, event.Data = string(settled(t.x.s, []byte(event.Name))), settled(t.x.s, event.Data)
	t.x.row.Events = append(t.x.row.Events, event)
	return out, nil
}

// data evaluates a value to data and to its JSON text, so that the value in memory is the one that will be read back.
func data(t *turn, of expr.Value) (script.Value, []byte, error) {
	v, err := of.Eval(t)
	if err != nil {
		return nil, nil, err
	}
	if v, err = script.Data(v); err != nil {
		return nil, nil, err
	}
	text, err := script.AppendJSON(nil, v)
	return v, text, err
}

// settled returns text for results, in which no ID depends on the run. It may change text in place.
func settled(s *engine.Session, text []byte) []byte {
	return s.Run().SettleIDs(text, s.Settings().Seed)
}
