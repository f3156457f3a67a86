package run_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/enginetest"
	"github.com/throng-sim/throng/engine/run"
)

var (
	someKey  = engine.SharedKey{1, 2, 3}
	tooLong  = &engine.TimeoutError{What: "step", Limit: time.Minute}
	goodOne  = engine.Entry{Path: "ask", Attempts: 1, Output: []byte("yes")}
	oneCall  = engine.StepRecord{Path: "ask", Attempts: 3, Statuses: []int{429, 500, 200}, Usage: &engine.Usage{Calls: 1, Input: 9, Cost: 5}}
	itsUsage = engine.Usage{Calls: 1, Input: 9, Cost: 5}
)

// asks lets agent 0 execute f and waits for it. The other agents do nothing.
func asks(f func(s *engine.Session) error) engine.Program {
	return programFunc(func(s *engine.Session) {
		if s.Agent == 0 {
			if err := f(s); err != nil {
				s.Row.Fail("ask", err)
				return
			}
		}
		s.Row.Outcome = engine.OK
	})
}

// settle requests a key in the run's name without waiting.
func settle(s *engine.Session, key engine.SharedKey, e engine.Entry, r engine.StepRecord) error {
	a := s.ForRun(key, time.Minute, tooLong)
	if err := a.Intend(a.Clock().Context(), e.Path, e.Hash, &engine.Outlay{}, &engine.Outlay{}); err != nil {
		return err
	}
	a.Answered(e)
	if err := spend(a, &r); err != nil {
		return err
	}
	return a.Settle(r)
}

// spend makes a session use what a record says.
func spend(s *engine.Session, r *engine.StepRecord) error {
	took := engine.Outlay{Requests: int64(r.Attempts)}
	took.Usage.Add(r.Usage)
	settle, ok := s.TryClaim(took)
	if !ok {
		return errors.New("the budget has no room")
	}
	settle(took)
	return nil
}

func TestSharedAnswerIsRequestedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		crowd := &enginetest.Crowd{Work: time.Second, Shares: 3}
		j := &enginetest.Journal{Latency: 10 * time.Millisecond}
		cfg := enginetest.Config(60, crowd, j)
		cfg.Settings.Cycles = 3
		r := start(t, cfg)
		got := r.Wait()
		for n := range 3 {
			if n := crowd.AllRequests()[fmt.Sprintf("share/%x", engine.SharedKey{byte(n), 0, 1})]; n != 1 {
				t.Errorf("the answer was requested %d times, want once: %v", n, crowd.AllRequests())
			}
		}
		shared := engine.RequestCounts{Usage: engine.Usage{Calls: 3, Input: 30, Output: 3, Cost: 9}, Requests: 3, RateLimited: 3, Labels: engine.Labels{3}}
		if got.Totals.Shared != shared || got.Totals.Usage != (engine.Usage{Hits: 180}) || got.Totals.Requests != 0 {
			t.Errorf("the run asked %+v, want %+v; its sessions %+v", got.Totals.Shared, shared, got.Totals.Usage)
		}
		s := r.Snapshot()
		if want := (engine.Usage{Calls: 3, Input: 30, Output: 3, Cost: 9, Hits: 180}); s.Usage != want || s.Metrics.Usage != want {
			t.Errorf("shown is %+v, %+v, want %+v", s.Usage, s.Metrics.Usage, want)
		}
		if s.Requests != 3 || s.RateLimited != 3 || s.Labels[engine.Fresh] != 3 || s.Metrics.RateLimited != 3 {
			t.Errorf("shown are %d requests, %d and %d 429s, labels %v", s.Requests, s.RateLimited, s.Metrics.RateLimited, s.Labels)
		}
		ends := enginetest.Of[engine.EndRow](j)
		if len(ends) != 1 || ends[0].Totals.Shared != shared {
			t.Errorf("the end row has %+v", ends)
		}
	})
}

// TestApart checks what distinguishes a session of the run itself.
func TestApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := enginetest.Config(1, asks(func(s *engine.Session) error {
			a := s.ForRun(someKey, time.Minute, tooLong)
			if a.Run().ID != s.Run().ID || a.Settings() != s.Settings() || !a.Now.Equal(s.Now) || a.Cycle != s.Cycle || a.Agent != -1 || a.Memory != nil || a.Row == nil {
				t.Errorf("the run's own session is %+v", a.Place)
			}
			if _, ok := a.Replay("ask"); ok || a.Replaying() || a.Clocked() != nil {
				t.Error("something is there before it began")
			}
			s.Clock().Hold()
			defer s.Clock().Release()
			began := time.Now()
			<-a.Clock().Context().Done()
			took(t, began, time.Minute) // whatever throttles the other
			if cause := context.Cause(a.Clock().Context()); !errors.Is(cause, tooLong) {
				t.Errorf("it ended with %v", cause)
			}
			return a.Settle(engine.StepRecord{Path: "ask", Status: engine.StepTimedOut, Class: engine.Timeout, Attempts: 1})
		}), nil)
		got := start(t, cfg).Wait()
		if got.Totals.Outcomes[engine.OK] != 1 || got.Totals.Shared.Requests != 1 || got.Totals.Requests != 0 {
			t.Errorf("%+v", got.Totals)
		}
	})
}

// TestOnlyGoodAnswersAreKept checks that failures count, and that the next request asks again.
func TestOnlyGoodAnswersAreKept(t *testing.T) {
	bad, badStep, none := goodOne, oneCall, goodOne
	bad.Status, badStep.Status, none.Attempts = engine.StepFailed, engine.StepFailed, 0
	for _, c := range []struct {
		name   string
		entry  engine.Entry
		record engine.StepRecord
		kept   bool
	}{
		{"an answer", goodOne, oneCall, true},
		{"a failure", bad, badStep, false},
		{"an answer that was of no use", goodOne, badStep, false},
		{"a failure that the step let pass", bad, oneCall, false},
		{"nothing", none, oneCall, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := &enginetest.Journal{}
			r := start(t, enginetest.Config(1, asks(func(s *engine.Session) error {
				err := settle(s, someKey, c.entry, c.record)
				if e, ok := s.Recall(someKey); ok != c.kept || ok && !reflect.DeepEqual(e, c.entry) {
					t.Errorf("recalled %+v, %v", e, ok)
				}
				return err
			}), j))
			got := r.Wait()
			if want := (engine.RequestCounts{Usage: itsUsage, Requests: 3, Retries: 2, RateLimited: 1, Labels: engine.Labels{1}}); got.Totals.Shared != want {
				t.Errorf("the run asked %+v, want %+v", got.Totals.Shared, want)
			}
			res := j.Resumption()
			if _, ok := res.Shared.Answers[someKey]; ok != c.kept || len(res.Shared.Unanswered) != 0 {
				t.Errorf("the next process finds %+v", res.Shared)
			}
			rows := enginetest.Of[engine.SharedRow](j)
			if len(rows) != 2 || rows[0].Record != nil || rows[0].Answers() || rows[1].Answers() != c.kept {
				t.Errorf("the journal holds %+v", rows)
			}
		})
	}
}

// TestSharedAnswersAfterResume checks that the next process has the shared answers, knows which requests were in
// flight, and counts nothing twice.
func TestSharedAnswersAfterResume(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		flying := engine.SharedKey{9}
		j := &enginetest.Journal{}
		cfg := enginetest.Config(1, asks(func(s *engine.Session) error {
			a := s.ForRun(flying, time.Minute, tooLong)
			for i, path := range []string{"think", "think~2"} { // a second call for the same key
				if err := a.Intend(a.Clock().Context(), path, uint64(77+i), &engine.Outlay{}, &engine.Outlay{}); err != nil {
					return err
				}
			}
			defer a.Clock().Stop()
			return settle(s, someKey, goodOne, oneCall)
		}), j)
		start(t, cfg).Wait()
		j = j.Reopen()
		cfg.Journal, cfg.Resume, cfg.Settings.Cycles = j, j.Resumption(), 2
		looked := make(chan struct{})
		cfg.Program = asks(func(s *engine.Session) error {
			<-looked
			if e, ok := s.Recall(someKey); !ok || string(e.Output) != "yes" {
				t.Errorf("recalled %+v, %v", e, ok)
			}
			a := s.ForRun(flying, time.Minute, tooLong)
			if e, ok := a.Replay("other"); !ok || !reflect.DeepEqual(e, engine.Entry{Path: "other", Hash: 77}) {
				t.Errorf("replayed %+v, %v; want the intent of the first call", e, ok)
			}
			if e, ok := a.Replay("other"); ok {
				t.Errorf("replayed %+v a second time", e)
			}
			record := oneCall
			record.Label = engine.Resent
			a.Observed(goodOne)
			return errors.Join(spend(a, &record), a.Settle(record))
		})
		r := start(t, cfg)
		if s := r.Snapshot(); s.Usage != itsUsage || s.Requests != 3 {
			t.Errorf("it begins with %+v, %d requests", s.Usage, s.Requests)
		}
		close(looked)
		got := r.Wait()
		if rate := r.Snapshot().Metrics.RequestsPerSec; rate != 3000 { // 3 requests, and the shortest window is 1 ms
			t.Errorf("%v requests per second, want those of this process only: 3000", rate)
		}
		want := engine.RequestCounts{Usage: itsUsage, Requests: 6, Retries: 4, RateLimited: 2, Labels: engine.Labels{engine.Fresh: 1, engine.Resent: 1}}
		want.Usage.Add(&itsUsage)
		if got.Totals.Shared != want {
			t.Errorf("both processes asked %+v, want %+v", got.Totals.Shared, want)
		}
		if res := j.Resumption(); len(res.Shared.Answers) != 2 || len(res.Shared.Unanswered) != 0 || res.State.Totals.Shared != want {
			t.Errorf("a third finds %+v, %+v", res.Shared, res.State.Totals.Shared)
		}
	})
}

// TestSharedRequestOutlivesItsSession checks that a request continues after its session has timed out, so that other
// sessions get the answer.
func TestSharedRequestOutlivesItsSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		settled := make(chan error, 1)
		cfg := enginetest.Config(2, programFunc(func(s *engine.Session) {
			up := s.Clock().Context()
			if s.Agent == 0 {
				a := s.ForRun(someKey, time.Minute, tooLong)
				go func() {
					time.Sleep(15 * time.Second)
					a.Answered(goodOne)
					settled <- errors.Join(context.Cause(a.Clock().Context()), a.Settle(oneCall))
				}()
				<-up.Done()
				s.Row.Fail("ask", context.Cause(up))
				return
			}
			time.Sleep(5 * time.Second)
			do(t, <-settled)
			if _, ok := s.Recall(someKey); !ok {
				t.Error("the answer is not there")
			}
			s.Row.Outcome = engine.OK
		}), nil)
		cfg.Settings.SessionTimeout, cfg.Settings.Limit = 10*time.Second, 1
		got := start(t, cfg).Wait()
		if got.Totals.Outcomes[engine.OK] != 1 || got.Totals.Outcomes[engine.TimedOut] != 1 || got.Totals.Shared.Requests != 3 {
			t.Errorf("%+v, %+v", got.Totals.Outcomes, got.Totals.Shared)
		}
	})
}

// TestEndDoesNotWaitForSharedRequests checks that a request that no session waits for ends with the run and stores nothing.
func TestEndDoesNotWaitForSharedRequests(t *testing.T) {
	for _, cut := range []bool{false, true} {
		t.Run(fmt.Sprintf("cut %v", cut), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				j := &enginetest.Journal{}
				ended := make(chan error, 1)
				r := start(t, enginetest.Config(1, asks(func(s *engine.Session) error {
					a := s.ForRun(someKey, time.Hour, tooLong)
					if err := a.Intend(a.Clock().Context(), "ask", 7, &engine.Outlay{}, &engine.Outlay{Requests: 1}); err != nil {
						return err
					}
					go func() {
						<-a.Clock().Context().Done()
						a.Answered(goodOne) // at the last moment
						ended <- errors.Join(context.Cause(a.Clock().Context()), a.Settle(oneCall))
					}()
					if !cut {
						return nil
					}
					<-s.Clock().Context().Done()
					return context.Cause(s.Clock().Context())
				}), j))
				synctest.Wait()
				began := time.Now()
				if cut {
					do(t, r.Stop("test", "now"))
					do(t, r.Stop("test", "now"))
				}
				got := r.Wait()
				took(t, began, 0)
				if err := <-ended; !errors.Is(err, engine.ErrCut) || errors.Is(err, tooLong) {
					t.Errorf("the asking ended with %v, want ErrCut", err)
				}
				res := j.Resumption()
				if got.Totals.Shared != (engine.RequestCounts{}) || len(res.Shared.Answers) != 0 || res.Shared.Unanswered[someKey] != (engine.Unanswered{Hash: 7, Spent: engine.Outlay{Requests: 1}}) {
					t.Errorf("it counts %+v, the next process finds %+v", got.Totals.Shared, res.Shared)
				}
			})
		})
	}
}

// TestUnstoredAnswerIsNotUsed checks that no session may use such an answer.
func TestUnstoredAnswerIsNotUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &enginetest.Journal{}
		cfg := enginetest.Config(1, asks(func(s *engine.Session) error {
			j.Die()
			err := settle(s, someKey, goodOne, oneCall)
			if !errors.Is(err, enginetest.ErrDead) {
				t.Errorf("settled with %v", err)
			}
			a := s.ForRun(someKey, time.Minute, tooLong)
			a.Answered(goodOne)
			if err := a.Settle(oneCall); !errors.Is(err, enginetest.ErrDead) {
				t.Errorf("settled with %v", err)
			}
			if e, ok := s.Recall(someKey); ok {
				t.Errorf("recalled %+v", e)
			}
			return err
		}), j)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		r, err := run.Start(ctx, cfg)
		do(t, err)
		synctest.Wait()
		cancel()
		if got := r.Wait(); got.Totals.Shared != (engine.RequestCounts{}) {
			t.Errorf("it counts %+v", got.Totals.Shared)
		}
	})
}

// TestSlowDiskDoesNotTimeOutSharedRequests checks that an answer that arrived in time is kept, however long storing it
// takes.
func TestSlowDiskDoesNotTimeOutSharedRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &enginetest.Journal{}
		r := start(t, enginetest.Config(1, asks(func(s *engine.Session) error {
			s.Clock().Hold()
			defer s.Clock().Release()
			a := s.ForRun(someKey, time.Second, tooLong)
			a.Clock()
			a.Answered(goodOne)
			j.Stall()
			time.AfterFunc(time.Minute, j.Heal)
			return a.Settle(oneCall)
		}), j))
		if got := r.Wait(); got.Totals.Outcomes[engine.OK] != 1 || len(j.Resumption().Shared.Answers) != 1 {
			t.Errorf("%+v", got.Totals.Outcomes)
		}
	})
}

// TestSharedAdd compares Shared.Add with a plain reading of the rows.
func TestSharedAdd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var got engine.Shared
		var rows []engine.SharedRow
		for i := range rapid.IntRange(0, 12).Draw(t, "rows") {
			row := engine.SharedRow{Key: engine.SharedKey{byte(rapid.IntRange(0, 2).Draw(t, "key"))}, Entry: engine.Entry{Hash: uint64(i)}}
			if rapid.Bool().Draw(t, "ended") {
				row.Record = &engine.StepRecord{}
				row.Entry.Attempts = rapid.IntRange(0, 1).Draw(t, "attempts")
			}
			rows = append(rows, row)
			got.Add(&row)
		}
		for k := range 3 {
			key := engine.SharedKey{byte(k)}
			answer, asked := uint64(99), uint64(99)
			for _, row := range rows {
				switch {
				case row.Key != key:
				case row.Record == nil && asked == 99:
					asked = row.Entry.Hash
				case row.Record != nil && row.Entry.Attempts > 0:
					answer, asked = row.Entry.Hash, 99
				case row.Record != nil:
					asked = 99
				}
			}
			if e, ok := got.Answers[key]; ok != (answer != 99) || ok && e.Hash != answer {
				t.Fatalf("of %+v: answer %+v, %v, want %d", rows, e, ok, answer)
			}
			if got, ok := got.Unanswered[key]; ok != (asked != 99) || ok && got.Hash != asked {
				t.Fatalf("of %+v: asked %+v, %v, want %d", rows, got, ok, asked)
			}
		}
	})
}
