package storage

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"slices"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/visible"
)

// remembered is a line of memory.jsonl.
type remembered struct {
	Index  int       `json:"agent_index"`
	Agent  string    `json:"agent"`
	Fields fields    `json:"memory,omitempty"` // in the order in which they were first set
	Notes  []rawJSON `json:"notes,omitempty"`  // oldest first
	Inbox  []letter  `json:"inbox,omitempty"`
	ReadTo int       `json:"read_to,omitempty"` // the cycle after the last one whose messages were read
}

type rawJSON = json.RawMessage

// fields is a JSON object that keeps the order of its fields.
type fields []engine.Field

// MarshalJSON implements json.Marshaler.
func (f fields) MarshalJSON() ([]byte, error) {
	text := []byte("{")
	for i, one := range f {
		if i > 0 {
			text = append(text, ',')
		}
		name, err := json.Marshal(one.Name)
		if err != nil {
			return nil, err
		}
		text = append(append(append(text, name...), ':'), one.Value...)
	}
	return append(text, '}'), nil
}

type letter struct {
	From  string  `json:"from,omitempty"` // an agent; missing if no agent sent it
	Cycle int     `json:"cycle"`
	Body  rawJSON `json:"body"`
}

// ExportMemory writes memory.jsonl: one line for each agent that remembers anything or has messages, ordered by agent. It
// describes the end of the run, or the start of the current cycle. Like sessions.csv, it contains nothing that depends on
// timing.
func ExportMemory(ctx context.Context, w io.Writer, r Reader, run engine.RunID, names Names) error {
	memory, err := r.Memory(ctx, run)
	if err != nil {
		return err
	}
	return writeMemory(w, memory, names)
}

func writeMemory(w io.Writer, memory map[int]*engine.Memory, names Names) error {
	out := json.NewEncoder(visible.NewWriter(w))
	out.SetEscapeHTML(false)
	for _, agent := range slices.Sorted(maps.Keys(memory)) {
		line, err := lineOf(agent, memory[agent], names)
		if err != nil {
			return err
		}
		if err := out.Encode(line); err != nil {
			return err
		}
	}
	return nil
}

func lineOf(agent int, m *engine.Memory, names Names) (line remembered, err error) {
	line = remembered{Index: agent, Fields: m.Fields, ReadTo: m.ReadTo}
	if line.Agent, err = names.Agent(agent); err != nil {
		return line, err
	}
	for _, note := range m.Notes {
		line.Notes = append(line.Notes, note)
	}
	for _, l := range m.Inbox {
		out := letter{Cycle: l.Cycle, Body: l.Body}
		if l.From != engine.Outside {
			if out.From, err = names.Agent(l.From); err != nil {
				return line, err
			}
		}
		line.Inbox = append(line.Inbox, out)
	}
	return line, nil
}
