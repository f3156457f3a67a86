package chain

import (
	"maps"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/throng-sim/throng/engine/script"
	"github.com/throng-sim/throng/engine/service"
)

// Chain is what a session executes. It is immutable once read and used by all sessions at once.
type Chain struct {
	Name    string
	Timeout time.Duration // 0 is the run's
	Body    *Block
}

// Block is a sequence of steps: a chain's, a branch's or a loop's.
type Block struct {
	Steps    []*Step
	segments []segment
	index    map[string]int
}

// Step is one node of a chain.
type Step struct {
	Name  string
	Kind  string
	Label string // for people; the name without one
	// Mocked says that the mock answers in place of something that the file does not define.
	Mocked bool

	when     *script.Expr // nil is always
	timeout  time.Duration
	retry    retry
	goesOn   bool   // a failure does not end the session
	fallback Value  // the output when it failed and goes on; nil is missing
	action   action // of a connector's step, the connector's
	private  bool   // its output is not to be shown
	connects bool   // it uses a connector
	options  Value  // that the connector sees; nil is missing
	segment  int    // of the block, that it stands in
	node     *node  // nil for a plain step
	used     bool   // other steps name its output
	file     string // where it is defined
	line     int
}

// action is what a step of some kind does. run returns the step's output.
type action interface {
	run(t *turn) (script.Value, error)
}

// asker is an action that asks a service, whose client keeps the journal: intents, answers and what is replayed.
type asker interface {
	action
	// changes is the service where order counts among those who change it; nil is none.
	changes() *Service
}

// Service is a service as the file defines it, and, once connected, its client.
type Service struct {
	Name    string
	Kind    string
	URL     string // "mock:shop" is the embedded one
	Headers []Named
	User    *script.Template // who signs in to the mock
	Bearer  string           // name of a secret
	JWT     *JWT
	Login   *Login
	Key     *Key // fixed; nil is none
	Limits  service.Limits
	Repeats Repeats // of changing requests, unless a step says it
	TLS     *TLS    // nil is what the machine trusts, without a client certificate

	// Of kind llm:
	Models  []string // tried in order; a launch may ask for others
	Named   []string // those of the file, or what its provider is usually asked for
	Unnamed bool     // the file names none
	Embeds  string   // the model of embeddings; "" is the first of Models
	Answers Answers
	Effort  string          // of reasoning, where a step does not say; "" is the model's
	Extra   []service.Extra // further fields of each request for a completion
	Free    bool            // it costs nothing: it runs on one's own machine
	LLM     *service.LLM    // set by ConnectLLM
	flights *singleflight.Group

	Postgres *Postgres // of a service of that kind; else nil

	// Simulation tells the service that this is one, unless the file's headers say otherwise; set before a run.
	Simulation bool
	HTTP       *service.HTTP // set by Connect
	token      string
	wanted     []string // names of secrets
	secrets    map[string]string
	values     service.Secrets // what takes the place of marks
	concealed  []string        // what no error text may say
	tokens     *service.Tokens
}

// Connect gives the service its client. secret is the bearer token, or for the mock what stands before the user.
func (s *Service) Connect(client *service.HTTP, secret string) {
	s.HTTP, s.token = client, strings.TrimSpace(secret)
	s.tokens = &service.Tokens{}
	s.concealed = nil
	for _, value := range append(slices.Sorted(maps.Values(s.secrets)), s.token) {
		if value != "" {
			s.concealed = append(s.concealed, service.Spellings(value)...)
			if s.Key != nil && s.Key.kind == "basic" { // whose header is base64 already, and may be encoded again
				for _, form := range service.InBase64(value) {
					s.concealed = append(s.concealed, service.Spellings(form)...)
				}
			}
		}
	}
}

// Named is a header: its name in canonical form, and its value.
type Named struct {
	name  string
	field string // of its draws
	value *script.Template
	of    *Service // whose secrets may stand in it; nil has none
}

// Walk calls f for every step of the chain, outer ones first, with its path. Those of another chain that a step runs
// are that chain's.
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

// Events returns the events that the chain emits, and whether these are all: a name may be an expression.
func (c *Chain) Events() (names []string, all bool) {
	all = true
	c.everywhere(func(s *Step) {
		e, ok := s.action.(*emit)
		if !ok {
			return
		}
		v, ok := e.event.(constValue)
		if !ok || v.v == nil {
			all = false
			return
		}
		if name, err := script.Text(v.v); err == nil {
			names = append(names, name)
		}
	})
	return names, all
}

// everywhere calls f for every step of the chain and of those that it runs, each chain once.
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

// Runs are the chains that the steps of the chain run, and those that theirs do, each once.
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
