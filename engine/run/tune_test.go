package run_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/enginetest"
	"github.com/throng-sim/throng/engine/run"
)

// TestTunablesRoundTrip checks that a resume can read the value that a change journals as new.
func TestTunablesRoundTrip(t *testing.T) {
	odd := engine.DefaultSettings()
	odd.Limit, odd.Floor, odd.Ceiling, odd.Governor, odd.Breaker, odd.StallAfter = 7, 3, 9, "latency", "wait", 90*time.Second
	odd.SessionTimeout, odd.ChainTimeout, odd.CycleTimeout, odd.CheckpointEvery = time.Hour, 1500*time.Millisecond, time.Minute, 0
	odd.CPUHigh, odd.CPULow, odd.MemoryHigh, odd.MemoryLow = 90, 40.5, 80, 50
	odd.Budget = engine.Budget{Dollars: 1.25, Tokens: 1 << 40, Requests: 12, Wall: 8 * time.Hour}
	texts := map[string]string{"unknown": "this"}
	for _, v := range odd.Tunables() {
		if v.Help == "" {
			t.Errorf("%s has no help text", v.Name)
		}
		texts[v.Name] = v.Value
	}
	got := engine.DefaultSettings()
	got.Restore(texts)
	for i, v := range got.Tunables() {
		if want := odd.Tunables()[i]; v != want {
			t.Errorf("%s = %s, want %s", v.Name, v.Value, want.Value)
		}
	}
	got.Restore(map[string]string{"floor": "", "session-timeout": "soon"})
	if got.Floor != 3 || got.SessionTimeout != time.Hour {
		t.Errorf("invalid texts changed the settings: floor %d, timeout %v", got.Floor, got.SessionTimeout)
	}
}

// TestApplyIsAllOrNothing checks that an error in any setting leaves all unchanged.
func TestApplyIsAllOrNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		model := &fakeService{state: engine.ServiceState{Name: "model"}}
		cfg, p, j := governedRun(10, works(time.Hour))
		cfg.Services = []engine.Service{model}
		r := start(t, cfg)
		before := r.Tunables()
		for name, texts := range map[string][]string{
			engine.LimitSetting: {"-1", "many", "2000000"}, "governor": {"magic"}, "floor": {"0", "101"}, "ceiling": {"0", ""}, "breaker": {"maybe"},
			"stall-warning": {"-1s", "1e300"}, "session-timeout": {"-5", "soon", "NaN"}, "budget": {"-1", "NaN", "free"}, "max-tokens": {"-3", "1.5"},
			"max-time": {"-1h"}, "checkpoint-interval": {"-1"}, "seed": {"3"}, "": {""}, "model.rate": {"much"},
		} {
			for _, text := range texts {
				var field *engine.FieldError
				wanted := []engine.Assignment{{Name: "cycle-timeout", Value: "9s"}, {Name: "model.max-rate", Value: "3"}, {Name: name, Value: text}, {Name: "max-requests", Value: "8"}}
				if _, err := r.Apply(wanted, "me", ""); !errors.As(err, &field) || !strings.Contains(err.Error(), name) {
					t.Errorf("%s = %q: %v, want a *FieldError", name, text, err)
				}
			}
		}
		for _, wanted := range [][]engine.Assignment{nil, {{Name: "floor", Value: "2"}, {Name: "floor", Value: "3"}}} {
			if _, err := r.Apply(wanted, "me", ""); err == nil {
				t.Errorf("%v is accepted", wanted)
			}
		}
		if after := r.Tunables(); !slices.Equal(before, after) || len(enginetest.Of[engine.ChangeRow](j)) > 0 || len(p.uses) > 0 {
			t.Errorf("changed: %v, want %v", after, before)
		}
		cut(t, r)
	})
}

// TestApplyCombinesSettings checks that the order of settings does not matter, and that settings that change as a
// result are reported.
func TestApplyCombinesSettings(t *testing.T) {
	for _, c := range []struct {
		wanted, changes string
		limit           int
	}{
		{"floor=200 ceiling=300", "floor 1→200; ceiling 100→300; limit 10→200", 200},
		{"max-concurrent=3 floor=2", "floor 1→2; max-concurrent automatic→3", 3},
		{"max-concurrent=20 ceiling=50", "ceiling 100→50; max-concurrent automatic→20", 20},
		{"governor=manual max-concurrent=7", "governor adaptive→manual; max-concurrent automatic→7", 7},
		{" max-concurrent = 0 budget=0.5", "budget 0→0.5; max-concurrent automatic→0", 0},
		{"model.rate=16 floor=10", "floor 1→10; model.rate 10→16", 10},
		{"floor=1", "", 10},
		{"max-concurrent=automatic", "", 10},
		{"max-concurrent=12 governor=latency", "governor adaptive→latency; max-concurrent automatic→12", 12},
	} {
		synctest.Test(t, func(t *testing.T) {
			cfg, _, j := governedRun(1000, works(time.Hour))
			cfg.Services = []engine.Service{&fakeService{state: engine.ServiceState{Name: "model"}}}
			cfg.Settings.Limit, cfg.Settings.Ceiling = 10, 100
			r := start(t, cfg)
			var wanted []engine.Assignment
			for one := range strings.FieldsSeq(strings.ReplaceAll(c.wanted, " = ", "=")) {
				name, value, _ := strings.Cut(one, "=")
				wanted = append(wanted, engine.Assignment{Name: " " + name, Value: value + " "})
			}
			changes, err := r.Apply(wanted, "me", "because")
			do(t, err)
			synctest.Wait()
			var got, journaled []string
			for _, one := range changes {
				got = append(got, one.Name+" "+one.Old+"→"+one.New)
			}
			for _, row := range enginetest.Of[engine.ChangeRow](j) {
				journaled = append(journaled, row.What+" "+row.Old+"→"+row.New)
			}
			if s := r.Snapshot(); strings.Join(got, "; ") != c.changes || !slices.Equal(got, journaled) || s.Limit != c.limit {
				t.Errorf("%s: changed %v, journaled %v, the limit is %d", c.wanted, got, journaled, s.Limit)
			}
			cut(t, r)
		})
	}
}

// FuzzSettings checks that a setting can read its own text, and the same for JSON.
func FuzzSettings(f *testing.F) {
	for _, row := range engine.SettingTable {
		f.Add(row.Name, "1")
	}
	f.Add("budget", "1e-300")
	f.Add("max-time", "1h30m")
	f.Add("warm-up", "0.5,on")
	f.Add("memory-budget", "1.0000001GB")
	f.Fuzz(func(t *testing.T, name, text string) {
		row := engine.FindSetting(name)
		s := engine.DefaultSettings()
		if row == nil || row.Set(&s, text) != nil || s.Validate() != nil {
			return
		}
		again := engine.DefaultSettings()
		if err := row.Set(&again, row.Show(&s)); err != nil || row.Show(&again) != row.Show(&s) {
			t.Errorf("%s = %q shows %q, which reads as %q: %v", name, text, row.Show(&s), row.Show(&again), err)
		}
		data, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(data, &again); err != nil || !reflect.DeepEqual(again, s) {
			t.Errorf("%s = %q comes back from JSON as %+v: %v\n%s", name, text, again, err, data)
		}
	})
}

// TestSetChangesARunInProgress checks that a change is journaled, shown, and used by sessions, and that only timeouts make
// the run inexact.
func TestSetChangesARunInProgress(t *testing.T) {
	for name, value := range map[string]string{
		"governor": "success", "floor": "2", "ceiling": "80", "breaker": "off", "stall-warning": "2m", "budget": "5", "max-tokens": "1000",
		"max-requests": "50", "max-time": "1h", "checkpoint-interval": "1m", "session-timeout": "1m", "chain-timeout": "1m", "cycle-timeout": "1h",
	} {
		synctest.Test(t, func(t *testing.T) {
			cfg, p, j := governedRun(30, works(10*time.Second))
			cfg.Settings.Cycles = 2
			r := start(t, cfg)
			time.Sleep(5 * time.Second)
			old := valueOf(r, name)
			do(t, r.Set(name, value, "me", "because"))
			do(t, r.Set(name, value, "me", "again")) // already set
			if got := valueOf(r, name); got != value || old == value {
				t.Errorf("%s went from %s to %s, want %s", name, old, got, value)
			}
			s := r.Snapshot()
			if want := name + " " + old + "→" + value + " by me: because"; describeChanges(s.Changes) != want {
				t.Errorf("changes: %s, want %s", describeChanges(s.Changes), want)
			}
			switch isTimeout := strings.HasSuffix(name, "-timeout"); {
			case isTimeout != (s.Inexact != nil):
				t.Errorf("%s: the run is %v", name, s.Inexact)
			case isTimeout && (s.Inexact.Why != "a timeout was changed by hand: "+name || s.Inexact.Cycle == 0 && name == "cycle-timeout"):
				t.Errorf("the run is %v", s.Inexact)
			}
			steers := name == "governor" || name == "floor" || name == "ceiling" || name == "breaker" || name == "stall-warning"
			if steers != (len(p.uses) == 1) {
				t.Errorf("%s: the governor received %v", name, p.uses)
			}
			got := r.Wait()
			if rows := enginetest.Of[engine.ChangeRow](j); len(rows) != 1 || (rows[0].Inexact != nil) != (got.Totals.Inexact != nil) {
				t.Errorf("journaled: %+v", rows)
			}
		})
	}
}

func valueOf(r *run.Run, name string) string {
	for _, v := range r.Tunables() {
		if v.Name == name {
			return v.Value
		}
	}
	return "none"
}

// TestTimeoutInForce checks that sessions that start after a timeout change use the new timeout, also on workers that had
// the old one.
func TestTimeoutInForce(t *testing.T) {
	for _, to := range []string{"3s", "0"} {
		synctest.Test(t, func(t *testing.T) {
			var mu sync.Mutex
			took := map[int]time.Duration{}
			program := programFunc(func(s *engine.Session) {
				began := time.Now()
				works(8 * time.Second).Session(s)
				mu.Lock()
				defer mu.Unlock()
				took[s.Agent] = time.Since(began)
			})
			cfg, _, _ := governedRun(3, program)
			cfg.Settings.Limit, cfg.Settings.SessionTimeout = 1, 5*time.Second
			r := start(t, cfg)
			time.Sleep(6 * time.Second) // in the second session
			do(t, r.Set("session-timeout", to, "me", ""))
			got := r.Wait()
			want := map[string]time.Duration{"3s": 3 * time.Second, "0": 8 * time.Second}[to]
			if took[0] != 5*time.Second || took[1] != 5*time.Second || took[2] != want {
				t.Errorf("the sessions took %v, want 5s, 5s, %v", took, want)
			}
			if n := got.Totals.Outcomes[engine.TimedOut]; n != map[string]int64{"3s": 3, "0": 2}[to] {
				t.Errorf("%d timed out", n)
			}
		})
	}
}

func TestCycleTimeoutAppliesFromTheNextCycle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg, _, _ := governedRun(2, works(10*time.Second))
		cfg.Settings.Cycles, cfg.Settings.Limit = 2, 2
		r := start(t, cfg)
		time.Sleep(time.Second)
		do(t, r.Set("cycle-timeout", "4s", "me", ""))
		time.Sleep(12 * time.Second) // in the last cycle
		do(t, r.Set("cycle-timeout", "3s", "me", "too late"))
		got := r.Wait()
		if got.Totals.Outcomes[engine.OK] != 2 || got.Totals.Outcomes[engine.TimedOut] != 2 || got.Totals.Peaks.Elapsed != 14*time.Second {
			t.Errorf("%v after %v; want the second cycle timed out after 4 s", got.Totals.Outcomes, got.Totals.Peaks.Elapsed)
		}
		if s := r.Snapshot(); got.Totals.Inexact.Cycle != 1 || s.Changes[1].Inexact != nil {
			t.Errorf("%v; the second change made it %v", got.Totals.Inexact, s.Changes[1].Inexact)
		}
	})
}

func TestCheckpointIntervalAppliesImmediately(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg, _, j := governedRun(100, works(10*time.Second))
		cfg.Settings.Limit, cfg.Settings.CheckpointEvery = 1, 0
		r := start(t, cfg)
		time.Sleep(100 * time.Second)
		do(t, r.Set("checkpoint-interval", "20s", "me", ""))
		time.Sleep(50 * time.Second)
		if n := len(enginetest.Of[engine.CheckpointRow](j)); n != 3 {
			t.Errorf("%d checkpoints, want one immediately and two since", n)
		}
		cut(t, r)
	})
}

func TestSetReachesServices(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shop, model := &fakeService{state: engine.ServiceState{Name: "shop"}}, &fakeService{state: engine.ServiceState{Name: "model"}}
		cfg, _, j := governedRun(30, works(10*time.Second))
		cfg.Services = []engine.Service{shop, model}
		r := start(t, cfg)
		time.Sleep(time.Second)
		do(t, r.Set("model.rate", "16", "me", "slower"))
		if got := describeChanges(r.Snapshot().Changes); got != "model.rate 10→16 by me: slower" || valueOf(r, "model.rate") != "16" || valueOf(r, "shop.rate") != "10" {
			t.Errorf("changes: %s", got)
		}
		var field *engine.FieldError
		for name, value := range map[string]string{"model.rate": "much", "model.color": "red", "other.rate": "1"} {
			if err := r.Set(name, value, "me", ""); !errors.As(err, &field) {
				t.Errorf("%s = %s: %v", name, value, err)
			}
		}
		if s := r.Snapshot(); s.Inexact != nil || len(s.Changes) != 1 {
			t.Errorf("the run is %v, changes %v", s.Inexact, s.Changes)
		}
		do(t, r.Set("shop.timeout", "5", "me", ""))
		if s := r.Snapshot(); s.Inexact == nil || s.Inexact.Why != "a timeout was changed by hand: shop.timeout" {
			t.Errorf("with another timeout the run is %v", s.Inexact)
		}
		r.Wait()
		if err := r.Set("model.rate", "3", "me", ""); !errors.Is(err, engine.ErrEnded) {
			t.Errorf("after the end: %v", err)
		}
		res := j.Reopen().Resumption() // the next process tunes its clients in the same way
		next := &fakeService{state: engine.ServiceState{Name: "model"}}
		cfg.Services, cfg.Resume, cfg.Journal, cfg.Settings.Cycles = []engine.Service{next}, res, &enginetest.Journal{}, 2
		cut(t, start(t, cfg))
		if got := next.value("model.rate"); got != "16" || len(next.tuned) != 1 {
			t.Errorf("resumed, the rate is %s; %v", got, next.tuned)
		}
	})
}

// TestTunablesAreRestoredInOrder checks that changes are restored in order, because one change may affect what another one
// set.
func TestTunablesAreRestoredInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		model := &fakeService{state: engine.ServiceState{Name: "model"}}
		cfg, _, j := governedRun(10, works(10*time.Second))
		cfg.Services = []engine.Service{model}
		r := start(t, cfg)
		for _, c := range [][2]string{{"model.max-rate", "20"}, {"model.rate", "50"}, {"model.timeout", "9"}, {"model.max-rate", "3"}} {
			do(t, r.Set(c[0], c[1], "me", ""))
		}
		cut(t, r)
		next := &fakeService{state: engine.ServiceState{Name: "model"}}
		cfg.Services, cfg.Resume, cfg.Journal = []engine.Service{next}, j.Reopen().Resumption(), &enginetest.Journal{}
		cut(t, start(t, cfg))
		if got, want := strings.Join(next.order, " "), "model.rate model.timeout model.max-rate"; got != want {
			t.Errorf("resumed, it is tuned in the order %s, want %s", got, want)
		}
	})
}

// TestChangesNeverRace checks that sessions can read settings while all of them change in any order.
func TestChangesNeverRace(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		names := rapid.SliceOfN(rapid.SampledFrom([]string{engine.LimitSetting, "floor", "ceiling", "governor", "session-timeout", "budget"}), 1, 20).Draw(rt, "names")
		values := rapid.SliceOfN(rapid.IntRange(0, 30), len(names), len(names)).Draw(rt, "values")
		check(rt, t, func(t *testing.T) error {
			cfg, _, j := governedRun(60, programFunc(func(s *engine.Session) {
				if b := s.Settings().Budget.Dollars; b < 0 {
					panic("a negative budget")
				}
				works(time.Second).Session(s)
			}))
			r := start(t, cfg)
			var rows int
			for i, name := range names {
				value := string(rune('0' + values[i]%10))
				if name == "governor" {
					value = engine.Governors[values[i]%len(engine.Governors)].Name
				}
				time.Sleep(100 * time.Millisecond)
				err := r.Set(name, value, "me", "")
				if _, ok := errors.AsType[*engine.FieldError](err); err != nil && !ok && !errors.Is(err, engine.ErrEnded) {
					return err
				}
				s := r.Snapshot()
				if rows = len(s.Changes); s.Floor > s.Ceiling || s.Governor != engine.Manual && s.Limit > 0 && (s.Limit > s.Ceiling || s.Limit < s.Floor) {
					return errors.New("the limit is out of its bounds after " + describeChanges(s.Changes))
				}
			}
			_ = r.SetLimit(30, "me", "to the end") // the run may have ended
			r.Wait()
			if n := len(enginetest.Of[engine.ChangeRow](j)); n < rows {
				return errors.New("not all changes were journaled")
			}
			return nil
		})
	})
}
