package chain

import (
	"cmp"
	"strconv"

	"github.com/throng-sim/throng/engine"
)

// Graph returns the chain for display, with the chains that it runs. It omits steps past engine.MostDrawn, because
// chains that run each other may unfold to very many.
func (c *Chain) Graph() engine.Graph {
	p := picture{room: engine.MostDrawn}
	g := p.block(c.Name, "", c.Body)
	g.Cut = p.cut
	return g
}

// picture is a graph being built.
type picture struct {
	room int // remaining steps
	cut  bool
}

// block adds as many steps of a block as there is room for.
func (p *picture) block(name, prefix string, b *Block) engine.Graph {
	g := engine.Graph{Name: name}
	for i := range b.segments {
		seg := &b.segments[i]
		n := min(seg.to-seg.from, p.room)
		p.cut = p.cut || n < seg.to-seg.from
		p.room -= n
		if n == 0 {
			break
		}
		steps := make([]engine.GraphStep, n)
		for k := range steps {
			steps[k] = p.step(prefix, b.Steps[seg.from+k])
			steps[k].After = b.after(seg.from+k, seg.from, n)
		}
		g.Segments = append(g.Segments, steps)
	}
	return g
}

// after returns which of the n steps from one on a step waits for, counted from there.
func (b *Block) after(i, from, n int) (all []int) {
	if b.Steps[i].node == nil {
		return nil
	}
	for _, j := range b.Steps[i].node.waits {
		if j-from < n {
			all = append(all, j-from)
		}
	}
	return all
}

func (p *picture) step(prefix string, s *Step) engine.GraphStep {
	g := engine.GraphStep{Path: prefix + s.Name, Name: s.Name, Label: s.Label, Kind: s.Kind, Service: s.Service(), Facts: s.facts()}
	inner := func(name string, b *Block) {
		if b != nil && len(b.Steps) > 0 {
			g.Inner = append(g.Inner, p.block(name, g.Path+".", b))
		}
	}
	switch a := s.action.(type) {
	case *request:
		g.Endpoint = cmp.Or(a.endpoint, a.method)
	case *branch:
		g.Controls = a.condition.Source()
		inner("then", a.then)
		inner("else", a.otherwise)
	case *loop:
		g.Controls = a.as + " in " + a.each.Source()
		inner("do", a.do)
	case *while:
		g.Controls = a.condition.Source()
		inner("do", a.do)
	case *completion:
		for _, b := range a.blocks() {
			inner("tool "+b.Steps[0].Name, b)
		}
	case *subchain:
		if a.chain != nil {
			g.Controls = a.chain.Name
			inner(a.chain.Name, a.chain.Body)
		}
	}
	return g
}

// facts returns the common keys of a step, and the limit of a loop.
func (s *Step) facts() (all []engine.GraphFact) {
	add := func(known bool, word, text string) {
		if known {
			all = append(all, engine.GraphFact{Word: word, Text: text})
		}
	}
	if s.when != nil {
		add(true, "when", s.when.Source())
	}
	add(s.timeout > 0, "timeout", engine.FormatDuration(s.timeout))
	add(s.retry.Attempts > 0, "attempts", strconv.Itoa(s.retry.Attempts))
	switch a := s.action.(type) {
	case *request:
		add(a.method != "", "request", a.method)
	case *completion:
		add(a.cache != nil, "answers", "shared by sessions")
		add(a.tools != nil, "tools", strconv.Itoa(len(a.blocks()))+", "+strconv.Itoa(a.tools.rounds())+" rounds")
	case *loop:
		add(a.limit > 0, "limit", strconv.Itoa(a.limit)+" passes")
	case *while:
		add(true, "limit", strconv.Itoa(a.limit)+" passes")
	}
	add(s.continues, "on error", "continues")
	return all
}
