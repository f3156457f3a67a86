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
	shownSessions = 50 // of an agent, the newest
	// askedSessions is for how many of them, the newest, the journal is asked what services answered.
	askedSessions = 12
	// journalPatience is how long it is looked there: of a crowd that asks much little may be found.
	journalPatience = time.Second
)

// People are the agents of a run, one by one: what each is, did, remembers and is at. It is safe for concurrent use.
type People struct {
	Store   *sqlite.Store
	Record  engine.RunRecord
	Program *scenario.Program
	Run     *run.Run // that this process works on; nil is that it does not

	once  sync.Once
	steps map[string]engine.GraphStep // by path
}

// PastPeople are those of a run of the store that this process does not work on. It reads the scenario that was kept with
// the run, which may take long.
func PastPeople(ctx context.Context, store *sqlite.Store, run engine.RunID) (*People, error) {
	record, err := store.Run(ctx, run)
	if err != nil {
		return nil, err
	}
	s, err := scenario.Restore(record.Source)
	if err != nil {
		return nil, fmt.Errorf("the scenario kept with run %s: %w", run, err)
	}
	return &People{Store: store, Record: record, Program: s.Program(record.Settings.Seed)}, nil
}

// Name is what an agent is called.
func (p *People) Name(index int) string {
	if name, err := p.Program.AgentID(index); err == nil {
		return name
	}
	return fmt.Sprintf("agent %d", index)
}

// View is what is known of an agent. It reads the store, as little of it as can be, and waits a moment for a run in
// progress. An index that nobody has is [engine.ErrNotFound].
func (p *People) View(ctx context.Context, index int) (*engine.AgentView, error) {
	if index < 0 || index >= p.Program.Agents() {
		return nil, fmt.Errorf("agent %d: %w", index, engine.ErrNotFound)
	}
	v := &engine.AgentView{Index: index, ID: p.Name(index)}
	var err error
	if v.Persona, err = p.Program.Persona(index); err != nil {
		return nil, fmt.Errorf("the attributes of %s: %w", v.ID, err)
	}
	past, err := p.mind(ctx, v)
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
		v.State = past.state(&p.Record, v)
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

// Sessions are the newest of an agent in the cycles below before (0: all), newest first, with all their takes, and with what
// was exchanged in them as far as that is known: about most of them. In the cycles below next it may have more.
func (p *People) Sessions(ctx context.Context, index, before, most int) (turns []engine.AgentTurn, next int, err error) {
	if turns, next, err = p.recent(ctx, index, before, most); err != nil {
		return nil, 0, err
	}
	if err := p.addExchanges(ctx, index, turns); err != nil {
		return nil, 0, err
	}
	mask(&engine.AgentView{Sessions: turns})
	return turns, next, nil
}

func (p *People) recent(ctx context.Context, index, before, most int) (turns []engine.AgentTurn, next int, err error) {
	rows, next, err := p.Store.Recent(ctx, p.Record.ID, index, before, most)
	for i := range rows {
		turns = append(turns, engine.AgentTurn{SessionRow: rows[i]})
	}
	return turns, next, err
}

// mind adds what an agent remembers, and was told.
func (p *People) mind(ctx context.Context, v *engine.AgentView) (past hands, err error) {
	var m *engine.Memory
	var letters []engine.Letter
	cycle := p.Record.Cycle
	if p.Run != nil {
		m, letters = p.Run.Memory(v.Index)
		cycle = p.Run.Snapshot().Cycle
	} else {
		if m, err = p.Store.MemoryOf(ctx, p.Record.ID, v.Index); err != nil {
			return past, err
		}
		if past, err = p.byHand(ctx); err != nil {
			return past, err
		}
		letters = engine.Injected(past.Injected, m, engine.Place{Cycle: cycle, Agent: v.Index})
	}
	for _, f := range m.FieldList() {
		v.Memory = append(v.Memory, engine.Fact{Name: f.Name, Value: string(f.Value)})
	}
	if letters, err = p.Program.Arrivals(engine.Place{Cycle: cycle, Agent: v.Index}, m, letters); err != nil {
		return past, err
	}
	if m != nil {
		for _, note := range m.Notes {
			v.Notes = append(v.Notes, string(note))
		}
		letters = append(letters, m.Inbox...)
		slices.SortStableFunc(letters, func(a, b engine.Letter) int { return a.Cycle - b.Cycle })
	}
	for _, l := range letters {
		h := engine.Heard{Cycle: l.Cycle, Body: string(l.Body)}
		if l.From != engine.Outside {
			h.From = p.Name(l.From)
		}
		v.Inbox = append(v.Inbox, h)
	}
	return past, nil
}

// hands is what people ordered of a run by hand.
type hands struct{ engine.Resumption }

func (p *People) byHand(ctx context.Context) (h hands, err error) {
	changes, err := p.Store.Changes(ctx, p.Record.ID)
	for i := range changes {
		err = errors.Join(err, h.Hear(&changes[i]))
	}
	return h, err
}

// state is what an agent of a run that is over, or was interrupted, did last.
func (h *hands) state(r *engine.RunRecord, v *engine.AgentView) engine.AgentState {
	last := r.Cycle
	if r.Ending == engine.EndFinished {
		last-- // no other cycle was to come
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

// addOpen adds the session that goes on, as far as it is seen.
func (p *People) addOpen(v *engine.AgentView) {
	d, ok := p.Run.Doing(v.Index)
	if !ok || len(v.Sessions) > 0 && v.Sessions[0].Place == d.Place { // it has ended meanwhile
		return
	}
	d.Name = v.ID
	v.Doing = &d
	open := engine.AgentTurn{SessionRow: engine.SessionRow{Place: d.Place, Started: d.Began, Total: time.Since(d.Began)}}
	v.Sessions = slices.Insert(v.Sessions, 0, open)
}

// addExchanges adds what was asked and answered: what the run has kept, and, where it has not, what the journal holds.
func (p *People) addExchanges(ctx context.Context, index int, turns []engine.AgentTurn) error {
	var all []engine.Exchange
	open := p.Record.Cycle
	if p.Run != nil {
		all = p.Run.Exchanges(index)
		open = p.Run.Snapshot().Cycle
	}
	asked := 0
	soon, cancel := context.WithTimeout(ctx, journalPatience)
	defer cancel()
	for i := range turns {
		t := &turns[i]
		for _, e := range all {
			if e.Place == t.Place {
				t.Exchanges = append(t.Exchanges, e)
			}
		}
		unknown := unknownAnswers(t)
		if asked == askedSessions || soon.Err() != nil || len(unknown) == 0 && t.Outcome != engine.Unfinished || !sqlite.Keeps(&p.Record, &t.SessionRow, open) {
			continue
		}
		asked++
		if err := p.addKept(soon, t, unknown); err != nil && (soon.Err() == nil || ctx.Err() != nil) {
			return err
		}
	}
	return nil
}

// unknownAnswers are the paths of the steps that asked a service, and of which no exchange is known.
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

// addKept puts what the journal holds of a session before what is known of it, in the order of its steps.
func (p *People) addKept(ctx context.Context, t *engine.AgentTurn, unknown []string) error {
	all, err := p.Store.RequestsOf(ctx, p.Record.ID, t.Place, func(found []storage.Request) bool {
		return t.Outcome != engine.Unfinished && !slices.ContainsFunc(unknown, func(path string) bool {
			return !slices.ContainsFunc(found, func(r storage.Request) bool { return r.Path == path && r.Answered })
		})
	})
	if err != nil {
		return err
	}
	var kept []engine.Exchange
	for i := range all {
		r := &all[i]
		known := func(e engine.Exchange) bool { return e.Path == r.Path }
		if !r.Answered || slices.ContainsFunc(t.Exchanges, known) {
			continue
		}
		e := service.Kept(&r.Entry)
		e.Place = t.Place
		step := p.step(r.Path)
		if e.Service = step.Service; step.Kind == sqlKind {
			e.Status = 0
		}
		kept = append(kept, e)
	}
	order := func(e engine.Exchange) int {
		return slices.IndexFunc(t.Steps, func(s engine.StepRecord) bool { return s.Path == e.Path })
	}
	slices.SortStableFunc(kept, func(a, b engine.Exchange) int { return order(a) - order(b) })
	t.Exchanges = append(kept, t.Exchanges...)
	return nil
}

// sqlKind is what the picture of a chain calls the steps whose answers have no status.
const sqlKind = "sql"

// step is a step of the chain by the path of one of its iterations.
func (p *People) step(path string) engine.GraphStep {
	p.once.Do(func() {
		p.steps = map[string]engine.GraphStep{}
		g := p.Program.Graph()
		g.Walk(func(s *engine.GraphStep) { p.steps[s.Path] = engine.GraphStep{Kind: s.Kind, Service: s.Service} })
	})
	for path = engine.StepName(path); ; { // what a step does inside itself goes by its own path and more
		s, known := p.steps[path]
		end := strings.LastIndexByte(path, '.')
		if known || end < 0 {
			return s
		}
		path = path[:end]
	}
}

// mask takes out what goes by the name of a secret, and the secrets that this process has looked up, and shortens what is
// long.
func mask(v *engine.AgentView) {
	shorten := func(text *string) { *text = service.Veiled(secrets.Redact(*text), mostShown) }
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

// mostShown bounds each text of what an agent is, remembers and was told, in bytes.
const mostShown = 8 << 10
