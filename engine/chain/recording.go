package chain

// Private returns the paths of the steps with private answers, including those of the chains that it runs. Their
// answers are deleted after the cycle, so recordings do not contain them.
func (c *Chain) Private() []string {
	var all []string
	c.unfold("", maxVisited, func(path string, s *Step) {
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
