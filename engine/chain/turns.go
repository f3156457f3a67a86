package chain

// computes reports whether none of the steps of a group can wait for anything: they take turns, which takes less than
// to hand them out.
func (s *segment) computes(b *Block) bool {
	for _, step := range b.Steps[s.from:s.to] {
		switch step.action.(type) {
		case *python, *emit, *remember, *say:
		default:
			return false
		}
	}
	return true
}

// plain reports whether the steps of a group can be executed as plain ones are, in the order of the file: they only
// compute, none waits for one below it, and none writes to the memory, which others see as it was.
func (s *segment) plain(b *Block) bool {
	if !s.inOrder {
		return false
	}
	for _, step := range b.Steps[s.from:s.to] {
		switch step.action.(type) {
		case *python, *emit:
		default:
			return false
		}
	}
	return true
}

// turns executes the steps of a group as if they were plain ones, but for what they see of each other. Of those that
// end the session, the first in the file is the first to be executed. An error ends the session, and last is the step
// whose it is.
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
