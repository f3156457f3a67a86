package run

import (
	"time"

	"github.com/throng-sim/throng/engine"
)

// now is the moment of a step: the time, and what the node has read of its workers and its books at that time.
type now struct {
	At       time.Time
	Begun    int       // sessions of the open cycle that have begun, requeued ones left out
	Again    int       // requeued sessions of the open cycle that have begun
	Filled   time.Time // when the last session that may begin did; zero while some are left
	InFlight int       // places that workers hold: those that have left, but are not heard of yet, hold none
	Books    engine.LedgerState
	Asked    engine.Asked    // what the run itself has asked
	Doubt    *engine.Inexact // what made the run inexact before its session ended; nil is nothing
}

// started is how many sessions of the open cycle have begun.
func (n *now) started() int { return n.Begun + n.Again }

// event is what happens to a run. core.Step takes one at a time.
type event interface{ event() }

type (
	// begun says that this process took up the run.
	begun struct{ outside outsideState }
	// finished is a batch of sessions that ended, and of workers that left. The core keeps nothing of it.
	finished struct{ batch *Batch }
	// queued says that the journal's writer has a row, written that the row is queued or, if its ticket says so, durable.
	queued  struct{ ticket ticket }
	written struct {
		ticket ticket
		err    error
	}
	// troubled says that the journal cannot be written, or, with nil, that it can be again.
	troubled struct{ err error }
	// expired says that a timer ran out.
	expired struct{ timer timer }
	// ticked comes ten times a second; late is by how much it came too late.
	ticked struct {
		late    time.Duration
		outside outsideState
	}
	// asked says how the services are doing.
	asked struct{ outside outsideState }
	// sampled comes once a second.
	sampled struct{ probes probes }
	// steered is what the governor said.
	steered struct{ orders engine.Orders }
	// barrierPassed says that Config.Barrier has returned.
	barrierPassed struct{}
	// lastLook is what is read when nothing is in flight any more, to close the books.
	lastLook struct {
		probes  probes
		outside outsideState
	}
	// leftBehind says that what had not ended when the time of a cut run was over is not waited for.
	leftBehind struct{}
	// noted is a change that something outside the core made.
	noted struct{ row engine.ChangeRow }
	// spentUp says that a claim on the budget was refused.
	spentUp struct{ why string }
)

// The orders that people and programs give.
type (
	pauseOrder  struct{ who, why string }
	resumeOrder struct{ who string }
	stopOrder   struct{ who, why string }
	leaveOrder  struct{ why string }
	cutOrder    struct{ why string }
	// setOrder changes settings; the node has made those changes that are not the core's.
	setOrder struct {
		next     engine.Settings
		limit    int
		own      bool // the order names the limit
		tuned    []engine.ChangeRow
		who, why string
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
	// awoken says that time has passed in which nothing went on.
	awoken struct{ gap gap }
)

func (begun) event()           {}
func (finished) event()        {}
func (queued) event()          {}
func (written) event()         {}
func (troubled) event()        {}
func (expired) event()         {}
func (ticked) event()          {}
func (asked) event()           {}
func (sampled) event()         {}
func (steered) event()         {}
func (barrierPassed) event()   {}
func (lastLook) event()        {}
func (leftBehind) event()      {}
func (noted) event()           {}
func (spentUp) event()         {}
func (pauseOrder) event()      {}
func (resumeOrder) event()     {}
func (stopOrder) event()       {}
func (leaveOrder) event()      {}
func (cutOrder) event()        {}
func (setOrder) event()        {}
func (checkpointOrder) event() {}
func (retireOrder) event()     {}
func (requeueOrder) event()    {}
func (injectOrder) event()     {}
func (publishOrder) event()    {}
func (awoken) event()          {}

// outsideState is what the services say, and what they changed by themselves since they were asked last.
type outsideState struct {
	services []engine.ServiceState
	moves    []engine.ChangeRow
}

// probes is what Config.Probe reads; a nil pointer is that nobody knows.
type probes struct {
	host           *engine.HostMetrics
	connections    *engine.Connections
	writes, stored *int64
	unsent         *int64
	writer, window time.Duration
	oldest         []engine.Doing
}

// answerID names a caller who waits for an answer; 0 is nobody.
type answerID int

// timer names one of the run's timers.
type timer uint8

const (
	cycleTimer      timer = iota // until the next cycle is meant to begin
	checkpointTimer              // until the next checkpoint by time
	hurryTimer                   // until sessions are cut, when the program has to end
	lastTimer                    // until a cut run ends without what has not ended
	numTimers
)

// ticket comes back with the row that it was journaled with. The zero value does not come back.
type ticket struct {
	kind       ticketKind
	checkpoint *waiting
	place      engine.Place // of the session to be made again; of a retirement, the agent
	inFlight   bool         // the session of the retired agent was in flight
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

// waits reports whether the ticket comes back only once its row is durable.
func (t *ticket) waits() bool { return t.kind > startTicket }

// effect is what the node has to do for the core, in order.
type effect interface{ effect() }

type (
	// writeRow journals a row, behind all before it.
	writeRow struct {
		row    engine.Row
		ticket ticket
	}
	// setLimit bounds the sessions in flight: workers above it leave before their next session.
	setLimit struct{ limit int }
	// startWorkers starts workers in places that are free; a probe has one session only, and a place of its own.
	startWorkers struct {
		count int
		probe bool
	}
	// beginCycle opens a cycle. Until it closes, nothing that it points to changes.
	beginCycle struct {
		plan    *plan
		recall  *recall
		retired map[int]int
		held    bool // its clock does not run yet
	}
	// releaseWave lets the next wave of the open cycle begin.
	releaseWave struct{ waited time.Duration }
	// makeAgain lets a requeued session begin; withdrawSession says before that its end counts no longer.
	makeAgain       struct{ place engine.Place }
	withdrawSession struct{ agent int }
	// holdCycle stops the open cycle's clock, releaseCycle lets it run again, endCycle frees it.
	holdCycle    struct{}
	releaseCycle struct{}
	endCycle     struct{}
	// cutSessions ends all sessions in flight, cancelSession that of a retired agent.
	cutSessions   struct{}
	cancelSession struct{ agent int }
	// leaveBehind collects what has arrived, and then waits for no worker any more: leftBehind answers it.
	leaveBehind struct{}
	// closeLedger refuses all claims from now on.
	closeLedger struct {
		of  *engine.Bound
		why string
	}
	// remember says how much memory agents have from now on.
	remember struct{ bytes int64 }
	// useSettings puts settings in force for the sessions that begin from now on.
	useSettings struct{ settings engine.Settings }
	// changedSettings says what an order changed.
	changedSettings struct{ changes []engine.Change }
	setTimer        struct {
		timer timer
		after time.Duration
	}
	// publish shows the run as it is after the step.
	publish struct{}
	// answer tells a caller how an order ended.
	answer struct {
		to  answerID
		err error
	}
	// askGovernor wants steered, passBarrier barrierPassed, askServices asked, lookOnceMore lastLook.
	askGovernor  struct{ reading engine.Reading }
	resetSteer   struct{}
	passBarrier  struct{ cycle int }
	askServices  struct{}
	lookOnceMore struct{}
	// renewService tells a service that a pause is over; "" tells all.
	renewService struct{ name string }
)

func (writeRow) effect()        {}
func (setLimit) effect()        {}
func (startWorkers) effect()    {}
func (beginCycle) effect()      {}
func (releaseWave) effect()     {}
func (makeAgain) effect()       {}
func (withdrawSession) effect() {}
func (holdCycle) effect()       {}
func (releaseCycle) effect()    {}
func (endCycle) effect()        {}
func (cutSessions) effect()     {}
func (cancelSession) effect()   {}
func (leaveBehind) effect()     {}
func (closeLedger) effect()     {}
func (remember) effect()        {}
func (useSettings) effect()     {}
func (changedSettings) effect() {}
func (setTimer) effect()        {}
func (publish) effect()         {}
func (answer) effect()          {}
func (askGovernor) effect()     {}
func (resetSteer) effect()      {}
func (passBarrier) effect()     {}
func (askServices) effect()     {}
func (lookOnceMore) effect()    {}
func (renewService) effect()    {}

// shard is what the pool executes of the cycle.
func (f *beginCycle) shard() *Shard {
	p, r := f.plan, f.recall
	return &Shard{
		Cycle: p.number, Now: p.now, Ready: p.ready, Todo: p.todo, Size: p.size, Wave: p.batch, Held: f.held,
		Memory: r.memory, Deltas: r.deltas, Injected: r.injected, Prefixes: r.prefixes, Takes: r.takes,
	}
}
