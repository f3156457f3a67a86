// Package form holds what screens with fields are made of: rows with help and mistakes, entries, columns. What a
// value means is the screen's business.
package form

import (
	"errors"
	"slices"

	"github.com/throng-sim/throng/engine"
)

// Form is the rows of a screen by the names that mistakes in them have.
type Form struct {
	fields []field
}

type field struct {
	row   *Row
	names []string
}

// Add puts a row at the end and returns it.
func (f *Form) Add(r *Row, names ...string) *Row {
	f.fields = append(f.fields, field{r, names})
	return r
}

// Clear forgets all rows.
func (f *Form) Clear() { f.fields = nil }

// Remove forgets a row.
func (f *Form) Remove(r *Row) {
	f.fields = slices.DeleteFunc(f.fields, func(one field) bool { return one.row == r })
}

// Row returns the row of a name; nil if there is none.
func (f *Form) Row(name string) *Row {
	for _, field := range f.fields {
		if slices.Contains(field.names, name) {
			return field.row
		}
	}
	return nil
}

// Check shows the mistakes of an error beside their rows, and that nothing is wrong with the values of the others.
// It returns the rest of the error, nil if there is none.
func (f *Form) Check(err error) error {
	wrong, rest := f.sort(err)
	for _, field := range f.fields {
		field.row.set(wrong[field.row], field.row.told)
	}
	return rest
}

// Tell shows the mistakes of an error beside their rows until their values change: what somebody found who was asked.
// It returns the rest of the error, nil if there is none.
func (f *Form) Tell(err error) error {
	told, rest := f.sort(err)
	for _, field := range f.fields {
		field.row.set(field.row.wrong, told[field.row])
	}
	return rest
}

// Mistakes returns the rows with a problem, from the top.
func (f *Form) Mistakes() []*Row {
	var rows []*Row
	for _, field := range f.fields {
		if field.row.Visible() && field.row.Problem() != "" {
			rows = append(rows, field.row)
		}
	}
	return rows
}

// sort splits an error by row; the first mistake of a row counts.
func (f *Form) sort(err error) (byRow map[*Row]string, rest error) {
	byRow = map[*Row]string{}
	var others []error
	for _, one := range Split(err) {
		if mistake, ok := errors.AsType[*engine.FieldError](one); ok {
			if row := f.Row(mistake.Field); row != nil {
				if byRow[row] == "" {
					byRow[row] = Words(mistake)
				}
				continue
			}
		}
		others = append(others, one)
	}
	return byRow, errors.Join(others...)
}

// Split takes an error apart into its mistakes and what else is joined with them; one without mistakes stays whole.
func Split(err error) []error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*engine.FieldError](err); !ok {
		return []error{err}
	}
	for e := err; e != nil; e = errors.Unwrap(e) {
		if joined, ok := e.(interface{ Unwrap() []error }); ok {
			var all []error
			for _, one := range joined.Unwrap() {
				all = append(all, Split(one)...)
			}
			return all
		}
	}
	return []error{err}
}

// Words says a mistake without its field, beside which it stands.
func Words(m *engine.FieldError) string {
	if m.Hint == "" {
		return m.Problem
	}
	return m.Problem + " (" + m.Hint + ")"
}
