package ui

import (
	"context"
	"sync"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/live"
)

// patience is a door for slow calls. Each call waits until a test opens it.
type patience struct {
	mu      sync.Mutex
	door    chan struct{} // closed is open
	waiting map[string]int
	job     *live.Job
	settled chan struct{}
}

// wait waits at the door.
func (p *patience) wait(what string) {
	p.mu.Lock()
	door := p.door
	p.waiting[what]++
	p.mu.Unlock()
	<-door
	p.mu.Lock()
	p.waiting[what]--
	p.mu.Unlock()
}

// open lets all waiting and later calls through until shut.
func (p *patience) open() {
	p.mu.Lock()
	defer p.mu.Unlock()
	close(p.door)
}

func (p *patience) shut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.door = make(chan struct{})
}

// stands reports whether a call with the given name is waiting.
func (p *patience) stands(what string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.waiting[what] > 0
}

// idle reports whether no call is waiting at the door.
func (p *patience) idle() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, n := range p.waiting {
		if n > 0 {
			return false
		}
	}
	return true
}

func (p *patience) desk() Desk {
	return Desk{
		Setup: patientSetup{patience: p}, Live: patientLive{patience: p}, Runs: patientRuns{patience: p}, Results: patientResults{patience: p},
		Compare: patientCompare{patience: p}, Calibrate: patientCalibrate{patience: p}, Experiments: patientExperiments{patience: p}, Designer: patientDesigns{patience: p}, Settings: patientSettings{patience: p}, Editor: patientEditor{p}, Store: p,
	}
}

func (p *patience) Notice() string { return "" }

func (p *patience) Interrupted(context.Context) (*engine.RunRecord, error) {
	p.wait("Interrupted")
	return nil, nil //nolint:nilnil // there is none
}

func (p *patience) Stop(bool) error          { p.wait("Stop"); return nil }
func (p *patience) Settled() <-chan struct{} { return p.settled }

// begun puts a run in progress.
func (p *patience) begun() {
	s := engine.DefaultSettings()
	p.job = &live.Job{Run: slowRun{patience: p}, Title: "Shoppers", Agents: 372, Settings: s}
}

func newPatience() *patience {
	settled := make(chan struct{})
	close(settled)
	return &patience{door: make(chan struct{}), waiting: map[string]int{}, settled: settled}
}

func record(id engine.RunID) engine.RunRecord {
	s := engine.DefaultSettings()
	s.Cycles = 24
	return engine.RunRecord{
		ID: id, Title: "Shoppers", Created: time.Date(2026, 1, 2, 15, 4, 5, 0, time.Local), Cycle: 2, Cycles: 24, Done: 816, Total: 8928, Settings: s,
		Limit: 50, Source: engine.Source{Name: "shopping.yaml"},
	}
}

// slowRun is a run in progress whose loop answers when the test lets it.
type slowRun struct {
	live.Run
	*patience
}

func (r slowRun) ID() engine.RunID { return "new" }

func (r slowRun) Snapshot() *engine.Snapshot {
	return &engine.Snapshot{Run: "new", At: time.Now(), Phase: engine.Running, LimitState: engine.LimitState{Limit: 50, Ceiling: 372, Floor: 1, Governor: "manual"}, SessionCounts: engine.SessionCounts{Ended: 816, Total: 8928}, Pace: engine.Pace{Remaining: -1}}
}

func (r slowRun) Pause(string, string) error               { r.wait("Pause"); return nil }
func (r slowRun) Stop(string, string) error                { r.wait("Stop of run"); return nil }
func (r slowRun) Checkpoint(context.Context, string) error { r.wait("Checkpoint"); return nil }
func (r slowRun) Tunables() []engine.Tunable               { return nil }
func (r slowRun) Done() <-chan struct{}                    { return nil }
func (r slowRun) Apply([]engine.Assignment, string, string) ([]engine.Change, error) {
	r.wait("Apply")
	return nil, nil
}
func (r slowRun) Requeue(context.Context, int, string) error { r.wait("Requeue"); return nil }
