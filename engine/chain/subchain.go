package chain

import (
	"slices"

	"github.com/throng-sim/throng/engine/chain/layout"

	"github.com/throng-sim/throng/engine/chain/expr"
	"github.com/throng-sim/throng/engine/chain/outputs"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/script/known"
	"github.com/throng-sim/throng/engine/script/value"
)

// subchain runs another chain of the file as one step. That chain sees only its input, none of the steps around it.
// The output is that of its last successful step.
type subchain struct {
	chain *Chain     // nil after an error
	input expr.Value // nil means missing
	at    *doc.Node
}

func readSubchain(r *reader, n *doc.Node) action {
	n.Require("target")
	r.feed(n.Get("target").Text(), outputs.Data(n.Get("input")))
	return chainNamed(r.Reader, n.Get("target"), r.Data(n.Get("input"), "input"))
}

// chainNamed returns the action that runs the chain that a node names.
func chainNamed(r *Reader, at *doc.Node, input expr.Value) *subchain {
	s := &subchain{input: input, at: at}
	name := s.at.Text()
	if name == "" {
		return s
	}
	var known bool
	if s.chain, known = r.chains[name]; !known {
		s.at.Guess(r.Near(name, slices.Clone(r.defined), "name a chain of the file")).Errorf("there is no chain %s", name)
	}
	return s
}

func (s *subchain) run(t *turn) (value.Value, error) {
	input, err := t.data(s.input)
	if err != nil {
		return nil, err
	}
	p := &pass{block: s.chain.Body, owner: t, prefix: t.path + ".", timed: &t.timed, input: input}
	if err := t.x.run(p); err != nil {
		return nil, err
	}
	if p.last == nil {
		return value.Missing, nil
	}
	return p.last, nil
}

// Declare registers the names of a file's chains before the first is read, so that steps may run any of them.
func (r *Reader) Declare(names ...string) {
	for _, name := range names {
		r.declared(name)
	}
}

// declared returns a chain by name, which may not be read yet.
func (r *Reader) declared(name string) *Chain {
	if c, ok := r.chains[name]; ok {
		return c
	}
	if r.chains == nil {
		r.chains, r.places, r.timeouts = map[string]*Chain{}, map[*Step]layout.Step{}, map[*Chain]*doc.Node{}
		r.views, r.outputs = map[*Step]*view{}, map[*Step]*known.Shape{}
	}
	c := &Chain{Name: name}
	r.chains[name] = c
	r.defined = append(r.defined, name)
	return c
}

// Link checks the chains once all of them are read: no chain runs itself, unordered changing requests go to different
// services, and other likely mistakes.
func (r *Reader) Link() {
	r.Settle()
	l := &linking{seen: map[*Chain]visited{}}
	for _, name := range r.defined {
		l.visit(r.chains[name])
	}
	if l.cyclic {
		return
	}
	known := map[*Chain][]*Service{}
	for _, g := range r.groups {
		g.warn(known)
	}
	for _, check := range checks() {
		for _, name := range r.defined {
			check(r, r.chains[name])
		}
	}
}

// linking looks for chains that run themselves, directly or indirectly.
type linking struct {
	seen   map[*Chain]visited
	path   []*Chain
	cyclic bool
}

func (l *linking) visit(c *Chain) {
	if l.seen[c] == done {
		return
	}
	l.seen[c] = underWay
	l.path = append(l.path, c)
	c.Walk(func(_ string, s *Step) {
		sub, ok := s.action.(*subchain)
		if !ok || sub.chain == nil {
			return
		}
		if l.seen[sub.chain] == underWay {
			l.reportCycle(sub)
			return
		}
		l.visit(sub.chain)
		if s.timeout == 0 {
			s.timeout = sub.chain.Timeout
		}
	})
	l.path = l.path[:len(l.path)-1]
	l.seen[c] = done
}

// reportCycle reports a step that runs a chain which is on the path.
func (l *linking) reportCycle(sub *subchain) {
	l.cyclic = true
	var says []string
	at := slices.Index(l.path, sub.chain)
	for i, c := range l.path[at:] {
		next := sub.chain
		if i+1 < len(l.path)-at {
			next = l.path[at+i+1]
		}
		says = append(says, c.Name+" runs "+next.Name)
	}
	sub.at.Errorf("a chain must not run itself; `while` repeats steps", "a cycle of chains: %s", listed(says))
}

// groupAt is a group of steps with its position in the file.
type groupAt struct {
	block   *Block
	segment *segment
	list    []layout.Step
}

// warn reports the first two steps for each service that change it in no order. known are the services that chains
// change.
func (g groupAt) warn(known map[*Chain][]*Service) {
	changing := map[*Service][]int{}
	var services []*Service
	for i := g.segment.from; i < g.segment.to; i++ {
		for _, s := range changed(g.block.Steps[i], known) {
			if changing[s] == nil {
				services = append(services, s)
			}
			changing[s] = append(changing[s], i)
		}
	}
	for _, s := range services {
		if i, j, ok := g.unordered(changing[s]); ok {
			first := g.block.Steps[i].Name
			g.list[j].Entry.Key.Warnf("make sure that they are independent, or add `depends_on: ["+first+"]`",
				"%s and %s change the service %s in no order", first, g.block.Steps[j].Name, s.Name)
		}
	}
}

// unordered finds two steps that do not depend on each other.
func (g groupAt) unordered(steps []int) (i, j int, ok bool) {
	from := g.segment.from
	for at, j := range steps {
		for _, i := range steps[:at] {
			if !g.block.Steps[i].node.before.Has(j-from) && !g.block.Steps[j].node.before.Has(i-from) {
				return i, j, true
			}
		}
	}
	return 0, 0, false
}

// changed returns the services that a step changes, each once.
func changed(s *Step, known map[*Chain][]*Service) (services []*Service) {
	add := func(s *Step) {
		if a, ok := s.action.(asker); ok && a.changes() != nil && !slices.Contains(services, a.changes()) {
			services = append(services, a.changes())
		}
	}
	sub, ok := s.action.(*subchain)
	if !ok || sub.chain == nil {
		(&Chain{Body: &Block{Steps: []*Step{s}}}).everywhere(add) // a step with tools contains others
		return services
	}
	if _, ok := known[sub.chain]; !ok {
		sub.chain.everywhere(add)
		known[sub.chain] = services
	}
	return known[sub.chain]
}
