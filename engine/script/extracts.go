package script

import (
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/throng-sim/throng/engine/script/extract"
	"github.com/throng-sim/throng/engine/script/value"
	"go.starlark.net/starlark"
)

// searched returns the arguments of a function that searches a text. isText is false if the text is missing.
func searched(m *machine, name string, a args, kw kwargs, second string) (text, of string, isText bool, err error) {
	var in value.Value
	if err := starlark.UnpackArgs(name, a, kw, "text", &in, second, &of); err != nil {
		return "", "", false, err
	}
	if in == value.Missing || in == starlark.None {
		return "", of, false, nil
	}
	text, isText = starlark.AsString(in)
	switch {
	case !isText:
		return "", "", false, value.NewError(fmt.Sprintf("%s: got %s, want a text", name, in.Type()), "such as steps.page.body")
	case len(text) > extract.MaxText:
		return "", "", false, fmt.Errorf("%s: a text of more than %d MB", name, extract.MaxText>>20)
	}
	return text, of, true, m.Work(4 * len(text))
}

// extractFirst implements extract(text, pattern): the first group of the pattern, or missing.
func extractFirst(m *machine, a args, kw kwargs) (value.Value, error) {
	text, pattern, isText, err := searched(m, "extract", a, kw, "pattern")
	if err != nil {
		return nil, err
	}
	found, ok, err := extract.First(text, pattern)
	switch {
	case err != nil:
		return nil, value.NewError("extract: "+err.Error(), `such as extract(steps.page.body, "id=([0-9]+)")`)
	case !isText || !ok:
		return value.Missing, nil
	}
	return starlark.String(found), m.Charge(len(found))
}

// formField implements form_field(html, name): the value of a field of an HTML form, or missing.
func formField(m *machine, a args, kw kwargs) (value.Value, error) {
	page, name, isText, err := searched(m, "form_field", a, kw, "name")
	if err != nil {
		return nil, err
	}
	found, ok := extract.FormField(page, name)
	if !isText || !ok {
		return value.Missing, nil
	}
	return starlark.String(found), m.Charge(len(found))
}

// unresolved implements unresolved(example, candidates…): the example. Files made by an import mark with it what a person must
// decide.
func unresolved(_ *machine, a args, kw kwargs) (value.Value, error) {
	if len(kw) > 0 || len(a) == 0 {
		return nil, errors.New("unresolved takes an example, and the expressions that may replace it")
	}
	return a[0], nil
}

// drawUUID draws a UUID of version 4.
func drawUUID(m *machine, a args, kw kwargs) (value.Value, error) {
	if err := numbers("uuid", a, kw); err != nil {
		return nil, err
	}
	s, err := m.draws()
	if err != nil {
		return nil, err
	}
	var id uuid.UUID
	for i := range id {
		id[i] = byte(s.Uint64() >> 56)
	}
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80
	return starlark.String(id.String()), nil
}
