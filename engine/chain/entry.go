package chain

import (
	"github.com/throng-sim/throng/engine/chain/credential"
	"github.com/throng-sim/throng/engine/chain/expr"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/script"
)

// Template reads a text with expressions that may use names.
func (r *Reader) Template(n *doc.Node, names []string) *script.Template {
	return r.in(names, nil).Text(n)
}

// Expr reads a scalar that is one whole expression and may use names. It returns nil for an absent node or an error.
func (r *Reader) Expr(n *doc.Node, names []string) *script.Expr {
	return r.in(names, nil).Expression(n)
}

// Value reads data with expressions that may use names. field is its position in the step, and part of its draws. It
// returns nil for an absent node.
func (r *Reader) Value(n *doc.Node, field string, names []string) expr.Value {
	return r.in(names, nil).Data(n, field)
}

// RefuseSecrets reports the secrets in a part of a file, except in values that are sent.
func (r *Reader) RefuseSecrets(n *doc.Node) { expr.RefuseSecrets(n, r.Sent) }

// Headers reads the headers of a service, whose values may use names and secrets.
func (r *Reader) Headers(s *Service, n *doc.Node, names []string) []credential.Header {
	return r.in(names, s).writing(true).headers(n, "service."+s.Name+".headers.")
}

func (r *reader) headers(n *doc.Node, field string) []credential.Header {
	return credential.ReadHeaders(&r.Compiler, n, field, r.holder != nil)
}

// Key reads a service's key; its texts may use names and secrets.
func (r *Reader) Key(s *Service, kind string, n *doc.Node, names []string) {
	s.Key = credential.ReadKey(&r.in(names, s).Compiler, kind, n, s.Name)
}
