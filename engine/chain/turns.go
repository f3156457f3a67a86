package chain

import "slices"

// computes reports whether no step of a group can wait. Such steps run sequentially, which is cheaper than starting
// goroutines.
func (s *segment) computes(b *Block) bool {
	return !slices.ContainsFunc(b.Steps[s.from:s.to], func(step *Step) bool {
		switch step.action.(type) {
		case *python, *emit, *remember, *say:
			return false
		}
		return true
	})
}

// plain reports whether the steps of a group can run like plain steps, in file order: they only compute, none waits
// for a later one, and none writes to memory, which other steps must see unchanged.
func (s *segment) plain(b *Block) bool {
	return s.inOrder && !slices.ContainsFunc(b.Steps[s.from:s.to], func(step *Step) bool {
		switch step.action.(type) {
		case *python, *emit:
			return false
		}
		return true
	})
}

// turns executes the steps of a group sequentially, with the visibility rules of a group. The first step in file order
// that ends the session is the first to run. An error ends the session, and last is its step.
func (x *execution) turns(p *pass, seg *segment) (last int, err error) {
	if err := x.room(p, p.block.Steps[seg.from]); err != nil {
		return seg.from, err
	}
	for i := seg.from; i < seg.to; i++ {
		s, kept := p.block.Steps[i], x.kept
		err := x.next(p, s)
		if much := tooMuch(x.kept-kept, seg.share()); much != nil && err == nil {
			err = &failedAt{path: p.prefix + s.Name, err: much}
		}
		if err != nil {
			for _, s := range p.block.Steps[i+1 : seg.to] {
				x.s.Forget(p.prefix + s.Name)
			}
			return i, err
		}
	}
	return seg.to - 1, nil
}
