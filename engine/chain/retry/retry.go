// Package retry reads how often steps are retried.
package retry

import (
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/internal/doc"
)

// Policy is a step's retry policy; the run's values are the defaults.
type Policy struct {
	Attempts  int // 0 is the default
	wait, max time.Duration
	waits     bool // wait is given
}

// Read reads a policy.
func Read(n *doc.Node) (w Policy) {
	if n.Kind() == doc.Scalar {
		n.Errorf("`{attempts: 5, wait: 2s, max: 60s}`", "`retry` is a map of attempts and waits, found %s", n.Text())
		return w
	}
	n.Fields("attempts", "wait", "max")
	w.Attempts = n.Get("attempts").Int(1, 1000)
	if d := n.Get("wait"); d != nil {
		w.wait, w.waits = d.Duration(0, 24*time.Hour), true
	}
	w.max = n.Get("max").Duration(max(w.wait, time.Millisecond), 24*time.Hour)
	return w
}

// Or returns the retries, with a connector's values as defaults.
func (w Policy) Or(of Policy) Policy {
	if w.Attempts == 0 {
		w.Attempts = of.Attempts
	}
	if !w.waits {
		w.wait, w.waits = of.wait, of.waits
	}
	if w.max == 0 {
		w.max = of.max
	}
	return w
}

// Over returns the run's retries overridden by the step's.
func (w Policy) Over(run engine.Retry) engine.Retry {
	if w.Attempts > 0 {
		run.Attempts = w.Attempts
	}
	if w.waits {
		run.Wait = w.wait
		run.Max = max(run.Max, w.wait)
	}
	if w.max > 0 {
		run.Max = w.max
	}
	return run
}
