package chain

import (
	"errors"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/script"
)

// Reader reads the chains of a file. Mistakes go to the report behind the nodes.
type Reader struct {
	Env      *script.Env
	Services map[string]*Service
}

// baseNames are the names that every expression of a step may use, besides loop variables and what the file defines.
var baseNames = []string{"agent", "session", "steps", "input", "previous", "now"}

// Identifier is what steps, parameters and attributes may be called.
var Identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// Chain reads a chain.
func (r *Reader) Chain(name string, n *doc.Node) *Chain {
	n.Fields("timeout", "steps", "step NAME", "label")
	c := &Chain{Name: name}
	if t := n.Get("timeout"); t != nil {
		c.Timeout = t.Duration(time.Millisecond, 0)
	}
	in := &reader{Reader: r, names: baseNames, taken: map[string]bool{}}
	c.Body = in.block(n)
	if len(c.Body.Steps) == 0 && n.Get("steps") == nil {
		n.Errorf("`step NAME: {kind: …}`", "the chain %s has no steps", name)
	}
	return c
}

// reader reads the steps of one block: it knows which names and which steps its expressions can see.
type reader struct {
	*Reader
	names   []string
	visible []string        // steps that have run before the one being read, nearest last
	later   []string        // steps of the chain that cannot be seen from here, for the hint
	taken   map[string]bool // names of all steps of the chain so far
}

// block reads steps in either form: keys `step NAME`, or a list of maps with a name; `steps:` may stand above.
func (r *reader) block(n *doc.Node) *Block {
	b := &Block{index: map[string]int{}}
	inner := *r
	inner.visible = slices.Clone(r.visible)
	add := func(name string, at doc.Entry, body *doc.Node) {
		switch {
		case !Identifier.MatchString(name):
			at.NameErrorf("letters, digits and _, not beginning with a digit", "%q cannot be the name of a step", name)
		case r.taken[name]:
			at.NameErrorf("names are unique in a chain", "there is another step %s", name)
		}
		r.taken[name] = true
		b.index[name] = len(b.Steps)
		b.Steps = append(b.Steps, inner.step(name, body))
		inner.visible = append(inner.visible, name)
	}
	steps := n
	if s := n.Get("steps"); s != nil {
		steps = s
	}
	if steps.Kind() == doc.List {
		for _, item := range steps.List() {
			name := item.Get("name")
			if name == nil {
				item.Errorf("`- {name: browse, kind: …}`", "a step without a name")
				continue
			}
			add(name.Text(), doc.Entry{Key: name, Value: item}, item)
		}
		return b
	}
	for _, e := range steps.Entries() {
		if word, name := e.Split(); word == "step" {
			add(name, e, e.Value)
		}
	}
	return b
}

// branch reads the block under a key of a control-flow step, with further names in scope.
func (r *reader) branch(n *doc.Node, names ...string) *Block {
	if n.Kind() == doc.Map {
		n.Fields("step NAME", "steps")
	}
	inner := *r
	inner.names = append(slices.Clone(r.names), names...)
	b := inner.block(n)
	if n != nil && len(b.Steps) == 0 {
		n.Errorf("`step NAME: {kind: …}`", "no steps")
	}
	return b
}

func (r *reader) step(name string, n *doc.Node) *Step {
	s := &Step{Name: name, Label: name}
	if n.Kind() != doc.Map {
		n.Errorf("`step "+name+": {kind: http, …}`", "the step %s has no keys", name)
		return s
	}
	kindNode := n.Only("kind", "type").Value
	if kindNode == nil {
		n.Errorf("one of "+strings.Join(kindNames(), ", "), "the step %s has no kind", name)
		return s
	}
	s.Kind = kindNode.OneOf(kindNames()...)
	k, ok := kindNamed(s.Kind)
	if !ok {
		return s
	}
	n.Fields(slices.Concat(commonKeys, k.keys)...)
	if l := n.Get("label"); l != nil {
		s.Label = l.Text()
	}
	s.when = r.expr(n.Get("when"))
	if t := n.Get("timeout"); t != nil {
		s.timeout = t.Duration(time.Millisecond, 0)
	}
	s.retry = readRetry(n.Get("retry"))
	if e := n.Get("on_error"); e != nil {
		s.goesOn = e.OneOf("fail", "continue") == "continue"
	}
	if d := n.Get("default"); d != nil {
		s.goesOn, s.fallback = true, r.value(d, "default")
	}
	s.action = k.read(r, n)
	return s
}

func readRetry(n *doc.Node) *engine.Retry {
	if n == nil {
		return nil
	}
	n.Fields("attempts", "wait", "max")
	retry := engine.DefaultSettings().Retry
	if a := n.Get("attempts"); a != nil {
		retry.Attempts = a.Int(1, 1000)
	}
	if w := n.Get("wait"); w != nil {
		retry.Wait = w.Duration(0, 24*time.Hour)
	}
	if m := n.Get("max"); m != nil {
		retry.Max = m.Duration(0, 24*time.Hour)
	}
	return &retry
}

// Template reads a text with expressions that may use names.
func (r *Reader) Template(n *doc.Node, names []string) *script.Template {
	return (&reader{Reader: r, names: names}).template(n)
}

// Templates reads a map of names to such texts.
func (r *Reader) Templates(n *doc.Node, names []string) []Named {
	return (&reader{Reader: r, names: names}).namedTemplates(n)
}

// expr compiles a scalar that is an expression as a whole; nil for an absent node or a mistake.
func (r *reader) expr(n *doc.Node) *script.Expr {
	if n == nil {
		return nil
	}
	text := n.Text()
	e, err := r.Env.Expr(text, r.names)
	ReportScript(n, text, err)
	if err == nil {
		r.checkSteps(n, text, e.Refs("steps"))
	}
	return e
}

// template compiles a scalar that is text with expressions in it; nil for an absent node or a mistake.
func (r *reader) template(n *doc.Node) *script.Template {
	if n == nil {
		return nil
	}
	text := n.Text()
	t, err := r.Env.Template(text, r.names)
	ReportScript(n, text, err)
	if err == nil {
		r.checkSteps(n, text, t.Refs("steps"))
	}
	return t
}

// checkSteps reports the steps that an expression names and cannot see.
func (r *reader) checkSteps(n *doc.Node, text string, refs script.Refs) {
	for _, f := range refs.Fields {
		if slices.Contains(r.visible, f.Name) {
			continue
		}
		hint := "steps see those above them, and nothing inside a block that they are not in"
		if near := doc.Suggest(f.Name, r.visible); near != "" {
			hint = "did you mean `" + near + "`?"
		}
		n.ErrorfAt(doc.Offset(text, f.Line, f.Col), hint, "there is no step %s above this one", f.Name)
	}
}

// ReportScript reports the mistakes that the compiler found in the text of a scalar, at their places in the file.
func ReportScript(n *doc.Node, text string, err error) {
	var mistakes script.Errors
	switch {
	case err == nil:
	case errors.As(err, &mistakes):
		for _, m := range mistakes {
			n.ErrorfAt(doc.Offset(text, m.Line, m.Col), m.Hint, "%s", m.Problem)
		}
	default:
		n.Errorf("", "%v", err)
	}
}

// status codes of an answer that a step takes as good.
func readExpect(n *doc.Node) []int {
	var codes []int
	if n.Kind() == doc.Scalar {
		return []int{n.Int(100, 599)}
	}
	for _, c := range n.List() {
		codes = append(codes, c.Int(100, 599))
	}
	return codes
}

const anyInt = math.MaxInt32
