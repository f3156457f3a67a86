package chain

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"go.starlark.net/starlark"

	"github.com/throng-sim/throng/engine/chain/expr"
	"github.com/throng-sim/throng/engine/chain/layout"
	"github.com/throng-sim/throng/engine/chain/retry"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/script/value"
	"github.com/throng-sim/throng/engine/service"
	"github.com/throng-sim/throng/engine/suggest"
)

// connector is a step template that steps name as their target.
type connector struct {
	action  action // nil if it is invalid
	timeout time.Duration
	retry   retry.Policy
	private bool
	standIn bool // it names a function that the file does not define
}

// optionsName is the name under which a connector sees the options of its step.
const optionsName = "options"

// Connector reads a connector. All chains must be declared first.
func (r *Reader) Connector(name string, n *doc.Node) {
	c := &connector{}
	if r.connectors == nil {
		r.connectors = map[string]*connector{}
	}
	r.connectors[name] = c
	if n.Kind() != doc.Map {
		n.Errorf("`"+name+": {kind: http, …}`", "the connector %s has no keys", name)
		return
	}
	all := slices.DeleteFunc(kinds(), func(k kind) bool { return k.name == "connector" || slices.Contains(controlFlow, k.name) })
	k, known := kindOf("the connector "+name, n, all)
	if !known {
		return
	}
	n.Fields(append([]string{"kind", "type", "timeout", "retry"}, k.keys...)...)
	c.timeout, c.retry = n.Get("timeout").Duration(time.Millisecond, 0), retry.Read(n.Get("retry"))
	c.private = layout.Private(n)
	in := r.in(append(slices.Clone(baseNames), optionsName), nil)
	in.shared = true
	in.look()
	c.action = k.read(in, n)
	_, c.standIn = c.action.(*standIn)
}

func readConnector(r *reader, n *doc.Node) action {
	n.Require("target")
	s := r.scope.step
	s.connects = true
	if o := n.Get("options"); o != nil && o.Kind() != doc.Null {
		o.Entries() // reports the error
		s.options = r.Data(o, "options")
	}
	at := n.Get("target")
	name := at.Text()
	if name == "" {
		return nil
	}
	if r.connectors[name] == nil && r.More != nil {
		r.More(name)
	}
	c, ok := r.connectors[name]
	if !ok {
		return r.stand(at, "connector")
	}
	if s.timeout == 0 {
		s.timeout = c.timeout
	}
	s.retry = s.retry.Or(c.retry)
	s.private = s.private || c.private
	s.Mocked = c.standIn
	return c.action
}

// Connectors returns the names of the connectors read so far.
func (r *Reader) Connectors() []string {
	var names []string
	for name := range r.connectors {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// standIn replaces a connector or a function that the file does not define: it asks the mock, which returns the
// request it received.
type standIn struct{ request }

// standInPath is the mock's path for undefined connectors and functions.
const standInPath = "/connectors"

// stand returns a stand-in for an undefined name, and records it; what says what the name refers to.
func (r *reader) stand(n *doc.Node, what string) action {
	name := n.Text()
	g := suggest.Guess{Hint: "define it under `" + what + "s`: against real services this is an error"}
	if names := r.Connectors(); what == "connector" && len(names) > 0 {
		near := r.Near(name, names, "")
		g = suggest.Guess{Meant: near.Meant, Hint: strings.Replace(near.Hint+"; ", "?; ", "? ", 1) + g.Hint}
	}
	n.Guess(g).Warnf("there is no %s %s: the mock answers in its place", what, name)
	if entry := what + " " + strings.Join(strings.Fields(name), " "); !slices.Contains(r.mocked, entry) {
		r.mocked = append(r.mocked, entry)
	}
	if r.scope != nil {
		r.scope.step.Mocked = true
	}
	if r.standIn == nil {
		user, err := r.Env.Template("${agent.id}", []string{"agent"})
		if err != nil {
			panic(err) // it compiles
		}
		r.standIn = &Service{Name: "stand-in", Kind: "http", URL: "mock:shop", User: user}
	}
	path, err := service.ParseTarget(standInPath)
	if err != nil {
		panic(err) // it is a path
	}
	asks := &standIn{request{service: r.standIn, method: http.MethodPost, target: expr.Target{Fixed: &path}}}
	asks.body.JSON(question(name))
	return asks
}

// StandIn returns the service that answers in place of undefined connectors and functions, and their names; nil if
// everything is defined.
func (r *Reader) StandIn() (s *Service, instead []string) { return r.standIn, r.mocked }

func (s *standIn) changes() *Service { return nil }

func (s *standIn) run(t *turn) (value.Value, error) {
	out, err := s.request.run(t)
	if err != nil {
		return nil, err
	}
	return out.(starlark.HasAttrs).Attr("body")
}

// question is the request of a stand-in: its target with the step's options or, without options, the output of the
// previous step. For the first step it is the chain's input.
type question string

var questionShape = value.NewShape("target", "input")

// Eval implements Value.
func (q question) Eval(c expr.Contexts) (value.Value, error) {
	t := c.(*turn)
	input := value.Missing
	if t.connected {
		input = t.options
	}
	if input == value.Missing {
		input = t.previous()
	}
	if input == value.Missing {
		var err error
		if input, err = t.Lookup("input"); err != nil {
			return nil, err
		}
	}
	return questionShape.Record(starlark.String(string(q)), input), nil
}
