// Package run executes a run: it turns a configuration and a population into sessions, cycle by cycle, and journals them.
//
// The core is the run's state machine. It holds the phases, cycles, limits, checkpoints and figures. core.Step is pure: it
// takes an event and the time and returns effects. It starts no goroutine, reads no clock and does no I/O, so the same
// events always lead to the same effects. The files named core*.go hold it.
//
// The node drives the core from one goroutine. It owns the timers, the probes and the governor, feeds events to
// core.Step, and carries out the effects. A second goroutine writes the journal.
//
// A WorkerPool executes the sessions, in this process or on workers, and reports finished sessions in batches.
//
// Start reading at Start in run.go, then node.run in node.go, then core.Step in core.go. The events and the effects are
// listed in coreevent.go.
package run
