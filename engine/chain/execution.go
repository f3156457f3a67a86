package chain

import (
	"errors"
	"fmt"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/internal/draw"
	"github.com/throng-sim/throng/engine/script"
)

// Input is what the steps of a session can see of the world.
type Input struct {
	Agent, Session, Now script.Value
	Input               script.Value // the chain's payload
	Memory              *Memory      // that Agent shows
	Acted               string       // the event that counts as having acted; "" is not to stop
}

// execution is one session under way.
type execution struct {
	s   *engine.Session
	in  *Input
	key draw.Key
}

// errStopped ends a session early; it is no failure.
type stoppedError struct{ path, because string }

func (e *stoppedError) Error() string { return "stopped: " + e.because }

// stepError is a step's failure with the place it happened at.
type failedAt struct {
	path string
	err  error
}

func (e *failedAt) Error() string { return e.path + ": " + e.err.Error() }
func (e *failedAt) Unwrap() error { return e.err }

// Run takes a session through the chain and fills in its row.
func (c *Chain) Run(s *engine.Session, in *Input) {
	limit := c.Timeout
	if limit == 0 {
		limit = s.Settings().ChainTimeout
	}
	x := &execution{s: s, in: in, key: s.Key()}
	t := &timed{what: "chain", limit: limit}
	err := x.run(&pass{block: c.Body, timed: t})
	t.stop()
	x.settle(err)
}

// settle writes how the session ended.
func (x *execution) settle(err error) {
	row := x.s.Row
	for i := range row.Steps {
		row.Held += row.Steps[i].Held
		row.Service += row.Steps[i].Service
	}
	var stop *stoppedError
	var failed *failedAt
	switch {
	case err == nil:
		row.Outcome = engine.OK
	case errors.As(err, &stop):
		row.Outcome, row.Path, row.Because = engine.Stopped, stop.path, stop.because
	case errors.As(err, &failed):
		row.Fail(failed.path, failed.err)
	default:
		row.Fail("", err)
	}
	if row.Outcome.Commits() {
		row.Delta = x.in.Memory.delta
	}
	row.Acted = row.Outcome == engine.OK && x.in.Acted == ""
	for i := range row.Events {
		row.Acted = row.Acted || x.in.Acted != "" && row.Events[i].Name == x.in.Acted
	}
}

// run executes the steps of a block in file order. Its error ends the session: a *failedAt, a *stoppedError or the
// cause of a context.
func (x *execution) run(p *pass) error {
	p.outputs = make([]script.Value, 0, len(p.block.Steps))
	for _, s := range p.block.Steps {
		out, err := x.step(p, s)
		if err != nil {
			return err
		}
		p.outputs = append(p.outputs, out)
	}
	return nil
}

// step executes one step. A failure that the step lets pass is no error.
func (x *execution) step(p *pass, s *Step) (script.Value, error) {
	t := &turn{
		x: x, step: s, frame: p, path: p.prefix + s.Name, at: len(x.s.Row.Steps),
		timed: timed{up: p.timed, what: "step", limit: s.timeout},
	}
	t.key = x.key.Text(t.path)
	x.s.Row.Steps = append(x.s.Row.Steps, engine.StepRecord{Path: t.path})
	x.s.Row.Path = t.path // where a panic would be
	if s.when != nil {
		v, err := s.when.Eval(t.Context("when"))
		if err != nil {
			return t.failed(err)
		}
		if !v.Truth() {
			t.record().Status = engine.StepSkipped
			return script.Missing, nil
		}
	}
	out, err := s.action.run(t)
	own := t.timed.limit > 0 && t.timed.clock != nil && t.timed.clock.Context().Err() != nil
	t.timed.stop()
	x.s.Row.Path = ""
	switch {
	case err != nil:
		return t.failed(err)
	case own && p.timed.cause() == nil: // its last try came in just as the time was over
		return t.failed(&engine.TimeoutError{What: "step", Limit: t.timed.limit})
	}
	return out, nil
}

// failed records the step's failure and decides whether the session goes on.
func (t *turn) failed(err error) (script.Value, error) {
	var stop *stoppedError
	if errors.As(err, &stop) {
		return nil, err
	}
	r := t.record()
	r.Status, r.Class = engine.StepFailed, engine.Script
	var step *engine.StepError
	if errors.As(err, &step) {
		r.Class = step.Class
	}
	var timeout *engine.TimeoutError
	if errors.As(err, &timeout) {
		r.Status, r.Class = engine.StepTimedOut, engine.Timeout
		if timeout.What == "step" {
			err = &engine.StepError{Class: engine.Timeout, Err: err}
		}
	}
	if cause := t.frame.timed.cause(); cause != nil { // time is over for what is around the step too
		r.Status = engine.StepTimedOut
		return nil, &failedAt{t.path, cause}
	}
	if t.step.goesOn {
		if t.step.fallback == nil {
			return script.Missing, nil
		}
		v, err := t.step.fallback.Eval(t)
		if err == nil {
			return v, nil
		}
		return nil, &failedAt{t.path, fmt.Errorf("its default: %w", err)}
	}
	var inner *failedAt
	if errors.As(err, &inner) {
		return nil, err // the step inside has said where
	}
	return nil, &failedAt{t.path, err}
}

// spent runs f and counts its time as the step's own.
func (t *turn) spent(f func() error) error {
	start := time.Now()
	err := f()
	t.record().Service += time.Since(start)
	return err
}
