package experiment

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/experiment/design"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/scenario"
	"github.com/throng-sim/throng/engine/suggest"
)

// mostLevels is the largest number of levels of a factor.
const mostLevels = 10_000

// filterName is the factor that selects agents.
const filterName = "population.filter"

// factorForms are the names that a factor can have.
const factorForms = "params.NAME, settings.NAME, service.NAME.FIELD or " + filterName

// factorReader reads factors and their values.
type factorReader struct{ *reader }

// vary reads the factors.
func (r factorReader) vary(n *doc.Node) {
	for _, e := range n.Entries() {
		f := r.factor(e.Key)
		if f == nil {
			continue
		}
		r.levels(f, e.Value)
		r.addFactor(f)
	}
}

// addFactor keeps the factors ordered by name.
func (r factorReader) addFactor(f *Factor) {
	i, _ := slices.BinarySearchFunc(r.e.Factors, f.Name, func(f Factor, name string) int { return strings.Compare(f.Name, name) })
	r.e.Factors = slices.Insert(r.e.Factors, i, *f)
}

// factor returns a factor without values by its name, or nil if the name is a mistake.
func (r factorReader) factor(key *doc.Node) *Factor {
	name := key.Text()
	f := &Factor{Name: name, at: key}
	kind, rest, _ := strings.Cut(name, ".")
	known := false
	switch kind {
	case "params":
		f.Kind, f.Path = Parameter, []string{rest}
		known = rest != "" && (r.e.Of == nil || parameter(r.e.Of, rest) != nil)
	case "settings":
		f.Kind, f.Path = RunSetting, []string{rest}
		known = engine.FindSetting(rest) != nil && engine.FindSetting(rest).HasText()
		if known && r.refusedSetting(key, rest, true) {
			return nil
		}
	case "service":
		f.Kind, f.Path = Service, strings.Split(rest, ".")
		if !r.knownService(f, key) {
			return nil
		}
		known = true
	default:
		f.Kind, f.Path = Filter, []string{"filter"}
		known = name == filterName
	}
	if known {
		return f
	}
	hint := factorForms
	if kind == "params" && r.e.Of != nil && len(r.e.Of.Secrets) > 0 && slices.ContainsFunc(r.e.Of.Secrets, func(s scenario.SecretParameter) bool { return s.Name == rest }) {
		key.Errorf("", "%s is a secret, which an experiment cannot vary", name)
		return nil
	}
	key.Guess(suggest.NewGuess(name, r.factorNames(), hint).And(hint)).Errorf("there is no %s to vary", name)
	return nil
}

// factorNames lists the names of things that can be varied.
func (r factorReader) factorNames() (all []string) {
	if r.e.Of != nil {
		for _, p := range r.e.Of.Parameters {
			all = append(all, "params."+p.Name)
		}
		for _, s := range r.e.Of.Services {
			all = append(all, "service."+s.Name+".url", "service."+s.Name+".model")
		}
	}
	for i := range engine.SettingTable {
		if t := &engine.SettingTable[i]; t.HasText() && (t.Matters() || t.Fixed) && t.Name != seedSetting {
			all = append(all, "settings."+t.Name)
		}
	}
	return append(all, filterName)
}

// knownService checks that a factor names a service and a field of it. It reports mistakes.
func (r factorReader) knownService(f *Factor, key *doc.Node) bool {
	if len(f.Path) < 2 || slices.Contains(f.Path, "") {
		key.Errorf("such as service.model.model", "%s names no field of a service", f.Name)
		return false
	}
	if r.e.Of == nil || r.e.Of.Service(f.Path[0]) != nil {
		return true
	}
	var names []string
	for _, s := range r.e.Of.Services {
		names = append(names, s.Name)
	}
	hint := "the scenario has no services"
	if len(names) > 0 {
		hint = "services: " + strings.Join(names, ", ")
	}
	key.Guess(suggest.NewGuess(f.Path[0], names, hint)).Errorf("the scenario has no service %s", f.Path[0])
	return false
}

// levels reads the values of a factor: a list, a single value, or a map of a range.
func (r factorReader) levels(f *Factor, n *doc.Node) {
	switch n.Kind() {
	case doc.Map:
		r.ranged(f, n)
	case doc.List:
		r.listed(f, n)
	default:
		if v, ok := r.value(f, n); ok {
			f.Levels = []Value{v}
		}
	}
}

// listed reads a list of levels.
func (r factorReader) listed(f *Factor, n *doc.Node) {
	items := n.List()
	if len(items) == 0 {
		n.Errorf("such as [1, 2]", "%s has no level", f.Name)
	}
	if len(items) > mostLevels {
		n.Errorf("", "%s has %d levels, more than %d", f.Name, len(items), mostLevels)
		return
	}
	for _, item := range items {
		v, ok := r.value(f, item)
		switch {
		case !ok:
		case slices.ContainsFunc(f.Levels, func(l Value) bool { return l.JSON == v.JSON }):
			item.Errorf("remove one of them", "%s has the level %s twice", f.Name, v.Text)
		default:
			f.Levels = append(f.Levels, v)
		}
	}
}

// ranged reads a map: levels, from and to with step or points, log with points, each possibly with the cycle `at`.
func (r factorReader) ranged(f *Factor, n *doc.Node) {
	n.Fields("levels", "from", "to", "step", "log", "points", "at")
	if at := n.Get("at"); at != nil {
		f.At = at.Int(1, math.MaxInt32)
	}
	levels, log := n.Get("levels"), n.Get("log")
	n.Only("levels", "from", "log")
	n.Only("step", "points")
	switch {
	case levels != nil:
		r.levels(f, levels)
	case log != nil:
		r.logarithmic(f, n, log)
	case n.Get("from") == nil && n.Get("to") == nil && len(n.Entries()) > 0 && n.Get("at") == nil && n.Get("step") == nil && n.Get("points") == nil:
		// only unknown keys, which are reported
	default:
		n.Require("from", "to")
		from, to, ok := r.ends(f, n.Get("from"), n.Get("to"))
		if ok {
			r.linear(f, n, from, to)
		}
	}
}

// ends reads both ends of a range and checks them as values of the factor.
func (r factorReader) ends(f *Factor, from, to *doc.Node) (low, high float64, ok bool) {
	if from == nil || to == nil {
		return 0, 0, false // reported
	}
	a, okA := r.value(f, from)
	b, okB := r.value(f, to)
	low, isA := a.Number()
	high, isB := b.Number()
	switch {
	case !okA || !okB:
		return 0, 0, false
	case !isA || !isB:
		from.Errorf("list the levels instead", "%s is not a number, so it has no range", f.Name)
	case low >= high:
		to.Errorf("", "the range of %s ends at %s, which is not above %s", f.Name, b.Text, a.Text)
	default:
		return low, high, true
	}
	return 0, 0, false
}

// linear reads a range with even steps, or one for sampled designs.
func (r factorReader) linear(f *Factor, n *doc.Node, from, to float64) {
	switch step, points := n.Get("step"), n.Get("points"); {
	case step != nil:
		s := step.Float(math.SmallestNonzeroFloat64, math.Inf(1))
		if s == 0 { // reported
			return
		}
		count := math.Floor((to-from)/s+1e-9) + 1
		if count > mostLevels {
			step.Errorf("use a larger step", "%s has %.0f levels, more than %d", f.Name, count, mostLevels)
			return
		}
		for i := range int(count) {
			r.addNumber(f, n, from+float64(float64(i)*s))
		}
	case points != nil:
		count := points.Int(2, mostLevels)
		for i := range count {
			r.addNumber(f, n, from+float64((to-from)*float64(i)/float64(count-1)))
		}
	default:
		f.Range = &design.Range{From: from, To: to, Whole: r.whole(f, from, to)}
	}
}

// logarithmic reads a range with steps that are even in the logarithm.
func (r factorReader) logarithmic(f *Factor, n, log *doc.Node) {
	ends := log.List()
	if len(ends) != 2 {
		log.Errorf("such as {log: [1, 1000], points: 7}", "`log` needs two numbers, where the range begins and where it ends")
		return
	}
	n.Get("to").Errorf("remove it", "`to` belongs to `from`, and `log` names both ends")
	n.Get("step").Errorf("such as points: 7", "a logarithmic range has points, not a step")
	from, to, ok := r.ends(f, ends[0], ends[1])
	switch {
	case !ok:
		return
	case from <= 0:
		ends[0].Errorf("such as 0.001", "a logarithmic range begins above 0")
		return
	}
	points := n.Get("points")
	if points == nil {
		f.Range = &design.Range{From: from, To: to, Log: true, Whole: r.whole(f, from, to)}
		return
	}
	count := points.Int(2, mostLevels)
	for i := range count {
		x := math.Exp(math.Log(from) + float64((math.Log(to)-math.Log(from))*float64(i)/float64(count-1)))
		switch i {
		case 0:
			x = from
		case count - 1:
			x = to
		}
		r.addNumber(f, n, x)
	}
}

// addNumber adds a computed level, rounded to 12 digits and to whole numbers where the factor needs them. Levels that
// become equal are one.
func (r factorReader) addNumber(f *Factor, n *doc.Node, x float64) {
	x, _ = strconv.ParseFloat(strconv.FormatFloat(x, 'g', 12, 64), 64)
	v, err := f.number(r.e.Of, x)
	if err != nil {
		if v, err = f.number(r.e.Of, math.Round(x)); err != nil {
			reportField(n, f.Name, err)
			return
		}
	}
	if !slices.ContainsFunc(f.Levels, func(l Value) bool { return l.JSON == v.JSON }) {
		f.Levels = append(f.Levels, v)
	}
}

// number returns a number as a value of the factor.
func (f *Factor) number(s *scenario.Scenario, x float64) (Value, error) {
	if x == math.Trunc(x) && math.Abs(x) < 1<<53 {
		return f.canonical(s, int64(x), strconv.FormatInt(int64(x), 10))
	}
	return f.canonical(s, x, strconv.FormatFloat(x, 'g', -1, 64))
}

// whole reports whether a factor takes whole numbers only. Parameters and settings know; a field of a service does if both
// ends are whole.
func (r factorReader) whole(f *Factor, from, to float64) bool {
	if f.Kind == Service || f.Kind == Parameter && r.e.Of == nil {
		return from == math.Trunc(from) && to == math.Trunc(to)
	}
	_, err := f.number(r.e.Of, from+(to-from)*math.Sqrt(0.5))
	return err != nil
}

// plural returns a count with its noun.
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
