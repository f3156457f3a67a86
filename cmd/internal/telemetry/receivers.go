package telemetry

// Receivers receive the metrics and traces of a run.
type Receivers struct {
	Endpoint Publisher // nil disables it
	Sending  *Sending  // nil sends nothing
	// Sent receives a summary of what was sent, at the end; nil logs it.
	Sent func(s Sent)
	// Abort is closed to stop waiting for the last batch. It may be nil.
	Abort <-chan struct{}
}

// Publisher receives the start and the end of a run, for example an [Endpoint].
type Publisher interface {
	Show(r *Run)
	Keep(r *Run)
}
