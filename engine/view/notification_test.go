package view_test

import (
	"strings"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
)

// TestNotifier changes a running run and checks that each change is reported once, and not if it was already there.
func TestNotifier(t *testing.T) {
	phase := func(to, who string) []engine.ChangeRow {
		return []engine.ChangeRow{{What: engine.LimitSetting, Who: "user"}, {What: engine.PhaseChange, New: to, Who: who}}
	}
	services := []engine.ServiceState{{Name: "shop"}, {Name: "model"}}
	for _, tt := range []struct {
		name   string
		change func(s *engine.Snapshot)
		want   []view.Occasion
		title  string
		text   string
	}{
		{"nothing", func(s *engine.Snapshot) { s.Ended++ }, nil, "", ""},
		{
			"the end", func(s *engine.Snapshot) { s.Phase, s.Ending = engine.Ended, engine.EndFinished },
			[]view.Occasion{view.OnEnd},
			"finished", "12 sessions in 5 s. See Results.",
		},
		{
			"an end with failures", func(s *engine.Snapshot) {
				s.Phase, s.Ending, s.Outcomes = engine.Ended, engine.EndStopped, map[engine.Outcome]int64{engine.Failed: 2, engine.TimedOut: 1}
			}, []view.Occasion{view.OnEnd}, "stopped", "3 of them failed or timed out",
		},
		{
			"an end because the budget is used up", func(s *engine.Snapshot) {
				s.Phase, s.Ending, s.Reason = engine.Ended, engine.EndOutOfBudget, "the budget of $5.00 is used up"
			}, []view.Occasion{view.OnBudget}, "out of budget", "the budget of $5.00 is used up. 12 sessions",
		},
		{"a pause by a person", func(s *engine.Snapshot) { s.Phase, s.Changes = engine.Paused, phase("paused", "user") }, nil, "", ""},
		{"a pause in another terminal", func(s *engine.Snapshot) { s.Phase, s.Changes = engine.Paused, phase("paused", "ann") }, nil, "", ""},
		{
			"a full disk after a pause by a person", func(s *engine.Snapshot) {
				s.Phase, s.Reason, s.Changes = engine.Paused, "no room on the disk", append(phase("paused", "user"), phase("running", "user")...)
			}, []view.Occasion{view.OnPause}, "paused", "no room on the disk. All results are kept",
		},
		{
			"an exhausted quota", func(s *engine.Snapshot) {
				s.Phase, s.Reason, s.Changes = engine.Paused, "the quota of model is gone", phase("paused", "model")
			},
			[]view.Occasion{view.OnPause},
			"paused", "the quota of model is gone",
		},
		{
			"the breaker", func(s *engine.Snapshot) {
				s.Phase, s.Breaker, s.BreakerWhy, s.Changes = engine.Paused, engine.BreakerOpen, "half of a cycle failed", phase("paused", "breaker")
			}, []view.Occasion{view.OnBreaker}, "paused, too many failures", "half of a cycle failed. All results",
		},
		{
			"a service", func(s *engine.Snapshot) {
				s.Services = []engine.ServiceState{{Name: "shop", Breaker: engine.BreakerOpen}}
			},
			[]view.Occasion{view.OnService},
			"shop is not answering", "",
		},
		{
			"a stall", func(s *engine.Snapshot) { s.Stall = &engine.Stall{Why: "no session ended for 60 s: all wait for shop"} },
			[]view.Occasion{view.OnStall},
			"no session has ended", "all wait for shop. Live",
		},
		{
			"a budget that is running out", func(s *engine.Snapshot) {
				s.Budget = engine.BudgetState{Budget: engine.Budget{Dollars: 5}, Short: "at this pace it lasts for 6 of 24 sessions"}
			},
			[]view.Occasion{view.OnShort},
			"the budget will not last", "6 of 24 sessions. You can raise it",
		},
		{
			"two changes", func(s *engine.Snapshot) {
				s.Services, s.Stall = []engine.ServiceState{{Name: "shop", Breaker: engine.BreakerOpen}}, &engine.Stall{Why: "all wait for shop"}
			}, []view.Occasion{view.OnService, view.OnStall}, "shop is not answering", "",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var h view.Notifier
			now := engine.Snapshot{Phase: engine.Running, SessionCounts: engine.SessionCounts{Ended: 12, Total: 24}, Pace: engine.Pace{Elapsed: 5 * time.Second}, Services: services}
			if news := h.See(&now); len(news) > 0 {
				t.Errorf("the first snapshot reported %+v", news)
			}
			next := now
			tt.change(&next)
			var late view.Notifier
			if news := append(late.See(&next), late.See(&next)...); len(news) > 0 {
				t.Errorf("reported the state of the first snapshot: %+v", news)
			}
			news := append(h.See(&next), h.See(&next)...)
			if len(news) != len(tt.want) {
				t.Fatalf("got %+v, want %v", news, tt.want)
			}
			for i, n := range news {
				if n.Occasion != tt.want[i] || view.KindOf(n.Occasion).About == "" {
					t.Errorf("got %+v, want %v", n, tt.want[i])
				}
			}
			if len(news) > 0 && (news[0].Title != tt.title || !strings.Contains(news[0].Text, tt.text)) {
				t.Errorf("got %+v", news[0])
			}
		})
	}
}

// TestNotifierContinues pauses a run automatically, resumes it, and pauses it again.
func TestNotifierContinues(t *testing.T) {
	var h view.Notifier
	var got []string
	see := func(change func(s *engine.Snapshot)) {
		s := engine.Snapshot{Phase: engine.Running}
		change(&s)
		for _, n := range h.See(&s) {
			got = append(got, string(n.Occasion))
		}
	}
	running := func(who string) func(s *engine.Snapshot) {
		return func(s *engine.Snapshot) {
			s.Changes = []engine.ChangeRow{{What: engine.PhaseChange, New: "running", Who: who}}
		}
	}
	broken := func(s *engine.Snapshot) { s.Phase, s.Breaker = engine.Paused, engine.BreakerOpen }
	short := func(dollars float64) func(s *engine.Snapshot) {
		return func(s *engine.Snapshot) {
			s.Budget = engine.BudgetState{Budget: engine.Budget{Dollars: dollars}, Short: "it lasts for some"}
		}
	}
	see(running("user"))
	see(broken)
	see(running("breaker")) // automatically
	see(broken)
	see(running("user")) // by a person, who needs no notification
	see(short(5))
	see(running("user")) // the forecast improves briefly
	see(short(5))        // already reported
	see(short(6))
	if want := "breaker resumed breaker budget-short budget-short"; strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
}
