package chain

import (
	"fmt"
	"time"

	"go.starlark.net/starlark"

	"github.com/throng-sim/throng/engine/chain/expr"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/internal/draw"
	"github.com/throng-sim/throng/engine/script"
	"github.com/throng-sim/throng/engine/script/value"
)

// wait is think time in wall-clock seconds. It keeps its slot and counts toward timeouts. While the journal still has
// results of the session to replay, waits are skipped, except in a group, whose results may belong to parallel steps.
type wait struct {
	fixed   time.Duration
	seconds expr.Value // nil if it is constant
}

func readWait(r *reader, n *doc.Node) action {
	n.Require("for")
	f := n.Get("for")
	if f == nil {
		return &wait{}
	}
	w := &wait{seconds: r.Data(f, "for")}
	if c, ok := w.seconds.(expr.Const); ok && c.V != nil {
		var err error
		if w.fixed, err = asDuration(c.V); err != nil {
			f.Errorf("seconds, or like 500ms, 2m; or an expression, `${uniform(1, 5)}`", "%v", err)
		}
		w.seconds = nil
	}
	return w
}

func (w *wait) run(t *turn) (value.Value, error) {
	d := w.fixed
	if w.seconds != nil {
		v, err := w.seconds.Eval(t)
		if err != nil {
			return nil, err
		}
		if d, err = asDuration(v); err != nil {
			return nil, err
		}
	}
	if d <= 0 || t.x.in.Dry || t.x.s.Replaying() && !t.x.isMember() || t.x.s.Run().Recording != "" {
		return starlark.Float(d.Seconds()), nil
	}
	ctx := t.clock().Context()
	err := t.spent(func() error { return t.x.s.Sleep(ctx, d) })
	return starlark.Float(d.Seconds()), err
}

// waitSamples is how many draws approximate the longest wait of many sessions.
const waitSamples = 100

// sample draws waits and returns their mean and the longest; 0 if they depend on more than parameters.
func (w *wait) sample(path string) (mean, most time.Duration) {
	for n := range uint64(waitSamples) {
		v, err := w.seconds.Eval(sampled(draw.Key{}.Text(path).Int(n)))
		if err != nil {
			return 0, 0
		}
		d, err := asDuration(v)
		if err != nil {
			return 0, 0
		}
		mean, most = mean+d/waitSamples, max(most, d)
	}
	return mean, most
}

// sampled evaluates an expression that needs only draws, from a key.
type sampled draw.Key

// Context implements Contexts.
func (d sampled) Context(field string) *script.Context {
	return &script.Context{Names: script.Vars{}, Key: draw.Key(d), Field: field}
}

// maxWait is the maximum wait.
const maxWait = 100 * 365 * 24 * time.Hour

// asDuration reads seconds, or a text such as 1m30s.
func asDuration(v value.Value) (time.Duration, error) {
	if text, ok := starlark.AsString(v); ok {
		if d, err := doc.ParseDuration(text); err == nil {
			return d, nil
		}
		return 0, fmt.Errorf("%q is not a duration", text)
	}
	seconds, ok := starlark.AsFloat(v)
	if !ok || !(seconds >= 0 && seconds <= maxWait.Seconds()) {
		return 0, fmt.Errorf("%s is not a duration in seconds", value.Shown(v))
	}
	return time.Duration(seconds * float64(time.Second)), nil
}
