package run

import (
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/workers"
)

// input is what a step reads in addition to its event: the time, and the state of the pool and the ledger at that time.
type input struct {
	At       time.Time
	Started  int       // sessions of the open cycle that have started, without requeued ones
	Requeued int       // requeued sessions of the open cycle that have started
	Filled   time.Time // when the last session that may start did; zero while some are left
	InFlight int       // slots in use; a worker that has left uses none, even before its batch arrives
	Ledger   engine.LedgerState
	Shared   engine.RequestCounts // requests of the run itself
	Inexact  *engine.Inexact      // what made the run inexact before its session ended; nil if nothing did
}

// started returns how many sessions of the open cycle have started.
func (n *input) started() int { return n.Started + n.Requeued }

// event is something that happened to a run. core.Step handles one at a time.
type event interface{ event() }

type (
	// started means that this process began or resumed the run.
	started struct{ services serviceReport }
	// finished delivers a batch of ended sessions and departed workers. The core keeps no reference to it.
	finished struct{ batch *Batch }
	// rowSent means that the journal writer has received a row. rowWritten means that the journal has queued the row or, if
	// its ticket needs a commit, committed it.
	rowSent    struct{ ticket ticket }
	rowWritten struct {
		ticket ticket
		err    error
	}
	// journalTrouble means that the journal cannot be written or, with a nil error, that it can be written again.
	journalTrouble struct{ err error }
	// expired means that a timer ran out.
	expired struct{ timer timer }
	// ticked arrives ten times a second. late is its delay.
	ticked struct {
		late     time.Duration
		services serviceReport
	}
	// servicesRead delivers the state of the services.
	servicesRead struct{ services serviceReport }
	// sampled arrives once a second, and in the first seconds of a run every tenth of a second.
	sampled struct{ probes probes }
	// steered delivers the orders of the governor.
	steered struct{ orders engine.Orders }
	// barrierCalled means that Hooks.Barrier has returned.
	barrierCalled struct{}
	// finalProbes delivers the final readings once nothing is in flight.
	finalProbes struct {
		probes   probes
		services serviceReport
	}
	// workersAbandoned means that the remaining sessions of a cut run have been abandoned.
	workersAbandoned struct{}
	// changeNoted delivers a change made outside the core.
	changeNoted struct{ row engine.ChangeRow }
	// claimRefused means that the ledger refused a claim on the budget.
	claimRefused struct{ why string }
)

// Orders from people and programs.
type (
	pauseOrder    struct{ who, why string }
	resumeOrder   struct{ who string }
	stopOrder     struct{ who, why string }
	shutdownOrder struct{ why string }
	cutOrder      struct{ why string }
	// setOrder changes settings. The node has already made the changes outside the core.
	setOrder struct {
		next       engine.Settings
		limit      int
		namesLimit bool // the order names the limit
		tuned      []engine.ChangeRow
		who, why   string
	}
	checkpointOrder struct {
		reason string
		answer answerID
	}
	retireOrder struct {
		agent    int
		inFlight bool
		who      string
		answer   answerID
	}
	requeueOrder struct {
		agent  int
		who    string
		answer answerID
	}
	injectOrder struct {
		message engine.Message
		to, who string
		answer  answerID
	}
	publishOrder struct{}
	// suspended means that the machine slept or the process was suspended.
	suspended struct{ gap gap }
)

func (started) event()          {}
func (finished) event()         {}
func (rowSent) event()          {}
func (rowWritten) event()       {}
func (journalTrouble) event()   {}
func (expired) event()          {}
func (ticked) event()           {}
func (servicesRead) event()     {}
func (sampled) event()          {}
func (steered) event()          {}
func (barrierCalled) event()    {}
func (finalProbes) event()      {}
func (workersAbandoned) event() {}
func (changeNoted) event()      {}
func (claimRefused) event()     {}
func (pauseOrder) event()       {}
func (resumeOrder) event()      {}
func (stopOrder) event()        {}
func (shutdownOrder) event()    {}
func (cutOrder) event()         {}
func (setOrder) event()         {}
func (checkpointOrder) event()  {}
func (retireOrder) event()      {}
func (requeueOrder) event()     {}
func (injectOrder) event()      {}
func (publishOrder) event()     {}
func (suspended) event()        {}

// serviceReport holds the state of the services, and the changes they made themselves since the last call.
type serviceReport struct {
	services []engine.ServiceState
	changes  []engine.ChangeRow
}

// probes holds the values that Config.Probe read. A nil pointer means unknown.
type probes struct {
	host           *engine.HostMetrics
	connections    *engine.Connections
	writes, stored *int64
	unsent         *int64
	writer, window time.Duration
	oldest         []engine.Activity
	workers        []workers.State
}

// answerID identifies a caller that waits for an answer. 0 means that no caller waits.
type answerID int

// timer identifies one of the run's timers.
type timer uint8

const (
	cycleTimer      timer = iota // until the planned start of the next cycle
	arrivalTimer                 // until the intended start of the next session
	checkpointTimer              // until the next periodic checkpoint
	shutdownTimer                // until sessions are cut because the program exits
	endTimer                     // until a cut run ends without waiting any longer
	numTimers
)

// ticket identifies a journaled row when its result comes back as an event. A row with the zero ticket causes no event.
type ticket struct {
	kind       ticketKind
	checkpoint *pendingCheckpoint
	place      engine.Place // the session to run again, or the retired agent
	inFlight   bool         // the retired agent had a session in flight
	answer     answerID
}

type ticketKind uint8

const (
	noTicket ticketKind = iota
	startTicket
	barrierTicket
	checkpointTicket
	retireTicket
	requeueTicket
	injectTicket
	endTicket
)

// needsCommit reports whether the ticket comes back only after its row is durable.
func (t *ticket) needsCommit() bool { return t.kind > startTicket }

// effect is an action that the node carries out for the core, in order.
type effect interface{ effect() }

type (
	// writeRow journals a row after all earlier ones.
	writeRow struct {
		row    engine.Row
		ticket ticket
	}
	// setLimit limits the sessions in flight. Workers above the limit leave before their next session.
	setLimit struct{ limit int }
	// startWorkers starts workers in free slots. A probe executes one session only, and its slot may exceed the limit.
	startWorkers struct {
		count int
		probe bool
	}
	// beginCycle opens a cycle. The data it points to stays unchanged until the cycle closes.
	beginCycle struct {
		plan    *plan
		memory  *memoryState
		retired map[int]int
		paused  bool // the cycle starts with its clock paused
	}
	// releaseSessions lets the sessions before count start. Their time counts from waited after the start of the cycle and, if
	// sessions arrive over time, from their intended start.
	releaseSessions struct {
		count  int
		waited time.Duration
	}
	// requeueSession starts a requeued session. withdrawSession comes first and removes the earlier result.
	requeueSession  struct{ place engine.Place }
	withdrawSession struct{ agent int }
	// holdCycle pauses the clock of the open cycle, releaseCycle resumes it, and endCycle frees it.
	holdCycle    struct{}
	releaseCycle struct{}
	endCycle     struct{}
	// cutSessions cuts all sessions in flight. cancelSession cancels the session of a retired agent.
	cutSessions struct{}
	// endWaits cuts the sessions that wait, or will wait, for a service that does not answer.
	endWaits      struct{}
	cancelSession struct{ agent int }
	// abandonWorkers collects the batches that have arrived and abandons the remaining workers. workersAbandoned follows.
	abandonWorkers struct{}
	// closeLedger makes the ledger refuse all further claims.
	closeLedger struct {
		of  *engine.Bound
		why string
	}
	// setMemorySize sets the size of all agents' memory.
	setMemorySize struct{ bytes int64 }
	// useSettings applies settings to the sessions that start from now on.
	useSettings struct{ settings engine.Settings }
	// changedSettings lists the changes that an order made.
	changedSettings struct{ changes []engine.Change }
	setTimer        struct {
		timer timer
		after time.Duration
	}
	// publish publishes a snapshot after the step.
	publish struct{}
	// answer sends the result of an order to its caller.
	answer struct {
		to  answerID
		err error
	}
	// askGovernor leads to the event steered, callBarrier to barrierCalled, readServices to servicesRead, and
	// readFinalProbes to finalProbes.
	askGovernor     struct{ reading engine.Reading }
	resetGovernor   struct{}
	callBarrier     struct{ cycle int }
	readServices    struct{}
	readFinalProbes struct{}
	// renewService tells a service that a pause is over. An empty name means all services.
	renewService struct{ name string }
)

func (writeRow) effect()        {}
func (setLimit) effect()        {}
func (startWorkers) effect()    {}
func (beginCycle) effect()      {}
func (releaseSessions) effect() {}
func (requeueSession) effect()  {}
func (withdrawSession) effect() {}
func (holdCycle) effect()       {}
func (releaseCycle) effect()    {}
func (endCycle) effect()        {}
func (cutSessions) effect()     {}
func (endWaits) effect()        {}
func (cancelSession) effect()   {}
func (abandonWorkers) effect()  {}
func (closeLedger) effect()     {}
func (setMemorySize) effect()   {}
func (useSettings) effect()     {}
func (changedSettings) effect() {}
func (setTimer) effect()        {}
func (publish) effect()         {}
func (answer) effect()          {}
func (askGovernor) effect()     {}
func (resetGovernor) effect()   {}
func (callBarrier) effect()     {}
func (readServices) effect()    {}
func (readFinalProbes) effect() {}
func (renewService) effect()    {}

// shard returns the part of the cycle that the pool executes.
func (f *beginCycle) shard() *Shard {
	p, r := f.plan, f.memory
	var deltas map[int]engine.Delta
	if r.core.cfg.Settings.Sequential {
		deltas = r.deltas.Map()
	}
	return &Shard{
		Cycle: p.number, Now: p.simTime, Ready: p.readyAt, Todo: p.todo, Size: p.size, Wave: p.wave, Arrivals: p.arrivals, Paused: f.paused,
		Memory: r.committed, Deltas: deltas, Injected: r.injected, Prefixes: r.prefixes, Takes: r.takes,
	}
}
