package experiments

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/experiment"
	"github.com/throng-sim/throng/engine/experiment/findings"
	"github.com/throng-sim/throng/engine/experiment/measure"
)

// Table has the measures of every run that is done.
type Table struct {
	Status *Status
	// Values are by point, replicate and measure. The measures of a run that is not done are nil. NaN stands for a value that the
	// run does not have.
	Values [][][]float64
	// Distances are by point, replicate and column of the real data; nil for a run that is not done, and without real data.
	Distances [][][]findings.Distance
}

// Table measures the runs that are done.
func (x *Experiment) Table(ctx context.Context, s *Status) (*Table, error) {
	t := &Table{Status: s, Values: make([][][]float64, len(s.Plan.Points)), Distances: make([][][]findings.Distance, len(s.Plan.Points))}
	for point := range s.Plan.Points {
		t.Values[point], t.Distances[point] = make([][]float64, len(s.Plan.Seeds)), make([][]findings.Distance, len(s.Plan.Seeds))
		for replicate := range s.Plan.Seeds {
			r := s.Of(point, replicate)
			if r == nil || r.State != Done {
				continue
			}
			known, err := x.known(ctx, &r.Record)
			if err != nil {
				return nil, err
			}
			t.Values[point][replicate], t.Distances[point][replicate] = known.values, known.distances
		}
	}
	return t, nil
}

// measured identifies what was measured: a run as far as it had come.
type measured struct {
	run   engine.RunID
	cycle int
	done  int64
}

// figures are the measures of a run, and its distances from the real data.
type figures struct {
	values    []float64
	distances []findings.Distance
}

// known returns the measures of a run. It measures each run once.
func (x *Experiment) known(ctx context.Context, r *engine.RunRecord) (figures, error) {
	key := measured{r.ID, r.Cycle, r.Done}
	x.mu.Lock()
	known, ok := x.measured[key]
	x.mu.Unlock()
	if ok {
		return known, nil
	}
	known, err := x.measure(ctx, r.ID)
	if err != nil {
		return known, err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.measured[key] = known
	return known, nil
}

// inheritMeasures takes over what was measured for the experiment before its file changed, if it measures the same.
func (x *Experiment) inheritMeasures(was *Experiment) {
	same := func(a, b experiment.Measure) bool { return a.Name == b.Name && a.Kind != experiment.MeasureFunction }
	if !slices.EqualFunc(x.Measures, was.Measures, same) || !x.Against.Same(was.Against) {
		return
	}
	was.mu.Lock()
	defer was.mu.Unlock()
	maps.Copy(x.measured, was.measured)
}

// measure returns the measures of a run.
func (x *Experiment) measure(ctx context.Context, id engine.RunID) (f figures, err error) {
	store := x.app.Store()
	parts, err := x.parts(ctx, id)
	if err != nil {
		return f, err
	}
	barriers, err := store.Barriers(ctx, id)
	if err != nil {
		return f, err
	}
	r := measure.Run{
		ID: id,
		Sessions: func() iter.Seq2[*engine.SessionRow, error] {
			return func(yield func(*engine.SessionRow, error) bool) {
				for _, p := range parts {
					for row, err := range store.Sessions(ctx, p.run, 0, p.to) {
						if !yield(row, err) {
							return
						}
					}
				}
			}
		},
		Memory: func() (map[int]*engine.Memory, error) { return store.Memory(ctx, id) },
	}
	if len(barriers) > 0 {
		last := barriers[len(barriers)-1]
		r.Agents, r.Cycles = last.Active, last.Cycle+1
	}
	if r.Totals, err = x.totals(ctx, &r, parts); err != nil {
		return f, err
	}
	if f.values, err = measure.Values(ctx, x.Experiment, &r); err == nil && x.Against != nil {
		f.distances, err = distancesOf(ctx, store, x.Against, &r)
	}
	return f, err
}

// part is the cycles of a run up to a fork; to is 0 in the last part.
type part struct {
	run engine.RunID
	to  int
}

// parts returns the runs that a run consists of: those that it was forked from, oldest first, and itself.
func (x *Experiment) parts(ctx context.Context, id engine.RunID) (all []part, err error) {
	for to := 0; id != ""; {
		record, err := x.app.Store().Standing(ctx, id)
		if err != nil {
			return nil, err
		}
		all = append(all, part{id, to})
		id, to = record.Parent, record.ForkCycle
	}
	slices.Reverse(all)
	return all, nil
}

// totals returns the totals of all parts of a run. Of several parts, they are counted again.
func (x *Experiment) totals(ctx context.Context, r *measure.Run, parts []part) (*engine.Totals, error) {
	store := x.app.Store()
	own, err := store.Totals(ctx, r.ID)
	if err != nil || len(parts) == 1 {
		return &own, err
	}
	all := &engine.Totals{Peaks: own.Peaks, Shared: own.Shared}
	for row, err := range r.Sessions() {
		if err != nil {
			return nil, err
		}
		all.Add(row)
	}
	for _, p := range parts[:len(parts)-1] {
		before, err := x.before(ctx, p)
		if err != nil {
			return nil, err
		}
		all.Shared.Merge(&before.Shared)
		all.Peaks.Elapsed += before.Peaks.Elapsed
		all.Peaks.Cycle = max(all.Peaks.Cycle, before.Peaks.Cycle)
		all.Peaks.Memory = max(all.Peaks.Memory, before.Peaks.Memory)
		all.Peaks.Stored += before.Peaks.Stored
	}
	return all, nil
}

// before returns the totals of a part when the fork began.
func (x *Experiment) before(ctx context.Context, p part) (t engine.Totals, err error) {
	all, err := x.app.Store().Checkpoints(ctx, p.run)
	if err != nil {
		return t, err
	}
	for _, c := range all {
		if c.Cycle == p.to {
			state, err := x.app.Store().State(ctx, p.run, c.Number)
			return state.Totals, err
		}
	}
	return t, fmt.Errorf("run %s has no checkpoint at the start of cycle %d any more", p.run, p.to)
}
