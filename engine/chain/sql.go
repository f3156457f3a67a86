package chain

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"go.starlark.net/starlark"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain/expr"
	"github.com/throng-sim/throng/engine/chain/odds"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/script/value"
	"github.com/throng-sim/throng/engine/service"
	"github.com/throng-sim/throng/engine/service/database"
)

// Postgres is a service of kind postgres as defined by the file. Its URL is an address
// without a password, or secret:NAME for an address that is a secret as a whole.
type Postgres struct {
	Password string // the name of a secret; "" uses the address
	Role     string // role for statements; "" is the user's own
	Limits   database.Limits
}

// ConnectPostgres creates the client of a service of kind postgres. secrets are values to remove from error texts.
func (s *Service) ConnectPostgres(client *service.Postgres, secrets ...string) {
	s.postgres = client
	s.Conceal(false, secrets...)
}

// maxRole is the maximum length of a role's name in bytes (NAMEDATALEN - 1).
const maxRole = 63

// Postgres reads the keys that are specific to a service of kind postgres.
func (r *Reader) Postgres(s *Service, n *doc.Node) {
	p := &Postgres{}
	n.Get("auth").Fields("password")
	if secret := n.Get("auth").Get("password"); secret != nil {
		p.Password = expr.SecretName(secret)
	}
	if role := n.Get("role"); role != nil {
		p.Role = role.Text()
		if role.Kind() == doc.Scalar && (p.Role == "" || len(p.Role) > maxRole || strings.EqualFold(p.Role, "none")) {
			role.Errorf("a role without superuser rights that the user of the address is a member of", "%q cannot be the name of a role", p.Role)
		}
	}
	l := n.Get("limits")
	l.Fields("connections", "burst", "wait", "timeout")
	p.Limits.Connections = l.Get("connections").Int(1, 10_000)
	if b := l.Get("burst"); b != nil {
		if p.Limits.Burst = b.Int(0, 10_000); p.Limits.Burst == 0 {
			p.Limits.Burst = -1
		}
	}
	p.Limits.Wait = l.Get("wait").Duration(time.Millisecond, 0)
	p.Limits.Timeout = l.Get("timeout").Duration(time.Millisecond, 0)
	s.Postgres = p
}

// statement is an sql step: one statement on a Postgres service. Its output is count, rows and first.
type statement struct {
	service *Service
	query   *database.Query
	args    []expr.Value
	forced  bool // it changes something, regardless of its text
	repeats service.Repeats
	private bool
}

func readSQL(r *reader, n *doc.Node) action {
	n.Require("service", "query")
	s := &statement{}
	if how := n.Get("repeats"); how != nil {
		s.forced, s.repeats = true, sqlRepeats[how.OneOf(SQLRepeats...)]
	}
	query, err := database.ParseQuery(n.Get("query").Text())
	r = r.writing(s.forced || err == nil && !query.Reads())
	s.service = r.serviceOf(n.Get("service"), "postgres")
	if at := n.Get("args"); at != nil && at.Kind() != doc.List {
		at.Errorf("a list, such as `args: [\"${agent.id}\", 1]`", "the args of a query are $1, $2 and so on")
	} else {
		r.hold(s.service)
		for i, item := range at.List() {
			if k := item.Kind(); k == doc.Map || k == doc.List {
				expr.RefuseSecrets(item, nil)
			}
			s.args = append(s.args, r.Data(item, "args["+itoa(i)+"]"))
		}
	}
	s.readQuery(n.Get("query"))
	s.private = n.Get("private").Bool()
	return s
}

func (s *statement) readQuery(n *doc.Node) {
	if n == nil || n.Text() == "" {
		if n.Kind() == doc.Scalar {
			n.Errorf("such as `query: select name from users where id = $1`", "an empty query")
		}
		return
	}
	var err error
	if s.query, err = database.ParseQuery(n.Text()); err != nil {
		mistake, ok := errors.AsType[*engine.FieldError](err)
		if !ok {
			mistake = &engine.FieldError{Problem: err.Error()}
		}
		n.Errorf(mistake.Hint, "%s", mistake.Problem)
		return
	}
	if want := s.query.Params(); want != len(s.args) {
		n.Errorf("one value for each of $1, $2 and so on", "the query has %d parameters, `args` has %d values", want, len(s.args))
	}
}

// changes implements asker.
func (s *statement) changes() *Service {
	if s.query == nil || s.query.Reads() && !s.forced {
		return nil
	}
	return s.service
}

func (s *statement) asks() ([]*Service, odds.Odds) { return []*Service{s.service}, odds.Surely }

func (s *statement) run(t *turn) (value.Value, error) {
	to := t.bound(s.service)
	what := database.Statement{Query: s.query, Changes: s.forced, Secrets: to.Values}
	size := 0
	for i, arg := range s.args {
		v, err := arg.Eval(t)
		if err != nil {
			return nil, err
		}
		text, err := expr.SQLArg(v, s.query.Array(i))
		if err != nil {
			return nil, fmt.Errorf("args[%d]: %w", i, err)
		}
		if size += len(text); size > expr.MaxSent {
			return nil, expr.TooMuchSent("args")
		}
		what.Args, what.Values = append(what.Args, text), expr.AppendTexts(what.Values, v)
	}
	var out value.Value
	call := t.call(s.service)
	call.Repeats, call.Once, call.Private = s.repeats, s.repeats == service.Never, s.private
	call.Accept = func(a *service.Answer) (err error) {
		out, err = rows(a)
		return err
	}
	t.asked = true
	_, err := to.postgres.Do(call, what)
	t.record().Take(&call.Record)
	return out, err
}

// rows is the output of a statement: count, rows, and first, which is missing if there are no rows.
func rows(a *service.Answer) (value.Value, error) {
	v, err := value.DecodeJSON(a.Body)
	if err != nil {
		return nil, err
	}
	answer, ok := v.(*value.Record)
	if !ok {
		return nil, errors.New("the journaled rows are not a record")
	}
	count, _ := answer.Field("count")
	list, _ := answer.Field("rows")
	first := value.Missing
	if all, ok := list.(*starlark.List); ok && all.Len() > 0 {
		first = all.Index(0)
	}
	return value.NewRecord(value.Field{Name: "count", Value: count}, value.Field{Name: "rows", Value: list}, value.Field{Name: "first", Value: first}), nil
}
