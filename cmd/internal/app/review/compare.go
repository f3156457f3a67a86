package review

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/compare"
	"github.com/throng-sim/throng/engine/scenario"
	"github.com/throng-sim/throng/storage"
)

// Comparison compares two or more groups of runs over the cycles that all runs have completed.
type Comparison struct {
	Groups   []Group // the first is the baseline
	From, To int     // cycles; To is exclusive
	Units    compare.Units
	Shared   string // why runs are the units and not agents: the chance that agents of a run share; "" with agents as units
	Rows     []compare.Row
}

// Group is runs that are compared as one.
type Group struct {
	Runs        []engine.RunRecord // by seed
	Samples     []*compare.Sample  // of the runs
	Differences []string           // of its setup from that of the baseline, for example "seed 1 → 2"; seeds only if each group is one run
}

// Sessions returns the number of sessions of all runs.
func (g *Group) Sessions() (n int64) {
	for _, s := range g.Samples {
		n += s.Sessions
	}
	return n
}

// Method describes how the groups are compared.
func (c *Comparison) Method() string {
	runs := len(c.Groups[0].Runs)
	for i := range c.Groups {
		runs = min(runs, len(c.Groups[i].Runs))
	}
	text := c.Units.Method(runs)
	if c.Shared != "" {
		text += " Agents share chance because " + c.Shared + "."
	}
	return text
}

// Events returns the names of the events in all runs, sorted.
func (c *Comparison) Events() []string {
	events := map[string]bool{}
	for i := range c.Groups {
		for _, s := range c.Groups[i].Samples {
			for k := range s.Cycles {
				for name := range s.Cycles[k].Events {
					events[name] = true
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(events))
}

// Single returns each run as a group of its own.
func Single(ids ...engine.RunID) [][]engine.RunID {
	all := make([][]engine.RunID, len(ids))
	for i, id := range ids {
		all[i] = []engine.RunID{id}
	}
	return all
}

// Compare compares groups of runs with the first one. A zero to means all cycles that all runs have completed. Mistakes are
// *engine.FieldError values.
func Compare(ctx context.Context, store storage.Reader, groups [][]engine.RunID, from, to int) (*Comparison, error) {
	if len(groups) < 2 {
		return nil, &engine.FieldError{Problem: "nothing to compare", Hint: "name two or more runs"}
	}
	r := comparing{c: &Comparison{Units: compare.Units{Agents: true, Paired: true}}}
	for _, ids := range groups {
		if err := r.group(ctx, store, ids); err != nil {
			return nil, err
		}
	}
	c := r.c
	r.units()
	if err := c.choose(r.all, from, to); err != nil {
		return nil, err
	}
	samples := make([]compare.Group, len(c.Groups))
	for i := range c.Groups {
		g := &c.Groups[i]
		for k := range g.Runs {
			s, err := sample(ctx, store, g.Runs[k].ID, c.From, c.To)
			if err != nil {
				return nil, err
			}
			g.Samples = append(g.Samples, s)
		}
		samples[i] = g.Samples
	}
	c.Rows = compare.Table(samples, c.Units)
	return c, nil
}

// comparing collects the runs of a comparison.
type comparing struct {
	c         *Comparison
	all       []engine.RunRecord
	scenarios []*scenario.Scenario // of the first run of each group
}

// group adds a group of runs.
func (r *comparing) group(ctx context.Context, store storage.Reader, ids []engine.RunID) error {
	var g Group
	for _, id := range ids {
		record, err := store.Run(ctx, id)
		if err != nil {
			return err
		}
		if err := CheckHere(&record); err != nil {
			return err
		}
		if slices.ContainsFunc(r.all, func(o engine.RunRecord) bool { return o.ID == record.ID }) {
			return &engine.FieldError{Problem: fmt.Sprintf("%s is named twice", record.ID), Hint: "name two or more different runs"}
		}
		g.Runs, r.all = append(g.Runs, record), append(r.all, record)
	}
	slices.SortStableFunc(g.Runs, func(a, b engine.RunRecord) int { return cmp.Compare(a.Settings.Seed, b.Settings.Seed) })
	first := &g.Runs[0]
	s, err := scenario.Restore(first.Source)
	if err != nil {
		return fmt.Errorf("the scenario stored with run %s: %w", first.ID, err)
	}
	for i := range g.Runs[1:] {
		other := &g.Runs[i+1]
		if d := apart(first, other); len(d) > 0 {
			return &engine.FieldError{
				Problem: fmt.Sprintf("%s and %s are not the same setup with different seeds: %s", first.ID, other.ID, strings.Join(d, "; ")),
				Hint:    "a comma joins runs that differ in their seed only",
			}
		}
		if other.Settings.Seed == g.Runs[i].Settings.Seed {
			return &engine.FieldError{Problem: fmt.Sprintf("%s and %s have the same seed", g.Runs[i].ID, other.ID), Hint: "name one run for each seed"}
		}
	}
	r.scenarios = append(r.scenarios, s)
	r.c.Groups = append(r.c.Groups, g)
	return nil
}

// apart returns how the setups of two runs differ apart from the seed.
func apart(a, b *engine.RunRecord) []string {
	like := b.Settings
	like.Seed = a.Settings.Seed
	return Differences(Inputs{&a.Source, &a.Settings}, Inputs{&b.Source, &like})
}

// units decides on the units of the comparison: agents if each group is one run in which agents share nothing, else runs. Units are
// paired if the groups have the same seeds, and agents if their number is the same.
func (r *comparing) units() {
	c, u := r.c, &r.c.Units
	first := &c.Groups[0]
	for i := range c.Groups {
		g := &c.Groups[i]
		u.Agents = u.Agents && len(g.Runs) == 1
		u.Paired = u.Paired && r.scenarios[i].Agents == r.scenarios[0].Agents && slices.EqualFunc(g.Runs, first.Runs, func(a, b engine.RunRecord) bool {
			return a.Settings.Seed == b.Settings.Seed
		})
		if c.Shared == "" {
			c.Shared = r.scenarios[i].Shared()
		}
		if i == 0 {
			continue
		}
		a, b := &first.Runs[0], &g.Runs[0]
		if len(g.Runs)+len(first.Runs) > 2 {
			g.Differences = apart(a, b)
		} else {
			g.Differences = Differences(Inputs{&a.Source, &a.Settings}, Inputs{&b.Source, &b.Settings})
		}
	}
	u.Agents = u.Agents && c.Shared == ""
}

// Lister reads runs and lists them.
type Lister interface {
	storage.Reader
	Runs(ctx context.Context) ([]engine.RunRecord, error)
}

// Replicates returns a run with all others that have the same setup and another seed, one for each seed: that with the most cycles, and
// of several the newest. Runs that are damaged or not on this machine are left out.
func Replicates(ctx context.Context, store Lister, id engine.RunID) ([]engine.RunID, error) {
	of, err := store.Run(ctx, id)
	if err != nil {
		return nil, err
	}
	all, err := store.Runs(ctx)
	if err != nil {
		return nil, err
	}
	best := map[uint64]*engine.RunRecord{of.Settings.Seed: &of}
	for i := range all { // newest first
		r := &all[i]
		if known := best[r.Settings.Seed]; known == &of || known != nil && known.Cycle >= r.Cycle || r.Source.Name != of.Source.Name || r.Damage != "" || CheckHere(r) != nil {
			continue
		}
		whole, err := store.Run(ctx, r.ID) // with its files
		if err != nil {
			return nil, err
		}
		if len(apart(&of, &whole)) == 0 {
			best[r.Settings.Seed] = &whole
		}
	}
	var ids []engine.RunID
	for _, seed := range slices.Sorted(maps.Keys(best)) {
		ids = append(ids, best[seed].ID)
	}
	return ids, nil
}

// choose selects the cycles to compare.
func (c *Comparison) choose(runs []engine.RunRecord, from, to int) error {
	c.From, c.To = compare.Common(runs)
	if c.From >= c.To {
		return &engine.FieldError{Problem: "no cycle is completed by all of them", Hint: "a fork has only the cycles from its checkpoint on"}
	}
	if from < 0 || to < 0 || to > 0 && from >= to || from >= c.To || to > 0 && to <= c.From {
		return &engine.FieldError{
			Field: "cycles", Problem: fmt.Sprintf("%d to %d are not completed by all runs", from, to-1), Hint: fmt.Sprintf("choose from %d to %d", c.From, c.To-1),
		}
	}
	c.From = max(c.From, from)
	if to > 0 {
		c.To = min(c.To, to)
	}
	return nil
}

func sample(ctx context.Context, store storage.Reader, run engine.RunID, from, to int) (*compare.Sample, error) {
	s := &compare.Sample{}
	for row, err := range store.Sessions(ctx, run, from, to) {
		if err != nil {
			return nil, fmt.Errorf("sessions of run %s: %w", run, err)
		}
		s.Add(row)
	}
	s.Close()
	return s, nil
}
