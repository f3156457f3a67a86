package chain

// Private returns the paths of the steps whose answers are private, those of the chains that it runs too: nobody keeps
// them beyond their cycle, so that no recording has them.
func (c *Chain) Private() []string {
	var all []string
	c.unfold("", mostAsking, func(path string, s *Step) {
		private := false
		switch a := s.action.(type) {
		case *request:
			private = a.private
		case *completion:
			private = a.private
		case *statement:
			private = a.private
		}
		if private {
			all = append(all, path)
		}
	})
	return all
}
