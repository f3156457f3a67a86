package chain

import (
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/script"
)

// emit adds a row to the results; its output is the row's data.
type emit struct {
	event Value
	data  Value // nil is none
}

func readEmit(r *reader, n *doc.Node) action {
	n.Require("event")
	return &emit{r.value(n.Get("event"), "event"), r.value(n.Get("data"), "data")}
}

func (e *emit) run(t *turn) (script.Value, error) {
	name, err := e.event.Eval(t)
	if err != nil {
		return nil, err
	}
	text, err := script.Text(name)
	if err != nil {
		return nil, err
	}
	event := engine.Event{Path: t.path, Name: text}
	out := script.Missing
	if e.data != nil {
		if out, err = e.data.Eval(t); err != nil {
			return nil, err
		}
		if event.Data, err = script.AppendJSON(nil, out); err != nil {
			return nil, err
		}
	}
	t.x.s.Row.Events = append(t.x.s.Row.Events, event)
	return out, nil
}
