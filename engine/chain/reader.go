package chain

import (
	"errors"
	"math"
	"slices"
	"time"

	"github.com/throng-sim/throng/engine/chain/expr"
	"github.com/throng-sim/throng/engine/chain/layout"
	"github.com/throng-sim/throng/engine/chain/retry"
	"github.com/throng-sim/throng/engine/chain/tools"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/script/known"
)

// Reader reads the chains of a file. Errors go to the report of the nodes.
type Reader struct {
	expr.File
	Services map[string]*Service
	// Blind means that the functions have errors or could not be read, so the names that they define are unknown.
	Blind bool
	// Functions means that the file has some, so a python step that names an unknown one is an error.
	Functions bool
	// Open opens a file of the scenario's folder.
	Open func(file string) ([]byte, error)
	// Agents points to the number of agents of the scenario, which may become known later; nil means one.
	Agents *int
	// More, if set, reads connectors that the file does not define.
	More func(name string)

	chains     map[string]*Chain
	defined    []string // names of the chains, in file order
	groups     []groupAt
	connectors map[string]*connector
	standIn    *Service // nil if not needed
	mocked     []string
	recalls    *bool // steps recall notes; see recalling
	shapes

	tools map[string]*tools.Tool // of the file
	uses  map[*tools.Tool]action // of the tools

	places   map[*Step]layout.Step // where the steps of all chains stand
	timeouts map[*Chain]*doc.Node
}

const (
	maxChainSteps = 10_000 // of a chain

	anyInt = math.MaxInt32
)

// baseNames are the names that every expression of a step may use, in addition to loop variables and the file's
// definitions.
var baseNames = []string{"agent", "session", "steps", "input", "previous", "now"}

// Chain reads a chain.
func (r *Reader) Chain(name string, n *doc.Node) *Chain {
	if n.Kind() != doc.List {
		n.Fields("timeout", "steps", "step NAME", "label")
	}
	c := r.declared(name)
	r.timeouts[c] = n.Get("timeout")
	c.Timeout = r.timeouts[c].Duration(time.Millisecond, 0)
	in := r.in(baseNames, nil)
	in.chain = layout.Collect(n)
	in = in.knowing("input", func() *known.Shape { return known.One(r.inputs[name]...) })
	c.Body = in.block(n)
	if len(c.Body.Steps) == 0 {
		n.Errorf("`step NAME: {kind: …}`", "the chain %s has no steps", name)
	}
	return c
}

// reader reads the steps of one block. It knows which names and steps its expressions can see.
type reader struct {
	*Reader
	expr.Compiler
	chain  *layout.Names
	scope  *scope
	holder *Service                       // whose secrets values may use; nil for none
	shared bool                           // it belongs to a connector, so the steps around it are unknown
	known  map[string]func() *known.Shape // what some names look like
}

// in returns a reader of expressions that may use names, and the secrets of a service if it is not nil.
func (r *Reader) in(names []string, of *Service) *reader {
	in := &reader{Reader: r, Compiler: expr.Compiler{File: &r.File, Names: names}}
	in.hold(of)
	in.look()
	return in
}

// hold lets values use the secrets of a service.
func (r *reader) hold(s *Service) {
	r.holder, r.Secrets, r.Cookies = s, nil, s != nil && s.Cookies
	if s != nil {
		r.Secrets = s
	}
}

// open opens a file of the scenario's folder.
func (r *Reader) open(file string) ([]byte, error) {
	if r.Open == nil {
		return nil, errors.New("there is no folder of files")
	}
	return r.Open(file)
}

// look makes the steps in scope visible to expressions. Call it after a change of chain, scope or shared.
func (r *reader) look() {
	r.Steps = &view{r.Reader, r.chain, r.scope, r.shared, r.known}
}

// scope is the steps that an expression can see: those of the block that have ended when its step begins, and those
// visible from the block's position.
type scope struct {
	up    *scope
	block *Block
	step  *Step // the step of the expression
}

// sees reports whether a step of the scope's own block has ended.
func (s *scope) sees(i int) bool {
	seg := &s.block.segments[s.step.segment]
	return i < seg.from || s.step.node != nil && s.step.node.before.Has(i-seg.from)
}

func (s *scope) has(name string) bool {
	for ; s != nil; s = s.up {
		if i, ok := s.block.index[name]; ok && s.sees(i) {
			return true
		}
	}
	return false
}

// kind returns the kind of a visible step, or "".
func (s *scope) kind(name string) string {
	for ; s != nil; s = s.up {
		if i, ok := s.block.index[name]; ok {
			return s.block.Steps[i].Kind
		}
	}
	return ""
}

// use records that an expression uses the output of a step.
func (s *scope) use(name string) {
	for ; s != nil; s = s.up {
		if i, ok := s.block.index[name]; ok {
			s.block.Steps[i].used = true
			return
		}
	}
}

func (s *scope) all() []string {
	var all []string
	for ; s != nil; s = s.up {
		for i, step := range s.block.Steps {
			if s.sees(i) {
				all = append(all, step.Name)
			}
		}
	}
	return all
}

// block reads the steps of a block: first their names and order, which determine what each can see.
func (r *reader) block(n *doc.Node) *Block {
	b := &Block{index: map[string]int{}}
	layout.Check(n)
	var list []layout.Step
	for name, at := range layout.Steps(n) {
		switch {
		case !expr.IsName(name):
			at.NameErrorf(expr.NameHint, "%q cannot be the name of a step", name)
		case r.chain.Taken[name]:
			at.NameErrorf("names are unique in a chain", "there is another step %s", name)
		}
		if len(r.chain.Taken) == maxChainSteps {
			at.NameErrorf("", "more than %d steps", maxChainSteps)
			break
		}
		r.chain.Taken[name] = true
		b.index[name] = len(b.Steps)
		line, _ := at.Entry.Key.Position()
		b.Steps = append(b.Steps, &Step{Name: name, Label: name, place: len(b.Steps), file: at.Entry.Key.File(), line: line})
		list = append(list, at)
		r.places[b.Steps[len(list)-1]] = at
	}
	r.order(b, list)
	for i, at := range list {
		inner := *r
		inner.scope = &scope{up: r.scope, block: b, step: b.Steps[i]}
		inner.look()
		r.views[b.Steps[i]] = inner.Steps.(*view) //nolint:forcetypeassert // as look says
		inner.step(b.Steps[i], at)
	}
	for i := range b.segments {
		if b.segments[i].grouped() {
			r.groups = append(r.groups, groupAt{b, &b.segments[i], list})
		}
	}
	return b
}

// branch reads the block under a key of a control-flow step, with additional names in scope.
func (r *reader) branch(n *doc.Node, names ...string) *Block {
	if n.Kind() == doc.Map {
		n.Fields("step NAME", "steps")
	}
	inner := *r
	inner.Names = append(slices.Clone(r.Names), names...)
	b := inner.block(n)
	if n != nil && len(b.Steps) == 0 {
		n.Errorf("`step NAME: {kind: …}`", "no steps")
	}
	return b
}

// step reads the keys of a step, except those for its order.
func (r *reader) step(s *Step, at layout.Step) {
	n := at.Body
	if n.Kind() != doc.Map {
		n.Errorf("`step "+s.Name+": {kind: http, …}`", "the step %s has no keys", s.Name)
		return
	}
	k, known := r.kind("the step "+s.Name, n)
	s.Kind = k.name
	if known {
		keys := slices.Concat(commonKeys, k.keys)
		if at.Listed {
			keys = append(keys, "name")
		}
		n.Fields(keys...)
	}
	if l := n.Get("label"); l != nil {
		s.Label = l.Text()
	}
	s.when = r.Expression(n.Get("when"))
	s.timeout = n.Get("timeout").Duration(time.Millisecond, 0)
	s.retry = retry.Read(n.Get("retry"))
	s.continues = n.Get("on_error").OneOf("fail", "continue") == "continue"
	if d := n.Get("default"); d != nil {
		if n.Get("on_error").Kind() == doc.Scalar && !s.continues {
			d.Errorf("`on_error: continue`, or no `on_error`", "`default` on a step whose failure ends the session")
		}
		s.continues, s.fallback = true, r.Data(d, "default")
	}
	s.private = layout.Private(n)
	if known {
		s.action = k.read(r, n)
		if _, asks := s.action.(asker); !asks {
			n.Get("retry").Warnf("remove it", "a step of kind %s sends no requests, so it is not retried", s.Kind)
		}
	}
}

// writing returns a reader for a request that changes something, or for one that does not.
func (r *reader) writing(changes bool) *reader {
	inner := *r
	inner.Changes = changes
	return &inner
}

// telling returns a reader for a value that must be the same in all runs with one seed; what names it.
func (r *reader) telling(what string) *reader {
	inner := *r
	inner.Stable = what
	return &inner
}
