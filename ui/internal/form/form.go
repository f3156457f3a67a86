// Package form holds the parts of screens with fields: rows with help and errors, entries, columns. Screens interpret the values.
package form

import (
	"errors"
	"slices"

	"github.com/throng-sim/throng/engine"
)

// Form is the rows of a screen by the names of their fields in errors.
type Form struct {
	fields []field
}

type field struct {
	row   *Row
	names []string
}

// Add adds a row at the end and returns it.
func (f *Form) Add(r *Row, names ...string) *Row {
	f.fields = append(f.fields, field{r, names})
	return r
}

// Clear removes all rows.
func (f *Form) Clear() { f.fields = nil }

// Remove removes a row.
func (f *Form) Remove(r *Row) {
	f.fields = slices.DeleteFunc(f.fields, func(one field) bool { return one.row == r })
}

// Row returns the row of a name, or nil.
func (f *Form) Row(name string) *Row {
	for _, field := range f.fields {
		if slices.Contains(field.names, name) {
			return field.row
		}
	}
	return nil
}

// Check shows the errors of fields at their rows, and clears those of the other rows. It returns the rest of the error, or nil.
func (f *Form) Check(err error) error {
	wrong, rest := f.sort(err)
	for _, field := range f.fields {
		field.row.set(wrong[field.row], field.row.told)
	}
	return rest
}

// Tell shows the errors of fields at their rows until their values change, for example errors from a server. It returns the rest of the
// error, or nil.
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

// sort splits an error by row; the first error of a row counts.
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

// Split splits a joined error with errors of fields; an error without them stays whole.
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

// Words returns the text of an error without its field, for use at the field.
func Words(m *engine.FieldError) string {
	if m.Hint == "" {
		return m.Problem
	}
	return m.Problem + " (" + m.Hint + ")"
}
