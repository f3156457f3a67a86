package run_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/arrivals"
	"github.com/throng-sim/throng/engine/enginetest"
	"github.com/throng-sim/throng/engine/run"
)

// runCase is the story of a run: which agents are active, and what happens to it, possibly over many processes.
type runCase struct {
	crowd                     enginetest.Crowd
	agents, cycles, limit     int
	chosen                    []int
	warmUp                    []float64
	sessionTimeout            time.Duration
	latency                   time.Duration
	room                      int
	actions                   []action
	crashes                   []int // after how many of its own rows each process dies; 0 means never
	requeued                  bool  // a session was requeued; it ends as it did before
	checkpoint, cycleInterval time.Duration
	arrivals                  *arrivals.Plan
	pool                      func(run.PoolConfig) (run.WorkerPool, error) // nil means this process
}

type action struct {
	after time.Duration
	what  string
	n     int
}

func (m action) String() string { return fmt.Sprintf("%v %s %d", m.after, m.what, m.n) }

// observer observes the sessions of one process.
type observer struct {
	mu       sync.Mutex
	limit    int // in force
	inFlight int
	fleet    bool // sessions in flight on one worker do not delay those on another
	begun    map[engine.Place]int
	err      error
}

func (w *observer) began(s *engine.Session) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.inFlight++
	w.begun[s.Place]++
	switch {
	case w.inFlight > w.limit:
		w.err = errors.Join(w.err, fmt.Errorf("session %v is number %d in flight at a limit of %d", s.Place, w.inFlight, w.limit))
	case w.begun[s.Place] > 1:
		w.err = errors.Join(w.err, fmt.Errorf("session %v began twice in one process", s.Place))
	}
}

func (w *observer) ended(*engine.Session) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.inFlight--
}

func (w *observer) set(limit int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.fleet {
		limit = max(limit, w.inFlight)
	}
	w.limit = limit
}

func (w *observer) problem() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

func (l *runCase) config(j *enginetest.Journal, w *observer) (run.Config, *enginetest.Crowd) {
	c := &enginetest.Crowd{
		Work: l.crowd.Work, Throttled: l.crowd.Throttled, Asks: l.crowd.Asks, Shares: l.crowd.Shares, Remember: l.crowd.Remember, Events: l.crowd.Events,
		Fail: l.crowd.Fail, Stop: l.crowd.Stop, Panic: l.crowd.Panic, Hang: l.crowd.Hang,
	}
	if w != nil {
		c.Began, c.Ended = w.began, w.ended
	}
	cfg := enginetest.Config(l.agents, c, j)
	s := &cfg.Settings
	s.Limit, s.Cycles, s.Seed = l.limit, l.cycles, 42
	s.SessionTimeout, s.CheckpointEvery = l.sessionTimeout, l.checkpoint
	s.WarmUp, s.WarmUpCycles = l.warmUp, 1
	if l.cycleInterval > 0 {
		s.TimeScale = float64(cfg.Clock.Cycle) / float64(l.cycleInterval)
	}
	cfg.Chosen, cfg.Clock.Arrivals = l.chosen, l.arrivals
	if w != nil {
		cfg.Pool = l.pool
	}
	return cfg, c
}

// reference returns the result of the same run with nothing happening to it and one session at a time.
func (l *runCase) reference(t *testing.T) (results, memory string, err error) {
	j := &enginetest.Journal{}
	cfg, _ := l.config(j, nil)
	cfg.Settings.Limit, cfg.Settings.TimeScale, cfg.Clock.Arrivals = 1, 0, nil
	cfg.Program.(*enginetest.Crowd).Throttled = 0
	r, err := run.Start(t.Context(), cfg)
	if err != nil {
		return "", "", err
	}
	if got := r.Wait(); got.Ending != engine.EndFinished {
		return "", "", fmt.Errorf("undisturbed, it ended as %v: %s", got.Ending, got.Reason)
	}
	return enginetest.Results(j.Sessions()), enginetest.ShowMemory(j.MemoryAt(l.cycles)), nil
}

// process continues the run until it ends. It uses actions until one of them ends it.
func (l *runCase) process(t *testing.T, j *enginetest.Journal, first bool) (run.Result, error) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	defer j.Close()
	w := &observer{limit: l.limit, fleet: l.pool != nil, begun: map[engine.Place]int{}}
	cfg, crowd := l.config(j, w)
	var before int64
	if !first {
		cfg.Resume = j.Resumption()
		before = cfg.Resume.State.Totals.Ended()
	}
	r, err := run.Start(ctx, cfg)
	if err != nil {
		return run.Result{}, err
	}
	limit, paused, broken, over := l.limit, false, false, false
	inForce := func() {
		if paused || broken {
			w.set(0)
		} else {
			w.set(limit)
		}
	}
	var wrong error
	for len(l.actions) > 0 && !over {
		m := l.actions[0]
		l.actions = l.actions[1:]
		time.Sleep(m.after)
		synctest.Wait()
		switch m.what {
		case "limit":
			if !paused && !broken {
				w.set(max(limit, m.n)) // until the order takes effect, either limit may apply
			}
			limit = m.n
			err = r.SetLimit(m.n, "test", "a move")
		case "pause":
			paused = true
			err = r.Pause("test", "a move")
		case "resume":
			if !broken {
				w.set(limit)
			}
			paused = false
			err = r.Resume("test")
		case "break":
			broken = true
			j.Break(engine.ErrNoRoom)
		case "heal":
			if !paused {
				w.set(limit)
			}
			broken = false
			j.Heal()
		case "stop":
			err, over = r.Stop("test", "a move"), true
		case "cut":
			err, over = errors.Join(r.Stop("test", "a move"), r.Stop("test", "a move")), true
		case "leave":
			err, over = r.Shutdown("SIGTERM"), true
		case "quit":
			cancel()
			over = true
		case "die":
			j.Die()
			cancel()
			over = true
		case "checkpoint":
			if !broken {
				err = r.Checkpoint(t.Context(), "by hand")
			}
		case "requeue":
			if agent := lastFailed(j); agent >= 0 && !broken {
				err = r.Requeue(t.Context(), agent, "test")
				if _, refused := errors.AsType[*engine.FieldError](err); refused {
					err = nil
				} else {
					l.requeued = true // the journal may have it even if the process died of it
				}
			}
		}
		if err != nil && !errors.Is(err, engine.ErrEnded) && !errors.Is(err, enginetest.ErrDead) {
			wrong = errors.Join(wrong, fmt.Errorf("%v: %w", m, err))
		}
		synctest.Wait()
		inForce()
		// Another process reports its started sessions with a short delay.
		s := r.PublishNow()
		if l.arrivals != nil { // a session may arrive in the moment of a snapshot
			synctest.Wait()
			s = r.PublishNow()
		}
		if !broken && l.pool == nil && s.Begun != s.Ended-before+int64(s.InFlight)+s.Cut {
			wrong = errors.Join(wrong, fmt.Errorf("after %v: begun %d, ended %d, in flight %d, cut %d", m, s.Begun, s.Ended-before, s.InFlight, s.Cut))
		}
		if m.what == "stop" && broken {
			j.Heal()
		}
	}
	if !over {
		if broken {
			if !paused {
				w.set(limit)
			}
			j.Heal()
			synctest.Wait()
		}
		limit, paused, broken = max(limit, 1), false, false
		inForce()
		_, _ = r.Resume("test"), r.SetLimit(limit, "test", "to the end") // the run may have ended
	}
	got := r.Wait()
	synctest.Wait()
	s := r.Snapshot()
	left := got.Totals.SentRequests()
	switch {
	case s.Phase != engine.Ended || s.InFlight != 0 || s.Begun != s.Ended-before+s.Cut:
		wrong = errors.Join(wrong, fmt.Errorf("at the end: %v, begun %d, ended %d, in flight %d, cut %d", s.Phase, s.Begun, s.Ended-before, s.InFlight, s.Cut))
	case s.Elapsed != got.Totals.Peaks.Elapsed:
		wrong = errors.Join(wrong, fmt.Errorf("the snapshot's duration is %v, the result's %v", s.Elapsed, got.Totals.Peaks.Elapsed))
	case s.Requests != left.Requests || s.Usage != left.Usage || left.Requests < got.Totals.AllRequests().Requests:
		wrong = errors.Join(wrong, fmt.Errorf("the snapshot counts %d requests and %+v, the result %+v", s.Requests, s.Usage, left))
	case s.Ended != got.Totals.Ended():
		wrong = errors.Join(wrong, fmt.Errorf("the snapshot counts %d sessions, the result %d", s.Ended, got.Totals.Ended()))
	}
	if cfg.Resume != nil {
		for agent, prefix := range cfg.Resume.Prefixes {
			for _, e := range prefix {
				key := fmt.Sprintf("%d/%d/%s", cfg.Resume.Cycle, agent, e.Path)
				if n := crowd.AllRequests()[key]; n > 0 && e.Attempts > 0 && !l.requeued {
					wrong = errors.Join(wrong, fmt.Errorf("%s was requested again %d times, although its answer was journaled", key, n))
				}
			}
		}
	}
	return got, errors.Join(wrong, w.problem(), checkSharedRequests(cfg.Resume, crowd, j))
}

// lastFailed returns the agent of the last session that failed or timed out, or -1 if there is none.
func lastFailed(j *enginetest.Journal) int {
	agent := -1
	for _, row := range j.Sessions() {
		if row.Outcome == engine.Failed || row.Outcome == engine.TimedOut {
			agent = row.Agent
		}
	}
	return agent
}

// checkSharedRequests checks that a process requests no answer that the run already has, and none twice unless it could not
// be kept.
func checkSharedRequests(res *engine.Resumption, crowd *enginetest.Crowd, j *enginetest.Journal) error {
	died := false
	select {
	case <-j.Died():
		died = true
	default:
	}
	for n := range crowd.Shares {
		key := engine.SharedKey{byte(n), byte(n >> 8), 1}
		asked := crowd.AllRequests()[fmt.Sprintf("share/%x", key)]
		if asked > 1 && !died {
			return fmt.Errorf("answer %d was requested %d times", n, asked)
		}
		if res == nil {
			continue
		}
		if _, ok := res.Shared.Answers[key]; ok && asked > 0 {
			return fmt.Errorf("answer %d was requested again %d times, although the run had it", n, asked)
		}
	}
	return nil
}

// check takes the run through all its actions and processes to its end, and compares the results.
func (l *runCase) check(t *testing.T) error {
	results, memory, err := l.reference(t)
	if err != nil {
		return err
	}
	j := &enginetest.Journal{Latency: l.latency, Room: l.room}
	var got run.Result
	for process := 1; got.Ending != engine.EndFinished; process++ {
		if process > 50 {
			return errors.New("the run never ends")
		}
		if len(l.crashes) > 0 {
			if l.crashes[0] > 0 {
				j.DieAfter = len(j.Rows()) + l.crashes[0]
			}
			l.crashes = l.crashes[1:]
		}
		got, err = l.process(t, j, process == 1)
		if err != nil {
			return fmt.Errorf("process %d: %w", process, err)
		}
		j = j.Reopen()
	}
	if s := enginetest.Results(j.Sessions()); s != results {
		return fmt.Errorf("results differ; undisturbed:\n%s\nthis run:\n%s", results, s)
	}
	if m := enginetest.ShowMemory(j.MemoryAt(l.cycles)); m != memory {
		return fmt.Errorf("memory differs; undisturbed:\n%s\nthis run:\n%s", memory, m)
	}
	return errors.Join(l.checkJournal(j), l.checkTotals(j, got))
}

// checkJournal checks the journal at the end of the run.
func (l *runCase) checkJournal(j *enginetest.Journal) error {
	barrier, ended := -1, false
	answers := map[engine.SharedKey]bool{}
	for i, row := range j.Rows() {
		switch r := row.(type) {
		case engine.StartRow:
			if i == 0 == r.Resumed {
				return fmt.Errorf("row %d: a start with Resumed %v", i, r.Resumed)
			}
		case engine.BarrierRow:
			if r.Cycle != barrier+1 {
				return fmt.Errorf("row %d: barrier %d follows barrier %d", i, r.Cycle, barrier)
			}
			barrier = r.Cycle
		case engine.SharedRow:
			if answers[r.Key] {
				return fmt.Errorf("row %d: answer %x is there a second time", i, r.Key)
			}
			answers[r.Key] = r.Answers()
		case engine.SessionRows:
			if r[0].Cycle != barrier+1 {
				return fmt.Errorf("row %d: a session of cycle %d after barrier %d", i, r[0].Cycle, barrier)
			}
			if key := l.crowd.Key; l.crowd.Shares > 0 && r[0].Outcome == engine.OK && !answers[key(42, r[0].Cycle, r[0].Agent)] {
				return fmt.Errorf("row %d: session %v comes before the answer that it took", i, r[0].Place)
			}
		case engine.CheckpointRow:
			if r.Cycle > barrier+1 || r.Cycle < barrier {
				return fmt.Errorf("row %d: a checkpoint of cycle %d after barrier %d", i, r.Cycle, barrier)
			}
		}
		_, starts := row.(engine.StartRow)
		if i == 0 && !starts || ended && !starts {
			return fmt.Errorf("row %d, the first of a process, is a %T", i, row)
		}
		_, ended = row.(engine.EndRow)
	}
	if barrier != l.cycles-1 {
		return fmt.Errorf("the last barrier is %d of %d cycles", barrier, l.cycles)
	}
	for n := range enginetest.Of[engine.CheckpointRow](j) {
		memory, cycle := j.Restored(n + 1)
		got, want := enginetest.ShowMemory(memory), enginetest.ShowMemory(j.MemoryAt(cycle))
		if got != want {
			return fmt.Errorf("checkpoint %d restores\n%s\nbut the memory at the start of cycle %d was\n%s", n+1, got, cycle, want)
		}
	}
	return nil
}

// checkTotals compares the totals that the run kept with those in its journal.
func (l *runCase) checkTotals(j *enginetest.Journal, got run.Result) error {
	want := j.Recount()
	if g, w := show(&got.Totals), show(&want); g != w {
		return fmt.Errorf("totals kept:\n%s\nrecomputed:\n%s", g, w)
	}
	if l.crowd.Hang == 0 && !l.requeued && got.Totals.Inexact != nil {
		return fmt.Errorf("the run is %v", got.Totals.Inexact)
	}
	return nil
}

// show returns the part of the totals that can be recomputed, as text.
func show(t *engine.Totals) string {
	total, _ := t.Total.MarshalBinary()
	service, _ := t.Service.MarshalBinary()
	held, _ := t.Throttled.MarshalBinary()
	queue, _ := t.Latency().MarshalBinary()
	return fmt.Sprintf("%v %v acted %d steps %d requests %d retries %d 429s %d events %d labels %v %+v waits %v shared %+v %v failed %x\n%x\n%x\n%x\n%x\n%+v\n%+v",
		t.Outcomes, t.Errors, t.Acted, t.Steps, t.Requests, t.Retries, t.RateLimited, t.Events, t.Labels, t.Usage, t.Waits, t.Shared, t.Inexact, t.FailedAgents,
		total, service, held, queue, t.ByStep.Figures(), t.Flow)
}

func drawCase(t *rapid.T) *runCase {
	l := &runCase{
		agents: rapid.IntRange(1, 24).Draw(t, "agents"),
		cycles: rapid.IntRange(1, 4).Draw(t, "cycles"),
		limit:  rapid.IntRange(1, 12).Draw(t, "limit"),
		crowd: enginetest.Crowd{
			Work:      time.Duration(rapid.IntRange(0, 4).Draw(t, "work")) * 500 * time.Millisecond,
			Throttled: time.Duration(rapid.IntRange(0, 1).Draw(t, "held")) * 15 * time.Second,
			Asks:      rapid.IntRange(0, 3).Draw(t, "asks"),
			Shares:    rapid.SampledFrom([]int{0, 1, 3, 20}).Draw(t, "shares"),
			Remember:  0.7, Events: 2, Fail: 0.1, Stop: 0.1, Panic: 0.03,
			Hang: rapid.SampledFrom([]float64{0, 0, 0.05}).Draw(t, "hang"),
		},
		sessionTimeout: 10 * time.Second,
		latency:        time.Duration(rapid.IntRange(0, 2).Draw(t, "latency")) * 30 * time.Millisecond,
		room:           rapid.SampledFrom([]int{0, 0, 1, 7}).Draw(t, "room"),
		checkpoint:     time.Duration(rapid.IntRange(0, 3).Draw(t, "checkpoint")) * 2 * time.Second,
		cycleInterval:  time.Duration(rapid.IntRange(0, 2).Draw(t, "interval")) * 5 * time.Second,
	}
	if rapid.Bool().Draw(t, "some") {
		for a := range l.agents {
			if a%3 != 1 {
				l.chosen = append(l.chosen, a)
			}
		}
	}
	if rapid.Bool().Draw(t, "warm up") {
		l.warmUp = []float64{0.1, 0.5}
	}
	if rapid.Bool().Draw(t, "arrivals") {
		l.arrivals = &arrivals.Plan{Poisson: rapid.Bool().Draw(t, "poisson"), Over: time.Duration(rapid.IntRange(1, 9000).Draw(t, "over")) * time.Millisecond}
	}
	l.crashes = rapid.SliceOfN(rapid.IntRange(0, 70), 0, 6).Draw(t, "crashes")
	l.actions = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) action {
		return action{
			after: time.Duration(rapid.IntRange(0, 5000).Draw(t, "ms")) * time.Millisecond,
			what: rapid.SampledFrom([]string{
				"limit", "limit", "limit", "pause", "resume", "resume", "break", "heal", "heal", "stop", "cut", "quit", "leave", "die", "checkpoint", "requeue", "requeue",
			}).Draw(t, "what"),
			n: rapid.IntRange(0, 12).Draw(t, "n"),
		}
	}), 0, 14).Draw(t, "actions")
	return l
}

// TestResultDoesNotDependOnEvents checks the promise of EXACTNESS.md: whatever happens to a run, and however often its
// process ends, the result is the one of a single process that runs one session at a time.
func TestResultDoesNotDependOnEvents(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		l := drawCase(r)
		check(r, t, l.check)
	})
}
