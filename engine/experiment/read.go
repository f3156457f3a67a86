package experiment

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/bits"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/experiment/design"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/scenario"
)

// Loader loads the scenario that an experiment names: a file by its path relative to the experiment, or a built-in scenario by its
// name. given are the parameters that are not at their defaults, as on a command line.
type Loader func(name string, given map[string]string) (*scenario.Scenario, error)

// Defaults of an experiment's file.
const (
	DefaultReplicates   = 10
	DefaultParallel     = 1
	DefaultSeed         = 1
	mostReplicates      = 10_000
	mostParallel        = 1_000
	defaultMorrisLevels = design.MorrisLevels
)

// Read reads and checks the experiment file name, opened with open, as are the files it refers to. It loads the scenario with
// load and checks the experiment against it; without a loader, the scenario's own names stay unchecked, and the experiment
// cannot be planned. The error is a *scenario.Mistakes with everything that is wrong, or the opener's error.
func Read(name string, open scenario.Opener, load Loader) (*Experiment, error) {
	text, err := open(name)
	if err != nil {
		return nil, err
	}
	r := &reader{name: name, open: open, report: &doc.Report{}, e: &Experiment{Parallel: DefaultParallel, Seed: DefaultSeed}}
	r.e.report = r.report
	if root := doc.Parse(name, text, r.report); root != nil {
		r.read(root, load)
	}
	if r.report.Err() != nil {
		return nil, scenario.NewMistakes(r.report)
	}
	return r.e, nil
}

// reader reads one experiment.
type reader struct {
	name   string
	open   scenario.Opener
	report *doc.Report
	e      *Experiment
	facts  facts                // of the scenario
	given  map[string]*doc.Node // the values of `params`, by name
}

func (r *reader) read(root *doc.Node, load Loader) {
	root.Fields("title", "scenario", "params", "vary", "design", "replicates", "baseline", "measures", "functions", "settings", "budget", "parallel", "seed", "validate_against")
	root.Require("scenario")
	e := r.e
	e.Title = strings.Join(strings.Fields(root.Get("title").Text()), " ")
	if e.Title == "" {
		e.Title = strings.TrimSuffix(path.Base(r.name), Ending)
	}
	r.params(root.Get("params"))
	r.scenario(root.Get("scenario"), load)
	factorReader{r}.vary(root.Get("vary"))
	for i := range e.Factors {
		if f := &e.Factors[i]; f.Kind == Parameter && r.given[f.Path[0]] != nil {
			r.given[f.Path[0]].Errorf("remove one of them", "%s is in `vary`, too", f.Path[0])
		}
	}
	r.settings(root.Get("settings"))
	r.design(root.Get("design"))
	factorReader{r}.baseline(root.Get("baseline"))
	measureReader{r}.functions(root.Get("functions"))
	measureReader{r}.measures(root.Get("measures"))
	r.replicates(root.Get("replicates"))
	r.against(root.Get("validate_against"))
	r.budget(root.Get("budget"))
	if p := root.Get("parallel"); p != nil {
		e.Parallel = max(p.Int(1, mostParallel), 1)
	}
	if s := root.Get("seed"); s != nil {
		e.Seed = uint64(s.Int(0, math.MaxInt))
	}
	r.fits(root)
}

// scenario loads the scenario.
func (r *reader) scenario(n *doc.Node, load Loader) {
	r.e.Scenario = n.Text()
	if r.e.Scenario == "" || load == nil {
		return
	}
	s, err := load(r.e.Scenario, r.e.Params)
	mistakes, isMistakes := errors.AsType[*scenario.Mistakes](err)
	switch {
	case err == nil:
		r.e.Of, r.facts = s, newFacts(s)
	case r.refusedParams(err):
		if s, err = load(r.e.Scenario, nil); err == nil { // the rest is checked against its defaults
			r.e.Of, r.facts = s, newFacts(s)
		}
	case isMistakes && mistakes.Count() > 1:
		n.Errorf("throngctl validate lists them", "the scenario %s has %v", r.e.Scenario, err)
	case isMistakes:
		n.Errorf("", "the scenario %s has a mistake: %v", r.e.Scenario, err)
	case errors.Is(err, fs.ErrNotExist):
		n.Errorf("a path relative to the experiment, or a built-in scenario such as shopping", "there is no scenario %s", r.e.Scenario)
	default:
		n.Errorf("", "the scenario %s cannot be read: %v", r.e.Scenario, err)
	}
}

// params reads the parameters that have the same value in every run.
func (r *reader) params(n *doc.Node) {
	r.e.Params, r.given = map[string]string{}, map[string]*doc.Node{}
	for _, e := range n.Entries() {
		name := e.Key.Text()
		if e.Value.Kind() != doc.Scalar {
			e.Value.Errorf("to vary it: vary: {params."+name+": [...]}", "%s has no single value", name)
			continue
		}
		r.e.Params[name], r.given[name] = e.Value.Text(), e.Value
	}
}

// refusedParams reports the errors of a scenario that are about `params`, and whether there are any.
func (r *reader) refusedParams(err error) bool {
	var joined interface{ Unwrap() []error }
	found := false
	if errors.As(err, &joined) {
		for _, e := range joined.Unwrap() {
			found = r.refusedParams(e) || found
		}
		return found
	}
	of, ok := errors.AsType[*engine.FieldError](err)
	if !ok || r.given[of.Field] == nil {
		return false
	}
	reportField(r.given[of.Field], of.Field, err)
	return true
}

// design reads how points follow from factors.
func (r *reader) design(n *doc.Node) {
	d := &r.e.Design
	d.Kind, d.Levels = Grid, defaultMorrisLevels
	if n == nil {
		return
	}
	if n.Kind() != doc.Map {
		if n.Kind() == doc.Scalar && slices.Contains(counted, n.Text()) {
			n.Errorf(fmt.Sprintf("such as design: {%s: 40}", n.Text()), "the design %s needs a number", n.Text())
			return
		}
		if word := n.OneOf(string(Grid), string(Zip), string(OneAtATime), string(Points), "random", "lhs", "halton", "morris", "sobol"); word == string(Points) {
			n.Errorf("such as design: {points: [{params.x: 1}, {params.x: 2}]}", "the design points needs a list of points")
		} else if word != "" {
			d.Kind = DesignKind(word)
		}
		return
	}
	n.Fields(append([]string{string(Points), "levels"}, counted...)...)
	e := n.Only(append([]string{string(Points)}, counted...)...)
	switch {
	case e.Key == nil:
		if n.Get("levels") != nil || len(n.Entries()) == 0 {
			n.Errorf("such as {lhs: 40}", "the design has no kind")
		}
		return
	case e.Key.Text() == string(Points):
		d.Kind = Points
		factorReader{r}.points(e.Value)
	default:
		d.Kind = DesignKind(e.Key.Text())
		d.N = e.Value.Int(1, design.MostPoints)
		if d.Kind == Sobol && d.N&(d.N-1) != 0 {
			e.Value.Warnf(fmt.Sprintf("use %d", 1<<bits.Len(uint(d.N))), "a Sobol sequence is balanced over powers of 2")
		}
	}
	if l := n.Get("levels"); l != nil {
		if d.Kind != Morris {
			l.Errorf("remove it", "`levels` belongs to the design morris")
		}
		d.Levels = max(l.Int(2, mostLevels), 2)
		if d.Levels%2 != 0 {
			l.Warnf("use an even number", "with an odd number of levels, a Morris design uses some levels more often")
		}
	}
}

// counted are the designs with a number.
var counted = []string{string(Random), string(LHS), string(Halton), string(Morris), string(Sobol)}

// points reads a list of points. A factor that is not in vary gets the values of the points as levels.
func (r factorReader) points(n *doc.Node) {
	items := n.List()
	if n.Kind() == doc.List && len(items) == 0 {
		n.Errorf("such as [{params.x: 1}, {params.x: 2}]", "the design has no point")
	}
	if len(items) > design.MostPoints {
		n.Errorf("", "the design has %d points, more than %d", len(items), design.MostPoints)
		return
	}
	own := map[string]bool{} // factors that only the points name
	given := make([]map[string]Value, len(items))
	for i, item := range items {
		given[i] = map[string]Value{}
		for _, e := range item.Entries() {
			name := e.Key.Text()
			if r.e.Factor(name) == nil {
				f := r.factor(e.Key)
				if f == nil {
					continue
				}
				r.addFactor(f)
				own[name] = true
			}
			f := r.e.Factor(name)
			v, ok := r.value(f, e.Value)
			if !ok {
				continue
			}
			given[i][name] = v
			if own[name] && !slices.ContainsFunc(f.Levels, func(l Value) bool { return l.JSON == v.JSON }) {
				f.Levels = append(f.Levels, v)
			}
		}
	}
	r.e.Design.Points = make([][]Value, len(items))
	for i := range items {
		p := make([]Value, len(r.e.Factors))
		for j := range r.e.Factors {
			p[j] = given[i][r.e.Factors[j].Name] // the zero value is replaced by the baseline
		}
		r.e.Design.Points[i] = p
	}
}

// baseline reads the values to compare with, and completes them.
func (r factorReader) baseline(n *doc.Node) {
	e := r.e
	given := map[string]Value{}
	var names []string
	for i := range e.Factors {
		names = append(names, e.Factors[i].Name)
	}
	n.Fields(names...)
	for _, entry := range n.Entries() {
		if f := e.Factor(entry.Key.Text()); f != nil {
			if v, ok := r.value(f, entry.Value); ok {
				given[f.Name] = v
				r.inDesign(f, v, entry.Value)
			}
		}
	}
	e.Compared = len(given) > 0
	e.Baseline = make([]Value, len(e.Factors))
	for i := range e.Factors {
		f := &e.Factors[i]
		if v, ok := given[f.Name]; ok {
			e.Baseline[i] = v
			continue
		}
		e.Baseline[i] = f.defaultBaseline(e)
	}
	for _, p := range e.Design.Points {
		for j := range p {
			if p[j].JSON == "" {
				p[j] = e.Baseline[j]
			}
		}
	}
}

// inDesign reports a value of the baseline that is not in the space of the design.
func (r factorReader) inDesign(f *Factor, v Value, n *doc.Node) {
	if f.At > 0 || len(f.Levels) == 0 && f.Range == nil {
		return
	}
	c := f.coordinate(v)
	switch kind := r.e.Design.Kind; {
	case kind == Points || kind == OneAtATime:
	case f.Range != nil && (c.Value < f.Range.From || c.Value > f.Range.To):
		n.Errorf("", "the baseline %s of %s is outside of its range", v.Text, f.Name)
	case f.Range == nil && c.Level < 0:
		var texts []string
		for _, l := range f.Levels[:min(len(f.Levels), 20)] {
			texts = append(texts, l.Text)
		}
		n.Errorf("levels: "+strings.Join(texts, ", "), "the baseline %s is not a level of %s", v.Text, f.Name)
	}
}

// defaultBaseline returns the value of a factor to compare with if the file has none.
func (f *Factor) defaultBaseline(e *Experiment) Value {
	v, known := f.usual(e)
	free := e.Design.Kind == Points || e.Design.Kind == OneAtATime // whose points need not be levels
	switch {
	case known && (free || f.At > 0 || f.Range == nil && f.coordinate(v).Level >= 0):
		return v
	case known && f.Range != nil:
		if x, ok := v.Number(); ok && x >= f.Range.From && x <= f.Range.To {
			return v
		}
		fallthrough
	case f.Range != nil:
		v, _ = f.number(e.Of, f.Range.From)
		return v
	case len(f.Levels) > 0:
		return f.Levels[0]
	}
	return v
}

// replicates reads the seeds.
func (r *reader) replicates(n *doc.Node) {
	reps := &r.e.Replicates
	for i := range uint64(DefaultReplicates) {
		reps.Seeds = append(reps.Seeds, i+1)
	}
	if n.Kind() != doc.Map {
		r.seeds(n)
		return
	}
	n.Fields("seeds", "until")
	r.seeds(n.Get("seeds"))
	if u := n.Get("until"); u != nil {
		r.until(u)
	}
}

// seeds reads a number of seeds, from 1 on, or a list of them.
func (r *reader) seeds(n *doc.Node) {
	reps := &r.e.Replicates
	switch n.Kind() {
	case doc.Absent:
	case doc.List:
		reps.Seeds = nil
		for _, item := range n.List() {
			seed := uint64(item.Int(0, math.MaxInt))
			if slices.Contains(reps.Seeds, seed) {
				item.Errorf("remove one of them", "the seed %d is there twice", seed)
			}
			reps.Seeds = append(reps.Seeds, seed)
		}
		if len(reps.Seeds) == 0 {
			n.Errorf("such as [1, 2, 3]", "there is no seed")
		}
		if len(reps.Seeds) > mostReplicates {
			n.Errorf("", "%d seeds, more than %d", len(reps.Seeds), mostReplicates)
		}
	default:
		reps.Seeds = nil
		for i := range n.Int(1, mostReplicates) {
			reps.Seeds = append(reps.Seeds, uint64(i)+1)
		}
	}
}

// until reads when to stop adding replicates.
func (r *reader) until(n *doc.Node) {
	n.Fields("half_width", "of", "at_most")
	n.Require("half_width", "of")
	u := &Until{Of: n.Get("of").Text(), AtMost: 4 * len(r.e.Replicates.Seeds)}
	if h := n.Get("half_width"); h != nil {
		text := h.Text()
		percent, relative := strings.CutSuffix(text, "%")
		f, err := strconv.ParseFloat(strings.TrimSpace(percent), 64)
		switch {
		case text == "": // reported
		case err != nil || !(f > 0) || math.IsInf(f, 0):
			h.Errorf("such as 5% of the mean, or 0.02 in the unit of the measure", "`half_width` cannot be `%s`", text)
		case relative:
			u.HalfWidth, u.Relative = f/100, true
		default:
			u.HalfWidth = f
		}
	}
	if of := n.Get("of"); of != nil && u.Of != "" && !slices.ContainsFunc(r.e.Measures, func(m Measure) bool { return m.Name == u.Of }) {
		var names []string
		for i := range r.e.Measures {
			names = append(names, r.e.Measures[i].Name)
		}
		r.guess(of, u.Of, names, "the experiment does not measure %s", "measures: ")
	}
	if m := n.Get("at_most"); m != nil {
		u.AtMost = m.Int(len(r.e.Replicates.Seeds), mostReplicates)
	}
	r.e.Replicates.Until = u
}

// budget reads the limits of the experiment as a whole.
func (r *reader) budget(n *doc.Node) {
	n.Fields("usd", "time")
	if usd := n.Get("usd"); usd != nil {
		r.e.Budget.USD = usd.Float(0, math.Inf(1))
	}
	if t := n.Get("time"); t != nil {
		r.e.Budget.Time = t.Duration(0, 0)
	}
}

// fits reports factors that do not fit the design, and cycles that no run reaches.
func (r *reader) fits(root *doc.Node) {
	if r.report.Err() != nil {
		return
	}
	e := r.e
	if len(e.Factors) == 0 && e.Design.Kind != Grid && e.Design.Kind != Points {
		root.Get("design").Errorf("such as vary: {params.x: [1, 2]}", "the design %s has nothing to vary", e.Design.Kind)
		return
	}
	if _, err := e.designPoints(); err != nil {
		at := root.Get("design")
		if at == nil {
			at = root.Get("vary")
		}
		of, ok := errors.AsType[*design.Error](err)
		switch {
		case !ok:
			at.Errorf("", "%v", err)
		case e.Factor(of.Factor) != nil:
			e.Factor(of.Factor).at.Errorf(of.Hint, "%s: %s", of.Factor, of.Problem)
		default:
			at.Errorf(of.Hint, "%s", of.Problem)
		}
	}
	for i := range e.Factors {
		f := &e.Factors[i]
		if f.Kind == Parameter && e.Of != nil && unused(e.Of, f.Path[0]) {
			f.at.Warnf("use params."+f.Path[0]+" in the scenario", "the scenario never uses %s, so all of its levels have the same results", f.Name)
		}
		if f.At == 0 || e.Of == nil {
			continue
		}
		if !reversible(e, nil) {
			f.at.Warnf("use the mocks, or vary it without `at`", "%s changes in forks, and a fork cannot take back what the agents have changed at a service", f.Name)
		}
		if f.Kind == RunSetting && f.Path[0] == cyclesSetting {
			f.at.Errorf("vary it without `at`", "the number of cycles cannot change in the course of a run")
		} else if n := e.shortest(); n > 0 && f.At >= n {
			hint := fmt.Sprintf("a cycle from 1 to %d", n-1)
			if n == 1 {
				hint = "use more cycles"
			}
			f.at.Errorf(hint, "%s changes at cycle %d, and there are runs with %s", f.Name, f.At, plural(n, "cycle", "cycles"))
		}
	}
}

// guess reports a name that is not known. what is a format with one verb for the name; list begins the list of the names.
func (r *reader) guess(n *doc.Node, name string, known []string, what, list string) {
	n.Guess(guessOf(name, known, list)).Errorf(what, name)
}
