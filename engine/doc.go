// Package engine runs crowds of agents: it holds the vocabulary of a run (sessions, outcomes, rows of the journal,
// snapshots), the loop that owns a run's state, and the interfaces it needs from the outside: a [Program] that
// executes one session, and a [Journal] that keeps what happened.
//
// A run is a sequence of cycles. In a cycle every active agent gets one session; at most the gate's limit are in
// flight at once. At the barrier between two cycles memory is committed in agent order and simulated time moves, so
// the number of workers changes the speed of a run and never its result.
//
// [Start] begins a run of a [Config] and its [Settings]. The [Run] takes orders, such as [Run.SetLimit], [Run.Pause],
// [Run.Checkpoint] and [Run.Stop], and shows itself as a [Snapshot], which never changes; package health judges one.
//
// The packages below it, each of which says more: scenario reads files and makes Programs of them, with the steps of chain,
// the clients of service and the sandbox of script; govern moves the limit; forecast, calibrate and compare tell how many at
// once, what it takes, and what came of it; audit recomputes the figures; mock is the shop and the models that come
// along.
package engine
