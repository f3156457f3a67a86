package engine_test

import (
	"strings"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
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
		want   []engine.Occasion
		title  string
		text   string
	}{
		{"nothing", func(s *engine.Snapshot) { s.Ended++ }, nil, "", ""},
		{
			"the end", func(s *engine.Snapshot) { s.Phase, s.Ending = engine.Ended, engine.EndFinished },
			[]engine.Occasion{engine.OnEnd},
			"finished", "12 sessions in 5.0s. Results shows what came of it.",
		},
		{
			"an end with failures", func(s *engine.Snapshot) {
				s.Phase, s.Ending, s.Outcomes = engine.Ended, engine.EndStopped, map[engine.Outcome]int64{engine.Failed: 2, engine.TimedOut: 1}
			}, []engine.Occasion{engine.OnEnd}, "stopped", "3 of them failed or timed out",
		},
		{
			"an end for want of budget", func(s *engine.Snapshot) {
				s.Phase, s.Ending, s.Reason = engine.Ended, engine.EndOutOfBudget, "the budget of $5.00 is used up"
			}, []engine.Occasion{engine.OnBudget}, "out of budget", "the budget of $5.00 is used up. 12 sessions",
		},
		{"a pause by hand", func(s *engine.Snapshot) { s.Phase, s.Changes = engine.Paused, phase("paused", "user") }, nil, "", ""},
		{"a pause in another terminal", func(s *engine.Snapshot) { s.Phase, s.Changes = engine.Paused, phase("paused", "ann") }, nil, "", ""},
		{
			"a full disk after a pause by hand", func(s *engine.Snapshot) {
				s.Phase, s.Reason, s.Changes = engine.Paused, "no room on the disk", append(phase("paused", "user"), phase("running", "user")...)
			}, []engine.Occasion{engine.OnPause}, "paused", "no room on the disk. Nothing that was done is lost",
		},
		{
			"a quota that is gone", func(s *engine.Snapshot) {
				s.Phase, s.Reason, s.Changes = engine.Paused, "the quota of model is gone", phase("paused", "model")
			},
			[]engine.Occasion{engine.OnPause},
			"paused", "the quota of model is gone",
		},
		{
			"the breaker", func(s *engine.Snapshot) {
				s.Phase, s.Breaker, s.BreakerWhy, s.Changes = engine.Paused, engine.BreakerOpen, "half of a cycle failed", phase("paused", "breaker")
			}, []engine.Occasion{engine.OnBreaker}, "paused, too much fails", "half of a cycle failed. Nothing",
		},
		{
			"a service", func(s *engine.Snapshot) {
				s.Services = []engine.ServiceState{{Name: "shop", Breaker: engine.BreakerOpen}}
			},
			[]engine.Occasion{engine.OnService},
			"shop is not answering", "",
		},
		{
			"a stall", func(s *engine.Snapshot) { s.Stall = &engine.Stall{Why: "no session ended for 60 s: all wait for shop"} },
			[]engine.Occasion{engine.OnStall},
			"no session ends any more", "all wait for shop. Live",
		},
		{
			"a budget that will not last", func(s *engine.Snapshot) {
				s.Budget = engine.BudgetState{Budget: engine.Budget{Dollars: 5}, Short: "at this pace it lasts for 6 of 24 sessions"}
			},
			[]engine.Occasion{engine.OnShort},
			"the budget will not last", "6 of 24 sessions. A larger one",
		},
		{
			"two at once", func(s *engine.Snapshot) {
				s.Services, s.Stall = []engine.ServiceState{{Name: "shop", Breaker: engine.BreakerOpen}}, &engine.Stall{Why: "all wait for shop"}
			}, []engine.Occasion{engine.OnService, engine.OnStall}, "shop is not answering", "",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var h engine.Notifier
			now := engine.Snapshot{Phase: engine.Running, Ended: 12, Total: 24, Elapsed: 5 * time.Second, Services: services}
			if news := h.See(&now); len(news) > 0 {
				t.Errorf("at the first look %+v", news)
			}
			next := now
			tt.change(&next)
			var late engine.Notifier
			if news := append(late.See(&next), late.See(&next)...); len(news) > 0 {
				t.Errorf("news of what was so before: %+v", news)
			}
			news := append(h.See(&next), h.See(&next)...)
			if len(news) != len(tt.want) {
				t.Fatalf("got %+v, want %v", news, tt.want)
			}
			for i, n := range news {
				if n.Occasion != tt.want[i] || engine.KindOf(n.Occasion).About == "" {
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
	var h engine.Notifier
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
	if want := "breaker going-on breaker budget-short budget-short"; strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
}
