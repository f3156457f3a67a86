package chain

import (
	"cmp"
	"errors"

	"go.starlark.net/starlark"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain/rule"
	"github.com/throng-sim/throng/engine/decision"
	"github.com/throng-sim/throng/engine/internal/clock"
	"github.com/throng-sim/throng/engine/script/value"
	"github.com/throng-sim/throng/engine/service"
)

// replacement returns the answer of agents that do not ask, or get no answer.
func (c *completion) replacement(t *turn) (out value.Value, err error) {
	err = t.spent(func() error {
		out, err = c.Answer(t)
		return err
	})
	if err != nil || c.shape != nil {
		return out, err
	}
	text, _ := starlark.AsString(out)
	return written(text, ""), nil
}

// compared records the answer of the model, which the session uses, and that of the rule.
func (c *completion) compared(t *turn, out value.Value) {
	if !c.Labeled() {
		return
	}
	p := &decision.Pair{Model: c.Labels(out)}
	if len(p.Model) == 0 {
		return
	}
	if c.Replaces() {
		if v, err := c.Answer(t); err == nil { // nothing needs the answer, so the rule may fail
			p.Rule = c.Labels(v)
		}
	}
	p.Seen = rule.Seen(t.x.in.Memory)
	t.record().Decision = p
}

// shadowed asks the model too, if the session is in the sample, and records both answers. Whatever the model answers, or that it does not,
// changes nothing for the session. The error is that of a session that ends meanwhile.
func (c *completion) shadowed(t *turn, used value.Value) error {
	if t.x.in.Agents == nil { // a chain runs alone
		return nil
	}
	asks, err := c.Shadowed(t, t.x.s, t.path, t.x.in.Agents.Count())
	if err != nil || !asks {
		return err
	}
	if err := t.dry(); err != nil {
		return err
	}
	p := &decision.Pair{Used: decision.Rule, Rule: c.Labels(used), Seen: rule.Seen(t.x.in.Memory)}
	out, err := c.aside(t)
	step, failed := errors.AsType[*engine.StepError](err)
	switch {
	case err == nil:
		p.Model = c.Labels(out)
	case failed && !errors.Is(err, service.ErrDiverged):
		p.Failed = step.Class.String()
	default:
		return err
	}
	t.record().Decision = p
	return nil
}

// aside asks the model with the step's clocks paused, and a clock of its own. The step counts what the call used. The error is a
// *engine.StepError, or the end of the session.
func (c *completion) aside(t *turn) (out value.Value, err error) {
	t.pathKey() // the model answers as it would have answered in the place of the rule
	outer := t.clock()
	outer.Hold()
	defer outer.Release()
	at, x := *t, execution{s: t.x.s, in: t.x.in, key: t.x.key, before: t.x.before}
	at.x, at.path, at.at = &x, t.path+decision.Aside, 0
	x.row = &engine.SessionRow{Steps: []engine.StepRecord{{Path: at.path}}}
	limit := cmp.Or(t.step.timeout, t.x.s.Settings().ChainTimeout)
	own := clock.New(outer.Context(), limit, &service.Overtime{Path: at.path, Limit: limit})
	at.timed = timed{clock: own}
	defer own.Stop()
	out, err = c.question(&at)
	t.x.s.SettleMemory(at.path, 0)
	t.record().Take(at.record())
	if outer.Context().Err() != nil || errors.Is(err, engine.ErrCut) {
		return nil, err
	}
	if over, ok := errors.AsType[*service.Overtime](err); ok {
		err = &engine.StepError{Class: engine.Timeout, Err: over}
	}
	return out, err
}
