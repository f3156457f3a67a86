package chain

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/script"
	"go.starlark.net/starlark"
)

// wait is think time in wall seconds: it holds its place and counts in the timeouts. While the journal has results
// of the session to give, nothing is waited for again.
type wait struct {
	fixed   time.Duration
	seconds Value // nil when it is fixed
}

func readWait(r *reader, n *doc.Node) action {
	n.Require("for")
	f := n.Get("for")
	if f.Kind() == doc.Scalar {
		if d, err := doc.ParseDuration(f.Text()); err == nil {
			return &wait{fixed: d}
		}
	}
	return &wait{seconds: r.value(f, "for")}
}

func (w *wait) run(t *turn) (script.Value, error) {
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
	if t.x.s.Replaying() || d <= 0 {
		return starlark.Float(d.Seconds()), nil
	}
	ctx := t.clock().Context()
	err := t.spent(func() error {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	})
	return starlark.Float(d.Seconds()), err
}

// asDuration reads seconds, or a text such as 1m30s.
func asDuration(v script.Value) (time.Duration, error) {
	if text, ok := starlark.AsString(v); ok {
		return doc.ParseDuration(text)
	}
	seconds, ok := starlark.AsFloat(v)
	if !ok || seconds < 0 || math.IsNaN(seconds) || seconds > math.MaxInt64/float64(time.Second) {
		return 0, fmt.Errorf("%s are no seconds to wait", v)
	}
	return time.Duration(seconds * float64(time.Second)), nil
}
