package people

import (
	"fmt"
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine/suggest"
)

// field is an attribute, or another column that rows are chosen by.
type field struct {
	name   string
	column int
	kind   Kind
	said   bool // by the plan's types
	values map[string]string
}

// cell converts a cell of the file.
func (f *field) cell(raw Cell, row int64) (Cell, error) {
	if f.values != nil {
		if to, ok := f.values[raw.String()]; ok {
			raw = text(to)
		}
	}
	c, ok := raw.As(f.kind)
	if ok {
		return c, nil
	}
	m := wrongf("", "row %d: %s is not %s", row+1, quoted(raw.String()), KindHints[f.kind])
	if f.said {
		return c, m.at("types", f.name)
	}
	m.Hint = "convert it with `types`, or leave out the row with `where`"
	return c, m.at("columns", f.name)
}

// fields finds attributes and columns by name.
type fields struct {
	file       File
	plan       *Plan
	attributes []*field
	others     map[string]*field // columns that are not an attribute
	mistakes   []error
}

// newFields resolves the attributes of a plan. Kinds are not known yet.
func newFields(file File, p *Plan) *fields {
	f := &fields{file: file, plan: p, others: map[string]*field{}}
	columns := file.Columns()
	if p.Columns == nil {
		for i, c := range columns {
			f.add(c.Name, i, false)
		}
	}
	for _, c := range p.Columns {
		if i := f.find(c.Column, "columns", c.Attribute); i >= 0 {
			f.add(c.Attribute, i, true)
		}
	}
	for name := range p.Types {
		f.requireAttribute("types", name)
	}
	for name := range p.Values {
		f.requireAttribute("values", name)
	}
	return f
}

// find returns the index of a column, or -1 after noting the mistake.
func (f *fields) find(name string, key ...string) int {
	columns := f.file.Columns()
	i := slices.IndexFunc(columns, func(c Column) bool { return c.Name == name })
	if i < 0 {
		f.mistakes = append(f.mistakes, &Mistake{Key: key, Problem: "there is no column " + name, Guess: suggest.NewGuess(name, names(f.file), listed("there are ", names(f.file)))})
	}
	return i
}

// listed returns a list of names, cut if it is long.
func listed(before string, names []string) string {
	const most = 30
	if len(names) > most {
		return before + strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", len(names)-most)
	}
	return before + strings.Join(names, ", ")
}

// add adds an attribute. A column that was named can be used; of all columns, each must be usable.
func (f *fields) add(name string, column int, named bool) {
	c := f.file.Columns()[column]
	if c.Problem != "" {
		m := wrongf("", "the column %s %s", c.Name, c.Problem)
		if named {
			m.Hint = "choose a flat column"
			m.Key = []string{"columns", name}
		} else {
			m.Hint = "choose flat columns: `columns: [age, region]`"
		}
		f.mistakes = append(f.mistakes, m)
		return
	}
	kind, said := f.plan.Types[name]
	f.attributes = append(f.attributes, &field{name: name, column: column, kind: kind, said: said, values: f.plan.Values[name]})
}

// requireAttribute notes a mistake if there is no such attribute.
func (f *fields) requireAttribute(key, name string) {
	if f.attribute(name) != nil || len(f.mistakes) > 0 { // a column that is missing was reported
		return
	}
	all := make([]string, len(f.attributes))
	for i, a := range f.attributes {
		all[i] = a.name
	}
	f.mistakes = append(f.mistakes, &Mistake{Key: []string{key, name}, Problem: "there is no attribute " + name, Guess: suggest.NewGuess(name, all, listed("there are ", all))})
}

func (f *fields) attribute(name string) *field {
	i := slices.IndexFunc(f.attributes, func(a *field) bool { return a.name == name })
	if i < 0 {
		return nil
	}
	return f.attributes[i]
}

// field returns an attribute or a column by name; nil after noting a mistake.
func (f *fields) field(name string, key ...string) *field {
	if a := f.attribute(name); a != nil {
		return a
	}
	if o := f.others[name]; o != nil {
		return o
	}
	i := f.find(name, key...)
	if i < 0 {
		return nil
	}
	if c := f.file.Columns()[i]; c.Problem != "" {
		f.mistakes = append(f.mistakes, wrongf("choose a flat column", "the column %s %s", name, c.Problem).at(key...))
		return nil
	}
	o := &field{name: name, column: i}
	f.others[name] = o
	return o
}
