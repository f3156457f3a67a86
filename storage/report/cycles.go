package report

import (
	"context"
	"fmt"

	"github.com/throng-sim/throng/engine"
)

// shownCycles is the number of cycles on the page; the last ones are shown.
const shownCycles = 200

// listCycles adds the table of cycles.
func (p *page) listCycles(ctx context.Context, src Source, run engine.RunID) error {
	all, err := src.Barriers(ctx, run)
	if err != nil || len(all) < 2 {
		return err
	}
	if n := len(all) - shownCycles; n > 0 {
		p.EarlierCycles = fmt.Sprintf("The first %s cycles are in cycles.csv.", engine.FormatCount(int64(n)))
		all = all[n:]
	}
	p.Cycles.Head = []string{"Cycle", "Time", "Sessions", "Parallel steps", "Sequential steps", "Step errors", "Step timeouts", "Speed-up"}
	for i := range all {
		b := &all[i]
		f := &b.Work.Flow
		speedup := unknown
		if v := b.Work.Speedup(b.Took); v > 0 {
			speedup = fmt.Sprintf("%.3g×", v)
		}
		row := []string{fmt.Sprint(b.Cycle), engine.FormatDuration(b.Took), b.Work.Describe()}
		for _, n := range []int64{f.Parallel, f.Sequential, f.Failed, f.TimedOut} {
			row = append(row, engine.FormatCount(n))
		}
		p.Cycles.Rows = append(p.Cycles.Rows, append(row, speedup))
	}
	return nil
}
