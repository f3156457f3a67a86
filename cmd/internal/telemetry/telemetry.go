// Package telemetry tells others of a run: Prometheus, which scrapes an endpoint, and collectors of OpenTelemetry, which
// are sent figures and traces of a sample of sessions. All figures come from the newest [engine.Snapshot] by one table.
package telemetry

import (
	"github.com/throng-sim/throng/engine"
)

// Run is a run that others are told of.
type Run struct {
	ID     engine.RunID
	Title  string // of the scenario
	Seed   uint64
	Agents int // that take part
	// Snapshot returns the newest picture. It does not wait.
	Snapshot func() *engine.Snapshot
}

// Kept is the run with the picture that it has now, which needs nothing else of it.
func (r *Run) Kept() *Run {
	last := r.Snapshot()
	k := *r
	k.Snapshot = func() *engine.Snapshot { return last }
	return &k
}

// view is what figures are read from: a picture of a run, or of none.
type view struct {
	version string // of the program
	run     *Run   // nil is none
	s       *engine.Snapshot
}

func look(version string, run *Run) *view {
	v := &view{version: version, run: run}
	if run != nil {
		v.s = run.Snapshot()
	}
	return v
}
