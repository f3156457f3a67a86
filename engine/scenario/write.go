package scenario

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/script/value"
	"go.starlark.net/starlark"
)

// PersonasName is the file name of personas written by a model, in a source and in an export. A scenario with such
// personas must not have a file of this name.
const PersonasName = "population.jsonl"

// unwritten are the rows of a population before a model has written them.
type unwritten struct{}

var errUnwritten = errors.New("the population is not written yet")

func (unwritten) record(int) (*value.Record, error) { return nil, errUnwritten }

// unwritten reports whether the rows are still to be written.
func (t *table) unwritten() bool {
	if t == nil {
		return false
	}
	_, waits := t.records.(unwritten)
	return waits
}

// toBeWritten is the table of personas that a model will write: what is known of them is the shape of the answer.
func toBeWritten(n *doc.Node) *table {
	names, at := chain.AnswerNames(n.Get("answer"))
	for i, name := range names {
		checkAttribute(at[i], name, i+1)
	}
	t := newTable(names[:min(len(names), maxNames)])
	t.records = unwritten{}
	return t
}

// personaNames are the names that what a model is asked may use.
var personaNames = []string{"index", "count"}

// writer reads what a model is asked for every persona and, in the scenario of a run, the personas that it wrote.
func (r populationReader) writer(n *doc.Node) {
	if n == nil {
		return
	}
	if n.Kind() != doc.Map {
		n.Fields() // says so
		return
	}
	p := &r.s.population
	p.writer = r.chains.Writer(n, personaNames)
	if r.report.Err() != nil {
		return
	}
	if _, err := (&Writing{r.s, trySeed}).Request(0, func(s *chain.Service) string { return s.URL }); err != nil {
		n.Errorf("", "the first persona: %v", err)
		return
	}
	if !r.kept || r.s.Agents == 0 {
		return
	}
	text, err := r.open(PersonasName)
	if err != nil {
		n.Errorf("", "the personas that were written are not kept with it: %v", err)
		return
	}
	r.personas(text)
}

// personas takes the rows that a model wrote.
func (r populationReader) personas(text []byte) {
	t := newSheet(PersonasName, text, r.report).read(nil)
	if t == nil || r.report.Err() != nil {
		return
	}
	if t.rows != r.s.Agents {
		r.report.Add(doc.Problem{File: PersonasName, Line: 1, Col: 1, Problem: fmt.Sprintf("%s for %d agents", counted(t.rows, "row"), r.s.Agents)})
		return
	}
	table := r.s.population.table
	table.rows, table.records = t.rows, t.records
	r.tryFirst(&r.s.population)
}

// Writing generates the personas of a population with a model. Each persona is one independent call, so they can be
// generated concurrently and in any order; connect the services first.
type Writing struct {
	s    *Scenario
	seed uint64
}

// Writing returns the personas to generate before a run with a seed, or nil if there are none or they exist already.
func (s *Scenario) Writing(seed uint64) *Writing {
	if !s.population.table.unwritten() || s.population.writer == nil || s.Agents == 0 {
		return nil
	}
	return &Writing{s, seed}
}

// Count is how many personas are wanted.
func (w *Writing) Count() int { return w.s.Agents }

// Services are those that may be asked, the first first.
func (w *Writing) Services() []*chain.Service { return w.s.population.writer.Services(w.s.bound) }

func (w *Writing) commission(index int) *chain.Commission {
	return &chain.Commission{
		Path: "population[" + strconv.Itoa(index) + "]", Key: engine.AgentKey(w.seed, index).Text("write"), Names: persona{index, w.s.Agents}, Bound: w.s.bound,
	}
}

// Request identifies what is asked for a persona: who has the answer to it need not ask. address says where a service is.
func (w *Writing) Request(index int, address func(*chain.Service) string) (string, error) {
	return w.s.population.writer.Request(w.commission(index), address)
}

// Length returns the length of the prompt for a persona in bytes, and the token limit of the answer; 0 means no limit.
func (w *Writing) Length(index int) (asked, most int, err error) {
	return w.s.population.writer.Length(w.commission(index))
}

// Ask has a persona written, as a JSON object, on the run's budget. Its error is why not, or the cause of ctx; what it took
// is returned either way.
func (w *Writing) Ask(ctx context.Context, index int, settings *engine.Settings, budget *engine.Ledger) ([]byte, engine.StepRecord, error) {
	c := w.commission(index)
	c.Retry, c.Timeout = settings.Retry, settings.SessionTimeout
	if budget != nil {
		c.Purse = budget
	}
	return w.s.population.writer.Ask(ctx, c)
}

// IsPersona reports whether a text is a result of Ask.
func IsPersona(text []byte) bool {
	v, err := value.DecodeJSON(text)
	_, ok := v.(*value.Record)
	return err == nil && ok
}

// Settle makes the personas, one for each agent, the population, and a part of the scenario's source. Its error is a
// *Mistakes: what is computed of them fails.
func (w *Writing) Settle(personas [][]byte) error {
	text := append(bytes.Join(personas, []byte("\n")), '\n')
	r := &reader{s: w.s, report: w.s.report.Clone()} // the report belongs to all who read the scenario
	if (populationReader{r}).personas(text); r.report.Err() != nil {
		return &Mistakes{r.report}
	}
	w.s.report = r.report
	w.s.Source.Files[PersonasName] = text
	w.s.Source.Hash = hash(w.s.Source.Files)
	return nil
}

// persona is what the texts for a model see of the persona to generate.
type persona struct{ index, count int }

// Lookup implements script.Names.
func (p persona) Lookup(name string) (value.Value, error) {
	switch name {
	case "index":
		return starlark.MakeInt(p.index), nil
	case "count":
		return starlark.MakeInt(p.count), nil
	}
	return nil, fmt.Errorf("%s is not known here", name)
}

// Written reports whether a model wrote the population.
func (s *Scenario) Written() bool {
	return s.population.writer != nil && !s.population.table.unwritten()
}

// ExportPersonas writes the agents as a model wrote them, with their ids, a line each: `from: population.jsonl` makes the
// same agents of them.
func (s *Scenario) ExportPersonas(out io.Writer, seed uint64) error {
	for i := range s.Agents {
		a := newAgent(&s.population, seed, i, nil)
		id, err := a.id()
		if err != nil {
			return err
		}
		record, err := s.population.table.records.record(i)
		if err != nil {
			return err
		}
		fields := []value.Field{{Name: "id", Value: starlark.String(id)}}
		for name, v := range record.All() {
			fields = append(fields, value.Field{Name: name, Value: v})
		}
		line, err := value.AppendJSON(nil, value.NewRecord(fields...))
		if err != nil {
			return err
		}
		if _, err := out.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return nil
}
