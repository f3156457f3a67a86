package chain

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"go.starlark.net/starlark"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain/expr"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/script"
	"github.com/throng-sim/throng/engine/service"
	"github.com/throng-sim/throng/engine/service/database"
	"github.com/throng-sim/throng/engine/service/redact"
)

// Postgres is a service of kind postgres as defined by the file, with its client once connected. Its URL is an address
// without a password, or secret:NAME for an address that is a secret as a whole.
type Postgres struct {
	Password string // the name of a secret; "" uses the address
	Role     string // role for statements; "" is the user's own
	Limits   database.Limits

	client *service.Postgres
}

// ConnectPostgres creates the client of a service of kind postgres. secrets are values to remove from error texts.
func (s *Service) ConnectPostgres(client *service.Postgres, secrets ...string) {
	s.Postgres.client, s.concealed = client, nil
	for _, secret := range secrets {
		s.concealed = append(s.concealed, redact.Spellings(secret)...)
	}
}

// mostRole is the maximum length of a role's name in bytes (NAMEDATALEN - 1).
const mostRole = 63

// Postgres reads the keys that are specific to a service of kind postgres.
func (r *Reader) Postgres(s *Service, n *doc.Node) {
	p := &Postgres{}
	n.Get("auth").Fields("password")
	if secret := n.Get("auth").Get("password"); secret != nil {
		p.Password = expr.SecretName(secret)
	}
	if role := n.Get("role"); role != nil {
		p.Role = role.Text()
		if role.Kind() == doc.Scalar && (p.Role == "" || len(p.Role) > mostRole || strings.EqualFold(p.Role, "none")) {
			role.Errorf("a role without superuser rights that the user of the address is a member of", "%q cannot be the name of a role", p.Role)
		}
	}
	l := n.Get("limits")
	l.Fields("connections", "burst", "wait", "timeout")
	if c := l.Get("connections"); c != nil {
		p.Limits.Connections = c.Int(1, 10_000)
	}
	if b := l.Get("burst"); b != nil {
		if p.Limits.Burst = b.Int(0, 10_000); p.Limits.Burst == 0 {
			p.Limits.Burst = -1
		}
	}
	if w := l.Get("wait"); w != nil {
		p.Limits.Wait = w.Duration(time.Millisecond, 0)
	}
	if t := l.Get("timeout"); t != nil {
		p.Limits.Timeout = t.Duration(time.Millisecond, 0)
	}
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
	if at := n.Get("service"); at != nil {
		s.service = r.serviceOf(at, "postgres")
	}
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
	if p := n.Get("private"); p != nil {
		s.private = p.Bool()
	}
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

func (s *statement) asks() ([]*Service, odds) { return []*Service{s.service}, surely }

func (s *statement) run(t *turn) (script.Value, error) {
	what := database.Statement{Query: s.query, Changes: s.forced, Secrets: s.service.values}
	size := 0
	for i, arg := range s.args {
		v, err := arg.Eval(t)
		if err != nil {
			return nil, err
		}
		text, err := sqlArg(v, s.query.Array(i))
		if err != nil {
			return nil, fmt.Errorf("args[%d]: %w", i, err)
		}
		if size += len(text); size > expr.MaxSent {
			return nil, expr.TooMuchSent("args")
		}
		what.Args, what.Values = append(what.Args, text), appendTexts(what.Values, v)
	}
	var out script.Value
	call := &service.Call{
		Session: t.x.s, Clock: t.clock(), Path: t.path, Retry: t.step.retry.over(t.x.s.Settings().Retry),
		Repeats: s.repeats, Once: s.repeats == service.Never, Secrets: s.service.concealed, Private: s.private,
		Accept: func(a *service.Answer) (err error) {
			out, err = rows(a)
			return err
		},
	}
	t.asked = true
	_, err := s.service.Postgres.client.Do(call, what)
	t.record().Take(&call.Record)
	return out, err
}

// rows is the output of a statement: count, rows, and first, which is missing if there are no rows.
func rows(a *service.Answer) (script.Value, error) {
	v, err := script.DecodeJSON(a.Body)
	if err != nil {
		return nil, err
	}
	answer, ok := v.(*script.Record)
	if !ok {
		return nil, errors.New("the journaled rows are not a record")
	}
	count, _ := answer.Field("count")
	list, _ := answer.Field("rows")
	first := script.Missing
	if all, ok := list.(*starlark.List); ok && all.Len() > 0 {
		first = all.Index(0)
	}
	return script.NewRecord(script.Field{Name: "count", Value: count}, script.Field{Name: "rows", Value: list}, script.Field{Name: "first", Value: first}), nil
}

// sqlArg converts a value for the server: None and missing are NULL, a record is JSON, and so is a list unless the
// query expects an array.
func sqlArg(v script.Value, array bool) ([]byte, error) {
	if isNull(v) {
		return nil, nil
	}
	if list, ok := v.(starlark.Sequence); ok && array {
		if _, isRecord := v.(*script.Record); !isRecord {
			return appendArray(nil, list, 1)
		}
	}
	return script.AppendText([]byte{}, v)
}

func isNull(v script.Value) bool { return v == starlark.None || v == script.Missing }

// appendArray appends a list as a Postgres array at nesting level depth.
func appendArray(dst []byte, list starlark.Iterable, depth int) ([]byte, error) {
	const most = 6
	if depth > most {
		return nil, fmt.Errorf("an array of more than %d dimensions", most)
	}
	dst = append(dst, '{')
	first := true
	for v := range starlark.Elements(list) {
		if !first {
			dst = append(dst, ',')
		}
		first = false
		if inner, ok := v.(*starlark.List); ok {
			var err error
			if dst, err = appendArray(dst, inner, depth+1); err != nil {
				return nil, err
			}
			continue
		}
		if isNull(v) {
			dst = append(dst, "NULL"...)
			continue
		}
		text, err := script.Text(v)
		if err != nil {
			return nil, err
		}
		if dst = database.AppendArrayElement(dst, text); len(dst) > expr.MaxSent {
			return nil, expr.TooMuchSent("args")
		}
	}
	return append(dst, '}'), nil
}

// appendTexts appends the strings and numbers in a value, which must not appear in errors.
func appendTexts(dst []string, v script.Value) []string {
	switch v := v.(type) {
	case starlark.String, starlark.Int, starlark.Float:
		if text, err := script.Text(v); err == nil {
			dst = append(dst, text)
		}
	case *script.Record:
		for _, field := range v.All() {
			dst = appendTexts(dst, field)
		}
	case *starlark.List:
		for item := range v.Elements() {
			dst = appendTexts(dst, item)
		}
	case starlark.NoneType, starlark.Bool:
	default: // times, dicts and the agent, as data
		if text, err := script.AppendJSON(nil, v); err == nil {
			if plain, err := script.DecodeJSON(text); err == nil {
				dst = appendTexts(dst, plain)
			}
		}
	}
	return dst
}
