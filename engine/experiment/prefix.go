package experiment

import (
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine/chain"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/scenario"
)

// Two kinds of runs share a prefix. A factor with `at` has its baseline value before that cycle: such a run always forks a
// run with the baseline, because only a fork can change a value in the course of a run. And runs can differ only from some
// cycle on by what the scenario says: in a parameter that only later interventions use, or in the number of cycles. Then the
// later run forks the earlier one, unless the agents change something at a service other than the mocks, which a fork cannot
// take back.

// lateFactor is a factor that makes no difference before a cycle.
type lateFactor struct {
	index int
	cycle int // math.MaxInt for the number of cycles, where the last cycle of the shorter run decides
}

// prefixes finds the factors that make no difference before a cycle.
func (p *planner) prefixes() {
	if !reversible(p.e, p.id.base.Services) {
		return
	}
	for i := range p.e.Factors {
		f := &p.e.Factors[i]
		switch {
		case f.At > 0:
		case f.Kind == Parameter:
			if cycle := lateParameter(p.e.Of, f.Path[0]); cycle > 0 {
				p.late = append(p.late, lateFactor{i, cycle})
			}
		case f.Kind == RunSetting && f.Path[0] == cyclesSetting:
			p.late = append(p.late, lateFactor{i, math.MaxInt})
		}
	}
}

// reversible reports whether everything that agents change is at the mocks, whose state a fork restores. services are the
// addresses that replace those of the scenario.
func reversible(e *Experiment, services map[string]string) bool {
	for i := range e.Factors {
		if f := &e.Factors[i]; f.Kind == Service && f.Path[len(f.Path)-1] == "url" {
			return false
		}
	}
	return !slices.ContainsFunc(e.Of.Chain.Asking(), func(a chain.Asking) bool {
		return a.Writes && (!strings.HasPrefix(a.Service.URL, scenario.Mock) || services[a.Service.Name] != "")
	})
}

// length returns the number of cycles of a point if the cycles vary and runs can share prefixes; else 0.
func (p *planner) length(point int) int {
	if !slices.ContainsFunc(p.late, func(l lateFactor) bool { return l.cycle == math.MaxInt }) {
		return 0
	}
	return p.cycles(p.plan.Points[point].Values)
}

// cycles returns the number of cycles of runs with these values; 0 if they take hours.
func (p *planner) cycles(values []Value) int {
	var key strings.Builder
	for i, v := range values {
		if k := p.e.Factors[i].Kind; k == Parameter || k == RunSetting {
			key.WriteString(v.JSON + "\n")
		}
	}
	n, known := p.lengths[key.String()]
	if !known {
		n = p.e.cycles(p.id.base, values)
		p.lengths[key.String()] = n
	}
	return n
}

// block is the runs of one replicate.
type block struct {
	*planner
	replicate int
	seed      uint64
	runs      map[string]int   // index in the plan, by ID
	groups    map[string][]int // indexes of runs that may share a prefix
}

// add adds the run of a point, after the runs that it forks.
func (b *block) add(point int) error {
	x := &b.plan.Points[point]
	_, err := b.run(x.Values, x.Hash, 0)
	return err
}

// run adds the run with some values and returns its index. cycles above 0 makes it a prefix.
func (b *block) run(values []Value, hash string, cycles int) (int, error) {
	id := runID(hash, b.seed)
	if i, known := b.runs[id]; known {
		return i, nil
	}
	r := Run{ID: id, Point: -1, Replicate: b.replicate, Seed: b.seed, Values: values, Cycles: cycles}
	if point, ok := b.hashes[hash]; ok {
		r.Point, r.Cycles = point, 0
	}
	parent, at, err := b.parent(values)
	if err != nil {
		return 0, err
	}
	if at == 0 && len(b.late) > 0 && r.Point >= 0 {
		parent, at = b.sharing(values)
	}
	if at > 0 {
		of := &b.plan.Runs[parent]
		of.Checkpoints = append(of.Checkpoints, at)
		r.Parent, r.ForkCycle = of.ID, at
	}
	i := len(b.plan.Runs)
	b.plan.Runs = append(b.plan.Runs, r)
	b.runs[id] = i
	if r.Point >= 0 && len(b.late) > 0 {
		key := b.groupOf(values)
		b.groups[key] = append(b.groups[key], i)
	}
	return i, nil
}

// parent returns the run that has the baseline where these values change last, and that cycle; 0 if nothing changes. It adds
// the run if no point has it.
func (b *block) parent(values []Value) (index, cycle int, err error) {
	for i := range values {
		if f := &b.e.Factors[i]; f.At > cycle && values[i].JSON != b.e.Baseline[i].JSON {
			cycle = f.At
		}
	}
	if cycle == 0 {
		return 0, 0, nil
	}
	was := b.e.before(values, cycle-1)
	hash, err := b.id.hash(was, 0)
	if err != nil {
		return 0, 0, err
	}
	if _, planned := b.hashes[hash]; planned {
		index, err = b.run(was, hash, 0)
		return index, cycle, err
	}
	if hash, err = b.id.hash(was, cycle); err != nil {
		return 0, 0, err
	}
	index, err = b.run(was, hash, cycle)
	return index, cycle, err
}

// groupOf returns a text that runs share if they can only differ in late factors.
func (b *block) groupOf(values []Value) string {
	var key strings.Builder
	for i, v := range values {
		if !slices.ContainsFunc(b.late, func(l lateFactor) bool { return l.index == i }) {
			key.WriteString(v.JSON + "\n")
		}
	}
	return key.String()
}

// sharing returns the earlier run that shares the longest prefix with these values, and the length of the prefix in cycles; 0
// if there is none.
func (b *block) sharing(values []Value) (index, cycle int) {
	n := b.cycles(values)
	for _, i := range b.groups[b.groupOf(values)] {
		other := &b.plan.Runs[i]
		if at := b.differ(values, other.Values); at > cycle && at < n {
			index, cycle = i, at
		}
	}
	for cycle > 0 && b.plan.Runs[index].ForkCycle >= cycle { // it begins later itself
		index = b.runs[b.plan.Runs[index].Parent]
	}
	return index, cycle
}

// differ returns the first cycle that differs between two runs of a group.
func (b *block) differ(x, y []Value) int {
	at := math.MaxInt
	for _, l := range b.late {
		if x[l.index].JSON == y[l.index].JSON {
			continue
		}
		cycle := l.cycle
		if cycle == math.MaxInt {
			cycle = min(b.cycles(x), b.cycles(y)) - 1 // a run has no checkpoint behind its last cycle
		}
		at = min(at, cycle)
	}
	return at
}

// lateParameter returns the first cycle of the interventions that use a parameter, if nothing else in the scenario does;
// else 0.
func lateParameter(s *scenario.Scenario, name string) int {
	for file, text := range s.Source.Files {
		if file != s.Source.Name && usesParameter(string(text), name) {
			return 0
		}
	}
	root := doc.Parse(s.Source.Name, s.Source.Files[s.Source.Name], &doc.Report{})
	first := math.MaxInt
	for _, e := range root.Entries() {
		switch e.Key.Text() {
		case "parameters", "title", "about":
		case "interventions":
			for _, item := range e.Value.List() {
				if mentions(item, name) {
					first = min(first, item.Get("cycle").Int(0, math.MaxInt32))
				}
			}
		default:
			if mentions(e.Value, name) {
				return 0
			}
		}
	}
	if first == math.MaxInt {
		return 0
	}
	return first
}

// parameterUse matches params, and the name of one parameter behind it.
var parameterUse = regexp.MustCompile(`\bparams\b(?:\s*\.\s*(\w+))?`)

// usesParameter reports whether a text may use a parameter: by its name, or because it uses params as a whole.
func usesParameter(text, name string) bool {
	return slices.ContainsFunc(parameterUse.FindAllStringSubmatch(text, -1), func(m []string) bool { return m[1] == name || m[1] == "" })
}

// mentions reports whether a value may use a parameter, at any depth.
func mentions(n *doc.Node, name string) bool {
	switch n.Kind() {
	case doc.Scalar:
		return usesParameter(n.Text(), name)
	case doc.List:
		return slices.ContainsFunc(n.List(), func(item *doc.Node) bool { return mentions(item, name) })
	case doc.Map:
		return slices.ContainsFunc(n.Entries(), func(e doc.Entry) bool { return mentions(e.Value, name) })
	default:
		return false
	}
}

// unused reports whether nothing in the scenario uses a parameter.
func unused(s *scenario.Scenario, name string) bool {
	for _, text := range s.Source.Files {
		if usesParameter(string(text), name) {
			return false
		}
	}
	return true
}
