package compare

import (
	"math"
	"slices"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/experiment/statistics"
)

// Level is the confidence of all intervals.
const Level = statistics.Level

// Group is runs that are compared as one: the same setup, each with its own seed.
type Group []*Sample

// Units says what is compared.
type Units struct {
	// Agents compares agents, else runs. Agents are only right if those of a run share nothing, because the tests take units as
	// independent of each other.
	Agents bool
	// Paired compares each unit with its partner: agents with the same index, or runs at the same place of their groups, which had the
	// same seed. Otherwise the means of two groups are compared.
	Paired bool
}

// Row is one measure of all groups.
type Row struct {
	Kind Kind
	Name string
	// Of is the measure of each group: the mean over its units.
	Of []statistics.Estimate
	// Against is the difference of each group, except the first, from the first.
	Against []statistics.Difference
}

// Table compares groups of samples of the same cycles with the first group. With agents as units, each group has one sample. P-values
// are corrected for all measures and groups together; see [statistics.Table].
func Table(groups []Group, of Units) []Row {
	var samples []*Sample
	for _, g := range groups {
		samples = append(samples, g...)
	}
	measures := measuresOf(samples)
	all := make([]statistics.Measure, len(measures))
	for i, m := range measures {
		all[i] = statistics.Measure{Name: m.name, Kind: of.kind(m.kind)}
		for _, g := range groups {
			all[i].Values = append(all[i].Values, of.values(g, m))
		}
	}
	rows := make([]Row, len(measures))
	for i, r := range statistics.Table(all, 0, of.Paired, 0) {
		rows[i] = Row{Kind: measures[i].kind, Name: r.Name, Of: r.Estimates, Against: r.Against[1:]}
		for k := range rows[i].Against {
			if of.Paired && same(groups[0], groups[k+1], measures[i]) {
				rows[i].Against[k].Value, rows[i].Against[k].Same = 0, true
			}
		}
	}
	return rows
}

// kind returns the statistics that suit a measure. Means over many agents are close to normal, whatever the measure.
func (u Units) kind(k Kind) statistics.Kind {
	switch {
	case u.Agents:
		return statistics.Number
	case k.Share():
		return statistics.Share
	case k == Timing:
		return statistics.Timing
	}
	return statistics.Number
}

// values returns a measure of each unit of a group.
func (u Units) values(g Group, m measure) []float64 {
	if u.Agents {
		return g[0].measures[m].means()
	}
	all := make([]float64, len(g))
	for i, s := range g {
		all[i] = s.mean(m)
	}
	return all
}

// mean returns a measure of the run as a whole: over all its sessions or events. NaN if it has no value.
func (s *Sample) mean(m measure) float64 {
	v := s.measures[m]
	if v == nil {
		if m.kind == Value {
			return math.NaN()
		}
		return 0 / float64(s.Sessions)
	}
	sum, n := 0.0, 0
	for i, c := range v.count {
		sum, n = sum+v.sum[i], n+int(c)
	}
	return sum / float64(n)
}

// means returns the mean of each agent; NaN where it has no value.
func (v *values) means() []float64 {
	if v == nil {
		return nil
	}
	all := make([]float64, len(v.count))
	for agent := range all {
		if x, ok := v.mean(agent); ok {
			all[agent] = x
		} else {
			all[agent] = math.NaN()
		}
	}
	return all
}

// same reports whether no agent of a run differs from itself in the run at the same place of another group.
func same(a, b Group, m measure) bool {
	return slices.EqualFunc(a, b, func(x, y *Sample) bool {
		v, w := x.measures[m], y.measures[m]
		for agent := range max(v.size(), w.size()) {
			p, one := v.mean(agent)
			q, other := w.mean(agent)
			if one != other || p != q {
				return false
			}
		}
		return true
	})
}

func (v *values) size() int {
	if v == nil {
		return 0
	}
	return len(v.count)
}

// Common returns the cycles that all runs have completed: from the latest fork among them up to the first cycle that one of them has not
// closed. If from >= to, there are none.
func Common(runs []engine.RunRecord) (from, to int) {
	to = math.MaxInt
	for i := range runs {
		from, to = max(from, runs[i].ForkCycle), min(to, runs[i].Cycle)
	}
	return from, to
}
