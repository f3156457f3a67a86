package desk

import (
	"context"
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

// Compare compares runs with the first of them, alone or together with their other seeds.
func (d compareDesk) Compare(ctx context.Context, runs []engine.RunID, seeds bool) (*compare.Comparison, error) {
	groups := review.Single(runs...)
	if seeds {
		for i, run := range runs {
			var err error
			if groups[i], err = review.Replicates(ctx, d.store, run); err != nil {
				return nil, err
			}
		}
	}
	c, err := review.Compare(ctx, d.store, groups, 0, 0)
	if err != nil {
		return nil, err
	}
	out := &compare.Comparison{From: c.From, To: c.To, Series: overCycles(c), Method: c.Method()}
	for i := range c.Groups {
		g := &c.Groups[i]
		k := slices.IndexFunc(g.Runs, func(r engine.RunRecord) bool { return r.ID == runs[i] })
		out.Runs = append(out.Runs, compare.Run{
			ID: runs[i], Name: g.Runs[max(k, 0)].DisplayName(), Sessions: g.Sessions(), Differences: g.Differences, Seeds: len(g.Runs),
			Exact: !slices.ContainsFunc(g.Runs, func(r engine.RunRecord) bool { return r.Inexact != nil }),
		})
	}
	for i := range c.Rows {
		r := &c.Rows[i]
		row := compare.Row{Group: r.Kind.Title(), Name: r.Name, First: r.Value(0)}
		for k := range r.Against {
			row.Others = append(row.Others, compare.Cell{Value: r.Value(k + 1), Difference: r.Difference(k), Chance: r.Chance(k), Clear: r.Against[k].Clear()})
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
		for i := range c.Groups {
			s.Values = append(s.Values, meanOver(c, &c.Groups[i], of))
		}
		all = append(all, s)
	}
	share := func(n func(y *figures.Cycle) int64) func(y *figures.Cycle) float64 {
		return func(y *figures.Cycle) float64 { return 100 * float64(n(y)) / float64(y.Sessions) }
	}
	add("Active sessions, %", compare.Counts, share(func(y *figures.Cycle) int64 { return y.Acted }))
	add("Completed sessions, %", compare.Counts, share(func(y *figures.Cycle) int64 { return y.Completed }))
	for _, name := range c.Events() {
		add("Events: "+name, compare.Counts, func(y *figures.Cycle) float64 { return float64(y.Events[name]) })
	}
	cost := func(s *figures.Sample) bool {
		return slices.ContainsFunc(s.Cycles, func(y figures.Cycle) bool { return y.Cost > 0 })
	}
	if slices.ContainsFunc(c.Groups, func(g review.Group) bool { return slices.ContainsFunc(g.Samples, cost) }) {
		add("Model cost, USD", compare.Counts, func(y *figures.Cycle) float64 { return y.Cost })
	}
	add("Session time, p50", compare.Seconds, func(y *figures.Cycle) float64 { return y.P50.Seconds() })
	add("Session time, p95", compare.Seconds, func(y *figures.Cycle) float64 { return y.P95.Seconds() })
	add("Sessions", compare.Counts, func(y *figures.Cycle) float64 { return float64(y.Sessions) })
	return all
}

// meanOver returns a figure of each cycle: the mean over the runs of a group, NaN where a run has none.
func meanOver(c *review.Comparison, g *review.Group, of func(y *figures.Cycle) float64) []float64 {
	all := make([]float64, c.To-c.From)
	for _, sample := range g.Samples {
		values := make([]float64, len(all))
		for i := range values {
			values[i] = math.NaN()
		}
		for i := range sample.Cycles {
			values[sample.Cycles[i].Cycle-c.From] = of(&sample.Cycles[i])
		}
		for i, v := range values {
			all[i] += v / float64(len(g.Samples))
		}
	}
	return all
}
