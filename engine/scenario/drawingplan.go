package scenario

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"go.starlark.net/starlark"

	"github.com/throng-sim/throng/engine/chain/expr"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/internal/draw"
	"github.com/throng-sim/throng/engine/people"
	"github.com/throng-sim/throng/engine/script"
	"github.com/throng-sim/throng/engine/script/value"
)

// defaultDraw is the seed of a draw that says no other.
const defaultDraw = 1

// read reads the keys of the population that say how agents are drawn.
func (d *drawing) read() {
	d.columns(d.n.Get("columns"))
	d.plan.Types = readTypes(d.n.Get("types"))
	d.values(d.n.Get("values"))
	if w := d.n.Get("where"); w != nil {
		d.ask = &asked{node: w}
	}
	d.sample(d.n.Get("sample"))
}

// columns reads which columns become attributes: a list of them, or a map from attributes to columns.
func (d *drawing) columns(n *doc.Node) {
	if n == nil {
		return
	}
	choose := func(at *doc.Node, attribute, column string) {
		if slices.ContainsFunc(d.plan.Columns, func(c people.Choice) bool { return c.Attribute == attribute }) {
			at.Errorf("names are unique", "there is another attribute %s", attribute)
			return
		}
		d.plan.Columns = append(d.plan.Columns, people.Choice{Attribute: attribute, Column: column})
		if attribute != "id" {
			checkAttribute(at, attribute, len(d.plan.Columns))
		}
	}
	d.plan.Columns = []people.Choice{}
	if n.Kind() == doc.List {
		for _, item := range n.List() {
			if name := item.Text(); name != "" {
				choose(item, name, name)
			}
		}
		return
	}
	for _, e := range n.Entries() {
		choose(e.Key, e.Key.Text(), e.Value.Text())
	}
}

// values reads other values for cells, by attribute.
func (d *drawing) values(n *doc.Node) {
	d.plan.Values = map[string]map[string]string{}
	for _, e := range n.Entries() {
		to := map[string]string{}
		for _, v := range e.Value.Entries() {
			to[v.Key.Text()] = v.Value.Text()
		}
		d.plan.Values[e.Key.Text()] = to
	}
}

// sample reads how rows are drawn; true draws all with the same probability.
func (d *drawing) sample(n *doc.Node) {
	if n == nil || n.Kind() == doc.Scalar && !n.Bool() {
		return
	}
	s := &people.Sample{Seed: defaultDraw}
	d.plan.Sample = s
	if n.Kind() == doc.Scalar {
		return
	}
	n.Fields("weight", "seed", "targets", "tolerance", "rounds")
	s.Weight = n.Get("weight").Text()
	if seed := n.Get("seed"); seed != nil {
		s.Seed = uint64(d.whole(seed, 0, math.MaxInt))
	}
	for _, e := range n.Get("targets").Entries() {
		s.Targets = append(s.Targets, people.Target{Attribute: e.Key.Text(), Shares: shares(e.Value)})
	}
	if t := n.Get("tolerance"); t != nil {
		s.Tolerance = t.Float(1e-12, 0.5)
	}
	if r := n.Get("rounds"); r != nil {
		s.Rounds = r.Int(1, 1_000_000)
	}
}

// shares reads the shares of a target: percentages or fractions with the sum of 1, or numbers of people.
func shares(n *doc.Node) (all []people.Share) {
	sum, percents, whole := 0.0, 0, true
	for _, e := range n.Entries() {
		part, isPercent, ok := percentage(e.Value)
		if !ok {
			return nil
		}
		if isPercent {
			percents++
		}
		whole = whole && part == math.Trunc(part)
		sum += part
		all = append(all, people.Share{Category: e.Key.Text(), Part: part})
	}
	switch off := math.Abs(sum - 1); {
	case percents > 0 && percents < len(all):
		n.Errorf("write all of them as percentages, or none", "only some shares are percentages")
	case percents > 0 && math.Abs(sum-100) > 1:
		n.Errorf("they must have the sum of 100%", "the shares have the sum of %s%%", strconv.FormatFloat(sum, 'g', 6, 64))
	case percents == 0 && !whole && sum < 2 && off > 0.01:
		n.Errorf("they must have the sum of 1", "the shares have the sum of %s", strconv.FormatFloat(sum, 'g', 6, 64))
	case len(all) == 0 && n.Kind() == doc.Map:
		n.Errorf("such as {female: 51%, male: 49%}", "there are no shares")
	}
	return all
}

// maxPart is the largest number of people in a share.
const maxPart = 1e15

// percentage reads a number that is not negative, and whether it is a percentage; ok is false after reporting a mistake.
func percentage(n *doc.Node) (part float64, isPercent, ok bool) {
	text, isText := n.Scalar().(string)
	number, isPercent := strings.CutSuffix(strings.TrimSpace(text), "%")
	if !isText || !isPercent {
		part = n.Float(0, maxPart)
		return part, false, part >= 0
	}
	part, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if ok = err == nil && part >= 0 && part <= 100; !ok {
		n.Errorf("such as 51%", "%s is not a share", quoted(text))
	}
	return part, true, ok
}

// named checks the names of the columns if all of them become attributes.
func (d *drawing) named(file people.File) bool {
	if d.plan.Columns != nil {
		return true
	}
	before := len(d.report.Problems())
	from := d.n.Get("from")
	columns := file.Columns()
	if len(columns) > maxNames {
		from.Errorf("choose some with `columns`", "%s: more than %d columns", d.name, maxNames)
	}
	for _, c := range columns {
		switch {
		case c.Name == "id" || c.Problem != "": // a problem is reported when the columns are taken
		case slices.Contains(ownNames, c.Name):
			from.Errorf("rename it with `columns: {attribute: column}`", "%s: %s is what every agent has already", d.name, c.Name)
		case !expr.IsName(c.Name):
			from.Errorf("choose and rename with `columns: {attribute: column}`", "%s: the column %s cannot be the name of an attribute", d.name, quoted(c.Name))
		}
	}
	return len(d.report.Problems()) == before
}

// asked is the condition that selects rows.
type asked struct {
	node  *doc.Node
	expr  *script.Expr
	names []string       // of the cells
	index map[string]int // of names
	cells []people.Cell  // of the row that is looked at
}

// rowNames are the names that a condition may use.
var rowNames = []string{"row"}

// compile compiles the condition with the names of the file; false after reporting mistakes.
func (d *drawing) compile(file people.File) bool {
	if d.ask == nil {
		return true
	}
	a := d.ask
	var known []string
	for _, c := range d.plan.Columns {
		known = append(known, c.Attribute)
	}
	for _, c := range file.Columns() {
		if c.Problem == "" && !slices.Contains(known, c.Name) {
			known = append(known, c.Name)
		}
	}
	d.chains.Fields["row"] = known
	defer delete(d.chains.Fields, "row")
	before := len(d.report.Problems())
	if a.expr = d.chains.Expr(a.node, rowNames); a.expr == nil || len(d.report.Problems()) > before {
		return false
	}
	refs := a.expr.Refs("row")
	used := known
	if len(refs.Bare) == 0 {
		used = nil
		for _, f := range refs.Fields {
			used = append(used, f.Name)
		}
	}
	a.index = map[string]int{}
	for _, name := range used {
		if _, twice := a.index[name]; !twice && slices.Contains(known, name) {
			a.index[name] = len(a.names)
			a.names = append(a.names, name)
		}
	}
	d.plan.Where = &people.Condition{Names: a.names, Holds: a.holds}
	return true
}

// holds evaluates the condition. Its draws depend on the row only.
func (a *asked) holds(row int64, cells []people.Cell) (bool, error) {
	a.cells = cells
	v, err := a.expr.Eval(&script.Context{Names: a, Key: draw.Key{}.Int(uint64(row)), Field: "where"})
	if err != nil {
		return false, err
	}
	return bool(v.Truth()), nil
}

// Lookup implements script.Names.
func (a *asked) Lookup(name string) (value.Value, error) {
	if name != rowNames[0] {
		return nil, fmt.Errorf("%s is not known here", name)
	}
	return value.NewLazy(name, a), nil
}

// Field implements value.Fields.
func (a *asked) Field(name string) (value.Value, error) {
	i, known := a.index[name]
	switch {
	case !known:
		return nil, nil //nolint:nilnil // value.Fields: a missing field is not an error
	case !a.cells[i].Present:
		return value.Missing, nil
	case a.cells[i].Kind == people.String:
		return starlark.String(strings.Clone(a.cells[i].Text)), nil
	}
	return cellValue(a.cells[i]), nil
}

// Names implements value.Fields.
func (a *asked) Names() []string { return a.names }
