// Package draft is the content of a form for the file of an experiment. Values are texts as they are typed, so that a form can hold what is
// not valid yet; reading the file that a draft writes finds the mistakes.
package draft

import (
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine/internal/doc"
)

// Draft is the content of a form. An empty text leaves the key out of the file, which then has its default.
type Draft struct {
	Title, Scenario string
	Factors         []Factor // in the order of the form; those that do not vary are not written
	Design          Design
	Seeds           string // a number, or a list: 1, 2, 3
	Until           Until
	Measures        []string // nil measures the usual ones
	Settings        []Setting
	Budget          Budget
	Parallel        string
}

// Factor is something that can vary.
type Factor struct {
	Name   string // params.NAME and so on, as in the file
	Varied bool
	// Levels is a list such as 0.5, 1, 2, or a range: 0 to 1, 0 to 1 step 0.25, 1 to 1000 log 7 points. Behind it, from cycle 5 changes
	// the value there. A text with a comma is quoted.
	Levels   string
	Baseline string // the value to compare with
}

// Design says how points follow from factors.
type Design struct {
	Kind   string // such as grid; "" is grid
	N      string // of the designs with a number
	Levels string // of morris
}

// Until adds seeds until an interval is narrow enough.
type Until struct{ HalfWidth, Of, AtMost string }

// Setting is a setting of all runs.
type Setting struct{ Name, Value string }

// Budget limits the experiment as a whole.
type Budget struct{ USD, Time string }

// Listed is the kind of a design whose points are listed in the file. A form can keep it or replace it, but not make it.
const Listed = "points"

// Counted returns the kinds of designs that need a number.
func Counted() []string { return []string{"random", "lhs", "halton", "morris", "sobol"} }

// Kinds returns the kinds of designs that a form can make.
func Kinds() []string { return append([]string{"grid", "zip", "one-at-a-time"}, Counted()...) }

// Varied returns the number of factors that vary.
func (d *Draft) Varied() (n int) {
	for i := range d.Factors {
		if d.Factors[i].Varied {
			n++
		}
	}
	return n
}

// Setting returns the value of a setting; "" if it is not set.
func (d *Draft) Setting(name string) string {
	for _, s := range d.Settings {
		if s.Name == name {
			return s.Value
		}
	}
	return ""
}

// Set sets a setting; "" leaves it out.
func (d *Draft) Set(name, value string) {
	for i := range d.Settings {
		if d.Settings[i].Name == name {
			d.Settings[i].Value = value
			return
		}
	}
	d.Settings = append(d.Settings, Setting{name, value})
}

// Clone returns a copy that shares nothing with the draft.
func (d *Draft) Clone() Draft {
	c := *d
	c.Factors, c.Measures, c.Settings = slices.Clone(d.Factors), slices.Clone(d.Measures), slices.Clone(d.Settings)
	return c
}

// Offer adds the factors of another draft that this one lacks. They do not vary.
func (d *Draft) Offer(other *Draft) {
	for _, f := range other.Factors {
		if !slices.ContainsFunc(d.Factors, func(own Factor) bool { return own.Name == f.Name }) {
			f.Varied, f.Baseline = false, ""
			d.Factors = append(d.Factors, f)
		}
	}
}

// Read reads the file of an experiment. Parts that a draft cannot hold are left out, and [Edit] keeps them. file is its name in messages.
// The error describes a file that is not YAML.
func Read(file string, text []byte) (Draft, error) {
	r := &doc.Report{}
	root := doc.Parse(file, text, r)
	if err := r.Err(); err != nil {
		return Draft{}, err
	}
	d := Draft{Title: scalar(root.Get("title")), Scenario: scalar(root.Get("scenario")), Parallel: scalar(root.Get("parallel"))}
	for _, e := range entries(root.Get("vary")) {
		levels := levelsOf(e.Value)
		d.Factors = append(d.Factors, Factor{Name: e.Key.Text(), Varied: true, Levels: levels, Baseline: item(root.Get("baseline").Get(e.Key.Text()))})
	}
	d.design(root.Get("design"))
	d.replicates(root.Get("replicates"))
	if m := root.Get("measures"); m != nil {
		d.Measures = list(m)
	}
	for _, e := range entries(root.Get("settings")) {
		d.Settings = append(d.Settings, Setting{e.Key.Text(), scalar(e.Value)})
	}
	budget := root.Get("budget")
	d.Budget = Budget{scalar(budget.Get("usd")), scalar(budget.Get("time"))}
	return d, nil
}

func (d *Draft) design(n *doc.Node) {
	if n.Kind() != doc.Map {
		d.Design.Kind = scalar(n)
		return
	}
	for _, kind := range append([]string{Listed}, Counted()...) {
		if v := n.Get(kind); v != nil {
			d.Design.Kind, d.Design.N = kind, scalar(v)
		}
	}
	d.Design.Levels = scalar(n.Get("levels"))
}

func (d *Draft) replicates(n *doc.Node) {
	seeds := n
	if n.Kind() == doc.Map {
		seeds = n.Get("seeds")
		u := n.Get("until")
		d.Until = Until{scalar(u.Get("half_width")), scalar(u.Get("of")), scalar(u.Get("at_most"))}
	}
	d.Seeds = scalar(seeds)
	if seeds.Kind() == doc.List {
		if d.Seeds = strings.Join(list(seeds), ", "); len(seeds.List()) < 2 {
			d.Seeds = "[" + d.Seeds + "]"
		}
	}
}

func entries(n *doc.Node) []doc.Entry {
	if n.Kind() != doc.Map {
		return nil
	}
	return n.Entries()
}

// scalar returns the text of a single value; "" for all else.
func scalar(n *doc.Node) string {
	if n.Kind() != doc.Scalar {
		return ""
	}
	return n.Text()
}

// list returns the texts of the single values of a list.
func list(n *doc.Node) []string {
	all := []string{}
	if n.Kind() == doc.List {
		for _, i := range n.List() {
			all = append(all, scalar(i))
		}
	}
	return all
}
