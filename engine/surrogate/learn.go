package surrogate

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/throng-sim/throng/engine/internal/draw"
	"github.com/throng-sim/throng/engine/suggest"
)

// Example is an answer of a model, with what was known of the agent: texts, float64 and bool by the name of the field. Fields that are
// missing are absent.
type Example struct {
	Agent  int
	Known  map[string]any
	Answer string // JSON of its labels
}

// Options are how a rule is learned.
type Options struct {
	Kind   string   // Logistic or Table; "" is Logistic
	Fields []string // none takes all from which something can be learned; a table needs 1 to 3
	Run    string   // for [Learned]
	Step   string
}

// Limits of learning.
const (
	fewestAnswers = 30
	fewestAgents  = 20
	mostAgents    = 20_000 // more agents are sampled
	mostValues    = 50     // of a category
	mostNumbers   = 12     // different values of a number in answers; with more it is not a choice
	mostExamples  = 50     // of an answer
	mostFields    = 3      // of a table
	heldOut       = 0.2    // share of the agents
)

// Mistake is why a rule cannot be learned, and what to do.
type Mistake struct{ Problem, Hint string }

func (m *Mistake) Error() string { return m.Problem + "; " + m.Hint }

// Learn fits a rule. A fifth of the agents, drawn by their index, is held out for its score; then it is fitted to all. Errors are *Mistake
// values.
func Learn(all []Example, o Options) (*Rule, error) {
	o.Kind = cmp.Or(o.Kind, Logistic)
	all = sampled(all)
	agents := agentsOf(all)
	switch {
	case len(all) < fewestAnswers:
		return nil, &Mistake{fmt.Sprintf("there are %d answers of the model to %s, and %d are needed", len(all), o.Step, fewestAnswers), "let more agents ask it, with a larger `share`"}
	case len(agents) < fewestAgents:
		return nil, &Mistake{fmt.Sprintf("only %d agents asked the model, and %d are needed", len(agents), fewestAgents), "let more agents ask it, with a larger `share`"}
	}
	classes, err := classify(all, o.Step)
	if err != nil {
		return nil, err
	}
	r := &Rule{Format: version, Kind: o.Kind, Step: o.Step, Answers: classes.answers}
	r.Learned = Learned{Run: o.Run, Agents: len(agents), Answers: len(all)}
	if err := r.choose(all, &o); err != nil {
		return nil, err
	}
	train, test := &sheet{classes: len(r.Answers)}, &sheet{classes: len(r.Answers)}
	whole := &sheet{classes: len(r.Answers)}
	for i := range all {
		row, err := r.rowOf(&all[i])
		if err != nil {
			return nil, err
		}
		row.class = classes.of[i]
		whole.rows = append(whole.rows, row)
		if isHeldOut(row.agent) {
			test.rows = append(test.rows, row)
		} else {
			train.rows = append(train.rows, row)
		}
	}
	if n := len(agentsOfRows(test.rows)); n < 2 || n == len(agents) {
		return nil, &Mistake{fmt.Sprintf("%d of %d agents are held out to score the rule", n, len(agents)), "let more agents ask the model"}
	}
	r.Learned.HeldOut = r.fit(train).score(test)
	r.Learned.HeldOut.compare(train, test)
	r.fit(whole)
	return r, nil
}

// isHeldOut draws the agents that a rule is scored with.
func isHeldOut(agent int) bool {
	return draw.Key{}.Text("held out").Int(uint64(agent)).Source().Float64() < heldOut
}

// sampled returns the examples of at most mostAgents agents, drawn by their index.
func sampled(all []Example) []Example {
	agents := agentsOf(all)
	if len(agents) <= mostAgents {
		return all
	}
	rank := func(agent int) uint64 { return draw.Key{}.Text("learn").Int(uint64(agent)).Source().Uint64() }
	slices.SortFunc(agents, func(a, b int) int { return cmp.Compare(rank(a), rank(b)) })
	kept := map[int]bool{}
	for _, agent := range agents[:mostAgents] {
		kept[agent] = true
	}
	return slices.DeleteFunc(slices.Clone(all), func(e Example) bool { return !kept[e.Agent] })
}

func agentsOf(all []Example) []int {
	seen := map[int]bool{}
	for i := range all {
		seen[all[i].Agent] = true
	}
	return slices.Sorted(maps.Keys(seen))
}

// classes are the different answers, and which one each example has.
type classes struct {
	answers []Answer
	of      []int
}

// classify finds the answers that a rule chooses from. Numbers with many values are left out, and come from examples.
func classify(all []Example, step string) (*classes, error) {
	leaves := make([]map[string]any, len(all))
	numbers := map[string]map[float64]bool{}
	for i := range all {
		var v any
		if err := json.Unmarshal([]byte(all[i].Answer), &v); err != nil {
			return nil, fmt.Errorf("an answer of %s: %w", step, err)
		}
		leaves[i] = map[string]any{}
		flatten(leaves[i], "", v)
		for path, leaf := range leaves[i] {
			if x, ok := leaf.(float64); ok {
				if numbers[path] == nil {
					numbers[path] = map[float64]bool{}
				}
				numbers[path][x] = true
			}
		}
	}
	maps.DeleteFunc(numbers, func(_ string, values map[float64]bool) bool { return len(values) <= mostNumbers })
	names := make([]string, len(all))
	choice := false
	for i := range all {
		for path := range leaves[i] {
			choice = choice || numbers[path] == nil
		}
	}
	for i := range all {
		if len(numbers) == 0 {
			names[i] = all[i].Answer
			continue
		}
		names[i] = named(leaves[i], numbers, choice)
	}
	c := &classes{of: make([]int, len(all))}
	known := slices.Compact(slices.Sorted(slices.Values(names)))
	switch {
	case len(known) == 1:
		return nil, &Mistake{fmt.Sprintf("all %d answers to %s are %s", len(all), step, known[0]), "a rule that answers this needs no learning: write it as the expression of `otherwise`"}
	case len(known) > mostAnswers:
		return nil, &Mistake{fmt.Sprintf("the model gave %d different answers to %s, and a rule has at most %d", len(known), step, mostAnswers), "ask for fewer choices in `answer`"}
	}
	c.answers = make([]Answer, len(known))
	for i, name := range known {
		c.answers[i].Value = json.RawMessage(name)
	}
	for i := range all {
		k, _ := slices.BinarySearch(known, names[i])
		c.of[i] = k
		a := &c.answers[k]
		a.Share += 1 / float64(len(all))
		if len(numbers) > 0 && len(a.Examples) < mostExamples {
			a.Examples = append(a.Examples, json.RawMessage(all[i].Answer))
		}
	}
	return c, nil
}

// flatten collects the values of an answer by path.
func flatten(to map[string]any, path string, v any) {
	object, ok := v.(map[string]any)
	if !ok {
		to[path] = v
		return
	}
	for name, field := range object {
		flatten(to, strings.TrimPrefix(path+"."+name, "."), field)
	}
}

// named returns the JSON of an answer without the numbers that have many values. If it has nothing else, it is the fifth into which the
// first of them falls.
func named(leaves map[string]any, numbers map[string]map[float64]bool, choice bool) string {
	kept := map[string]any{}
	for path, leaf := range leaves {
		if numbers[path] == nil {
			kept[path] = leaf
		}
	}
	if !choice {
		path := slices.Min(slices.Collect(maps.Keys(numbers)))
		values := slices.Sorted(maps.Keys(numbers[path]))
		if x, ok := leaves[path].(float64); ok {
			at, _ := slices.BinarySearch(values, x)
			fifth := 5 * at / len(values)
			low, high := values[(fifth*len(values)+4)/5], values[((fifth+1)*len(values)+4)/5-1]
			kept[path] = figure(low) + " to " + figure(high)
		}
	}
	text, _ := json.Marshal(kept) // scalars
	return string(text)
}

func figure(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// choose chooses and describes the fields of the rule.
func (r *Rule) choose(all []Example, o *Options) error {
	values := map[string]map[string]bool{}
	for i := range all {
		for name, v := range all[i].Known {
			if values[name] == nil {
				values[name] = map[string]bool{}
			}
			values[name][categoryOf(v)] = true
		}
	}
	names := slices.Sorted(maps.Keys(values))
	if o.Kind == Table && (len(o.Fields) == 0 || len(o.Fields) > mostFields) {
		return &Mistake{fmt.Sprintf("a table needs 1 to %d fields", mostFields), "name them, such as agent.age_group; there are " + listed(names)}
	}
	for _, name := range o.Fields {
		if values[name] == nil {
			g := suggest.NewGuess(name, names, "there are "+listed(names))
			return &Mistake{"no agent that asked has the field " + name, g.Hint}
		}
	}
	wanted := o.Fields
	if len(wanted) == 0 {
		wanted = names
	}
	for _, name := range wanted {
		f, why := describe(name, all, values[name], o.Kind)
		switch {
		case why == "":
			r.Fields = append(r.Fields, f)
		case len(o.Fields) > 0:
			return &Mistake{"nothing can be learned from " + name + ": " + why, "leave it out"}
		default:
			r.Learned.Ignored = append(r.Learned.Ignored, Drop{name, why})
		}
	}
	if len(r.Fields) == 0 {
		return &Mistake{"there is no field of agents from which a rule can be learned", "give agents attributes that differ"}
	}
	return nil
}

// listed joins names for a hint.
func listed(names []string) string {
	const most = 30
	if len(names) > most {
		names = append(slices.Clone(names[:most]), "others")
	}
	return strings.Join(names, ", ")
}

// describe describes a field; why is set if nothing can be learned from it.
func describe(name string, all []Example, values map[string]bool, kind string) (f Field, why string) {
	f.Name = name
	var numbers []float64
	number := true
	for i := range all {
		v, ok := all[i].Known[name]
		if !ok {
			f.Missing = true
			continue
		}
		x, isNumber := numeric(v)
		if number = number && isNumber; number {
			numbers = append(numbers, x)
		}
	}
	switch {
	case len(values) == 1 && !f.Missing:
		return f, "all agents have the same value"
	case number && len(values) > 2:
		slices.Sort(numbers)
		if kind == Table {
			f.Cuts = quartiles(numbers)
		} else {
			f.Mean, f.Deviation = moments(numbers)
		}
		return f, ""
	case len(values) > mostValues:
		return f, fmt.Sprintf("it has %d different values, more than %d", len(values), mostValues)
	}
	f.Values = slices.Sorted(maps.Keys(values))
	return f, ""
}

// moments returns the mean and the standard deviation of numbers that are not all equal.
func moments(numbers []float64) (mean, deviation float64) {
	for i, x := range numbers {
		mean += (x - mean) / float64(i+1)
	}
	for i, x := range numbers {
		deviation += ((x-mean)*(x-mean) - deviation) / float64(i+1)
	}
	return mean, math.Sqrt(deviation)
}

// quartiles returns the different quartiles of sorted numbers.
func quartiles(numbers []float64) []float64 {
	n := len(numbers)
	return slices.Compact([]float64{numbers[n/4], numbers[n/2], numbers[3*n/4]})
}
