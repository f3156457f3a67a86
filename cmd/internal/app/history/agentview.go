package history

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app/secrets"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/run"
	"github.com/throng-sim/throng/engine/scenario"
	"github.com/throng-sim/throng/engine/service"
	"github.com/throng-sim/throng/storage"
	"github.com/throng-sim/throng/storage/sqlite"
)

const (
	shownSessions = 50 // newest sessions of an agent
	// journalSessions bounds the sessions whose answers are read from the journal, newest first.
	journalSessions = 12
	// journalTimeout bounds reading the journal. For large populations it may find only some answers.
	journalTimeout = time.Second
)

// Agents shows single agents of a run: persona, sessions, memory and state. It is safe for concurrent use.
type Agents struct {
	Store   *sqlite.Store
	Record  engine.RunRecord
	Program *scenario.Program
	Run     *run.Run // nil if the run is not in progress in this process

	once  sync.Once
	steps map[string]engine.GraphStep // by path
}

// LoadAgents returns the agents of a stored run that is not in progress in this process. It reads the scenario stored with
// the run, which may take a while.
func LoadAgents(ctx context.Context, store *sqlite.Store, run engine.RunID) (*Agents, error) {
	record, err := store.Run(ctx, run)
	if err != nil {
		return nil, err
	}
	s, err := scenario.Restore(record.Source)
	if err != nil {
		return nil, fmt.Errorf("the scenario stored with run %s: %w", run, err)
	}
	return &Agents{Store: store, Record: record, Program: s.Program(record.Settings.Seed)}, nil
}

// Name returns the ID of an agent.
func (p *Agents) Name(index int) string {
	if name, err := p.Program.AgentID(index); err == nil {
		return name
	}
	return fmt.Sprintf("agent %d", index)
}

// View returns what is known of an agent. It reads only the needed rows of the store, and may wait briefly for a run in
// progress. If no agent has the index, the error is [engine.ErrNotFound].
func (p *Agents) View(ctx context.Context, index int) (*engine.AgentView, error) {
	if index < 0 || index >= p.Program.Agents() {
		return nil, fmt.Errorf("agent %d: %w", index, engine.ErrNotFound)
	}
	v := &engine.AgentView{Index: index, ID: p.Name(index)}
	var err error
	if v.Persona, err = p.Program.Persona(index); err != nil {
		return nil, fmt.Errorf("the attributes of %s: %w", v.ID, err)
	}
	orders, err := p.addMemory(ctx, v)
	if err != nil {
		return nil, err
	}
	turns, next, err := p.recent(ctx, index, 0, shownSessions)
	if err != nil {
		return nil, err
	}
	v.Sessions, v.Earlier = turns, max(next-p.Record.ForkCycle, 0)
	for i := range turns {
		for k := range turns[i].Steps {
			v.Usage.Add(turns[i].Steps[k].Usage)
		}
	}
	if p.Run == nil {
		v.State = orders.state(&p.Record, v)
	} else {
		v.State = p.Run.Crowd(nil).States[index]
		p.addOpen(v)
	}
	if err := p.addExchanges(ctx, index, v.Sessions); err != nil {
		return nil, err
	}
	mask(v)
	return v, nil
}

// Sessions returns about most sessions of an agent in the cycles below before (0: all), newest first, with all their takes
// and their known exchanges. The agent may have more sessions in the cycles below next.
func (p *Agents) Sessions(ctx context.Context, index, before, most int) (turns []engine.AgentTurn, next int, err error) {
	if turns, next, err = p.recent(ctx, index, before, most); err != nil {
		return nil, 0, err
	}
	if err := p.addExchanges(ctx, index, turns); err != nil {
		return nil, 0, err
	}
	mask(&engine.AgentView{Sessions: turns})
	return turns, next, nil
}

func (p *Agents) recent(ctx context.Context, index, before, most int) (turns []engine.AgentTurn, next int, err error) {
	rows, next, err := p.Store.Recent(ctx, p.Record.ID, index, before, most)
	for i := range rows {
		turns = append(turns, engine.AgentTurn{SessionRow: rows[i]})
	}
	return turns, next, err
}

// addMemory adds the memory and the inbox of an agent. It returns the user's orders if the run is not in progress here.
func (p *Agents) addMemory(ctx context.Context, v *engine.AgentView) (orders userOrders, err error) {
	var m *engine.Memory
	var letters []engine.Letter
	cycle := p.Record.Cycle
	if p.Run != nil {
		m, letters = p.Run.Memory(v.Index)
		cycle = p.Run.Snapshot().Cycle
	} else {
		if m, err = p.Store.MemoryOf(ctx, p.Record.ID, v.Index); err != nil {
			return orders, err
		}
		if orders, err = p.userOrders(ctx); err != nil {
			return orders, err
		}
		letters = engine.Injected(orders.Injected, m, engine.Place{Cycle: cycle, Agent: v.Index})
	}
	for _, f := range m.FieldList() {
		v.Memory = append(v.Memory, engine.Fact{Name: f.Name, Value: string(f.Value)})
	}
	if letters, err = p.Program.Arrivals(engine.Place{Cycle: cycle, Agent: v.Index}, m, letters); err != nil {
		return orders, err
	}
	if m != nil {
		for _, note := range m.Notes {
			v.Notes = append(v.Notes, string(note))
		}
		letters = append(letters, m.Inbox...)
		slices.SortStableFunc(letters, func(a, b engine.Letter) int { return a.Cycle - b.Cycle })
	}
	for _, l := range letters {
		h := engine.InboxMessage{Cycle: l.Cycle, Body: string(l.Body)}
		if l.From != engine.Outside {
			h.From = p.Name(l.From)
		}
		v.Inbox = append(v.Inbox, h)
	}
	return orders, nil
}

// userOrders are the orders of users to the agents of a run.
type userOrders struct{ engine.Resumption }

func (p *Agents) userOrders(ctx context.Context) (h userOrders, err error) {
	changes, err := p.Store.Changes(ctx, p.Record.ID)
	for i := range changes {
		err = errors.Join(err, h.Apply(&changes[i]))
	}
	return h, err
}

// state returns the last state of an agent in a run that ended or was interrupted.
func (h *userOrders) state(r *engine.RunRecord, v *engine.AgentView) engine.AgentState {
	last := r.Cycle
	if r.Ending == engine.EndFinished {
		last-- // no other cycle follows
	}
	if len(v.Sessions) > 0 && v.Sessions[0].Cycle >= last {
		return engine.StateOf(v.Sessions[0].Outcome)
	}
	if from, gone := h.Retired[v.Index]; gone && from <= last {
		return engine.AgentRetired
	}
	if r.Ending == engine.EndFinished {
		return engine.AgentResting
	}
	return engine.AgentWaiting
}

// addOpen adds the session in flight.
func (p *Agents) addOpen(v *engine.AgentView) {
	d, ok := p.Run.Activity(v.Index)
	if !ok || len(v.Sessions) > 0 && v.Sessions[0].Place == d.Place { // it has ended in the meantime
		return
	}
	d.Name = v.ID
	v.Activity = &d
	open := engine.AgentTurn{SessionRow: engine.SessionRow{Place: d.Place, Started: d.Began, Total: time.Since(d.Began)}}
	v.Sessions = slices.Insert(v.Sessions, 0, open)
}

// addExchanges adds the exchanges of sessions: those that the run holds, and answers from the journal.
func (p *Agents) addExchanges(ctx context.Context, index int, turns []engine.AgentTurn) error {
	var all []engine.Exchange
	open := p.Record.Cycle
	if p.Run != nil {
		all = p.Run.Exchanges(index)
		open = p.Run.Snapshot().Cycle
	}
	if err := p.addKept(ctx, index, turns); err != nil {
		return err
	}
	read := 0
	limited, cancel := context.WithTimeout(ctx, journalTimeout)
	defer cancel()
	for i := range turns {
		t := &turns[i]
		for _, e := range all {
			if e.Place == t.Place && !slices.ContainsFunc(t.Exchanges, func(k engine.Exchange) bool { return k.Path == e.Path && k.Attempt == e.Attempt }) {
				t.Exchanges = append(t.Exchanges, e)
			}
		}
		unknown := unknownAnswers(t)
		if read == journalSessions || limited.Err() != nil || len(unknown) == 0 && t.Outcome != engine.Unfinished || !sqlite.Keeps(&p.Record, &t.SessionRow, open) {
			continue
		}
		read++
		if err := p.addStored(limited, t, unknown); err != nil && (limited.Err() == nil || ctx.Err() != nil) {
			return err
		}
	}
	return nil
}

// addKept adds the exchanges that the run keeps for reading.
func (p *Agents) addKept(ctx context.Context, index int, turns []engine.AgentTurn) error {
	for i := range turns {
		if i > 0 && turns[i].Cycle == turns[i-1].Cycle {
			continue // other takes of the same cycle
		}
		all, err := p.Store.Exchanges(ctx, p.Record.ID, storage.ExchangeQuery{Cycle: turns[i].Cycle, Lo: index, Hi: index})
		if err != nil {
			return err
		}
		for k := i; k < len(turns) && turns[k].Cycle == turns[i].Cycle; k++ {
			for _, e := range all {
				if e.Place == turns[k].Place {
					turns[k].Exchanges = append(turns[k].Exchanges, e)
				}
			}
		}
	}
	return nil
}

// unknownAnswers returns the paths of the steps that called a service and have no known exchange.
func unknownAnswers(t *engine.AgentTurn) (paths []string) {
	for i := range t.Steps {
		s := &t.Steps[i]
		known := func(e engine.Exchange) bool { return e.Path == s.Path }
		if s.Attempts > 0 && !slices.ContainsFunc(t.Exchanges, known) {
			paths = append(paths, s.Path)
		}
	}
	return paths
}

// addStored puts the answers in the journal before the known exchanges of a session, in the order of its steps.
func (p *Agents) addStored(ctx context.Context, t *engine.AgentTurn, unknown []string) error {
	all, err := p.Store.RequestsOf(ctx, p.Record.ID, t.Place, func(found []storage.Request) bool {
		return t.Outcome != engine.Unfinished && !slices.ContainsFunc(unknown, func(path string) bool {
			return !slices.ContainsFunc(found, func(r storage.Request) bool { return r.Path == path && r.Answered })
		})
	})
	if err != nil {
		return err
	}
	var stored []engine.Exchange
	for i := range all {
		r := &all[i]
		known := func(e engine.Exchange) bool { return e.Path == r.Path }
		if !r.Answered || service.Inner(r.Path) || slices.ContainsFunc(t.Exchanges, known) {
			continue
		}
		e := service.Kept(&r.Entry)
		e.Place = t.Place
		step := p.step(r.Path)
		if e.Service = step.Service; step.Kind == sqlKind {
			e.Status = 0
		}
		stored = append(stored, e)
	}
	order := func(e engine.Exchange) int {
		return slices.IndexFunc(t.Steps, func(s engine.StepRecord) bool { return s.Path == e.Path })
	}
	slices.SortStableFunc(stored, func(a, b engine.Exchange) int { return order(a) - order(b) })
	t.Exchanges = append(stored, t.Exchanges...)
	return nil
}

// sqlKind is the kind of the steps whose answers have no status.
const sqlKind = "sql"

// step returns the step of the chain for the path of one of its iterations.
func (p *Agents) step(path string) engine.GraphStep {
	p.once.Do(func() {
		p.steps = map[string]engine.GraphStep{}
		g := p.Program.Graph()
		g.Walk(func(s *engine.GraphStep) { p.steps[s.Path] = engine.GraphStep{Kind: s.Kind, Service: s.Service} })
	})
	for path = engine.StepName(path); ; { // the paths of nested requests start with the path of their step
		s, known := p.steps[path]
		end := strings.LastIndexByte(path, '.')
		if known || end < 0 {
			return s
		}
		path = path[:end]
	}
}

// mask removes values with the name of a secret, removes secrets that this process has looked up, and shortens long texts.
func mask(v *engine.AgentView) {
	shorten := func(text *string) { *text = service.Masked(secrets.Redact(*text), maxText) }
	secrets.MaskFacts(v.Persona, shorten)
	secrets.MaskFacts(v.Memory, shorten)
	for i := range v.Notes {
		shorten(&v.Notes[i])
	}
	for i := range v.Inbox {
		shorten(&v.Inbox[i].Body)
	}
	for i := range v.Sessions {
		for k := range v.Sessions[i].Exchanges {
			secrets.RedactExchange(&v.Sessions[i].Exchanges[k])
		}
	}
}

// maxText bounds each text of an agent's persona, memory and inbox in bytes.
const maxText = 8 << 10
