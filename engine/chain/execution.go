package chain

import (
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain/memory"
	"github.com/throng-sim/throng/engine/chain/message"
	"github.com/throng-sim/throng/engine/internal/draw"
	"github.com/throng-sim/throng/engine/script"
	"github.com/throng-sim/throng/engine/script/value"
	"github.com/throng-sim/throng/engine/service"
	"github.com/throng-sim/throng/engine/service/cookies"
)

const (
	// maxSteps is how many steps a session may take, counting every pass of a loop.
	maxSteps = 100_000
	// lookEvery is after how many steps a session that never waits checks its timeouts.
	lookEvery = 1024
)

// Input is the input of a session.
type Input struct {
	World  World             // names that its steps see in addition to each other: agent, session, now, input
	Memory *memory.View      // memory that World's agent shows
	Agents message.Directory // agents that may receive messages
	Acted  string            // the event that stops the session; "" for none
	Bound  Bound             // the run's copies of services; nil uses the services themselves
	Watch  *Watch            // records the session's outputs; nil records nothing
	Dry    bool              // stop with the reason [Asks] before the first request or python step, and skip waits
}

// Asks is why a dry session stops. No scenario can give this reason.
const Asks = "\x00asks"

// World is what the steps of a session see in addition to each other. It is used by one goroutine.
type World interface {
	script.Names
	// With returns the same world for another goroutine, with an agent that shows another view of its memory.
	With(memory *memory.View) World
}

// execution is one running session, or one step of a group in it.
type execution struct {
	s       *engine.Session
	in      *Input
	row     *engine.SessionRow // destination of records and events: the session's, or a member's own
	before  int                // steps recorded before it began
	kept    int                // bytes of its steps' outputs that it holds
	held    int                // part of them that is claimed from the run's memory budget
	key     draw.Key
	cookies cookies.Log // set by the answers to its steps
	time    timed       // of the chain or the member
	body    pass
	at      *turn             // innermost running step, to which a panic belongs
	text    []byte            // buffer for JSON
	outputs []value.Value     // buffer for the outputs of the body's steps
	records *value.Rooms      // of a pooled execution; else nil
	scripts *script.Evaluator // of a pooled execution; else nil
}

// output returns an output of a step as a record. Those of the body's steps are used again: a session leaves only JSON text behind.
func (x *execution) output(t *turn, shape *value.Shape, values ...value.Value) value.Value {
	if t.frame != &x.body {
		return shape.Of(values...)
	}
	return x.records.Of(shape, values...)
}

// stoppedError ends a session early without a failure.
type stoppedError struct{ path, because string }

func (e *stoppedError) Error() string { return "stopped: " + e.because }

// failedAt is a failure or timeout that ends the session, with its step.
type failedAt struct {
	path string
	err  error
	over error // end of more than the step's own time; nil if an enclosing step may ignore the failure
}

func (e *failedAt) Error() string { return e.path + ": " + e.err.Error() }
func (e *failedAt) Unwrap() error { return e.err }

// Run executes the chain for a session and fills in its row.
func (c *Chain) Run(s *engine.Session, in *Input) {
	limit := c.Timeout
	if limit == 0 {
		limit = s.Settings().ChainTimeout
	}
	x := executions.Get().(*execution)
	x.s, x.in, x.row, x.key = s, in, s.Row, engine.SessionKey(s.Settings().Seed, s.Cycle, s.Agent)
	x.time.limit = limit
	x.body.block, x.body.timed, x.body.outputs = c.Body, &x.time, x.outputs
	x.in.Watch.begin()
	defer x.recovered(c)
	err := x.run(&x.body)
	x.time.stop()
	x.settle(err)
	if in.Watch != nil {
		in.Watch.end(x, c, err)
		return
	}
	x.leave()
}

// leave makes the execution available to another session. After a panic it is left to the garbage collector.
func (x *execution) leave() {
	const most = 64 << 10
	outputs, text, records, scripts := x.body.outputs, x.text, x.records, x.scripts
	clear(outputs)
	if cap(text) > most {
		text = nil
	}
	records.Clear()
	*x = execution{}
	x.outputs, x.text, x.records, x.scripts = outputs[:0], text[:0], records, scripts
	executions.Put(x)
}

// executions are pooled. A session must leave no references to its own state.
var executions = sync.Pool{New: func() any { return &execution{records: new(value.Rooms), scripts: new(script.Evaluator)} }}

// recovered converts a panic to a failure of its step and of the session.
func (x *execution) recovered(c *Chain) {
	p := recover()
	if p == nil {
		return
	}
	err := x.panicked(p)
	if x.at != nil {
		x.cancel(&x.body, len(x.body.outputs)+1)
	}
	x.time.stop()
	x.settle(err)
	x.in.Watch.end(x, c, err)
}

// panicked converts a panic to a failure of its step and of the enclosing steps in this execution.
func (x *execution) panicked(cause any) error {
	err := &failedAt{err: panicError(cause)}
	if x.at != nil {
		err.path = x.at.path
	}
	for t := x.at; t != nil; t = t.frame.owner {
		t.timed.stop()
		r := t.record()
		r.Status, r.Class = engine.StepFailed, engine.Panic
		if t.frame == &x.body {
			break
		}
		x.cancel(t.frame, len(t.frame.outputs)+1)
	}
	return err
}

// panicError is the failure for a panic that was just recovered.
func panicError(cause any) error {
	return &engine.StepError{Class: engine.Panic, Err: fmt.Errorf("panic: %v\n%s", cause, debug.Stack())}
}

// settle records how the session ended.
func (x *execution) settle(err error) {
	row := x.s.Row
	for i := range row.Steps {
		row.Throttled += row.Steps[i].Throttled
		row.Service += row.Steps[i].Service
	}
	if err == nil {
		row.Outcome = engine.OK
	} else if stop, ok := errors.AsType[*stoppedError](err); ok {
		row.Outcome, row.Path, row.Because = engine.Stopped, stop.path, string(settled(x.s, []byte(stop.because)))
	} else if failed, ok := errors.AsType[*failedAt](err); ok {
		row.Fail(failed.path, failed.err)
	} else {
		row.Fail("", err)
	}
	if row.Outcome.Commits() {
		row.Delta = x.in.Memory.Take()
	}
	row.Acted = row.Outcome == engine.OK && x.in.Acted == ""
	for i := range row.Events {
		row.Acted = row.Acted || x.in.Acted != "" && row.Events[i].Name == x.in.Acted
	}
}

// run executes the segments of a block in file order. Its error ends the session: a *failedAt or a *stoppedError.
func (x *execution) run(p *pass) error {
	if n := len(p.block.Steps); n > cap(p.outputs) {
		p.outputs = make([]value.Value, 0, n)
	}
	for i := range p.block.segments {
		seg := &p.block.segments[i]
		last, err := seg.from, error(nil)
		switch {
		case seg.grouped() && seg.plain(p.block):
			last, err = x.turns(p, seg)
		case seg.grouped():
			last, err = x.group(p, seg)
		default:
			err = x.single(p, p.block.Steps[last])
		}
		if err != nil {
			if _, stopped := errors.AsType[*stoppedError](err); !stopped {
				x.cancel(p, last+1)
			}
			return err
		}
	}
	return nil
}

// single executes a segment of one step.
func (x *execution) single(p *pass, s *Step) error {
	if err := x.room(p, s); err != nil {
		return err
	}
	return x.next(p, s)
}

// room returns an error if the session exceeds its number of steps or its memory; nil if it can continue with s.
func (x *execution) room(p *pass, s *Step) error {
	if x.before+len(x.row.Steps) >= maxSteps {
		return &failedAt{path: p.prefix + s.Name, err: engine.Fail(engine.LoopLimit, "more than %d steps in a session", maxSteps)}
	}
	if err := tooMuch(x.kept, maxKept); err != nil {
		return &failedAt{path: p.prefix + s.Name, err: err}
	}
	return nil
}

// next executes the step whose output is the pass's next one.
func (x *execution) next(p *pass, s *Step) error {
	out, err := x.step(p, s)
	x.at = p.owner
	if err == nil {
		p.outputs = append(p.outputs, out)
	}
	return err
}

// cancel records the steps of a pass from one on as canceled.
func (x *execution) cancel(p *pass, from int) {
	for _, s := range p.block.Steps[from:] {
		x.row.Steps = append(x.row.Steps, engine.StepRecord{Path: p.prefix + s.Name, Status: engine.StepCanceled})
	}
}

// step executes one step, and records its times if there is a subscriber.
func (x *execution) step(p *pass, s *Step) (value.Value, error) {
	trail := x.s.Trail()
	if trail == nil {
		return x.perform(p, s)
	}
	began := time.Now()
	defer func() { trail.Step(p.prefix+s.Name, s.Kind, began) }() // also if it panics
	return x.perform(p, s)
}

// perform executes one step. A failure that the step ignores is not an error.
func (x *execution) perform(p *pass, s *Step) (value.Value, error) {
	t, path := &p.turn, ""
	if p.paths != nil {
		path = p.paths[s.place]
	} else {
		path = p.prefix + s.Name
	}
	*t = turn{} // first, so that it is cleared in place
	t.x, t.step, t.frame, t.path, t.at = x, s, p, path, len(x.row.Steps)
	t.timed.up, t.timed.of, t.timed.limit = p.timed, t, s.timeout
	x.at = t
	x.row.Steps = append(x.row.Steps, engine.StepRecord{Path: t.path})
	x.in.Watch.started(t)
	if err := t.begin(); err != nil {
		return t.failed(err)
	}
	if s.when != nil {
		v, err := s.when.Eval(t.Context("when"))
		if err != nil {
			return t.failed(err)
		}
		if !v.Truth() {
			t.record().Status = engine.StepSkipped
			t.timed.stop()
			return value.Missing, nil
		}
	}
	out, err := t.act()
	if err != nil {
		t.x.s.SettleMemory(t.path, 0)
		return t.failed(err)
	}
	t.x.in.Watch.succeeded(t, out)
	if err := t.keep(out); err != nil {
		return t.failed(err)
	}
	t.timed.stop()
	p.last = out
	return out, nil
}

// act runs the step's action, with the options of a connector.
func (t *turn) act() (value.Value, error) {
	if t.step.connects {
		options, err := t.data(t.step.options)
		if err != nil {
			return nil, err
		}
		t.connected, t.options = true, options
	}
	switch a := t.step.action.(type) { // kinds that can wait
	case *wait:
		t.x.s.At(t.path, "")
	case *python:
		if err := t.dry(); err != nil {
			return nil, err
		}
	case sender:
		services, _ := a.asks()
		if _, chooses := a.(*completion); !chooses {
			if err := t.dry(); err != nil {
				return nil, err
			}
		}
		t.x.s.At(t.path, services[0].Name)
	}
	return t.step.action.run(t)
}

// dry stops a dry session before its first request.
func (t *turn) dry() error {
	if t.x.in.Dry {
		return &stoppedError{path: t.path, because: Asks}
	}
	return nil
}

// begin checks whether there is time for the step, and whether there was when the journal was written.
func (t *turn) begin() error {
	switch {
	case t.timed.limit > 0:
		t.clock()
	case t.at%lookEvery == lookEvery-1:
		t.frame.timed.start(t.x.s)
	}
	if cause := t.frame.timed.cause(); cause != nil {
		return cause
	}
	if !t.x.s.Replaying() {
		return nil
	}
	if e, ok := t.x.s.Replay(t.path + ranOut); ok {
		return service.Failure(e)
	}
	if _, asks := t.step.action.(asker); asks {
		return nil // the transport replays the service's answer or its absence
	}
	e, ok := t.x.s.Replay(t.path)
	if !ok {
		return nil
	}
	if err := service.Failure(e); err != nil {
		return err
	}
	return &engine.StepError{Class: engine.ConfigError, Err: service.ErrDiverged}
}

// failed records the step's failure and decides whether the session continues.
func (t *turn) failed(err error) (value.Value, error) {
	if _, stopped := errors.AsType[*stoppedError](err); stopped {
		t.timed.stop()
		return nil, err
	}
	r := t.record()
	r.Status, r.Class = engine.StepFailed, engine.Script
	if step, ok := errors.AsType[*engine.StepError](err); ok {
		r.Class = step.Class
	}
	t.x.in.Watch.failed(t, err)
	var (
		over error
		live bool
	)
	within, inside := errors.AsType[*failedAt](err)
	if inside { // an inner step already recorded where, and whether its time was over: the clock may have moved since
		over = within.over
	} else {
		over, live = t.over(err)
	}
	t.timed.stop()
	switch {
	case errors.Is(over, engine.ErrRetired):
		r.Status, r.Class = engine.StepCanceled, engine.NoError
	case over != nil:
		r.Status, r.Class = engine.StepTimedOut, engine.Timeout
	}
	if limit, ok := errors.AsType[*service.Overtime](over); ok {
		if live && !t.asked {
			t.x.s.Observed(limit.Entry(t.path))
		}
		if limit.Path == t.path { // only this step used up its own time
			over, inside = nil, false
			err = &engine.StepError{Class: engine.Timeout, Err: limit}
		}
	}
	if live {
		t.recordTimeout(over)
	}
	switch {
	case over == nil && t.step.continues && r.Class != engine.Panic && !errors.Is(err, service.ErrDiverged):
		return t.fallback()
	case inside:
		return nil, err
	case over != nil: // more than this step ends, regardless of on_error
		return nil, &failedAt{t.path, over, over}
	}
	return nil, &failedAt{path: t.path, err: err}
}

// fallback returns the output of a failed step that does not end the session.
func (t *turn) fallback() (value.Value, error) {
	if t.step.fallback == nil {
		return value.Missing, nil
	}
	v, err := t.data(t.step.fallback)
	if err != nil {
		return nil, &failedAt{path: t.path, err: fmt.Errorf("its default: %w", err)}
	}
	t.x.in.Watch.succeeded(t, v)
	return v, nil
}

// over returns why the step or an enclosing step cannot continue, or nil. live means that the time is over now, rather
// than according to the journal.
func (t *turn) over(err error) (cause error, live bool) {
	if cause := t.timed.cause(); cause != nil {
		return cause, true
	}
	if errors.Is(err, engine.ErrCut) { // the journal no longer accepts rows
		return err, false
	}
	if limit, ok := errors.AsType[*service.Overtime](err); ok {
		return limit, false
	}
	if limit, ok := errors.AsType[*engine.TimeoutError](err); ok && limit.What != "step" { // according to a recording
		return limit, false
	}
	return nil, false
}

// ranOut follows the path of a step in which the session or its chain timed out.
const ranOut = "!"

// recordTimeout records the timeout, whatever answer the step had received.
func (t *turn) recordTimeout(over error) {
	limit, ok := errors.AsType[*engine.TimeoutError](over)
	if ok && limit.What != "step" && t.x.s.Settings().Record {
		t.x.s.Observed(service.TimeoutEntry(t.path+ranOut, limit))
	}
}

// origin is a time from which durations are measured: the time since then takes half as long to read as the time.
var origin = time.Now()

// spent runs f and counts its time as the step's own.
func (t *turn) spent(f func() error) error {
	start := time.Since(origin)
	err := f()
	t.record().Service += time.Since(origin) - start
	return err
}
