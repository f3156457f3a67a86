package run_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/enginetest"
)

// TestCheckpointsStayWithinTheirInterval checks this for any interval, in addition to other checkpoints, pauses and changed
// limits.
func TestCheckpointsStayWithinTheirInterval(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		every := time.Duration(rapid.IntRange(50, 20_000).Draw(r, "every ms")) * time.Millisecond
		offset := time.Duration(rapid.IntRange(0, 999).Draw(r, "offset ms")) * time.Millisecond
		actions := rapid.SliceOfN(rapid.SampledFrom([]string{"wait", "wait", "manual", "pause", "resume", "0", "9"}), 0, 12).Draw(r, "actions")
		check(r, t, func(t *testing.T) error {
			j := &enginetest.Journal{Latency: 5 * time.Millisecond}
			cfg := enginetest.Config(40, works(7*time.Second+13*time.Millisecond), j)
			cfg.Settings.CheckpointEvery, cfg.Settings.Limit = every, 3
			began := time.Now()
			run := start(t, cfg)
			for _, m := range actions {
				time.Sleep(3*time.Second + offset)
				var err error
				switch m {
				case "manual":
					err = run.Checkpoint(t.Context(), "by hand")
				case "pause":
					err = run.Pause("test", "")
				case "resume":
					err = run.Resume("test")
				case "0":
					err = run.SetLimit(0, "test", "")
				case "9":
					err = run.SetLimit(9, "test", "")
				}
				if err != nil && !errors.Is(err, engine.ErrEnded) {
					return fmt.Errorf("%s: %w", m, err)
				}
			}
			_, _ = run.SetLimit(9, "test", ""), run.Resume("test") // the run may have ended
			got := run.Wait()
			if gap := got.Totals.Peaks.CheckpointGap; gap > every {
				return fmt.Errorf("a gap of %v with an interval of %v", gap, every)
			}
			n := len(enginetest.Of[engine.CheckpointRow](j))
			if most := int(time.Since(began)/(every-every/20-min(every/20, 2*time.Second))) + len(actions) + 1; n > most {
				return fmt.Errorf("%d checkpoints in %v, want at most %d", n, time.Since(began), most)
			}
			if n == 0 && time.Since(began) > every {
				return errors.New("no checkpoint at all")
			}
			return nil
		})
	})
}

func TestLongPauseKeepsOldCheckpoints(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &enginetest.Journal{}
		cfg := enginetest.Config(10, works(time.Second), j)
		cfg.Settings.Limit, cfg.Settings.CheckpointEvery = 1, time.Minute
		r := start(t, cfg)
		time.Sleep(1500 * time.Millisecond)
		do(t, r.Pause("test", ""))
		time.Sleep(time.Hour)
		if n := len(enginetest.Of[engine.CheckpointRow](j)); n != 2 {
			t.Errorf("%d checkpoints, want that of the pause and that of the session which ended in it", n)
		}
		if age := time.Since(r.Snapshot().LastCheckpoint); age > time.Minute {
			t.Errorf("the last checkpoint describes the run of %v ago, want within a minute", age)
		}
		do(t, r.Resume("test"))
		if gap := r.Wait().Totals.Peaks.CheckpointGap; gap > time.Minute {
			t.Errorf("a gap of %v", gap)
		}
	})
}

// TestCheckpointsByCycle takes a checkpoint at the start of every second cycle, and one at the end.
func TestCheckpointsByCycle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &enginetest.Journal{}
		cfg := enginetest.Config(10, works(time.Second), j)
		cfg.Settings.Cycles, cfg.Settings.CheckpointEvery, cfg.Settings.CheckpointCycles = 7, 0, 2
		start(t, cfg).Wait()
		var at []int
		for _, c := range enginetest.Of[engine.CheckpointRow](j) {
			if at = append(at, c.Cycle); c.Done != int64(10*c.Cycle) {
				t.Errorf("%d sessions are done at the start of cycle %d", c.Done, c.Cycle)
			}
		}
		if want := []int{2, 4, 6, 7}; !slices.Equal(at, want) {
			t.Errorf("checkpoints of cycles %v, want %v", at, want)
		}
	})
}

func TestManualCheckpointIsDurable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &enginetest.Journal{Latency: 3 * time.Second}
		r := start(t, enginetest.Config(10, works(time.Minute), j))
		time.Sleep(10 * time.Second)
		began := time.Now()
		do(t, r.Checkpoint(t.Context(), "before lunch"))
		took(t, began, 3*time.Second)
		if got := enginetest.Of[engine.CheckpointRow](j); len(got) != 1 || got[0].Reason != "before lunch" {
			t.Errorf("checkpoints = %v, want one before lunch", got)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := r.Checkpoint(ctx, "impatient"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("with a second of patience: %v, want the context's cause", err)
		}
		j.Break(engine.ErrNoRoom)
		saved := make(chan error)
		go func() { saved <- r.Checkpoint(t.Context(), "never") }()
		time.Sleep(time.Second)
		do(t, r.Stop("test", ""))
		do(t, r.Stop("test", ""))
		if err := <-saved; !errors.Is(err, engine.ErrCut) {
			t.Errorf("a checkpoint that the run's end cut off: %v, want ErrCut", err)
		}
		r.Wait()
	})
}

// TestCheckpointDescribesTheBarrier checks that a checkpoint contains the memory and totals of the start of the cycle,
// however far the cycle has progressed.
func TestCheckpointDescribesTheBarrier(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		crowd := &enginetest.Crowd{Work: 2 * time.Second, Remember: 1}
		j := &enginetest.Journal{}
		cfg := enginetest.Config(50, crowd, j)
		cfg.Settings.Cycles, cfg.Settings.Limit = 4, 5
		r := start(t, cfg)
		var cycles []int
		for r.Snapshot().Phase != engine.Ended {
			time.Sleep(3 * time.Second)
			if s := r.PublishNow(); s.Phase == engine.Running {
				do(t, r.Checkpoint(t.Context(), "by hand"))
				cycles = append(cycles, s.Cycle)
			}
		}
		cycles = append(cycles, 4) // the one at the end
		for n, c := range enginetest.Of[engine.CheckpointRow](j) {
			if c.Cycle != cycles[n] {
				t.Errorf("checkpoint %d is of cycle %d, taken in %d", n, c.Cycle, cycles[n])
			}
			if got, timed, want := c.State.Totals.Ended(), c.State.Totals.Total.Count(), int64(50*c.Cycle); got != want || timed != want {
				t.Errorf("checkpoint %d has totals of %d sessions, %d of them timed; want the %d before cycle %d", n, got, timed, want, c.Cycle)
			}
			if c.Done < int64(50*c.Cycle) || c.Done > int64(50*c.Cycle+50) || c.Total != 200 {
				t.Errorf("checkpoint %d: %d of %d done in cycle %d", n, c.Done, c.Total, c.Cycle)
			}
			if n > 0 && cycles[n] == cycles[n-1] && len(c.Memory) > 0 {
				t.Errorf("checkpoint %d holds %d agents again, though nothing was committed since the last", n, len(c.Memory))
			}
			memory, _ := j.Restored(n + 1)
			for agent := range 50 {
				if g, w := enginetest.ShowMemory(map[int]*engine.Memory{0: memory[agent]}), enginetest.ShowMemory(map[int]*engine.Memory{0: crowd.Memory(1, agent, c.Cycle)}); g != w {
					t.Errorf("checkpoint %d, agent %d: %s, want %s", n, agent, g, w)
				}
			}
		}
	})
}

func TestCheckpointNeverOvertakesABarrier(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &enginetest.Journal{Latency: time.Second}
		cfg := enginetest.Config(5, works(time.Second), j)
		cfg.Settings.Cycles = 10
		r := start(t, cfg)
		time.Sleep(50 * time.Millisecond)
		for r.Snapshot().Phase != engine.Ended {
			time.Sleep(170 * time.Millisecond)
			go func() { _ = r.Checkpoint(t.Context(), "by hand") }()
		}
		open := 0
		for i, row := range j.Rows() {
			switch row := row.(type) {
			case engine.BarrierRow:
				open = row.Cycle + 1
			case engine.CheckpointRow:
				// A checkpoint taken while the barrier was being committed still belongs to the previous cycle.
				if row.Cycle != open && row.Cycle != open-1 {
					t.Errorf("row %d: a checkpoint of cycle %d while %d is open", i, row.Cycle, open)
				}
			}
		}
	})
}
