package experiment

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/experiment/design"
	"github.com/throng-sim/throng/engine/internal/draw"
)

// MostRuns is the largest number of runs of a plan.
const MostRuns = 1_000_000

// Plan is the runs of an experiment.
type Plan struct {
	Points   []Point  // in the order of the design; an added baseline is the last one
	Baseline int      // index of the point to compare with; -1 if no point has the baseline's values
	Seeds    []uint64 // by replicate
	// Runs has every run once, in the order of execution: one seed through all points, then the next seed. The points of a
	// seed are shuffled with the seed of the experiment, and shorter runs come first if the number of cycles varies and runs
	// can share a prefix. So any beginning of the list is balanced, apart from runs that are a prefix only. A run comes after
	// the one that it forks.
	Runs []Run
}

// Point is one combination of values.
type Point struct {
	Values []Value      // by factor
	Place  design.Point // by factor
	// Hash is the SHA-256 of what the results of the point's runs depend on, apart from the seed, in hex. Points with the
	// same hash share their runs.
	Hash string
}

// Run is one run of an experiment.
type Run struct {
	// ID is the identity of the run, the same in every experiment that contains it.
	ID        string
	Point     int // index of the first point with these values; -1 if the run is a prefix that forks need
	Replicate int
	Seed      uint64
	Values    []Value // by factor, as they are at the end of the run
	// Parent is the ID of the run to fork, and ForkCycle the cycle at whose start the fork begins; "" starts from the beginning.
	Parent    string
	ForkCycle int
	// Cycles is the length of a run that is a prefix only; 0 for all others.
	Cycles int
	// Checkpoints are the cycles at whose start other runs fork this one, ascending.
	Checkpoints []int
}

// Plan plans the runs. base are the settings of a run before the scenario and the experiment. replicates is the number of
// replicates of each point; 0 plans those of the file. The plan of more replicates, points or measures contains all runs of
// this one, with the same IDs. The experiment must have its scenario.
func (e *Experiment) Plan(base engine.Settings, replicates int) (*Plan, error) {
	if e.Of == nil {
		return nil, errors.New("plan an experiment: its scenario is not loaded")
	}
	if replicates == 0 {
		replicates = len(e.Replicates.Seeds)
	}
	p := &planner{e: e, plan: &Plan{Baseline: -1}, id: newIdentifier(e, base), hashes: map[string]int{}, lengths: map[string]int{}}
	if err := p.points(); err != nil {
		return nil, err
	}
	if n := float64(len(p.plan.Points)) * float64(replicates); n > MostRuns {
		return nil, &engine.FieldError{Field: "replicates", Problem: fmt.Sprintf("the experiment has %.0f runs, more than %d", n, MostRuns), Hint: "use fewer points or fewer seeds"}
	}
	p.prefixes()
	for k := range replicates {
		seed := e.Replicates.Seed(k)
		p.plan.Seeds = append(p.plan.Seeds, seed)
		if err := p.block(k, seed); err != nil {
			return nil, err
		}
	}
	return p.plan, nil
}

// Run returns the ID of the run of a point and a replicate.
func (p *Plan) Run(point, replicate int) string {
	return runID(p.Points[point].Hash, p.Seeds[replicate])
}

// Missing returns the runs that are not done yet, in order. A prefix is missing only if a missing run needs it.
func (p *Plan) Missing(done func(id string) bool) []Run {
	var missing []Run
	needed := map[string]bool{}
	for _, r := range slices.Backward(p.Runs) {
		if done(r.ID) || r.Point < 0 && !needed[r.ID] {
			continue
		}
		needed[r.Parent] = true
		missing = append(missing, r)
	}
	slices.Reverse(missing)
	return missing
}

// planner makes a plan.
type planner struct {
	e      *Experiment
	plan   *Plan
	id     identifier
	hashes map[string]int // index of the first point, by hash
	late   []lateFactor   // factors that make no difference before a cycle

	lengths map[string]int // in cycles, by the values of parameters and settings
}

// points adds the points of the design, and the baseline if the file has one.
func (p *planner) points() error {
	e := p.e
	places, err := e.designPoints()
	if err != nil {
		return err
	}
	for i, place := range places {
		var given []Value
		if e.Design.Kind == Points {
			given = e.Design.Points[i]
		}
		values, err := e.values(place, given)
		if err != nil {
			return err
		}
		if err := p.point(values, place, !e.Design.Kind.structured() && e.Design.Kind != LHS); err != nil {
			return err
		}
	}
	if e.Compared && !e.Design.Kind.structured() {
		if err := p.point(e.Baseline, e.coordinates(e.Baseline), true); err != nil {
			return err
		}
	}
	p.plan.Baseline = slices.IndexFunc(p.plan.Points, func(x Point) bool { return same(x.Values, e.Baseline) })
	return nil
}

// point adds a point. A distinct one is not added if another has its hash.
func (p *planner) point(values []Value, place design.Point, distinct bool) error {
	hash, err := p.id.hash(values, 0)
	if err != nil {
		return fmt.Errorf("the point %s: %w", p.e.Label(values), err)
	}
	_, known := p.hashes[hash]
	if known && distinct {
		return nil
	}
	if !known {
		p.hashes[hash] = len(p.plan.Points)
	}
	p.plan.Points = append(p.plan.Points, Point{values, place, hash})
	return nil
}

// Label describes the values of a point: params.eagerness=2, settings.cycles=24.
func (e *Experiment) Label(values []Value) string {
	all := make([]string, len(values))
	for i, v := range values {
		all[i] = e.Factors[i].Name + "=" + v.Text
	}
	return strings.Join(all, ", ")
}

// block adds the runs of a replicate.
func (p *planner) block(replicate int, seed uint64) error {
	order := p.shuffled(seed)
	b := &block{planner: p, replicate: replicate, seed: seed, runs: map[string]int{}, groups: map[string][]int{}}
	for _, point := range order {
		if err := b.add(point); err != nil {
			return err
		}
	}
	for i := range p.plan.Runs {
		slices.Sort(p.plan.Runs[i].Checkpoints)
		p.plan.Runs[i].Checkpoints = slices.Compact(p.plan.Runs[i].Checkpoints)
	}
	return nil
}

// shuffled returns the points with different hashes in the order of a seed. The place of a point depends on its hash, so a
// further point does not change the order of the others.
func (p *planner) shuffled(seed uint64) []int {
	key := draw.Key{}.Int(p.e.Seed).Text("order").Int(seed)
	type placed struct {
		point  int
		cycles int
		order  uint64
	}
	all := make([]placed, 0, len(p.hashes))
	for hash, point := range p.hashes {
		all = append(all, placed{point, p.length(point), key.Text(hash).Source().Uint64()})
	}
	slices.SortFunc(all, func(a, b placed) int {
		return cmp.Or(cmp.Compare(a.cycles, b.cycles), cmp.Compare(a.order, b.order), cmp.Compare(a.point, b.point))
	})
	order := make([]int, len(all))
	for i := range all {
		order[i] = all[i].point
	}
	return order
}
