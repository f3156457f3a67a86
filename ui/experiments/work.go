package experiments

// Work is an experiment that this process executes, or that waits for its turn.
type Work struct {
	Path, Title string
	Queued      bool
}

// Executing returns the first experiment that does not wait for its turn; false if there is none.
func Executing(all []Work) (Work, bool) {
	for _, w := range all {
		if !w.Queued {
			return w, true
		}
	}
	return Work{}, false
}
