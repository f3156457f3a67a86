// Package engine runs crowds of agents: it holds the vocabulary of a run (sessions, outcomes, rows of the journal,
// snapshots), the loop that owns a run's state, and the interfaces it needs from the outside: a [Program] that
// executes one session, and a [Journal] that keeps what happened.
//
// A run is a sequence of cycles. In a cycle every active agent gets one session; at most the gate's limit are in
// flight at once. At the barrier between two cycles memory is committed in agent order and simulated time moves, so
// the number of workers changes the speed of a run and never its result.
package engine
