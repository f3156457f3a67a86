package chain

import (
	"net/http"
	"slices"
	"time"

	"go.starlark.net/starlark"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain/answer"
	"github.com/throng-sim/throng/engine/chain/expr"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/script"
	"github.com/throng-sim/throng/engine/script/value"
	"github.com/throng-sim/throng/engine/service"
)

// Repeats configures whether a changing request may be sent again.
type Repeats struct {
	set    bool // it is configured
	how    service.Repeats
	verify *verify // nil asks nothing
}

// verify asks a service whether it carried out a request.
type verify struct {
	request *request
	done    *script.Expr
	answer  expr.Value // answer that replaces the lost one; nil if there is none
	after   time.Duration
}

// usualAfter is how long a request may still be carried out after its client is gone, by default.
const usualAfter = time.Second

// httpRepeats and sqlRepeats are the options for requests and statements.
var (
	httpRepeats = map[string]service.Repeats{
		"keyed": service.Keyed, "unsafe": service.Unsafe, "harmless": service.Harmless, "never": service.Never,
	}
	sqlRepeats = map[string]service.Repeats{"unsafe": service.Unsafe, "harmless": service.Harmless, "never": service.Never}
)

// HTTPRepeats and SQLRepeats are the values of `repeats`.
var (
	HTTPRepeats = []string{"keyed", "unsafe", "harmless", "never"}
	SQLRepeats  = []string{"unsafe", "harmless", "never"}
)

// requestName is the name of the request in doubt in the expressions of a verify; answerNames are those of the answer.
const requestName = "request"

var (
	answerNames  = []string{"status", "headers", "body"}
	requestShape = value.NewShape("key", "step", "method", "path")
)

// Repeats reads a service's setting for repeats; its expressions may use names.
func (r *Reader) Repeats(s *Service, n *doc.Node, names []string) Repeats {
	return r.in(names, s).repeats(n)
}

// repeats reads `repeats` or `verify` of a service or a step.
func (r *reader) repeats(n *doc.Node) Repeats {
	which := n.Only("repeats", "verify")
	switch {
	case which.Key == nil:
		return Repeats{}
	case which.Key.Text() == "verify":
		return Repeats{set: true, verify: r.verify(which.Value)}
	}
	return Repeats{set: true, how: httpRepeats[which.Value.OneOf(HTTPRepeats...)]}
}

func (r *reader) verify(n *doc.Node) *verify {
	n.Fields("get", "query", "headers", "expect", "done", "answer", "after")
	n.Require("get", "done")
	in := *r
	in.Names, in.Changes = append(slices.Clone(r.Names), requestName), false
	v := &verify{after: usualAfter, request: &request{method: http.MethodGet, expect: readExpect(n.Get("expect"))}}
	if get := n.Get("get"); get != nil {
		v.request.target = in.Target(get)
	}
	v.request.query = in.Pairs(n.Get("query"), "verify.query")
	v.request.headers = in.headers(n.Get("headers"), "verify.headers.")
	in.Names = append(in.Names, answerNames...)
	v.done = in.Expression(n.Get("done"))
	v.answer = in.Data(n.Get("answer"), "verify.answer")
	if after := n.Get("after"); after != nil {
		v.after = after.Duration(0, time.Hour)
	}
	return v
}

// repeatPolicy returns the setting for a request: its step's, or else its service's.
func (q *request) repeatPolicy() *Repeats {
	if q.repeats.set {
		return &q.repeats
	}
	return &q.service.Repeats
}

// of returns the verify for a request of the current step.
func (v *verify) of(t *turn, q *request) *service.Verify {
	at := *t
	at.key, at.keyed = t.pathKey().Text("verify"), true
	return &service.Verify{
		Expect: v.request.expect, After: v.after,
		Ask: func(in service.InDoubt) (r service.Request, err error) {
			at.more = map[string]value.Value{requestName: requestShape.Record(
				starlark.String(in.Key), starlark.String(in.Step), starlark.String(in.Method), starlark.String(in.Path))}
			asking := *v.request
			asking.service, asking.unsigned = q.service, q.unsigned
			r, _, err = asking.make(&at)
			return r, err
		},
		Judge: func(a *service.Answer) (*service.Answer, bool, error) { return v.judge(&at, q, a) },
	}
}

// judge reads the answer of a verify.
func (v *verify) judge(at *turn, q *request, a *service.Answer) (instead *service.Answer, done bool, err error) {
	out, err := answer.Read(a, q.service.Cookies)
	if err != nil {
		return nil, false, err
	}
	for _, name := range answerNames {
		if at.more[name], err = out.(starlark.HasAttrs).Attr(name); err != nil {
			return nil, false, err
		}
	}
	is, err := v.done.Eval(at.Context("verify.done"))
	if err != nil || !bool(is.Truth()) {
		return nil, false, asScript(err)
	}
	instead = &service.Answer{Status: http.StatusOK, Header: http.Header{}}
	if len(q.expect) > 0 {
		instead.Status = q.expect[0]
	}
	if v.answer == nil {
		return instead, true, nil
	}
	body, err := v.answer.Eval(at)
	if err == nil {
		instead.Header["Content-Type"] = []string{"application/json"}
		instead.Body, err = value.AppendJSON(nil, body)
	}
	return instead, true, asScript(err)
}

// asScript marks the failure of an expression as permanent.
func asScript(err error) error {
	if err == nil {
		return nil
	}
	return &engine.StepError{Class: engine.Script, Err: err}
}

// warnLost reports steps whose answer other steps use, but whose verify cannot replace it.
func (r *Reader) warnLost(c *Chain) {
	c.Walk(func(_ string, s *Step) {
		q, ok := s.action.(*request)
		if !ok || !s.used || q.service == nil || service.IsSafe(q.method) {
			return
		}
		if v := q.repeatPolicy().verify; v != nil && v.answer == nil {
			r.places[s].Body.Warnf("`answer:` in its verify, such as `answer: ${body}`",
				"other steps use the output of %s: if a crash loses its answer, verify cannot replace it", s.Name)
		}
	})
}
