package view

import (
	"encoding/json"
	"strings"

	"github.com/throng-sim/throng/engine"
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
		Before  memoryJSON                 `json:"before"`
		After   memoryJSON                 `json:"after"`
		Steps   []trialStepJSON            `json:"steps"`
		Events  []eventJSON                `json:"events,omitempty"`
		Said    []messageJSON              `json:"said,omitempty"`
	}
	memoryJSON struct {
		Memory map[string]json.RawMessage `json:"memory,omitempty"`
		Notes  []json.RawMessage          `json:"notes,omitempty"`
		Inbox  []letterJSON               `json:"inbox,omitempty"`
	}
	trialStepJSON struct {
		stepCommon
		Kind      string          `json:"kind,omitempty"`
		Service   string          `json:"service,omitempty"`
		Pass      int             `json:"pass,omitempty"`
		File      string          `json:"file,omitempty"`
		Line      int             `json:"line,omitempty"`
		Took      float64         `json:"took_ms"`
		Exchanges []exchangeJSON  `json:"exchanges,omitempty"`
		Output    json.RawMessage `json:"output,omitempty"`
		Private   bool            `json:"private,omitempty"`
		Mocked    bool            `json:"mocked,omitempty"`
		Error     string          `json:"error,omitempty"`
		Shadowed  []string        `json:"shadowed,omitempty"`
		Steps     []trialStepJSON `json:"steps,omitempty"`
	}
	messageJSON struct {
		To   []string        `json:"to"`
		More int             `json:"more,omitempty"`
		Body json.RawMessage `json:"body"`
	}
)

// TrialJSON returns a trial as indented JSON.
func TrialJSON(t *engine.Trial) string {
	j := trialJSON{
		ID: t.ID, Index: t.Agent, Chain: t.Chain, Outcome: t.Outcome.String(), Path: t.Path, Error: t.Error, Because: t.Because,
		Total: inMillis(t.Took), Usage: newUsage(&t.Usage), Persona: factsJSON(t.Persona), Before: newMemory(&t.Before), After: newMemory(&t.After),
		Steps: newTrialSteps(t.Steps),
	}
	if t.Class != engine.NoError {
		j.Class = t.Class.String()
	}
	for _, e := range t.Events {
		j.Events = append(j.Events, eventJSON{e.Path, e.Name, bodyJSON(e.Data)})
	}
	for _, m := range t.Said {
		j.Said = append(j.Said, messageJSON{m.To, m.More, asJSON(m.Body)})
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

func newMemory(r *engine.Remembered) memoryJSON {
	j := memoryJSON{Memory: factsJSON(r.Fields)}
	for _, note := range r.Notes {
		j.Notes = append(j.Notes, asJSON(note))
	}
	for _, h := range r.Inbox {
		j.Inbox = append(j.Inbox, letterJSON{h.From, h.Cycle, asJSON(h.Body)})
	}
	return j
}

func newTrialSteps(steps []engine.TrialStep) []trialStepJSON {
	all := make([]trialStepJSON, 0, len(steps))
	for i := range steps {
		s := &steps[i]
		j := trialStepJSON{
			stepCommon: stepCommon{
				Path: s.Path, Status: s.Status.String(), Class: s.Class.String(), Attempts: s.Attempts, Statuses: s.Statuses, Throttled: inMillis(s.Throttled),
			},
			Kind: s.Kind, Service: s.Service, Pass: s.Pass, File: s.File, Line: s.Line, Took: inMillis(s.Took), Output: bodyJSON(s.Output),
			Private: s.Private, Mocked: s.Mocked, Error: s.Error, Shadowed: s.Shadowed, Steps: newTrialSteps(s.Inner),
		}
		if s.Usage != nil {
			j.Usage = newUsage(s.Usage)
		}
		for k := range s.Exchanges {
			j.Exchanges = append(j.Exchanges, newExchange(&s.Exchanges[k]))
		}
		all = append(all, j)
	}
	return all
}
