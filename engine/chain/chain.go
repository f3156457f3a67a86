package chain

import (
	"slices"
	"strings"
	"time"

	"github.com/throng-sim/throng/engine/chain/credential"
	"github.com/throng-sim/throng/engine/chain/expr"
	"github.com/throng-sim/throng/engine/chain/retry"
	"github.com/throng-sim/throng/engine/chain/tools"
	"github.com/throng-sim/throng/engine/openapi"
	"github.com/throng-sim/throng/engine/script"
	"github.com/throng-sim/throng/engine/script/value"
	"github.com/throng-sim/throng/engine/service"
	"github.com/throng-sim/throng/engine/spans"
)

// Chain is the graph that a session executes. It is immutable once read, and shared by all sessions.
type Chain struct {
	Name    string
	Timeout time.Duration // 0 means the run's value
	Body    *Block
}

// Block is a sequence of steps: the body of a chain, branch or loop.
type Block struct {
	Steps    []*Step
	segments []segment
	index    map[string]int
}

// Step is one node of a chain.
type Step struct {
	Name  string
	Kind  string
	Label string // for display; defaults to the name
	// Mocked means that the mock answers in place of something that the file does not define.
	Mocked bool

	when      *script.Expr // nil means always
	timeout   time.Duration
	retry     retry.Policy
	continues bool       // a failure does not end the session
	fallback  expr.Value // the output after a failure that is ignored; nil means missing
	action    action     // for a connector's step, the name of the connector
	private   bool       // its output must not be shown
	connects  bool       // it uses a connector
	options   expr.Value // input of the connector; nil means missing
	place     int        // position in its block
	segment   int        // position of its segment
	node      *node      // nil for a plain step
	used      bool       // other steps use its output
	file      string     // where it is defined
	line      int
}

// action executes a step of some kind. run returns the step's output.
type action interface {
	run(t *turn) (value.Value, error)
}

// asker is an action that sends requests to a service. The client keeps the journal: intents, answers and replay.
type asker interface {
	action
	// changes returns the service whose changes depend on order; nil if there is none.
	changes() *Service
}

// Service is a service as defined by the file. A run connects a copy; see [Bound].
type Service struct {
	Name    string
	Kind    string
	URL     string // "mock:shop" is the embedded mock
	Headers []credential.Header
	User    *script.Template // user that signs in to the mock
	Bearer  string           // name of a secret
	JWT     *JWT
	Login   *Login
	Key     *credential.Key // fixed key; nil if unused
	Limits  service.Limits
	Repeats Repeats           // default for changing requests
	TLS     *credential.TLS   // nil trusts the system's authorities, without a client certificate
	Proxy   *credential.Proxy // nil is as the environment says
	Spans   spans.Options
	Browsing
	API *openapi.Document // nil if the file names none
	For *Service          // it issues the tokens of that service, which names its address; nil for all others

	ModelOptions           // for a service of kind llm
	Postgres     *Postgres // for a service of that kind; else nil

	// Simulation adds a header that marks requests as simulated, unless the file's headers set it. Set it before a
	// run.
	Simulation bool
	HTTP       *service.HTTP // set by Connect
	credential.Store
	token string
	acquired
	postgres *service.Postgres // set by ConnectPostgres
}

// acquired is what a run gets from a service.
type acquired struct {
	tokens *service.Tokens
	listed *tools.Server // the tools of a service of kind mcp
}

// Browsing is what a service does as browsers do.
type Browsing struct {
	Cookies bool // each session keeps the cookies of answers, and sends them
	Follow  bool // follow redirects, unless a step says otherwise
}

// Connect creates the service's client. secret is the bearer token, or for the mock the token's part before the user.
func (s *Service) Connect(client *service.HTTP, secret string) {
	s.HTTP, s.token = client, strings.TrimSpace(secret)
	client.Trace(s.Spans)
	if s.Proxy != nil && !client.Mocks() {
		client.Through(s.Proxy.URL(&s.Store))
	}
	s.acquired = acquired{&service.Tokens{}, &tools.Server{}}
	s.Conceal(s.Key.IsBasic(), s.token) // the header of a basic key is base64 already
}

// Walk calls f for every step of the chain with its path, outer steps first. It does not enter other chains that a
// step runs.
func (c *Chain) Walk(f func(path string, s *Step)) {
	if c.Body != nil {
		c.Body.walk("", f)
	}
}

func (b *Block) walk(prefix string, f func(string, *Step)) {
	for _, s := range b.Steps {
		f(prefix+s.Name, s)
		if nest, ok := s.action.(nest); ok {
			for _, inner := range nest.blocks() {
				inner.walk(prefix+s.Name+".", f)
			}
		}
	}
}

// Events returns the events that the chain emits. The second result is false if a name is an expression, so that there
// may be others.
func (c *Chain) Events() (names []string, all bool) {
	all = true
	c.everywhere(func(s *Step) {
		e, ok := s.action.(*emit)
		if !ok {
			return
		}
		v, ok := e.event.(expr.Const)
		if !ok || v.V == nil {
			all = false
			return
		}
		if name, err := value.Text(v.V); err == nil {
			names = append(names, name)
		}
	})
	return names, all
}

// everywhere calls f for every step of the chain and of the chains that it runs, each chain once.
func (c *Chain) everywhere(f func(s *Step)) {
	seen := map[*Chain]bool{c: true}
	for open := []*Chain{c}; len(open) > 0; {
		next := open[len(open)-1]
		open = open[:len(open)-1]
		next.Walk(func(_ string, s *Step) {
			f(s)
			if sub, ok := s.action.(*subchain); ok && sub.chain != nil && !seen[sub.chain] {
				seen[sub.chain] = true
				open = append(open, sub.chain)
			}
		})
	}
}

// Runs returns the chains that the chain runs, directly or indirectly, each once.
func (c *Chain) Runs() []*Chain {
	var all []*Chain
	c.everywhere(func(s *Step) {
		if sub, ok := s.action.(*subchain); ok && sub.chain != nil && sub.chain != c && !slices.Contains(all, sub.chain) {
			all = append(all, sub.chain)
		}
	})
	return all
}

// nest is an action that holds blocks of steps.
type nest interface{ blocks() []*Block }
