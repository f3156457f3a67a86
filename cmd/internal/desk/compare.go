package desk

import (
	"context"
	"maps"
	"math"
	"slices"

	"github.com/throng-sim/throng/cmd/internal/app/review"
	"github.com/throng-sim/throng/engine"
	figures "github.com/throng-sim/throng/engine/compare"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/compare"
)

// compareDesk serves the Compare screen.
type compareDesk struct{ *Desk }

var _ compare.Desk = compareDesk{}

// Runs lists the runs whose results are on this machine, newest first.
func (d compareDesk) Runs(ctx context.Context) ([]engine.RunRecord, error) {
	return resultsDesk(d).Runs(ctx)
}

// Compare compares runs with the first of them.
func (d compareDesk) Compare(ctx context.Context, runs []engine.RunID) (*compare.Comparison, error) {
	c, err := review.Compare(ctx, d.store, runs, 0, 0)
	if err != nil {
		return nil, err
	}
	out := &compare.Comparison{From: c.From, To: c.To, Series: overCycles(c)}
	for i := range c.Runs {
		r := compare.Run{ID: c.Runs[i].ID, Name: c.Runs[i].DisplayName(), Sessions: c.Samples[i].Sessions, Exact: c.Runs[i].Inexact == nil}
		if i > 0 {
			r.Differences = c.Differences[i-1]
			if m := figures.Method(c.Paired[i-1]); !slices.Contains(out.Notes, m) {
				out.Notes = append(out.Notes, m)
			}
		}
		out.Runs = append(out.Runs, r)
	}
	for _, r := range c.Rows {
		row := compare.Row{Group: r.Kind.Title(), Name: r.Name, First: r.Of[0].Text(r.Kind)}
		for i := range r.Against {
			x := &r.Against[i]
			row.Others = append(row.Others, compare.Cell{Value: r.Of[i+1].Text(r.Kind), Difference: x.Text(r.Kind), Chance: x.Chance(), Clear: x.Clear()})
		}
		out.Rows = append(out.Rows, row)
	}
	return out, nil
}

// Curves returns the charts of runs over time.
func (d compareDesk) Curves(ctx context.Context, runs []engine.RunID) ([]*view.Curves, error) {
	return review.Curves(ctx, d.store, runs)
}

// overCycles returns the figures of each cycle.
func overCycles(c *review.Comparison) (all []compare.Series) {
	add := func(name string, kind compare.Figure, of func(y *figures.Cycle) float64) {
		s := compare.Series{Name: name, Kind: kind}
		for _, sample := range c.Samples {
			values := make([]float64, c.To-c.From)
			for i := range values {
				values[i] = math.NaN()
			}
			for i := range sample.Cycles {
				y := &sample.Cycles[i]
				values[y.Cycle-c.From] = of(y)
			}
			s.Values = append(s.Values, values)
		}
		all = append(all, s)
	}
	share := func(n func(y *figures.Cycle) int64) func(y *figures.Cycle) float64 {
		return func(y *figures.Cycle) float64 { return 100 * float64(n(y)) / float64(y.Sessions) }
	}
	add("Active sessions, %", compare.Counts, share(func(y *figures.Cycle) int64 { return y.Acted }))
	add("Completed sessions, %", compare.Counts, share(func(y *figures.Cycle) int64 { return y.Completed }))
	events := map[string]bool{}
	cost := 0.0
	for _, sample := range c.Samples {
		for i := range sample.Cycles {
			cost += sample.Cycles[i].Cost
			for name := range sample.Cycles[i].Events {
				events[name] = true
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(events)) {
		add("Events: "+name, compare.Counts, func(y *figures.Cycle) float64 { return float64(y.Events[name]) })
	}
	if cost > 0 {
		add("Model cost, USD", compare.Counts, func(y *figures.Cycle) float64 { return y.Cost })
	}
	add("Session time, p50", compare.Seconds, func(y *figures.Cycle) float64 { return y.P50.Seconds() })
	add("Session time, p95", compare.Seconds, func(y *figures.Cycle) float64 { return y.P95.Seconds() })
	add("Sessions", compare.Counts, func(y *figures.Cycle) float64 { return float64(y.Sessions) })
	return all
}
