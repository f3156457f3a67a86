package surrogate

import (
	"encoding/json"
	"fmt"
	"maps"
	"time"

	"github.com/throng-sim/throng/engine/decision"
)

// Collector collects the answers of a model with what was known of the agents.
type Collector struct {
	All []Example

	step    string
	persona func(agent int) (map[string]string, error)
	at      func(cycle int) time.Time
	known   map[int]map[string]any // attributes, by agent
}

// NewCollector returns a collector for a step. persona returns the attributes of an agent: texts as they are, all else as JSON. at returns
// the simulated time of a cycle.
func NewCollector(step string, persona func(agent int) (map[string]string, error), at func(cycle int) time.Time) *Collector {
	return &Collector{step: step, persona: persona, at: at, known: map[int]map[string]any{}}
}

// Add adds the answer of a model.
func (c *Collector) Add(agent, cycle int, p *decision.Pair) error {
	attributes, ok := c.known[agent]
	if !ok {
		all, err := c.persona(agent)
		if err != nil {
			return err
		}
		attributes = map[string]any{}
		for name, text := range all {
			if scalar(text) {
				attributes["agent."+name] = text
			}
		}
		c.known[agent] = attributes
	}
	now := c.at(cycle)
	e := Example{Agent: agent, Answer: string(p.Model), Known: map[string]any{
		"now.weekday": float64((int(now.Weekday()) + 6) % 7), "now.hour": float64(now.Hour()),
	}}
	maps.Copy(e.Known, attributes)
	if len(p.Seen) > 0 {
		memory := map[string]any{}
		if err := json.Unmarshal(p.Seen, &memory); err != nil {
			return fmt.Errorf("what it remembers: %w", err)
		}
		for name, v := range memory {
			e.Known["agent.memory."+name] = v
		}
	}
	c.All = append(c.All, e)
	return nil
}

// scalar reports whether an attribute is neither a list nor an object.
func scalar(text string) bool {
	var v any
	if json.Unmarshal([]byte(text), &v) != nil {
		return true
	}
	switch v.(type) {
	case []any, map[string]any:
		return false
	}
	return true
}
