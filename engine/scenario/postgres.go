package scenario

import (
	"strings"

	"github.com/throng-sim/throng/engine/chain"
	"github.com/throng-sim/throng/engine/chain/expr"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/script/value"
	"github.com/throng-sim/throng/engine/service/database"
)

// postgres reads a service of kind postgres.
func (r serviceReader) postgres(s *chain.Service, n *doc.Node) {
	s.Kind = "postgres"
	n.Fields("kind", "url", "auth", "role", "limits")
	n.Require("url")
	if u := n.Get("url"); u != nil {
		s.URL = r.databaseURL(u)
	}
	r.chains.Postgres(s, n)
	if p := n.Get("auth").Get("password"); p != nil && strings.HasPrefix(s.URL, expr.SecretPrefix) {
		p.Errorf("remove it", "the secret address has the password in it")
	}
}

// databaseURL reads where a database is: an address, or the name of a secret that is one.
func (r serviceReader) databaseURL(n *doc.Node) string {
	if n.Kind() == doc.Scalar && strings.HasPrefix(n.Text(), expr.SecretPrefix) {
		return expr.SecretPrefix + expr.SecretName(n)
	}
	v, ok := r.constant(n)
	if !ok {
		return ""
	}
	text, err := value.Text(v)
	if err != nil {
		n.Errorf("", "%v", err)
		return ""
	}
	const hint = "`secret:NAME`, whose value is the whole address, or postgres://user@host:5432/database with `auth: {password: secret:NAME}`"
	if strings.HasPrefix(text, Mock) {
		n.Errorf(hint, "there is no mock of a database: use a Postgres of your own, such as one on this machine")
		return text
	}
	if err := database.Check(text); err != nil {
		n.Errorf(hint, "%v", err)
	}
	return text
}
