package experiment

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/scenario"
)

// Warning is something in a scenario that keeps two runs with the same seed from sharing their luck.
type Warning struct {
	File      string
	Line, Col int    // from 1
	Reason    string // one sentence
	Hint      string // how to avoid it; may be empty
}

// String returns "file:line:col: reason (hint)".
func (w Warning) String() string {
	return doc.Problem{File: w.File, Line: w.Line, Col: w.Col, Problem: w.Reason}.Error() + hintText(w.Hint)
}

func hintText(hint string) string {
	if hint == "" {
		return ""
	}
	return " (" + hint + ")"
}

// CRN lists what weakens common random numbers in a scenario: differences between two points of an experiment are almost
// free of noise only where the same seed means the same luck. A draw depends on the seed, the cycle, the agent, the path
// of the step and the field, and on how many draws the field has made before. So these break the pairing: a draw after a
// number of draws that can differ; steps that run, and lists that have a length, by the value of a factor; and prompts that
// contain a factor, because a model has luck of its own. factors are the names of the parameters that vary; without any,
// all parameters of the scenario. The warnings are in the order of files and places.
//
// Only direct uses of factors count, in expressions and in the functions that they call. Data of earlier steps, memory and
// messages can differ between points, too, but that is an effect of the factor.
func CRN(s *scenario.Scenario, factors ...string) []Warning {
	if len(factors) == 0 {
		for i := range s.Parameters {
			factors = append(factors, s.Parameters[i].Name)
		}
	}
	return crn(s, factors)
}

// CRN lists what weakens common random numbers in the scenario with the parameters that the experiment varies; see [CRN].
func (e *Experiment) CRN() []Warning {
	var factors []string
	for i := range e.Factors {
		if f := &e.Factors[i]; f.Kind == Parameter {
			factors = append(factors, f.Path[0])
		}
	}
	return crn(e.Of, factors)
}

func crn(s *scenario.Scenario, factors []string) []Warning {
	root := doc.Parse(s.Source.Name, s.Source.Files[s.Source.Name], &doc.Report{})
	c := &pairing{factors: factors, found: map[Warning]bool{}}
	c.script = newScripts(s, root, c.shifted)
	c.population(root.Get("population"))
	for _, e := range root.Entries() {
		if word, _ := e.Split(); word == "chain" || word == "connectors" {
			c.steps(e.Value, "")
		}
	}
	all := make([]Warning, 0, len(c.found))
	for w := range c.found {
		all = append(all, w)
	}
	order := func(w Warning) int { // the scenario's own file first
		if w.File == s.Source.Name {
			return 0
		}
		return 1
	}
	slices.SortFunc(all, func(a, b Warning) int {
		return cmp.Or(cmp.Compare(order(a), order(b)), cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col), cmp.Compare(a.Reason, b.Reason))
	})
	return all
}

// pairing collects warnings.
type pairing struct {
	factors []string
	script  *scripts
	found   map[Warning]bool
}

func (c *pairing) add(n *doc.Node, hint, format string, args ...any) {
	line, col := n.Position()
	c.found[Warning{n.File(), line, col, fmt.Sprintf(format, args...), hint}] = true
}

// shifted adds the warning about a draw whose position in its stream can differ.
func (c *pairing) shifted(at place, name string) {
	c.found[Warning{
		at.file, at.line, at.col,
		fmt.Sprintf("%s draws after a number of draws that can differ between points, so from here on the same seed is other luck", name),
		"draw unconditionally and first, or in a step or field of its own",
	}] = true
}

// varied returns the factors that the expressions of a value use, such as "params.a and params.b"; "" if there are none.
func (c *pairing) varied(n *doc.Node, whole bool) string {
	var names []string
	for _, x := range c.script.expressions(n, whole) {
		for _, name := range c.script.uses(x.tree) {
			if name == allParams || slices.Contains(c.factors, name) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if slices.Contains(names, allParams) {
		return "params"
	}
	for i := range names {
		names[i] = "params." + names[i]
	}
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// population checks how many agents there are, and their attributes.
func (c *pairing) population(n *doc.Node) {
	if of := c.varied(n.Get("count"), false); of != "" {
		c.add(n.Get("count"), "an agent that is missing at a point has no partner there", "the number of agents depends on %s", of)
	}
	if of := c.varied(n.Get("filter"), true); of != "" {
		c.add(n.Get("filter"), "an agent that is missing at a point has no partner there", "which agents are active depends on %s", of)
	}
	c.prompt(n.Get("write").Get("prompt"), "the population")
	for _, e := range n.Get("attributes").Entries() {
		if c.varied(e.Value, false) != "" { // otherwise every point draws the same attribute
			c.script.draws(e.Value, false)
		}
	}
}

// wholeFields are the keys of steps whose whole value is an expression.
var wholeFields = []string{"when", "condition", "each", "otherwise", "call"}

// plainFields are keys of steps without expressions, or with steps.
var plainFields = []string{"kind", "type", "name", "label", "depends_on", "parallel", "service", "as"}

// steps checks the steps in a value at any depth. name is that of the step, "" outside of a step.
func (c *pairing) steps(n *doc.Node, name string) {
	switch n.Kind() {
	case doc.List:
		for _, item := range n.List() {
			if item.Get("name").Kind() == doc.Scalar {
				name = item.Get("name").Text()
			}
			c.steps(item, name)
		}
	case doc.Map:
		kind := n.Get("kind")
		if kind == nil {
			kind = n.Get("type")
		}
		if kind.Kind() == doc.Scalar && name != "" {
			c.step(n, kind.Text(), name)
		}
		for _, e := range n.Entries() {
			inner := name
			if _, of := e.Split(); of != "" {
				inner = of
			}
			if e.Value.Kind() == doc.Map || e.Value.Kind() == doc.List {
				c.steps(e.Value, inner)
			}
		}
	default:
	}
}

// step checks one step.
func (c *pairing) step(n *doc.Node, kind, name string) {
	if when := n.Get("when"); when != nil {
		if of := c.varied(when, true); of != "" {
			c.add(when, "what it draws or asks has no partner where it does not run", "whether the step %s runs depends on %s", name, of)
		}
	}
	if condition := n.Get("condition"); condition != nil {
		of := c.varied(condition, true)
		switch {
		case of == "":
		case kind == "while":
			c.add(condition, "passes are paired by their number", "how often the step %s repeats depends on %s", name, of)
		default:
			c.add(condition, "draws are paired by the names of steps, and the steps of `then` and `else` have other names", "which steps of %s run depends on %s", name, of)
		}
	}
	if each := n.Get("each"); each != nil {
		if of := c.varied(each, true); of != "" {
			c.add(each, "passes are paired by their position in the list", "the list of the step %s depends on %s", name, of)
		}
	}
	if slices.Contains([]string{"llm", "embed", "recall"}, kind) {
		for _, key := range []string{"prompt", "system", "messages", "input", "query", "cache"} {
			c.prompt(n.Get(key), "the step "+name)
		}
	}
	if target := n.Get("target"); kind == "python" && target.Kind() == doc.Scalar {
		c.script.function(target)
	}
	for _, e := range n.Entries() {
		if key := e.Key.Text(); !slices.Contains(plainFields, key) && !strings.Contains(key, " ") {
			c.fields(e.Value, slices.Contains(wholeFields, key) || key == "cache")
		}
	}
}

// fields checks the draws of a value, where each scalar is a field with a stream of its own.
func (c *pairing) fields(n *doc.Node, whole bool) {
	switch n.Kind() {
	case doc.Scalar:
		c.script.draws(n, whole)
	case doc.List:
		for _, item := range n.List() {
			if item.Get("kind") == nil && item.Get("type") == nil { // else it is a step
				c.fields(item, whole)
			}
		}
	case doc.Map:
		for _, e := range n.Entries() {
			if _, block := e.Split(); block == "" {
				c.fields(e.Value, whole)
			}
		}
	default:
	}
}

// prompt warns of a factor in what a model is asked.
func (c *pairing) prompt(n *doc.Node, of string) {
	cached := n.Kind() == doc.Map // the names of a cache, whose values are expressions
	switch n.Kind() {
	case doc.Scalar:
		if factors := c.varied(n, false); factors != "" {
			c.add(n, "a model has luck of its own in every prompt", "the prompt of %s contains %s", of, factors)
		}
	case doc.List:
		for _, item := range n.List() {
			if item.Kind() != doc.Map {
				c.prompt(item, of)
				continue
			}
			for _, e := range item.Entries() {
				c.prompt(e.Value, of)
			}
		}
	case doc.Map:
		for _, e := range n.Entries() {
			if factors := c.varied(e.Value, cached); factors != "" {
				c.add(e.Value, "a model has luck of its own in every prompt", "the prompt of %s contains %s", of, factors)
			}
		}
	default:
	}
}
