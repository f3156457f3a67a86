package run_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/throng-sim/throng/engine/enginetest"
	"github.com/throng-sim/throng/engine/fleet/fleettest"
)

// TestSpendingUnderFaults checks that what the sessions of workers spent is counted once, although leases lapse early, workers are cut off
// or killed, and sessions run again.
func TestSpendingUnderFaults(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		faults := fleettest.Faults{
			Seed: rapid.Uint64().Draw(r, "seed"), Delay: time.Duration(rapid.IntRange(0, 3).Draw(r, "delay")) * 40 * time.Millisecond,
			Lose: float64(rapid.IntRange(0, 1).Draw(r, "lose")) / 20, Twice: float64(rapid.IntRange(0, 1).Draw(r, "twice")) / 10,
			EarlyLapse: float64(rapid.IntRange(0, 3).Draw(r, "lapse")) / 4,
		}
		crowd := &enginetest.Crowd{Asks: rapid.IntRange(1, 6).Draw(r, "asks"), Work: 10 * time.Second, Fail: 0.3, Shares: rapid.IntRange(0, 3).Draw(r, "shares")}
		budget := rapid.SampledFrom([]int64{0, 100_000}).Draw(r, "budget")
		events := rapid.SliceOfN(rapid.SampledFrom([]string{"part", "heal", "kill", "join", "requeue", "requeue", ""}), 0, 12).Draw(r, "events")
		check(r, t, func(t *testing.T) error {
			f := newFleet(t, faults)
			f.apart = true
			cfg := enginetest.Config(20, crowd.Copy(), &enginetest.Journal{Latency: time.Millisecond})
			cfg.Settings.Limit, cfg.Settings.Cycles, cfg.Settings.Budget.Requests, cfg.Pool = 6, 2, budget, f.pool(2)
			r := start(t, cfg)
			for i, e := range events {
				time.Sleep(1700 * time.Millisecond)
				switch e {
				case "part", "heal":
					f.part("w1", e == "part")
				case "kill":
					f.kill("w1")
				case "join":
					f.join("w1", cfg.Program)
				case "requeue":
					for agent := range 5 {
						_ = r.Requeue(t.Context(), 5*(i%4)+agent, "test") // it may not have failed
					}
				}
			}
			got := r.Wait()
			asked, spent := got.Totals.AllRequests(), got.Totals.Peaks.Spent
			if booked := asked.Outlay().Plus(got.Totals.Peaks.Unrecorded); booked.Amount() != spent.Amount() {
				return fmt.Errorf("rows and what is outside of them have %+v, but %+v was spent", booked.Amount(), spent.Amount())
			}
			return nil
		})
	})
}
