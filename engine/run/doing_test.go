package run_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-sim/throng/engine"
)

// doing returns the progress of sessions as text.
func doing(all []engine.Activity) string {
	var lines []string
	for _, d := range all {
		lines = append(lines, fmt.Sprintf("%s %d.%d since %v at %s of %s, held %s for %v", d.Name, d.Cycle, d.Agent, time.Since(d.Began), d.Path, d.Service, d.ThrottledBy, time.Since(d.Since)))
	}
	return strings.Join(lines, "; ")
}

func TestDoing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		program := programFunc(func(s *engine.Session) {
			s.Row.Outcome = engine.OK
			if s.Agent == 3 {
				time.Sleep(time.Hour) // only computes
				return
			}
			s.At("look", "shop")
			s.Clock()
			time.Sleep(2 * time.Second)
			s.Throttle(engine.ThrottledByRate)
			time.Sleep(2 * time.Second)
			s.Unthrottle()
			time.Sleep(2 * time.Second)
			s.At("pay", "")
			time.Sleep(2 * time.Second)
		})
		cfg, p, _ := governedRun(4, program)
		cfg.Name = func(i int) (string, error) { return string(rune('a' + i)), nil }
		cfg.Settings.Limit = 2
		r := start(t, cfg)
		for _, want := range []string{
			"a 0.0 since 1s at look of shop, held  for 1s; b 0.1 since 1s at look of shop, held  for 1s",
			"a 0.0 since 3s at look of shop, held rate limiter for 1s; b 0.1 since 3s at look of shop, held rate limiter for 1s",
			"a 0.0 since 5s at look of shop, held  for 1s; b 0.1 since 5s at look of shop, held  for 1s",
			"a 0.0 since 7s at pay of , held  for 1s; b 0.1 since 7s at pay of , held  for 1s",
			"c 0.2 since 1s at look of shop, held  for 1s", // agent 3 is not shown
		} {
			time.Sleep(time.Second)
			if got := doing(r.Oldest(10)); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
			time.Sleep(time.Second)
		}
		if got := r.Oldest(0); got != nil {
			t.Errorf("none: %v", got)
		}
		if all := p.readings(); len(all[0].Oldest) != 2 || all[0].Oldest[1].Name != "b" {
			t.Errorf("the governor read %v", all[0].Oldest)
		}
		r.Wait()
		if s := r.Snapshot(); len(s.Oldest) != 0 || len(r.Oldest(5)) != 0 {
			t.Errorf("at the end %v", s.Oldest)
		}
	})
}

// TestOldest checks that Oldest returns the oldest sessions in order when there are more than requested.
func TestOldest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg, _, _ := governedRun(100, works(time.Hour))
		cfg.Settings.Limit = 1
		program := programFunc(func(s *engine.Session) {
			s.Clock()
			works(time.Hour).Session(s)
		})
		cfg.Program = program
		cfg.Settings.Governor = engine.Manual
		r := start(t, cfg)
		for n := 2; n <= 40; n++ {
			time.Sleep(100 * time.Millisecond)
			do(t, r.SetLimit(n, "test", ""))
		}
		time.Sleep(2 * time.Second)
		s := r.Snapshot()
		if len(s.Oldest) != 20 || len(r.Oldest(100)) != 40 {
			t.Fatalf("%d are shown, of %d", len(s.Oldest), len(r.Oldest(100)))
		}
		for i, d := range s.Oldest {
			if d.Agent != i || i > 0 && !d.Began.After(s.Oldest[i-1].Began) {
				t.Errorf("number %d is agent %d, since %v", i, d.Agent, d.Began)
			}
		}
		cut(t, r)
	})
}

// TestSessionWithoutAWorkerIsNotShown checks that a session without a worker may report its progress, which is ignored.
func TestSessionWithoutAWorkerIsNotShown(t *testing.T) {
	var s *engine.Session
	s.At("a", "b")
	s.Throttle(engine.ThrottledBySlots)
	s.Unthrottle()
	(&engine.Session{}).At("a", "b")
}
