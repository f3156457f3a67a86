package chain

import (
	"errors"
	"slices"
	"sync"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain/memory"
	"github.com/throng-sim/throng/engine/internal/bitset"
	"github.com/throng-sim/throng/engine/internal/clock"
	"github.com/throng-sim/throng/engine/script/value"
)

// errAbove is the cause of a context that was canceled because a step above in the file ended the block.
var errAbove = errors.New("a step above in the file ended the block")

// group is one execution of the steps of a group, in parallel or sequentially. The result depends neither on the mode
// nor on which step was faster:
//
// - A step runs unless a dependency failed; then it is skipped.
// - Of the steps that end the session, the first in the file counts. Steps above it stay as they are; steps below it
// are canceled, even if they have ended. A step below that one above depends on is canceled only after that.
type group struct {
	x       *execution
	pass    *pass
	segment *segment
	members []member
	inTurn  bool           // its steps run sequentially, on this goroutine
	ended   sync.WaitGroup // of the others

	mu    sync.Mutex // guards the members' states, waits and clocks, and the fields below
	bound int        // first step in the file that ended the session so far
	wrote []int      // members that succeeded and wrote to memory, in file order
}

// member is a step of a group, with its own execution. Its records are joined when all members have ended.
type member struct {
	group  *group
	step   *Step
	at     int // position in the group
	x      execution
	in     Input
	memory memory.View
	own    engine.Delta // memory that it wrote
	row    engine.SessionRow
	clock  *clock.Clock // nil if the steps run sequentially
	state  state
	waits  int // number of dependencies that have not ended
	out    value.Value
	err    error
}

// state is the progress of a member.
type state uint8

const (
	waiting state = iota
	running
	succeeded
	failed  // it ended the session, or was canceled
	skipped // skipped because a dependency did not succeed
	dropped // not started, because a step above ended the session
)

// group executes the steps of a group. An error ends the session, and last is its step.
func (x *execution) group(p *pass, seg *segment) (last int, err error) {
	n := seg.to - seg.from
	g := &group{x: x, pass: p, segment: seg, members: make([]member, n), bound: n}
	g.inTurn = x.s.Settings().SequentialSteps || seg.computes(p.block)
	var ready []int
	for at := range g.members {
		m := &g.members[at]
		m.group, m.at, m.step = g, at, p.block.Steps[seg.from+at]
		if m.waits = len(m.step.node.waits); m.waits == 0 {
			ready = append(ready, at)
		}
	}
	if g.inTurn {
		for _, i := range seg.order {
			g.run(i - seg.from)
		}
	} else {
		p.timed.start(x.s) // create it before concurrent use
		g.work(ready)
		g.ended.Wait()
	}
	return g.join()
}

// work executes steps that are ready, the last of them on this goroutine, and the steps that they make ready.
func (g *group) work(ready []int) {
	for len(ready) > 0 {
		last := len(ready) - 1
		for _, at := range ready[:last] {
			g.ended.Go(func() { g.work([]int{at}) })
		}
		ready = g.run(ready[last])
	}
}

// run executes a step, unless it is no longer needed, and returns the steps that became ready.
func (g *group) run(at int) (ready []int) {
	m := &g.members[at]
	if !g.begin(m) {
		return nil
	}
	m.execute()
	return g.end(m)
}

// begin creates a member's execution.
func (g *group) begin(m *member) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if m.state != waiting {
		return false
	}
	m.state = running
	x, p := g.x, g.pass
	x.in.Memory.Fork(&m.memory)
	for _, at := range g.wrote {
		if m.step.node.before.Has(at) {
			m.memory.Join(g.members[at].memory.Own)
		}
	}
	m.memory.Own = &m.own
	m.in = *x.in
	m.in.World, m.in.Memory = x.in.World.With(&m.memory), &m.memory
	m.x = execution{s: x.s, in: &m.in, key: x.key, row: &m.row, before: x.before + len(x.row.Steps), kept: x.kept, held: x.held}
	m.x.cookies = x.cookies.Fork()
	for at := range g.members {
		if m.step.node.before.Has(at) {
			m.x.cookies.Inherit(&g.members[at].x.cookies)
		}
	}
	m.x.time.up = p.timed
	if !g.inTurn {
		m.clock = p.timed.clock.Branch()
		m.x.time.clock = m.clock
	}
	m.x.body = pass{
		block: p.block, owner: p.owner, prefix: p.prefix, outputs: p.outputs, member: m,
		local: p.local, value: p.value, input: p.input, timed: &m.x.time,
	}
	return true
}

// isMember reports whether the execution is that of a step of a group.
func (x *execution) isMember() bool { return x.row != x.s.Row }

// execute runs the step; a panic is its failure.
func (m *member) execute() {
	defer func() {
		if cause := recover(); cause != nil {
			m.err = m.x.panicked(cause)
		}
	}()
	if m.err = m.x.room(&m.x.body, m.step); m.err != nil {
		return
	}
	m.out, m.err = m.x.step(&m.x.body, m.step)
	if err := tooMuch(m.x.kept-m.group.x.kept, m.group.segment.share()); err != nil && m.err == nil {
		m.out, m.err = nil, &failedAt{path: m.x.body.prefix + m.step.Name, err: err}
	}
}

// end notifies the other members that one has ended.
func (g *group) end(m *member) (ready []int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if m.clock != nil {
		m.clock.Stop()
	}
	if m.err != nil {
		m.state = failed
		g.skip(m)
		if m.at < g.bound {
			g.bound = m.at
			g.cancel()
		}
		return nil
	}
	m.state = succeeded
	if !m.memory.Own.Empty() {
		i, _ := slices.BinarySearch(g.wrote, m.at)
		g.wrote = slices.Insert(g.wrote, i, m.at)
	}
	for _, i := range m.step.node.next {
		next := &g.members[i-g.segment.from]
		next.waits--
		if next.waits == 0 && next.state == waiting {
			ready = append(ready, next.at)
		}
	}
	return ready
}

// skip marks all steps that depend on a member which did not succeed.
func (g *group) skip(m *member) {
	for _, i := range m.step.node.next {
		if next := &g.members[i-g.segment.from]; next.state == waiting {
			next.state = skipped
			g.skip(next)
		}
	}
}

// cancel ends the members below the bound, except those that a step above it depends on.
func (g *group) cancel() {
	needed := bitset.New(len(g.members))
	for at := range g.bound {
		needed.AddAll(g.members[at].step.node.before)
	}
	for at := g.bound + 1; at < len(g.members); at++ {
		m := &g.members[at]
		switch {
		case needed.Has(at):
		case m.state == waiting:
			m.state = dropped
		case m.state == running && m.clock != nil:
			m.clock.Cancel(errAbove)
		}
	}
}

// join adds the members' records to the enclosing execution, in file order.
func (g *group) join() (last int, err error) {
	x, p := g.x, g.pass
	kept, held := x.kept, x.held
	for at := range g.members {
		m := &g.members[at]
		if at > g.bound {
			x.s.Forget(p.prefix + m.step.Name)
			continue
		}
		if m.state == skipped {
			x.row.Steps = append(x.row.Steps, engine.StepRecord{Path: p.prefix + m.step.Name, Status: engine.StepSkipped})
			continue
		}
		if m.clock != nil && m.step.node.parallelTo {
			for i := range m.row.Steps {
				m.row.Steps[i].Parallel = true
			}
		}
		x.row.Steps = append(x.row.Steps, m.row.Steps...)
		x.row.Events = append(x.row.Events, m.row.Events...)
		x.in.Memory.Join(m.memory.Own)
		x.cookies.Join(&m.x.cookies)
		x.kept += m.x.kept - kept
		x.held += m.x.held - held
		p.outputs = append(p.outputs, m.out)
		if m.x.body.last != nil {
			p.last = m.x.body.last
		}
	}
	if g.bound < len(g.members) {
		return g.segment.from + g.bound, g.members[g.bound].err
	}
	return g.segment.to - 1, nil
}

// output returns the output of step i of the block, or nil if the current step of this pass cannot see it.
func (p *pass) output(i int) value.Value {
	s := p.turn.step
	if seg := &p.block.segments[s.segment]; seg.grouped() && i >= seg.from {
		if at := i - seg.from; !s.node.before.Has(at) {
			return nil
		} else if p.member != nil {
			return p.member.group.members[at].out
		}
	}
	if i < len(p.outputs) {
		return p.outputs[i]
	}
	return nil
}

// previous returns what the current step sees as previous: its dependencies, else the segment above.
func (t *turn) previous() value.Value {
	p, named := t.frame, []int(nil)
	if n := t.step.node; n != nil {
		named = n.named
	}
	if len(named) == 1 {
		return p.output(named[0])
	}
	if len(named) > 1 {
		values := make([]value.Value, len(named))
		for i, step := range named {
			values[i] = p.output(step)
		}
		return t.step.node.shape.Record(values...)
	}
	if t.step.segment == 0 {
		return value.Missing
	}
	seg := &p.block.segments[t.step.segment-1]
	if !seg.grouped() {
		return p.output(seg.from)
	}
	return seg.shape.Record(slices.Clone(p.outputs[seg.from:seg.to])...)
}
