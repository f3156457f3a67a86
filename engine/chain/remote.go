package chain

import (
	"encoding/json"
	"net/http"
	"net/url"

	"go.starlark.net/starlark"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain/expr"
	"github.com/throng-sim/throng/engine/chain/odds"
	"github.com/throng-sim/throng/engine/chain/tools"
	"github.com/throng-sim/throng/engine/script/value"
	"github.com/throng-sim/throng/engine/service"
	"github.com/throng-sim/throng/engine/service/mcp"
)

// remote calls the tools of an MCP server.
type remote struct{ service *Service }

func (m *remote) asks() ([]*Service, odds.Odds) { return []*Service{m.service}, odds.Perhaps }

func (m *remote) changes() *Service { return m.service }

// remoteShape is the input of a call: that of [mcp.Call].
var remoteShape = value.NewShape("tool", "arguments")

func (m *remote) run(t *turn) (value.Value, error) {
	body, err := value.AppendJSON(nil, t.frame.input)
	if err != nil {
		return nil, err
	}
	var asked mcp.Call
	if err := json.Unmarshal(body, &asked); err != nil {
		return nil, err
	}
	call, r, err := m.prepared(t, http.MethodPost, "/"+asked.Tool)
	if err != nil {
		return nil, err
	}
	var got mcp.Result
	r.Body, call.Private = body, t.step.private
	call.Repeats = m.service.Repeats.how
	call.Once = call.Repeats == service.Never
	call.Accept = func(a *service.Answer) error {
		if a.Status/100 != 2 {
			return nil
		}
		got = mcp.Result{}
		return json.Unmarshal(a.Body, &got)
	}
	t.asked = true
	_, err = t.bound(m.service).HTTP.Do(call, r)
	t.record().Take(&call.Record)
	if err != nil {
		return nil, err
	}
	if got.Failed {
		return nil, engine.Fail(engine.ClientError, "%s", got.Text)
	}
	return starlark.String(got.Text), nil
}

// prepared returns a call of the server and its request, which stands for one of the protocol.
func (m *remote) prepared(t *turn, method, path string) (*service.Call, service.Request, error) {
	target, err := service.ParseTarget((&url.URL{Path: path}).EscapedPath())
	if err != nil {
		return nil, service.Request{}, err
	}
	q := request{service: m.service, method: method, target: expr.Target{Fixed: &target}}
	r, auth, err := q.make(t)
	if err != nil {
		return nil, r, err
	}
	call := t.call(m.service)
	call.Auth, call.Endpoint = auth, method+" "+path
	return call, r, nil
}

// list returns the tools of the server.
func (m *remote) list(t *turn) ([]tools.Tool, error) {
	call, r, err := m.prepared(t, http.MethodGet, "/")
	if err != nil {
		return nil, err
	}
	s := t.bound(m.service)
	return s.listed.List(&tools.Asking{
		Session: t.x.s, Clock: t.clock(), Service: s.Name, Path: t.path + "." + tools.Misuse, Limit: t.step.timeout,
		Send: func(of *engine.Session, path string) ([]byte, engine.StepRecord, error) {
			call.Session, call.Clock, call.Path = of, of.Clock(), path
			a, err := s.HTTP.Do(call, r)
			if err != nil {
				return nil, call.Record, err
			}
			return a.Body, call.Record, nil
		},
	})
}
