// Package telemetry exports metrics and traces of a run: to Prometheus, which scrapes an endpoint, and to OpenTelemetry
// collectors, which receive metrics and the traces of a sample of sessions. All metrics are read from the newest
// [engine.Snapshot].
package telemetry

import (
	"github.com/throng-sim/throng/engine"
)

// Run is a run whose telemetry is exported.
type Run struct {
	ID     engine.RunID
	Title  string // of the scenario
	Seed   uint64
	Agents int // active
	// Snapshot returns the newest snapshot. It does not wait.
	Snapshot func() *engine.Snapshot
}

// Kept returns the run with its current snapshot, without references to anything else of the run.
func (r *Run) Kept() *Run {
	last := r.Snapshot()
	k := *r
	k.Snapshot = func() *engine.Snapshot { return last }
	return &k
}

// view is the source of metrics: a snapshot of a run, or no run.
type view struct {
	version string // of the program
	run     *Run   // nil without a run
	s       *engine.Snapshot
}

func look(version string, run *Run) *view {
	v := &view{version: version, run: run}
	if run != nil {
		v.s = run.Snapshot()
	}
	return v
}
