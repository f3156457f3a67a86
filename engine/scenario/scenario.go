package scenario

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain"
	"github.com/throng-sim/throng/engine/chain/expr"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/script"
	"github.com/throng-sim/throng/engine/script/value"
	"github.com/throng-sim/throng/engine/suggest"
	"github.com/throng-sim/throng/engine/validation"
	"github.com/throng-sim/throng/engine/view"
)

// Scenario is a checked scenario with its parameters set.
type Scenario struct {
	Title      string
	About      string
	Parameters []Parameter
	Secrets    []SecretParameter // parameters with `secret: true`, which are not among the others
	Clock      engine.Clock
	Cycles     int // 0 where the file does not say
	Acted      string
	WarmUp     []float64
	WarmUpEach int  // cycles per step of the warm-up
	Sequential bool // one agent acts after the other
	Batch      int  // agents of a cycle in a wave; 0 where the file does not say
	Agents     int
	Services   []*chain.Service
	Connectors []string       // that are defined
	StandIn    *chain.Service // what answers for connectors and functions that are not defined; nil where all are
	Chain      *chain.Chain   // the one that sessions run
	Success    []engine.Criterion
	Against    *validation.Against // the real data that runs are compared with; nil if there is none
	Cleanup    *Cleanup            // nil where nothing is named that removes what agents made
	Source     engine.Source

	population population
	input      payload
	outside    []intervention
	report     *doc.Report
	bound      chain.Bound // nil before Bind
}

// Service returns a service by name; nil if there is none.
func (s *Scenario) Service(name string) *chain.Service {
	i := slices.IndexFunc(s.Services, func(service *chain.Service) bool { return service.Name == name })
	if i < 0 {
		return nil
	}
	return s.Services[i]
}

// Mistakes are all the problems of the files of a scenario or an experiment.
type Mistakes struct{ report *doc.Report }

// NewMistakes returns the problems in a report.
func NewMistakes(r *doc.Report) *Mistakes { return &Mistakes{r} }

func (m *Mistakes) Error() string {
	problems := m.report.Problems()
	if len(problems) == 1 {
		return problems[0].Error()
	}
	return fmt.Sprintf("%d mistakes, the first: %s", len(problems), problems[0].Error())
}

// Print writes every mistake with the line it is on.
func (m *Mistakes) Print(w io.Writer) error { return m.report.Print(w) }

// Count is how many there are.
func (m *Mistakes) Count() int { return len(m.report.Problems()) }

// PrintWarnings writes what is worth a look but keeps nothing from running.
func (s *Scenario) PrintWarnings(w io.Writer) error { return s.report.Print(w) }

// Parameter is a value that can be set for each run.
type Parameter struct {
	view.ParameterSpec
	Min, Max float64 // of numbers; infinite if unlimited
	Default  value.Value
	Value    value.Value // in force
}

// SecretParameter is a parameter whose value is a secret: steps and services send it as secret:NAME, and no expression
// sees it. It is looked for like any secret where it was not given.
type SecretParameter struct {
	Name, Title, About string

	Given string // "" looks elsewhere; it is kept with nothing
}

// reader reads one scenario.
type reader struct {
	name        string
	open        Opener
	given       map[string]string
	kept        bool // given are the values as kept with a run
	extras      Extras
	report      *doc.Report
	s           *Scenario
	env         *script.Env
	definitions string // the text of the functions
	chains      chain.Reader
	patterns    []bucketPattern // of all services
}

// Opener returns the content of a file by its path relative to the scenario's folder.
type Opener func(path string) ([]byte, error)

// Read reads and checks the scenario file name and what it refers to. given are the parameters that were set, by name,
// as written on a command line. Its error is a *Mistakes, a *engine.FieldError for a parameter, or the opener's.
func Read(name string, open Opener, given map[string]string) (*Scenario, error) {
	return Extras{Parameters: given}.Read(name, open)
}

func (r *reader) scenario(open Opener) (*Scenario, error) {
	r.report = &doc.Report{}
	r.s = &Scenario{Clock: defaultClock, Source: engine.Source{Name: r.name, Files: map[string][]byte{}}}
	r.chains.Fields = map[string][]string{
		"session": (*session)(nil).Names(), "now": value.Time{}.AttrNames(), "params": nil,
	}
	r.chains.Agents = &r.s.Agents
	r.open = func(path string) ([]byte, error) {
		if strings.HasPrefix(path, engine.OwnFiles) {
			return nil, fmt.Errorf("%s: %w", path, fs.ErrNotExist)
		}
		text, err := open(path)
		if err == nil {
			r.s.Source.Files[path] = text
		}
		return text, err
	}
	r.chains.Open = func(file string) ([]byte, error) {
		text, err := r.open(file)
		if err != nil {
			err = why(file, err)
		}
		return text, err
	}
	text, err := r.open(r.name)
	if err != nil {
		return nil, err
	}
	root := doc.Parse(r.name, text, r.report)
	if root != nil {
		err = r.read(root)
	}
	if r.report.Err() != nil {
		return nil, &Mistakes{r.report}
	}
	if err != nil {
		return nil, err
	}
	r.s.report = r.report
	r.s.Source.Hash = hash(r.s.Source.Files)
	r.s.Source.Parameters = map[string]string{}
	for _, p := range r.s.Parameters {
		text, err := value.AppendJSON(nil, p.Value)
		if err != nil {
			return nil, fmt.Errorf("parameter %s: %w", p.Name, err)
		}
		r.s.Source.Parameters[p.Name] = string(text)
	}
	return r.s, nil
}

func (r *reader) read(root *doc.Node) error {
	root.Fields("title", "about", "parameters", "clock", "order", "acted", "population", "services", "functions", "tools", "chain NAME",
		"success", "warm_up", "batch", "cleanup", "run", "interventions", "connectors", "validate_against")
	s := r.s
	s.Title, s.About = strings.Join(strings.Fields(root.Get("title").Text()), " "), root.Get("about").Text() // a title is one line
	if s.Title == "" {
		s.Title = r.name
	}
	mistaken := r.parameters(root.Get("parameters"))
	r.environment(root.Get("functions"))
	r.clock(root.Get("clock"))
	if o := root.Get("order"); o != nil {
		s.Sequential = o.OneOf("parallel", "sequential") == "sequential"
	}
	r.warmUp(root.Get("warm_up"))
	r.batch(root.Get("batch"))
	r.arrivalsFit(root.Get("clock").Get("arrivals"))
	populationReader{r}.population(root.Get("population"))
	mistaken = errors.Join(mistaken, r.payload(root.Get("population") != nil))
	serviceReader{r}.services(root.Get("services"))
	populationReader{r}.writer(root.Get("population").Get("write"))
	r.interventions(root.Get("interventions"))
	mistaken = errors.Join(mistaken, r.readChains(root))
	if r.extras.also != nil {
		r.extras.also(r)
	}
	r.acted(root.Get("acted"))
	r.success(root.Get("success"))
	readValidation(r, root.Get("validate_against"))
	for _, e := range root.Entries() {
		if e.Key.Text() != "services" { // which say by themselves where a secret may be
			r.chains.RefuseSecrets(e.Value)
		}
	}
	if r.extras.Chain != "" {
		s.alone()
	}
	return mistaken
}

// acted reads the event that counts as having acted; the chain must emit it.
func (r *reader) acted(n *doc.Node) {
	r.s.Acted = n.Text()
	if r.s.Acted == "" || r.s.Chain == nil || r.extras.Chain != "" {
		return
	}
	events, all := r.s.Chain.Events()
	if !all || slices.Contains(events, r.s.Acted) {
		return
	}
	g := suggest.Guess{Hint: "it emits no event"}
	if events = slices.Compact(slices.Sorted(slices.Values(events))); len(events) > 0 {
		g.Hint = "it emits " + strings.Join(events, ", ")
	}
	if len(events) == 1 {
		g.Meant = events[0]
	}
	n.Guess(g).Errorf("the chain %s never emits %s", r.s.Chain.Name, r.s.Acted)
}

// readChains reads the connectors and the chains, and picks the one that sessions run. Its error is about the chain that
// was asked for.
func (r *reader) readChains(root *doc.Node) error {
	run := root.Get("run").Text()
	alone := r.extras.Chain
	var names []string
	var chains []doc.Entry
	for _, e := range root.Entries() {
		if word, name := e.Split(); word == "chain" {
			chains = append(chains, e)
			r.chains.Declare(name)
		}
	}
	chain.ReadTools(&r.chains, root.Get("tools"))
	serviceReader{r}.connectors(root.Get("connectors"))
	for _, e := range chains {
		_, name := e.Split()
		if !expr.IsName(name) {
			e.NameErrorf("letters, digits and _, not beginning with a digit", "%q cannot be the name of a chain", name)
		} else if slices.Contains(names, name) {
			e.NameErrorf("names are unique in a file", "there is another chain %s", name)
		}
		c := r.chains.Chain(name, e.Value)
		if r.s.Chain == nil && run == "" && alone == "" || name == run && alone == "" || name == alone {
			r.s.Chain = c
		}
		names = append(names, name)
	}
	r.chains.Feed(cleaning(root.Get("cleanup")).Text())
	if r.s.Chain != nil {
		r.chains.Feed(r.s.Chain.Name)
	}
	r.chains.Link()
	r.cleanup(root.Get("cleanup"), names)
	serviceReader{r}.warnUnmatched()
	serviceReader{r}.mocked()
	switch {
	case len(names) == 0:
		root.Errorf("`chain NAME:` with steps", "the scenario has no chain")
	case r.s.Chain == nil && alone != "":
		return &engine.FieldError{Field: "chain", Problem: "there is no chain " + alone, Hint: oneOfChains(alone, names).Hint}
	case r.s.Chain == nil:
		root.Get("run").Guess(oneOfChains(run, names)).Errorf("there is no chain %s", run)
	}
	return nil
}

// oneOfChains returns the guess for an unknown chain.
func oneOfChains(name string, names []string) suggest.Guess {
	otherwise := "there are " + strings.Join(names, ", ")
	if len(names) == 1 {
		otherwise = "there is " + names[0]
	}
	return suggest.NewGuess(name, names, otherwise)
}
