package view

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/throng-sim/throng/engine"
)

// JSON form of an agent's view, for export. Durations are in milliseconds and times in RFC 3339. JSON texts are
// embedded as JSON.
type (
	agentJSON struct {
		ID       string                     `json:"id"`
		Index    int                        `json:"index"`
		State    string                     `json:"state"`
		Activity *doingJSON                 `json:"doing,omitempty"`
		Persona  map[string]json.RawMessage `json:"persona,omitempty"`
		Memory   map[string]json.RawMessage `json:"memory,omitempty"`
		Notes    []json.RawMessage          `json:"notes,omitempty"`
		Inbox    []letterJSON               `json:"inbox,omitempty"`
		Usage    *usageJSON                 `json:"usage,omitempty"`
		Sessions []sessionJSON              `json:"sessions"`
		Earlier  int                        `json:"earlier_cycles,omitempty"`
	}
	doingJSON struct {
		Cycle     int       `json:"cycle"`
		Began     time.Time `json:"began"`
		Path      string    `json:"path,omitempty"`
		Service   string    `json:"service,omitempty"`
		Throttled string    `json:"throttled_by,omitempty"`
		Since     time.Time `json:"since"`
	}
	letterJSON struct {
		From  string          `json:"from,omitempty"`
		Cycle int             `json:"cycle"`
		Body  json.RawMessage `json:"body"`
	}
	sessionJSON struct {
		Cycle     int            `json:"cycle"`
		Take      int            `json:"take"`
		Outcome   string         `json:"outcome"`
		Class     string         `json:"class,omitempty"`
		Path      string         `json:"path,omitempty"`
		Error     string         `json:"error,omitempty"`
		Because   string         `json:"because,omitempty"`
		Started   time.Time      `json:"started"`
		Queue     float64        `json:"queue_ms"`
		Throttled float64        `json:"throttled_ms"`
		Service   float64        `json:"service_ms"`
		Total     float64        `json:"total_ms"`
		Acted     bool           `json:"acted,omitempty"`
		Steps     []stepJSON     `json:"steps,omitempty"`
		Events    []eventJSON    `json:"events,omitempty"`
		Exchanges []exchangeJSON `json:"exchanges,omitempty"`
	}
	// stepCommon is what a step of a session and one of a trial have in common.
	stepCommon struct {
		Path      string     `json:"path"`
		Status    string     `json:"status"`
		Class     string     `json:"class,omitempty"`
		Attempts  int        `json:"attempts,omitempty"`
		Statuses  []int      `json:"statuses,omitempty"`
		Throttled float64    `json:"throttled_ms"`
		Usage     *usageJSON `json:"usage,omitempty"`
	}
	stepJSON struct {
		stepCommon
		Label   string  `json:"answer,omitempty"`
		Service float64 `json:"service_ms"`
	}
	eventJSON struct {
		Path string          `json:"path"`
		Name string          `json:"name"`
		Data json.RawMessage `json:"data,omitempty"`
	}
	exchangeJSON struct {
		Path    string          `json:"path"`
		Attempt int             `json:"attempt"`
		Service string          `json:"service,omitempty"`
		At      *time.Time      `json:"at,omitempty"`
		Request string          `json:"request,omitempty"`
		Sent    json.RawMessage `json:"sent,omitempty"`
		Status  int             `json:"status,omitempty"`
		Answer  json.RawMessage `json:"answer,omitempty"`
		Took    *float64        `json:"took_ms,omitempty"`
		Error   string          `json:"error,omitempty"`
		Kept    bool            `json:"from_journal,omitempty"`
	}
	usageJSON struct {
		Calls   int64   `json:"calls"`
		Input   int64   `json:"input_tokens"`
		Cached  int64   `json:"cached_input_tokens,omitempty"`
		Output  int64   `json:"output_tokens"`
		Dollars float64 `json:"dollars"`
	}
)

// AgentJSON returns the view of an agent as indented JSON.
func AgentJSON(v *engine.AgentView) ([]byte, error) {
	a := agentJSON{
		ID: v.ID, Index: v.Index, State: v.State.String(), Persona: factsJSON(v.Persona), Memory: factsJSON(v.Memory), Earlier: v.Earlier,
		Usage: newUsage(&v.Usage), Sessions: []sessionJSON{},
	}
	if d := v.Activity; d != nil {
		a.Activity = &doingJSON{d.Cycle, d.Began, d.Path, d.Service, d.ThrottledBy, d.Since}
	}
	for _, note := range v.Notes {
		a.Notes = append(a.Notes, asJSON(note))
	}
	for _, h := range v.Inbox {
		a.Inbox = append(a.Inbox, letterJSON{h.From, h.Cycle, asJSON(h.Body)})
	}
	for i := range v.Sessions {
		a.Sessions = append(a.Sessions, newSession(&v.Sessions[i]))
	}
	var out strings.Builder
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false) // for readability
	e.SetIndent("", "  ")
	err := e.Encode(a)
	return []byte(out.String()), err
}

func newSession(t *engine.AgentTurn) sessionJSON {
	j := sessionJSON{
		Cycle: t.Cycle, Take: t.Take, Outcome: t.Outcome.String(), Path: t.Path, Error: t.Error, Because: t.Because, Started: t.Started,
		Queue: inMillis(t.Queue), Throttled: inMillis(t.Throttled), Service: inMillis(t.Service), Total: inMillis(t.Total), Acted: t.Acted,
	}
	if t.Class != engine.NoError {
		j.Class = t.Class.String()
	}
	for i := range t.Steps {
		j.Steps = append(j.Steps, newStepJSON(&t.Steps[i]))
	}
	for _, e := range t.Events {
		event := eventJSON{Path: e.Path, Name: e.Name}
		if len(e.Data) > 0 {
			event.Data = asJSON(string(e.Data))
		}
		j.Events = append(j.Events, event)
	}
	for i := range t.Exchanges {
		j.Exchanges = append(j.Exchanges, newExchange(&t.Exchanges[i]))
	}
	return j
}

func newStepJSON(r *engine.StepRecord) stepJSON {
	j := stepJSON{
		stepCommon: stepCommon{Path: r.Path, Status: r.Status.String(), Class: r.Class.String(), Attempts: r.Attempts, Statuses: r.Statuses, Throttled: inMillis(r.Throttled)},
		Service:    inMillis(r.Service),
	}
	if r.Answered() {
		j.Label = r.Label.String()
	}
	if r.Usage != nil {
		j.Usage = newUsage(r.Usage)
	}
	return j
}

func newExchange(e *engine.Exchange) exchangeJSON {
	j := exchangeJSON{
		Path: e.Path, Attempt: e.Attempt, Service: e.Service, Request: e.Request, Status: e.Status, Error: e.Error, Kept: e.Kept,
		Sent: bodyJSON(e.Sent), Answer: bodyJSON(e.Answer),
	}
	if !e.At.IsZero() {
		took := inMillis(e.Took)
		j.At, j.Took = &e.At, &took
	}
	return j
}

// newUsage returns nil if there were no calls.
func newUsage(u *engine.Usage) *usageJSON {
	if *u == (engine.Usage{}) {
		return nil
	}
	return &usageJSON{u.Calls, u.Input, u.Cached, u.Output, float64(u.Cost) / 1e9}
}

func factsJSON(facts []engine.Fact) map[string]json.RawMessage {
	all := make(map[string]json.RawMessage, len(facts))
	for _, f := range facts {
		all[f.Name] = asJSON(f.Value)
	}
	return all
}

// bodyJSON encodes an optional body.
func bodyJSON(text string) json.RawMessage {
	if text == "" {
		return nil
	}
	return asJSON(text)
}

// asJSON embeds a text that is JSON, and encodes any other text as a JSON string.
func asJSON(text string) json.RawMessage {
	if json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	var out strings.Builder
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(text); err != nil {
		panic(err) // encoding a string cannot fail
	}
	return json.RawMessage(strings.TrimSpace(out.String()))
}

func inMillis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
