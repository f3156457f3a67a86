// Package content reads and evaluates the bodies of requests.
package content

import (
	"github.com/throng-sim/throng/engine/chain/expr"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/script/value"
	"github.com/throng-sim/throng/engine/service"
)

// Keys are the keys of a body. A request has one of them at most.
var Keys = []string{"json", "form", "multipart", "body"}

// Body is the body of a request. The zero value is an empty body.
type Body struct {
	Kind service.BodyKind

	json  expr.Value
	form  expr.Pairs
	text  expr.Value
	parts []part
	fixed []byte   // the body if it is constant
	sends []string // its content type; nil if unset
}

// Read reads the body of a request from the keys of its step. open opens a file of the scenario's folder.
func Read(in *expr.Compiler, n *doc.Node, open func(file string) ([]byte, error)) (b Body) {
	n.Only(Keys...)
	switch {
	case n.Get("json") != nil:
		b.Kind = service.BodyJSON
		b.json, b.sends = in.Data(n.Get("json"), "json"), []string{"application/json"}
		if c, ok := b.json.(expr.Const); ok && c.V != nil {
			var err error
			if b.fixed, err = value.AppendJSON(nil, c.V); err != nil {
				n.Get("json").Errorf("", "%v", err)
			}
		}
	case n.Get("form") != nil:
		b.Form(in.Pairs(n.Get("form"), "form"))
	case n.Get("multipart") != nil:
		b.readParts(in, n.Get("multipart"), open)
	case n.Get("body") != nil:
		if k := n.Get("body").Kind(); k == doc.Map || k == doc.List {
			b.Kind = service.BodyJSON
		}
		b.text, b.sends = in.Data(n.Get("body"), "body"), []string{"text/plain; charset=utf-8"}
	}
	return b
}

// Form sets the body to a form.
func (b *Body) Form(pairs expr.Pairs) {
	b.Kind, b.form, b.sends = service.BodyForm, pairs, []string{"application/x-www-form-urlencoded"}
}

// JSON sets the body to a value.
func (b *Body) JSON(v expr.Value) {
	b.Kind, b.json, b.sends = service.BodyJSON, v, []string{"application/json"}
}

// Eval returns the body of one request with its content type, which must not be changed; both are nil for none.
func (b *Body) Eval(t expr.Contexts) (body []byte, kind []string, err error) {
	switch {
	case b.fixed != nil:
		return b.fixed, b.sends, nil
	case b.json != nil:
		v, err := b.json.Eval(t)
		if err != nil {
			return nil, nil, err
		}
		body, err = value.AppendJSON(nil, v)
		return body, b.sends, err
	case b.parts != nil:
		return b.evalParts(t)
	case b.form != nil:
		form, err := b.form.Encode(t)
		return []byte(form), b.sends, err
	case b.text != nil:
		v, err := b.text.Eval(t)
		if err != nil {
			return nil, nil, err
		}
		body, err = value.AppendText(nil, v)
		return body, b.sends, err
	}
	return nil, b.sends, nil
}
