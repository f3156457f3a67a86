package run_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/enginetest"
	"github.com/throng-sim/throng/engine/run"
)

// maxRequests is the largest number of requests that a session of these tests makes.
const maxRequests = 6

// sent returns how many requests the sessions of a crowd sent.
func sent(c *enginetest.Crowd) (n int64) {
	for _, times := range c.AllRequests() {
		n += int64(times)
	}
	return n
}

// budgetedRun is a run of a crowd with a limited number of requests.
func budgetedRun(j *enginetest.Journal, requests int64) (run.Config, *enginetest.Crowd) {
	crowd := &enginetest.Crowd{Work: time.Second, Asks: maxRequests, Remember: 0.5, Events: 2}
	cfg := enginetest.Config(20, crowd, j)
	cfg.Settings.Limit, cfg.Settings.Cycles, cfg.Settings.Seed = 7, 2, 42
	cfg.Settings.CheckpointEvery = 0
	cfg.Settings.Budget.Requests = requests
	return cfg, crowd
}

func unlimitedResults(t *testing.T, sequential bool) (results string, requests int64) {
	t.Helper()
	j := &enginetest.Journal{}
	cfg, crowd := budgetedRun(j, 0)
	cfg.Settings.Sequential = sequential
	if got := start(t, cfg).Wait(); got.Ending != engine.EndFinished {
		t.Fatalf("without a budget, it ended as %v: %s", got.Ending, got.Reason)
	}
	return enginetest.Results(j.Sessions()), sent(crowd)
}

// TestRunOutOfBudget checks that a run that is out of budget ends cleanly, and that resuming it with a larger budget leads
// to the same results.
func TestRunOutOfBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		results, all := unlimitedResults(t, false)
		j := &enginetest.Journal{}
		cfg, crowd := budgetedRun(j, 30)
		r := start(t, cfg)
		got := r.Wait()
		const why = "the budget of 30 requests is used up: 30 spent"
		if got.Ending != engine.EndOutOfBudget || got.Reason != why || got.Totals.Bad() != 0 || sent(crowd) != 30 {
			t.Errorf("got ending %v: %q, with %d failed and %d sent", got.Ending, got.Reason, got.Totals.Bad(), sent(crowd))
		}
		s := r.Snapshot()
		if s.Cut == 0 || s.Budget.Spent.Requests != 30 || s.Budget.Claimed != (engine.Amount{}) || s.Budget.Short != why {
			t.Errorf("%d cut, budget %+v", s.Cut, s.Budget)
		}
		if want := "--max-requests 60"; s.Budget.Larger(s.Elapsed) != want {
			t.Errorf("the larger budget is %q, want %q", s.Budget.Larger(s.Elapsed), want)
		}
		rows := j.Rows()
		if end, ok := rows[len(rows)-1].(engine.EndRow); !ok || end.Ending != engine.EndOutOfBudget {
			t.Errorf("the last row is %+v", rows[len(rows)-1])
		}
		if c, ok := rows[len(rows)-2].(engine.CheckpointRow); !ok || c.Reason != "budget" {
			t.Errorf("the last row but one is %+v, want the checkpoint for the budget", rows[len(rows)-2])
		}
		j = j.Reopen()
		res := j.Resumption()
		if res.Spent().Requests != 30 {
			t.Errorf("the journal records %+v spent, want 30 requests", res.Spent())
		}
		cfg, more := budgetedRun(j, all+50)
		cfg.Resume = res
		if got := start(t, cfg).Wait(); got.Ending != engine.EndFinished || got.Totals.Spent().Requests != 30+sent(more) {
			t.Errorf("resumed, it ended as %v: %s; spent %+v of %d sent", got.Ending, got.Reason, got.Totals.Spent(), 30+sent(more))
		}
		if s := enginetest.Results(j.Sessions()); s != results {
			t.Errorf("results differ; undisturbed:\n%s\nthis run:\n%s", results, s)
		}
	})
}

// TestBudgetOverManyProcesses uses up one budget after another and kills processes in between. The requests of all
// processes stay within the budget, except those that were lost when a process died.
func TestBudgetOverManyProcesses(t *testing.T) {
	results := map[bool]string{}
	synctest.Test(t, func(t *testing.T) {
		results[false], _ = unlimitedResults(t, false)
		results[true], _ = unlimitedResults(t, true)
	})
	rapid.Check(t, func(r *rapid.T) {
		limit := rapid.IntRange(1, 12).Draw(r, "limit")
		sequential := rapid.Bool().Draw(r, "sequential")
		step := rapid.Int64Range(1, 40).Draw(r, "step")
		crashes := rapid.SliceOfN(rapid.IntRange(3, 40), 0, 3).Draw(r, "crashes")
		check(r, t, func(t *testing.T) error {
			j := &enginetest.Journal{}
			var asked, unknown int64
			for budget := step; ; budget += step {
				if budget > 100*step+400 {
					return errors.New("the run never ends")
				}
				if len(crashes) > 0 {
					j.DieAfter, crashes = len(j.Rows())+crashes[0], crashes[1:]
				}
				cfg, crowd := budgetedRun(j, budget)
				cfg.Settings.Limit, cfg.Settings.Sequential = limit, sequential
				j.Settings = cfg.Settings
				if len(j.Rows()) > 0 {
					cfg.Resume = j.Resumption()
				}
				run, err := run.Start(t.Context(), cfg)
				if err != nil {
					return err
				}
				died := false
				select {
				case <-run.Done():
				case <-j.Died():
					died = true
					_, _ = run.Stop("test", "died"), run.Stop("test", "died") // the run may have ended
				}
				got := run.Wait()
				asked += sent(crowd)
				j.Close()
				if j = j.Reopen(); died {
					was := unknown
					unknown = asked - j.Resumption().Spent().Requests
					if unknown > was+int64(limit*maxRequests) {
						return fmt.Errorf("a crash lost %d requests with %d sessions in flight", unknown-was, limit)
					}
				}
				if asked > budget+unknown {
					return fmt.Errorf("%d requests, %d of them unaccounted for, of a budget of %d", asked, unknown, budget)
				}
				if spent := run.Snapshot().Budget.Spent.Requests; !died && spent != asked-unknown {
					return fmt.Errorf("%d of %d requests are counted as spent, %d are unknown", spent, asked, unknown)
				}
				if got.Ending == engine.EndFinished && !died {
					break
				}
			}
			if s := enginetest.Results(j.Sessions()); s != results[sequential] {
				return fmt.Errorf("results differ; undisturbed:\n%s\nthis run:\n%s", results[sequential], s)
			}
			return nil
		})
	})
}

// TestLastSessionCutForTheBudget checks that its cycle is not closed without it.
func TestLastSessionCutForTheBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &enginetest.Journal{}
		cfg := enginetest.Config(3, programFunc(func(s *engine.Session) {
			settle, err := s.Claim(t.Context(), enginetest.Outlay(engine.Amount{Requests: 1}))
			if err != nil {
				s.Row.Fail("ask", fmt.Errorf("ask: %w", err))
				return
			}
			settle(enginetest.Outlay(engine.Amount{Requests: 1}))
			s.Row.Outcome = engine.OK
		}), j)
		cfg.Settings.Limit, cfg.Settings.Budget.Requests = 1, 2
		got := start(t, cfg).Wait()
		if got.Ending != engine.EndOutOfBudget || got.Totals.Ended() != 2 || len(enginetest.Of[engine.BarrierRow](j)) != 0 {
			t.Errorf("got ending %v after %d sessions, with %v", got.Ending, got.Totals.Ended(), enginetest.Of[engine.BarrierRow](j))
		}
	})
}

// TestWallTime checks that sessions in flight continue as long as they send nothing, and that no further request is sent.
func TestWallTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &enginetest.Journal{}
		cfg := enginetest.Config(100, works(4*time.Second), j)
		cfg.Settings.Limit, cfg.Settings.Budget.Wall = 1, 10*time.Second
		began := time.Now()
		got := start(t, cfg).Wait()
		took(t, began, 12*time.Second)
		const why = "the budget of 10 s of wall time is used up: 10 s spent"
		if got.Ending != engine.EndOutOfBudget || got.Reason != why || got.Totals.Ended() != 3 {
			t.Errorf("got ending %v: %q, after %d sessions", got.Ending, got.Reason, got.Totals.Ended())
		}

		j = j.Reopen()
		cfg.Journal, cfg.Resume, cfg.Settings.Budget.Wall = j, j.Resumption(), 22*time.Second
		cfg.Program = programFunc(func(s *engine.Session) {
			for {
				settle, err := s.Claim(s.Clock().Context(), enginetest.Outlay(engine.Amount{Requests: 1}))
				if err != nil {
					s.Row.Fail("ask", err)
					return
				}
				time.Sleep(3 * time.Second)
				settle(enginetest.Outlay(engine.Amount{Requests: 1}))
			}
		})
		began = time.Now()
		r := start(t, cfg)
		got = r.Wait()
		took(t, began, 12*time.Second) // the first process used 12 s; the fourth request had just ended
		if got.Ending != engine.EndOutOfBudget || r.Snapshot().Cut != 1 || !strings.Contains(got.Reason, "22 s of wall time is used up") {
			t.Errorf("got ending %v: %s; %d cut", got.Ending, got.Reason, r.Snapshot().Cut)
		}
	})
}

// TestRaisedBudget checks that waiting requests continue, and that a raise that comes too late changes nothing.
func TestRaisedBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := enginetest.Config(4, programFunc(func(s *engine.Session) {
			up := s.Clock()
			up.Hold()
			settle, err := s.Claim(up.Context(), enginetest.Outlay(engine.Amount{Tokens: 60}))
			up.Release()
			if err != nil {
				s.Row.Fail("ask", err)
				return
			}
			time.Sleep(time.Minute)
			settle(enginetest.Outlay(engine.Amount{Tokens: 10}))
			s.Row.Outcome = engine.OK
		}), nil)
		cfg.Settings.Budget.Tokens = 100
		cfg.Unpriced = []string{"gpt-unknown"}
		r := start(t, cfg)
		synctest.Wait()
		if s := r.PublishNow(); s.Budget.Claimed.Tokens != 60 || s.Budget.Spent.Tokens != 0 {
			t.Errorf("budget %+v, want one of four requests claimed", s.Budget)
		}
		do(t, r.SetBudget(engine.Budget{Tokens: 180}))
		synctest.Wait()
		if s := r.PublishNow(); s.Budget.Claimed.Tokens != 180 || s.Budget.Budget.Tokens != 180 {
			t.Errorf("budget %+v, want three of four requests claimed", s.Budget)
		}
		for _, b := range []engine.Budget{{Dollars: 1}, {Tokens: -1}, {Dollars: 1e7}} {
			var mistake *engine.FieldError
			if err := r.SetBudget(b); !errors.As(err, &mistake) || mistake.Field != "budget" && mistake.Field != "max-tokens" {
				t.Errorf("a budget of %+v: %v", b, err)
			}
		}
		if got := r.Wait(); got.Ending != engine.EndFinished || r.Snapshot().Budget.Spent.Tokens != 40 {
			t.Errorf("got ending %v with %+v", got.Ending, r.Snapshot().Budget)
		}
	})
}

// TestBudgetRaisedTooLate checks that a run that is already ending because of its budget still ends.
func TestBudgetRaisedTooLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := enginetest.Config(9, programFunc(func(s *engine.Session) {
			settle, err := s.Claim(t.Context(), enginetest.Outlay(engine.Amount{Requests: 1}))
			if err != nil {
				s.Row.Fail("ask", err)
				return
			}
			settle(enginetest.Outlay(engine.Amount{Requests: 1}))
			<-time.After(time.Minute)
			s.Row.Outcome = engine.OK
		}), nil)
		cfg.Settings.Limit, cfg.Settings.Budget.Requests = 3, 2
		r := start(t, cfg)
		synctest.Wait()
		if s := r.PublishNow(); s.Phase != engine.Draining || s.Cut != 1 || s.InFlight != 2 {
			t.Errorf("%v with %d in flight and %d cut", s.Phase, s.InFlight, s.Cut)
		}
		do(t, r.SetBudget(engine.Budget{}))
		if got := r.Wait(); got.Ending != engine.EndOutOfBudget || got.Totals.Ended() != 2 {
			t.Errorf("got ending %v after %d sessions", got.Ending, got.Totals.Ended())
		}
	})
}

// TestSharedAnswersCountOnce checks that requests of the run itself count once, for any number of readers, and that
// failed ones count too.
func TestSharedAnswersCountOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &enginetest.Journal{}
		cfg := enginetest.Config(1, asks(func(s *engine.Session) error {
			a := s.ForRun(someKey, time.Minute, tooLong)
			for _, tokens := range []int64{50, 9} { // the first attempt returned nothing
				settle, ok := a.TryClaim(enginetest.Outlay(engine.Amount{Requests: 1, Tokens: 60}))
				if !ok {
					return errors.New("the budget is used up")
				}
				settle(enginetest.Outlay(engine.Amount{Requests: 1, Tokens: tokens, Cost: 5}))
			}
			a.Answered(goodOne)
			return a.Settle(engine.StepRecord{Path: "ask", Attempts: 2, Usage: &itsUsage})
		}), j)
		r := start(t, cfg)
		got := r.Wait()
		want := engine.Amount{Cost: 10, Tokens: 59, Requests: 2}
		if s := r.Snapshot(); s.Budget.Spent != want || got.Totals.Spent().Amount() != want {
			t.Errorf("spent %+v, by the totals %+v; want %+v", s.Budget.Spent, got.Totals.Spent(), want)
		}
		if res := j.Reopen().Resumption(); res.Spent().Amount() != want {
			t.Errorf("the journal records %+v, want %+v", res.Spent(), want)
		}
	})
}

// TestBudgetForecast checks the predicted usage, and which bound will be exceeded.
func TestBudgetForecast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := enginetest.Config(372, programFunc(func(s *engine.Session) {
			settle, _ := s.TryClaim(enginetest.Outlay(engine.Amount{Tokens: 100, Requests: 1}))
			time.Sleep(time.Second)
			settle(enginetest.Outlay(engine.Amount{Tokens: 100, Requests: 1}))
			s.Row.Outcome = engine.OK
			s.Row.Steps = append(s.Row.Steps, engine.StepRecord{Path: "ask", Attempts: 1, Usage: &engine.Usage{Calls: 1, Input: 60, Output: 40}})
		}), nil)
		cfg.Settings.Limit, cfg.Settings.Budget.Tokens = 1, 40_000
		r := start(t, cfg)
		time.Sleep(1500 * time.Millisecond)
		if s := r.PublishNow(); s.Budget.Forecast != (engine.Amount{}) || s.Budget.Short != "" {
			t.Errorf("after one session, the budget is %+v", s.Budget)
		}
		time.Sleep(9 * time.Second)
		if s := r.PublishNow(); s.Budget.Forecast != (engine.Amount{Tokens: 37_200, Requests: 372}) || s.Budget.Short != "" {
			t.Errorf("after ten sessions, the budget is %+v", s.Budget)
		}
		do(t, r.SetBudget(engine.Budget{Tokens: 21_000, Requests: 300}))
		const short = "at this pace the budget of 21,000 tokens lasts for 210 of 372 sessions"
		if s := r.PublishNow(); s.Budget.Short != short {
			t.Errorf("got %q, want %q", s.Budget.Short, short)
		}
		do(t, r.SetBudget(engine.Budget{Wall: 100 * time.Second}))
		var lasts int // a session ends on a second's boundary and may count toward the one before or after
		s := r.PublishNow()
		if _, err := fmt.Sscanf(s.Budget.Short, "at this pace the budget of 1 min 40 s of wall time lasts for %d of 372 sessions", &lasts); err != nil || lasts < 85 || lasts > 115 {
			t.Errorf("got %q, %v", s.Budget.Short, err)
		}
		do(t, r.SetBudget(engine.Budget{}))
		r.Wait()
		if s := r.Snapshot(); s.Budget.Short != "" || s.Budget.Forecast.Tokens != 37_200 || s.Budget.Spent.Tokens != 37_200 {
			t.Errorf("at the end, the budget is %+v", s.Budget)
		}
	})
}

// TestCheckResumeBudget checks which budgets are too small to resume with, and that the error names the setting, both
// amounts, and a larger budget.
func TestCheckResumeBudget(t *testing.T) {
	const usedUp = "the budget of 200,000 tokens is used up: 199,000 spent"
	spent := engine.Amount{Cost: 4_980_000_000, Tokens: 199_000, Requests: 50}
	for _, c := range []struct {
		name   string
		budget engine.Budget
		reason string
		want   []string // parts of the error; none if there is no error
	}{
		{"unlimited", engine.Budget{}, usedUp, nil},
		{"enough", engine.Budget{Dollars: 5, Tokens: 200_000, Requests: 51, Wall: time.Hour}, "", nil},
		{"the same", engine.Budget{Tokens: 200_000}, usedUp, []string{"max-tokens: 199,000 of 200,000 tokens", "--max-tokens 400000"}},
		{"larger", engine.Budget{Tokens: 200_001}, usedUp, nil},
		{"smaller", engine.Budget{Tokens: 1000}, usedUp, []string{"max-tokens: 199,000 of 1,000 tokens", "--max-tokens 256000"}},
		{"money", engine.Budget{Dollars: 4.98}, "", []string{"budget: $4.98 of $4.98", "--budget 9.96"}},
		{"requests", engine.Budget{Requests: 50}, "", []string{"max-requests: 50 of 50 requests", "--max-requests 100"}},
		{"time", engine.Budget{Wall: time.Minute}, "", []string{"max-time: 1 min 30 s of 1 min of wall time", "--max-time 2m"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := engine.CheckResumeBudget(c.budget, c.reason, spent, 90*time.Second)
			if (err != nil) != (c.want != nil) {
				t.Fatalf("got %v, want an error: %v", err, c.want != nil)
			}
			for _, part := range c.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("got %v, want %q in it", err, part)
				}
			}
		})
	}
}

func TestDescribeBudget(t *testing.T) {
	s := engine.BudgetState{
		Budget: engine.Budget{Dollars: 5, Requests: 50, Wall: 2 * time.Hour}, Spent: engine.Amount{Cost: 1_500_000_000, Tokens: 9, Requests: 12},
	}
	if got, want := s.Describe(time.Minute), "$1.50 of $5.00, 12 of 50 requests, 1 min of 2 h of wall time"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := s.Larger(time.Minute), "--budget 10"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := s.Larger(time.Hour), "--max-time 4h"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if none := (engine.BudgetState{Spent: s.Spent}); none.Describe(0) != "" || none.Larger(0) != "" {
		t.Errorf("without a limit: %q and %q, want nothing", none.Describe(0), none.Larger(0))
	}
}

func TestBound(t *testing.T) {
	for want, of := range map[string]engine.RunRecord{
		"budget 10 dollars":            {Ending: engine.EndOutOfBudget, Reason: "the budget of $5.00 is used up: $4.98 spent, the next call may cost up to $0.0300"},
		"cycles 24 cycles":             {Ending: engine.EndFinished, Reason: "all cycles are done", Settings: engine.Settings{Length: engine.Length{Cycles: 24}}},
		"hours 0.5 hours of wall time": {Ending: engine.EndFinished, Reason: "all cycles are done", Settings: engine.Settings{Length: engine.Length{Hours: 0.5}}},
		"cycles 3 cycles":              {Ending: engine.EndStopped, Cycle: 3, Cycles: 3, Settings: engine.Settings{Length: engine.Length{Cycles: 3}}},
		"  ":                           {Ending: engine.EndStopped, Cycle: 2, Cycles: 3, Settings: engine.Settings{Length: engine.Length{Cycles: 3}}},
		" ":                            {},
	} {
		if of.Ending == engine.EndOutOfBudget {
			of.Settings.Budget = engine.Budget{Dollars: 5, Requests: 50}
		}
		setting, unit, offer := of.Bound()
		if got := setting + " " + offer + " " + unit; strings.TrimSpace(got) != strings.TrimSpace(want) {
			t.Errorf("%v, %s: got %q, want %q", of.Ending, of.Reason, got, want)
		}
	}
	noAgents := engine.RunRecord{Ending: engine.EndFinished, Reason: engine.NoAgents, Settings: engine.Settings{Length: engine.Length{Cycles: 3}}, Cycles: 3, Cycle: 1}
	killed := engine.RunRecord{Cycle: 3, Cycles: 3, Settings: engine.Settings{Length: engine.Length{Cycles: 3}}}
	if noAgents.AllDone() || killed.AllDone() {
		t.Error("a run without active agents, or one killed before its end, counts as complete")
	}
}

func TestUnpricedBudget(t *testing.T) {
	cfg := enginetest.Config(1, works(0), nil)
	cfg.Unpriced, cfg.Settings.Budget.Dollars = []string{"gpt-unknown"}, 5
	_, err := run.Start(t.Context(), cfg)
	if err == nil || !strings.Contains(err.Error(), "gpt-unknown") || !strings.Contains(err.Error(), "prices.json") {
		t.Errorf("got %v", err)
	}
}
