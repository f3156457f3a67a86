package expr

import (
	"net/url"
	"strings"

	"go.starlark.net/starlark"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/script/value"
)

// Pairs are the names and values of a query or a form, in file order. A list repeats its name; None and missing values
// are omitted.
type Pairs []pair

type pair struct {
	name  string // escaped
	value Value
	fixed string // the encoded text if it is constant; begins with &
	once  bool   // fixed is set
}

// Pairs compiles a map of names to values, such as headers or query parameters.
func (r *Compiler) Pairs(n *doc.Node, field string) Pairs {
	var all Pairs
	for _, e := range n.Entries() {
		name := e.Key.Text()
		p := pair{name: url.QueryEscape(name), value: r.Data(e.Value, field+"."+name)}
		if c, ok := p.value.(Const); ok && c.V != nil {
			text, err := p.append(nil, c.V)
			if err != nil {
				e.Value.Errorf("", "%v", err)
			}
			p.fixed, p.once = string(text), true
		}
		all = append(all, p)
	}
	return all
}

// With returns the pairs with another one; a nil value adds none.
func (all Pairs) With(name string, v Value) Pairs {
	if v == nil {
		return all
	}
	return append(all, pair{name: url.QueryEscape(name), value: v})
}

// Encode returns the pairs as application/x-www-form-urlencoded.
func (all Pairs) Encode(t Contexts) (string, error) {
	var room [256]byte
	out := room[:0]
	for _, p := range all {
		if p.once {
			out = append(out, p.fixed...)
			continue
		}
		v, err := p.value.Eval(t)
		if err != nil {
			return "", err
		}
		if out, err = p.append(out, v); err != nil {
			return "", err
		}
	}
	return strings.TrimPrefix(string(out), "&"), nil
}

// append adds &name=value to out for each value of v.
func (p *pair) append(out []byte, v value.Value) ([]byte, error) {
	if list, ok := v.(*starlark.List); ok {
		for item := range list.Elements() {
			var err error
			if out, err = p.append1(out, item); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	return p.append1(out, v)
}

func (p *pair) append1(out []byte, v value.Value) ([]byte, error) {
	if v == starlark.None || v == value.Missing {
		return out, nil
	}
	value, err := value.Text(v)
	if err != nil {
		return nil, err
	}
	out = append(append(append(out, '&'), p.name...), '=')
	if out = append(out, url.QueryEscape(value)...); len(out) > MaxSent {
		return nil, TooMuchSent("names and values")
	}
	return out, nil
}

// MaxSent limits what one step sends, in bytes.
const MaxSent = 32 << 20

// TooMuchSent returns the error of a request with more data than a step may send.
func TooMuchSent(what string) error {
	return engine.Fail(engine.Script, "more than %d MB of %s", MaxSent>>20, what)
}
