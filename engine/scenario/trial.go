package scenario

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain"
	"github.com/throng-sim/throng/engine/chain/memory"
	"github.com/throng-sim/throng/engine/script/value"
)

const (
	maxShown     = 64 << 10 // bytes of a text that a trial shows
	maxAddressed = 5        // readers of a message that it names
)

// Try calls f for every session that ended, step by step. Call it before the run starts. f is called from the
// goroutine of the session, without exchanges with services.
func (p *Program) Try(f func(*engine.Trial)) { p.try = f }

// recorder records sessions for watchers and trials.
type recorder struct{ *Program }

// watched runs a session with everything written down that somebody wants to know of it.
func (p recorder) watched(s *engine.Session, v *visit) {
	w := &chain.Watch{}
	if p.try != nil {
		w.Trace = &chain.Trace{}
	}
	v.in.Watch = w
	p.s.Chain.Run(s, &v.in)
	if p.watch != nil && s.Row.Outcome != engine.Cut {
		p.watch(&w.Report)
	}
	if p.try != nil {
		p.try(p.trial(s, w))
	}
}

// trial is what became of a session.
func (p recorder) trial(s *engine.Session, w *chain.Watch) *engine.Trial {
	row := s.Row
	t := &engine.Trial{
		Agent: s.Agent, ID: p.called(s.Agent), Chain: p.s.Chain.Name, Outcome: row.Outcome, Class: row.Class, Path: row.Path,
		Error: cut(row.Error), Because: row.Because, Persona: p.persona(s.Agent), Before: p.remembered(s.Memory),
	}
	if arrived, err := p.arrivals(s); err == nil {
		t.Before.Inbox = append(t.Before.Inbox, p.heard(arrived)...)
	}
	t.After = t.Before
	if row.Outcome.Commits() {
		t.After = p.remembered(s.Memory.Apply(&row.Delta))
		for _, m := range row.Delta.Said {
			t.Said = append(t.Said, p.said(m))
		}
	}
	for _, e := range row.Events {
		t.Events = append(t.Events, engine.TrialEvent{Path: e.Path, Name: e.Name, Data: cut(string(e.Data))})
	}
	for i := range row.Steps {
		t.Usage.Add(row.Steps[i].Usage)
	}
	t.Steps = nested(row.Steps, w.Trace)
	return t
}

// nested makes a tree of the steps of a session: inside of a step is what begins with its path.
func nested(records []engine.StepRecord, trace *chain.Trace) []engine.TrialStep {
	type open struct {
		step  engine.TrialStep
		under int // index of its parent; -1 for none
	}
	all := make([]open, len(records))
	at := make(map[string]int, len(records))
	for i := range records {
		at[records[i].Path] = i
	}
	for i := range records {
		all[i] = open{trialStep(&records[i], trace.Steps[records[i].Path]), parent(records[i].Path, at)}
	}
	children := make([][]int, len(all)+1) // the last are those of the chain itself
	for i := range all {
		under := all[i].under
		if under < 0 {
			under = len(all)
		}
		children[under] = append(children[under], i)
	}
	var build func(of []int) []engine.TrialStep
	build = func(of []int) (steps []engine.TrialStep) {
		for _, i := range of {
			s := all[i].step
			s.Inner = build(children[i])
			steps = append(steps, s)
		}
		return steps
	}
	return build(children[len(all)])
}

// parent returns the step that contains a path, or -1.
func parent(path string, at map[string]int) int {
	for i := len(path) - 1; i > 0; i-- {
		if !strings.ContainsRune(".[", rune(path[i])) {
			continue
		}
		if p, ok := at[path[:i]]; ok {
			return p
		}
	}
	return -1
}

func trialStep(r *engine.StepRecord, seen *chain.Traced) engine.TrialStep {
	s := engine.TrialStep{
		Path: r.Path, Name: r.Path[strings.LastIndexByte(r.Path, '.')+1:], Pass: passOf(r.Path),
		Status: r.Status, Class: r.Class, Throttled: r.Throttled, Attempts: r.Attempts, Retries: r.Retries(), Statuses: slices.Clone(r.Statuses), Usage: r.Usage,
	}
	if seen == nil { // it was not reached
		return s
	}
	s.Label, s.Kind, s.Service = seen.Step.Label, seen.Step.Kind, seen.Step.Service()
	s.File, s.Line = seen.Step.Place()
	ran := r.Status != engine.StepSkipped && r.Status != engine.StepCanceled
	s.Private, s.Mocked = seen.Step.Hides(), seen.Step.Mocked && ran
	if s.Error = cut(seen.Error); ran {
		s.Took, s.Output = seen.Took, cut(string(seen.Output))
		s.Shadowed = seen.Shadowed()
	}
	return s
}

// passOf returns the pass of the innermost loop of a path, from 1, or 0.
func passOf(path string) (n int) {
	dot := strings.LastIndexByte(path, '.')
	if dot < 1 || path[dot-1] != ']' {
		return 0
	}
	for _, digit := range path[strings.LastIndexByte(path[:dot], '[')+1 : dot-1] {
		n = 10*n + int(digit-'0')
	}
	return n + 1
}

// called returns the id of an agent if it is known.
func (p recorder) called(index int) string {
	if index == engine.Outside {
		return ""
	}
	id, err := p.AgentID(index)
	if err != nil {
		return "?"
	}
	return id
}

// persona are the attributes of an agent; what cannot be computed says why.
func (p recorder) persona(index int) (all []engine.Fact) {
	a := newAgent(&p.s.population, p.seed, index, memory.New(nil))
	for _, name := range a.Names() {
		if slices.Contains(ownNames, name) {
			continue
		}
		v, err := a.Field(name)
		text := ""
		if err == nil {
			text, err = jsonOf(v)
		}
		if err != nil {
			text = err.Error()
		}
		all = append(all, engine.Fact{Name: name, Value: cut(text)})
	}
	return all
}

func jsonOf(v value.Value) (string, error) {
	text, err := value.AppendJSON(nil, v)
	return string(text), err
}

func (p recorder) remembered(m *engine.Memory) (r engine.Remembered) {
	if m == nil {
		return r
	}
	for _, f := range m.Fields {
		r.Fields = append(r.Fields, engine.Fact{Name: f.Name, Value: cut(string(f.Value))})
	}
	for _, n := range m.Notes {
		r.Notes = append(r.Notes, cut(string(n)))
	}
	r.Inbox = p.heard(m.Inbox)
	return r
}

func (p recorder) heard(letters []engine.Letter) (all []engine.InboxMessage) {
	for _, l := range letters {
		all = append(all, engine.InboxMessage{From: p.called(l.From), Cycle: l.Cycle, Body: cut(string(l.Body))})
	}
	return all
}

func (p recorder) said(m engine.Message) engine.TrialMessage {
	t := engine.TrialMessage{Body: cut(string(m.Body)), More: max(len(m.To)-maxAddressed, 0)}
	for _, to := range m.To[:min(len(m.To), maxAddressed)] {
		t.To = append(t.To, p.called(to))
	}
	return t
}

// cut shortens a text that is too long to be shown.
func cut(text string) string {
	if len(text) <= maxShown {
		return text
	}
	n := maxShown
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n] + "…"
}
