package chain

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/enginetest"
)

// TestParallelSteps checks which steps count as parallel: those that are not ordered against another step of their
// group, with everything inside them, unless the group runs sequentially.
func TestParallelSteps(t *testing.T) {
	const file = `
step first: {kind: wait, for: 1}
step a: {kind: wait, for: 2, parallel: true}
step b: {kind: wait, for: 2, depends_on: [a]}
step c: {kind: wait, for: 2, parallel: true, when: false}
step plain: {kind: wait, for: 1}
step row1: {kind: wait, for: 1, parallel: true}
step row2: {kind: wait, for: 1, depends_on: [row1]}
step loop:
  kind: for
  each: "[1, 2]"
  as: i
  do:
    step x: {kind: wait, for: 1, parallel: true}
    step y: {kind: wait, for: 1, parallel: true}
step alone: {kind: wait, for: 1, parallel: true}
`
	for _, mode := range modes {
		t.Run(mode.name, func(t *testing.T) {
			var row engine.SessionRow
			synctest.Test(t, func(t *testing.T) { row = stage{steps: file, change: mode.change}.one(t) })
			var got []string
			for _, s := range row.Steps {
				if s.Parallel {
					got = append(got, s.Path)
				}
			}
			want := []string{"a", "b", "c", "loop[0].x", "loop[0].y", "loop[1].x", "loop[1].y"}
			if mode.change != nil {
				want = nil
			}
			if !slices.Equal(got, want) {
				t.Errorf("in parallel ran %v, want %v", got, want)
			}
		})
	}
}

// TestFiveAtOnce checks the speedup of five independent steps of two seconds: busy time divided by wall time.
func TestFiveAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		row := stage{steps: `
step a: {kind: wait, for: 2, parallel: true}
step b: {kind: wait, for: 2, parallel: true}
step c: {kind: wait, for: 2, parallel: true}
step d: {kind: wait, for: 2, parallel: true}
step e: {kind: wait, for: 2, parallel: true}
`, journal: &enginetest.Journal{}}.one(t)
		var totals engine.Totals
		totals.Add(&row)
		if got := totals.Flow; got.Speedup() != 5 || got.Parallel != 5 || got.Sequential != 0 || got.Wall != 2*time.Second {
			t.Errorf("speed-up %v, %+v", got.Speedup(), got)
		}
	})
}
