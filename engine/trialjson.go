package engine

import (
	"encoding/json"
	"strings"
)

// JSON form of a trial, with the names and units of an agent's view.
type (
	trialJSON struct {
		ID      string                     `json:"id"`
		Index   int                        `json:"index"`
		Chain   string                     `json:"chain"`
		Outcome string                     `json:"outcome"`
		Class   string                     `json:"class,omitempty"`
		Path    string                     `json:"path,omitempty"`
		Error   string                     `json:"error,omitempty"`
		Because string                     `json:"because,omitempty"`
		Total   float64                    `json:"total_ms"`
		Usage   *usageJSON                 `json:"usage,omitempty"`
		Persona map[string]json.RawMessage `json:"persona,omitempty"`
		Before  mindJSON                   `json:"before"`
		After   mindJSON                   `json:"after"`
		Steps   []triedJSON                `json:"steps"`
		Events  []eventJSON                `json:"events,omitempty"`
		Said    []saidJSON                 `json:"said,omitempty"`
	}
	mindJSON struct {
		Memory map[string]json.RawMessage `json:"memory,omitempty"`
		Notes  []json.RawMessage          `json:"notes,omitempty"`
		Inbox  []heardJSON                `json:"inbox,omitempty"`
	}
	triedJSON struct {
		Path      string          `json:"path"`
		Kind      string          `json:"kind,omitempty"`
		Service   string          `json:"service,omitempty"`
		Pass      int             `json:"pass,omitempty"`
		File      string          `json:"file,omitempty"`
		Line      int             `json:"line,omitempty"`
		Status    string          `json:"status"`
		Class     string          `json:"class,omitempty"`
		Took      float64         `json:"took_ms"`
		Held      float64         `json:"held_back_ms"`
		Attempts  int             `json:"attempts,omitempty"`
		Statuses  []int           `json:"statuses,omitempty"`
		Exchanges []exchangeJSON  `json:"exchanges,omitempty"`
		Output    json.RawMessage `json:"output,omitempty"`
		Private   bool            `json:"private,omitempty"`
		Mocked    bool            `json:"mocked,omitempty"`
		Usage     *usageJSON      `json:"usage,omitempty"`
		Error     string          `json:"error,omitempty"`
		Shadowed  []string        `json:"shadowed,omitempty"`
		Steps     []triedJSON     `json:"steps,omitempty"`
	}
	saidJSON struct {
		To   []string        `json:"to"`
		More int             `json:"more,omitempty"`
		Body json.RawMessage `json:"body"`
	}
)

// JSON returns the trial as indented JSON.
func (t *Trial) JSON() string {
	j := trialJSON{
		ID: t.ID, Index: t.Agent, Chain: t.Chain, Outcome: t.Outcome.String(), Path: t.Path, Error: t.Error, Because: t.Because,
		Total: inMillis(t.Took), Usage: t.Usage.json(), Persona: factsJSON(t.Persona), Before: t.Before.json(), After: t.After.json(),
		Steps: triedSteps(t.Steps),
	}
	if t.Class != NoError {
		j.Class = t.Class.String()
	}
	for _, e := range t.Events {
		j.Events = append(j.Events, eventJSON{e.Path, e.Name, bodyJSON(e.Data)})
	}
	for _, m := range t.Said {
		j.Said = append(j.Said, saidJSON{m.To, m.More, asJSON(m.Body)})
	}
	var out strings.Builder
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false) // for readability
	e.SetIndent("", "  ")
	if err := e.Encode(j); err != nil { // encoding strings and numbers cannot fail
		return err.Error()
	}
	return out.String()
}

func (r *Remembered) json() mindJSON {
	j := mindJSON{Memory: factsJSON(r.Fields)}
	for _, note := range r.Notes {
		j.Notes = append(j.Notes, asJSON(note))
	}
	for _, h := range r.Inbox {
		j.Inbox = append(j.Inbox, heardJSON{h.From, h.Cycle, asJSON(h.Body)})
	}
	return j
}

func triedSteps(steps []TrialStep) []triedJSON {
	all := make([]triedJSON, 0, len(steps))
	for i := range steps {
		s := &steps[i]
		j := triedJSON{
			Path: s.Path, Kind: s.Kind, Service: s.Service, Pass: s.Pass, File: s.File, Line: s.Line, Status: s.Status.String(),
			Took: inMillis(s.Took), Held: inMillis(s.Held), Attempts: s.Attempts, Statuses: s.Statuses, Output: bodyJSON(s.Output),
			Private: s.Private, Mocked: s.Mocked, Error: s.Error, Shadowed: s.Shadowed, Steps: triedSteps(s.Inner),
		}
		if s.Class != NoError {
			j.Class = s.Class.String()
		}
		if s.Usage != nil {
			j.Usage = s.Usage.json()
		}
		for k := range s.Exchanges {
			j.Exchanges = append(j.Exchanges, s.Exchanges[k].json())
		}
		all = append(all, j)
	}
	return all
}
