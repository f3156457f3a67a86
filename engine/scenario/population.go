package scenario

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.starlark.net/starlark"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain"
	"github.com/throng-sim/throng/engine/chain/expr"
	"github.com/throng-sim/throng/engine/chain/memory"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/people"
	"github.com/throng-sim/throng/engine/script"
	"github.com/throng-sim/throng/engine/script/value"
)

const (
	// maxAgents is the largest population.
	maxAgents = 10_000_000
	// maxNames is how many attributes, and how many parameters, a scenario may have.
	maxNames = 1000
	// maxAttributes bounds what the attributes of an agent weigh, and maxAttribute what one does, however few there are.
	maxAttributes = 16 << 20
	maxAttribute  = 1 << 20
	// maxID is how long an id may be, in bytes.
	maxID = 1000
)

var defaultClock = engine.Clock{Start: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Cycle: time.Hour}

// population derives agents: nothing is kept of them but the rows that they have.
type population struct {
	table      *table        // nil where there are no rows
	writer     *chain.Writer // of the rows; nil where no model writes them
	id         expr.Value
	idAt       *doc.Node
	attributes []attribute
	index      map[string]int
	filter     *filter        // nil admits all agents
	drawn      *people.Report // how the rows were drawn from a file; nil if they were not
	fields     []string       // what a filter may ask for
	env        *script.Env
	sized      string // the parameter that says how many there are; "" where no single one does
}

type attribute struct {
	name  string
	value expr.Value
	at    *doc.Node
}

// ownNames are names of an agent's fields other than attributes.
var ownNames = []string{"id", "index", "memory", "notes", "inbox"}

func (r *reader) clock(n *doc.Node) {
	n.Fields("start", "cycle", "cycles", "arrivals")
	if s := n.Get("start"); s != nil {
		at, err := time.Parse(time.RFC3339, s.Text())
		if err != nil {
			s.Errorf("such as 2026-01-02T08:00:00Z", "%q is not a time", s.Text())
		} else {
			r.s.Clock.Start = at
		}
	}
	if c := n.Get("cycle"); c != nil {
		r.s.Clock.Cycle = c.Duration(time.Millisecond, 0)
	}
	if c := n.Get("cycles"); c != nil {
		r.s.Cycles = r.whole(c, 1, 1_000_000_000)
	}
	r.arrivals(n.Get("arrivals"))
}

func (r *reader) warmUp(n *doc.Node) {
	if n == nil {
		return
	}
	r.s.WarmUpEach = engine.DefaultSettings().WarmUpCycles
	if n.Kind() == doc.Scalar {
		if _, ok := n.Scalar().(bool); !ok {
			n.Errorf("true, for the usual, or `{shares: [0.1, 0.5, 1], cycles: 2}`", "%q is not a warm-up", n.Text())
		} else if n.Bool() {
			r.s.WarmUp = engine.DefaultWarmUp
		}
		return
	}
	n.Fields("shares", "cycles")
	n.Require("shares")
	for _, s := range n.Get("shares").List() {
		r.s.WarmUp = append(r.s.WarmUp, s.Float(0.000001, 1))
	}
	if c := n.Get("cycles"); c != nil {
		r.s.WarmUpEach = c.Int(1, 1_000_000)
	}
}

// batch reads how many agents of a cycle are in a wave.
func (r *reader) batch(n *doc.Node) {
	if n != nil {
		r.s.Batch = r.whole(n, 1, engine.MaxLimit)
	}
}

// whole reads a whole number that may be an expression of the parameters.
func (r *reader) whole(n *doc.Node, lowest, highest int) int {
	if text, isText := n.Scalar().(string); !isText || !strings.Contains(text, "${") {
		return max(n.Int(lowest, highest), lowest)
	}
	v, ok := r.constant(n)
	if !ok {
		return lowest
	}
	i, ok := v.(starlark.Int)
	if number, fits := i.Int64(); ok && fits && number >= int64(lowest) && number <= int64(highest) {
		return int(number)
	}
	n.Errorf(fmt.Sprintf("a whole number from %d to %d", lowest, highest), "%s is %s", n.Text(), value.Shown(v))
	return lowest
}

// constant is the value of a text with expressions that use the parameters and the functions, and nothing else. It is
// not known where there are mistakes.
func (r *reader) constant(n *doc.Node) (value.Value, bool) {
	t := r.chains.Template(n, nil)
	switch {
	case t == nil:
		return nil, false
	case !strings.Contains(t.Source(), "${"):
		return starlark.String(t.Source()), true
	case r.chains.Blind:
		return nil, false
	}
	v, err := t.Eval(&script.Context{})
	if err != nil {
		n.Errorf("", "%v", err)
		return nil, false
	}
	return v, true
}

// populationReader reads the population: its rows, attributes, filters and writer.
type populationReader struct{ *reader }

func (r populationReader) population(n *doc.Node) {
	r.s.Agents = 1
	p := &r.s.population
	p.index, p.env = map[string]int{}, r.env
	n.Fields("count", "id", "attributes", "rows", "from", "columns", "types", "values", "where", "sample", "write", "filter")
	r.chains.Fields["agent"] = []string{"id", "index"} // what cannot change from cycle to cycle
	if n != nil {
		r.count(n)
		p.table = r.table(n)
		r.countFits(n, p.table)
		r.attributes(n.Get("attributes"), p)
		r.identify(n.Get("id"), p)
		r.filter(n.Get("filter"), p)
		p.idAt = n.Get("id")
		r.tryFirst(p)
	}
	if fields, known := r.chains.Fields["agent"]; known {
		p.fields = fields
		r.chains.Fields["agent"] = slices.Concat(fields, ownNames[2:])
	}
}

// agentNames are the names that the expressions of a population may use.
var agentNames = []string{"agent"}

// parameterAlone is a field that is nothing but a parameter.
var parameterAlone = regexp.MustCompile(`^\$\{params\.(\w+)\}$`)

// count reads how many agents there are, as far as it does not depend on rows.
func (r populationReader) count(n *doc.Node) {
	c := n.Get("count")
	switch {
	case c != nil:
		r.s.Agents = r.whole(c, 0, maxAgents)
		if c.Kind() == doc.Scalar {
			if m := parameterAlone.FindStringSubmatch(c.Text()); m != nil {
				r.s.population.sized = m[1]
			}
		}
	case n.Get("rows") == nil && n.Get("from") == nil || n.Get("sample") != nil:
		n.Require("count")
	}
}

// countFits checks the number of agents with their rows, which is the number of agents unless the population says it.
func (r populationReader) countFits(n *doc.Node, t *table) {
	switch c := n.Get("count"); {
	case t == nil || t.unwritten():
	case c == nil:
		r.s.Agents = t.rows
	case t.rows > 0 && r.s.Agents > t.rows:
		c.Errorf("leave it out to take all", "%d agents, and the population has %s", r.s.Agents, counted(t.rows, "row"))
	}
}

// attributes reads those that are computed.
func (r populationReader) attributes(n *doc.Node, p *population) {
	entries := n.Entries()
	if len(entries) > maxNames {
		n.Errorf("", "more than %d attributes", maxNames)
		entries = nil
	}
	for _, e := range entries {
		name := e.Key.Text()
		if slices.Contains(ownNames, name) {
			e.Key.Errorf("choose another name", "%s is what every agent has already", name)
		} else if p.table.has(name) {
			e.Key.Errorf("choose another name", "%s is an attribute of the rows already", name)
		}
		expr.CheckName(e.Key, name, "an attribute")
		p.index[name] = len(p.attributes)
		p.attributes = append(p.attributes, attribute{name, r.chains.Value(e.Value, "value", agentNames), e.Value})
		r.knowField(name)
	}
}

// knowField records an attribute of agents, unless not all of them are known.
func (r populationReader) knowField(name string) {
	if fields, known := r.chains.Fields["agent"]; known && !slices.Contains(fields, name) {
		r.chains.Fields["agent"] = append(fields, name)
	}
}

// identify reads what agents are called.
func (r populationReader) identify(n *doc.Node, p *population) {
	if n != nil && p.table != nil && p.table.ids != nil {
		n.Errorf("remove it, or the ids of the rows", "the rows have ids already")
	}
	p.id = r.chains.Value(n, "id", agentNames)
}

// trySeed is a seed to try expressions with.
const trySeed = 1

// tryFirst computes the first agent, so that attributes that fail for everybody are found before anything starts.
func (r populationReader) tryFirst(p *population) {
	if r.report.Err() != nil || r.s.Agents == 0 || p.table.unwritten() {
		return
	}
	a := newAgent(p, trySeed, 0, memory.New(nil))
	for i, attr := range p.attributes {
		if _, err := a.attribute(i); err != nil {
			r.wrong(attr.at, fmt.Errorf("the first agent: %w", err))
			return
		}
	}
	if _, err := a.id(); err != nil {
		r.wrong(p.idAt, err)
		return
	}
	if p.filter != nil {
		if _, err := p.filter.admits(a); err != nil {
			r.wrong(p.filter.at, fmt.Errorf("the first agent: %w", err))
		}
	}
}

// wrong reports a problem at a node of a file that was read earlier, and possibly for another report.
func (r populationReader) wrong(at *doc.Node, err error) {
	if at != nil {
		line, col := at.Position()
		r.report.Add(doc.Problem{File: at.File(), Line: line, Col: col, Problem: err.Error()})
	}
}

// agent shows one agent to expressions; attributes are computed when they are first asked for.
type agent struct {
	p      *population
	seed   uint64
	index  int
	memory *memory.View
	record *value.Record // of a population that has some, once asked for
	values []value.Value
	name   string // the id, once computed
	limit  int    // attributes from here on cannot be seen: they are being computed
	asking string // the attribute whose expression is being evaluated, id or filtering; "" for none

	done <-chan struct{} // stops evaluations; nil never does

	ids         *directory // of all agents; nil outside of a run
	shownMemory value.Lazy
}

func newAgent(p *population, seed uint64, index int, m *memory.View) *agent {
	return &agent{p: p, seed: seed, index: index, memory: m, limit: len(p.attributes)}
}

// Field implements value.Fields.
func (a *agent) Field(name string) (value.Value, error) {
	switch name {
	case "id":
		id, err := a.id()
		return starlark.String(id), err
	case "index":
		return starlark.MakeInt(a.index), nil
	case "memory", "notes", "inbox":
		if a.asking != "" {
			return nil, fmt.Errorf("%s cannot depend on the agent's %s, which changes", a.asked(), name)
		}
		return a.own(name)
	}
	if a.p.table.has(name) {
		return a.cell(name)
	}
	i, ok := a.p.index[name]
	if !ok || i >= a.limit {
		return nil, nil //nolint:nilnil // value.Fields: a missing field is not an error
	}
	return a.attribute(i)
}

// asked names what is being computed.
func (a *agent) asked() string {
	switch a.asking {
	case "id":
		return "the id"
	case filtering:
		return "the filter"
	}
	return "the attribute " + a.asking
}

// cell returns an attribute that the agent's row has.
func (a *agent) cell(name string) (value.Value, error) {
	t := a.p.table
	if t.records == nil {
		return t.columns[t.index[name]].value(a.index), nil
	}
	if a.record == nil {
		r, err := t.records.record(a.index)
		if err != nil {
			return nil, err
		}
		a.record = r
	}
	if v, ok := a.record.Field(name); ok {
		return v, nil
	}
	return value.Missing, nil
}

// own returns an agent's fields that change from cycle to cycle.
func (a *agent) own(name string) (value.Value, error) {
	switch name {
	case "memory":
		if a.shownMemory.Type() == "" {
			a.shownMemory = *value.NewLazy("memory", a.memory)
		}
		return &a.shownMemory, nil
	case "notes":
		return a.memory.Notes()
	}
	return a.memory.Inbox(a.sender)
}

// sender returns the id of an agent that sent a message.
func (a *agent) sender(index int) (string, error) {
	if id, ok := a.ids.known(index); ok {
		return id, nil
	}
	return newAgent(a.p, a.seed, index, memory.New(nil)).id()
}

// Count implements value.Counted.
func (a *agent) Count(name string) (int, bool) {
	if name != "inbox" || a.asking != "" {
		return 0, false
	}
	return a.memory.Letters(), true
}

func (a *agent) attribute(i int) (value.Value, error) {
	if a.values == nil {
		a.values = make([]value.Value, len(a.p.attributes))
	}
	if a.values[i] == nil {
		attr := a.p.attributes[i]
		limit, asking := a.limit, a.asking
		a.limit, a.asking = i, attr.name // an attribute sees those above it
		v, err := attr.value.Eval(a)
		a.limit, a.asking = limit, asking
		if err != nil {
			return nil, fmt.Errorf("the attribute %s: %w", attr.name, err)
		}
		if v, err = value.Data(v); err != nil {
			return nil, fmt.Errorf("the attribute %s: %w", attr.name, err)
		}
		if most := min(maxAttribute, maxAttributes/len(a.p.attributes)); value.Weight(v) > most {
			return nil, fmt.Errorf("the attribute %s is more than %d kB", attr.name, most>>10)
		}
		a.values[i] = v
	}
	return a.values[i], nil
}

// id is what the agent is called. Its expression does not see itself, nor what sees it.
func (a *agent) id() (string, error) {
	if a.name != "" {
		return a.name, nil
	}
	if t := a.p.table; t != nil && t.ids != nil {
		return t.ids.at(a.index), nil
	}
	if a.p.id == nil {
		return "agent-" + strconv.Itoa(a.index+1), nil
	}
	if a.asking == "id" {
		return "", errors.New("the id of an agent cannot depend on itself")
	}
	asking := a.asking
	a.asking = "id"
	v, err := a.p.id.Eval(a)
	a.asking = asking
	if err != nil {
		return "", fmt.Errorf("the id of agent %d: %w", a.index, err)
	}
	id, err := value.Text(v)
	switch {
	case err != nil:
		return "", fmt.Errorf("the id of agent %d: %w", a.index, err)
	case id == "":
		return "", fmt.Errorf("the id of agent %d is empty", a.index)
	case len(id) > maxID:
		return "", fmt.Errorf("the id of agent %d has %d bytes, more than %d", a.index, len(id), maxID)
	}
	if a.limit == len(a.p.attributes) {
		a.name = id
	}
	return id, nil
}

// Names implements value.Fields.
func (a *agent) Names() []string {
	names := slices.Clone(ownNames)
	if a.asking != "" {
		names = names[:2]
	}
	if a.p.table != nil {
		names = append(names, a.p.table.names...)
	}
	for _, attr := range a.p.attributes[:a.limit] {
		names = append(names, attr.name)
	}
	return names
}

// Context implements chain.Contexts: an attribute's draws depend on the seed, the agent and its name.
func (a *agent) Context(field string) *script.Context {
	return &script.Context{Names: a, Key: engine.AgentKey(a.seed, a.index).Text(a.asking), Field: field, Done: a.done}
}

// Lookup implements script.Names.
func (a *agent) Lookup(name string) (value.Value, error) {
	if name == "agent" {
		return value.NewLazy("agent", a), nil
	}
	if slices.Contains(a.p.fields, name) { // of a question only: no other expression compiles with these
		v, err := a.Field(name)
		if v == nil && err == nil {
			v = value.Missing
		}
		return v, err
	}
	return nil, fmt.Errorf("%s is not known here", name)
}
