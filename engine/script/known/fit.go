package known

import (
	"fmt"
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"github.com/throng-sim/throng/engine/script/value"
	"github.com/throng-sim/throng/engine/suggest"
)

// Misfit says why a value does not fit a shape.
type Misfit struct {
	Problem string
	suggest.Guess
	At Place // in the expression; zero if unknown
}

// Fit returns why a value certainly does not fit what is wanted, or nil. Either may be nil.
func Fit(v, want *Shape) *Misfit { return fit(v, want, "") }

func fit(v, want *Shape, path string) *Misfit {
	if v == nil || want == nil || want.Any != nil {
		return nil
	}
	if v.Any != nil {
		return oneFits(v, want, path)
	}
	m := func(problem string, args ...any) *Misfit {
		if path != "" {
			problem = path + ": " + problem
		}
		return &Misfit{Problem: fmt.Sprintf(problem, args...), At: v.At}
	}
	switch {
	case !v.Kind.fits(want.Kind, v.Values):
		is := string(v.Kind)
		if len(v.Values) == 1 && v.Kind != None {
			is = value.Shown(v.Values[0])
		}
		return m("%s is not %s", is, want.Kind)
	case want.Kind == Record && (v.Kind == Record || v.Kind == Dict):
		return fitFields(v, want, path, m)
	case want.Kind == List && v.Kind == List:
		return fit(v.Item, want.Item, path)
	case want.Values != nil && len(v.Values) == 1 && !slices.ContainsFunc(want.Values, func(one value.Value) bool { return same(one, v.Values[0]) }):
		out := m("%s is not one of the choices", value.Shown(v.Values[0]))
		var texts []string
		for _, one := range want.Values {
			text, err := value.Text(one)
			if err != nil {
				return nil
			}
			texts = append(texts, text)
		}
		text, _ := starlark.AsString(v.Values[0])
		out.Guess = v.guess(text, texts, "one of "+strings.Join(texts, ", "))
		return out
	}
	return nil
}

// oneFits is fit for a value that is one of several: each must fit if each occurs, or else one.
func oneFits(v, want *Shape, path string) (m *Misfit) {
	for _, one := range v.Any {
		this := fit(one, want, path)
		switch {
		case this == nil && !v.Each:
			return nil
		case this != nil && v.Each:
			return this
		case m == nil:
			m = this
		}
	}
	return m
}

func fitFields(v, want *Shape, path string, m func(string, ...any) *Misfit) *Misfit {
	below := func(name string) string { return strings.TrimPrefix(path+"."+name, ".") }
	for _, f := range want.Fields {
		i := slices.IndexFunc(v.Fields, func(of Field) bool { return of.Name == f.Name })
		switch {
		case i < 0 && (f.Optional || v.Open):
		case i < 0:
			out := m("%s is missing", f.Name)
			others := slices.DeleteFunc(v.Names(), func(name string) bool { _, ok := want.Field(name); return ok })
			if near := suggest.Nearest(f.Name, others); near != "" {
				out.Guess = v.guess(near, []string{f.Name}, "")
				out.Hint = fmt.Sprintf("did you mean `%s` in place of `%s`?", f.Name, near)
				at := slices.IndexFunc(v.Fields, func(of Field) bool { return of.Name == near })
				out.At = v.Fields[at].At
			}
			return out
		case f.Optional && v.Fields[i].Of != nil && v.Fields[i].Of.Kind == None:
		default:
			if out := fit(v.Fields[i].Of, f.Of, below(f.Name)); out != nil {
				return out
			}
		}
	}
	for _, f := range v.Fields {
		if _, has := want.Field(f.Name); !has && want.Strict {
			out := m("the answer has no %s", f.Name)
			out.Guess, out.At = v.guess(f.Name, want.Names(), "it has "+strings.Join(want.Names(), ", ")), f.At
			return out
		}
	}
	return nil
}

// fits reports whether a value of a kind may be of the other kind.
func (k Kind) fits(want Kind, values []value.Value) bool {
	switch {
	case k == Anything, want == Anything, k == want:
		return true
	case want == Number:
		return k == Whole
	case want == Whole && k == Number: // 3.0 is a whole number too
		if len(values) != 1 {
			return true
		}
		f, ok := values[0].(starlark.Float)
		return !ok || f == starlark.Float(int64(f))
	case want == Record:
		return k == Dict
	}
	return false
}

func same(a, b value.Value) bool {
	equal, err := starlark.Equal(a, b)
	return err == nil && equal
}

// guess returns a guess for a name in a value. It is not a correction if a function wrote the name, in another place.
func (s *Shape) guess(name string, names []string, otherwise string) suggest.Guess {
	g := suggest.NewGuess(name, names, otherwise)
	if s.Called {
		g.Meant = ""
	}
	return g
}
