// Package engine runs simulations with many agents. It defines the vocabulary of a run (sessions, outcomes, journal
// rows, snapshots), the loop that owns the state of a run, and the interfaces to the outside: a [Program] executes one
// session, and a [Journal] stores what happened.
//
// A run is a sequence of cycles. In a cycle every active agent has one session. The concurrency limit bounds the
// number of sessions in flight. At the barrier between two cycles, the engine commits memory in agent order and
// advances simulated time. The concurrency limit therefore changes the speed of a run, never its result.
//
// [Start] begins a run from a [Config] and its [Settings]. Methods such as [Run.SetLimit], [Run.Pause],
// [Run.Checkpoint] and [Run.Stop] control the [Run]. Its state is published as immutable [Snapshot] values; package
// health evaluates them.
//
// The subpackages document the details. Package scenario reads scenario files and builds Programs from them, using the
// steps of chain, the clients of service and the sandbox of script. Package govern moves the limit. Packages forecast,
// calibrate and compare estimate the cost of a run, find its best concurrency and compare results. Package audit
// recomputes the figures. Package mock contains the mock shop and the mock models.
package engine
