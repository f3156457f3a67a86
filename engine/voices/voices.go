// Package voices measures how different the answers of a crowd of personas are: how many different answers there are, how evenly agents
// spread over them, how much text they share, and whether personas that should differ do. It warns if the crowd speaks with one voice.
//
// Coverage, uniformity and complexity follow the three views on persona collapse in arXiv 2604.24698; the formulas are stated where they
// are computed. All functions are pure and deterministic.
package voices

import (
	"cmp"
	"hash/fnv"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/throng-sim/throng/engine"
)

// Limits of what is measured.
const (
	// MostAgents is how many agents of a step are compared with each other. Of more, a sample is drawn by a hash of their index.
	MostAgents = 400
	// FewestAgents is how many agents a step needs for a warning.
	FewestAgents = 10
)

// Answer is what a model said for an agent.
type Answer struct {
	Agent      int
	Step, Text string
}

// Crowd is what the agents of a run said, by step.
type Crowd struct {
	Steps []Voice `json:"steps"`
	// Note says why answers may be missing; "" if none are.
	Note string `json:"note,omitempty"`
}

// Voice is what agents said in one step. Shares are from 0 to 1.
type Voice struct {
	Step   string `json:"step"`
	Agents int    `json:"agents"` // with an answer
	// Compared is the number of agents whose last answers were compared with each other.
	Compared int `json:"compared"`
	// Different is the number of groups of answers that are not nearly equal.
	Different int `json:"different"`
	// Coverage is Different as a share of Compared: how much of the room for answers the crowd reaches.
	Coverage float64 `json:"coverage"`
	// Effective is the number of equally frequent answers with the same entropy: the Hill number of order 1 (Hill 1973; Jost 2006).
	Effective float64 `json:"effective"`
	// Uniformity is the entropy of the groups as a share of the largest possible one, with a group for each agent (Pielou 1966).
	Uniformity float64 `json:"uniformity"`
	// Complexity is the compressed size of all answers together as a share of their sizes when each is compressed alone: 1 if they have
	// no text in common.
	Complexity float64 `json:"complexity"`
	// Distance is the mean distance between the answers of two agents, by [Distance].
	Distance float64    `json:"distance"`
	Segments []Segments `json:"segments,omitempty"`
	Phrases  []Phrase   `json:"phrases,omitempty"` // the most frequent first
	Refusals int        `json:"refusals"`          // agents whose last answer reads like a refusal
	Choice   bool       `json:"choice,omitempty"`  // answers are so short that they are choices, not text
	Largest  float64    `json:"largest"`           // the share of the largest group
	Warning  string     `json:"warning,omitempty"`
}

// Segments compares agents by the values of an attribute.
type Segments struct {
	Attribute string `json:"attribute"`
	Values    int    `json:"values"`
	// Between is the mean distance of agents with different values, Within that of agents with the same value.
	Between float64 `json:"between"`
	Within  float64 `json:"within"`
}

// Phrase is a sequence of words with the share of agents who say it.
type Phrase struct {
	Text  string  `json:"text"`
	Share float64 `json:"share"`
}

// Collector collects answers. It stores the last answer of at most [MostAgents] agents of each step.
type Collector struct{ steps map[string]*answers }

// answers are those of a step.
type answers struct {
	last map[int]string // by agent
	seen map[int]bool
	most uint64 // the highest hash in last, once it is full
}

// Add adds an answer. Later answers of an agent in a step replace earlier ones.
func (c *Collector) Add(a Answer) {
	if c.steps == nil {
		c.steps = map[string]*answers{}
	}
	s := c.steps[a.Step]
	if s == nil {
		s = &answers{map[int]string{}, map[int]bool{}, math.MaxUint64}
		c.steps[a.Step] = s
	}
	s.seen[a.Agent] = true
	if rank(a.Agent) > s.most {
		return
	}
	s.last[a.Agent] = a.Text
	if len(s.last) > MostAgents {
		all := slices.SortedFunc(maps.Keys(s.last), func(a, b int) int { return cmp.Compare(rank(a), rank(b)) })
		delete(s.last, all[MostAgents])
		s.most = rank(all[MostAgents-1])
	}
}

// rank returns the place of an agent in the draw of the sample.
func rank(agent int) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(strconv.Itoa(agent))) // it never fails
	return h.Sum64()
}

// Crowd measures the answers. persona returns the attributes of an agent; nil leaves out segments.
func (c *Collector) Crowd(persona func(agent int) ([]engine.Fact, error)) (*Crowd, error) {
	crowd := &Crowd{Steps: []Voice{}}
	for _, step := range slices.Sorted(maps.Keys(c.steps)) {
		s := c.steps[step]
		v, err := newVoice(step, s, persona)
		if err != nil {
			return nil, err
		}
		crowd.Steps = append(crowd.Steps, *v)
	}
	return crowd, nil
}

func newVoice(step string, s *answers, persona func(agent int) ([]engine.Fact, error)) (*Voice, error) {
	agents := slices.Sorted(maps.Keys(s.last))
	v := &Voice{Step: step, Agents: len(s.seen), Compared: len(agents)}
	texts := make([]text, len(agents))
	words := 0
	for i, agent := range agents {
		texts[i] = newText(s.last[agent])
		words += len(texts[i].words)
		if refuses(s.last[agent]) {
			v.Refusals++
		}
	}
	v.Choice = words < shortAnswer*len(agents)
	d := distances(texts)
	v.Distance = d.mean()
	v.groups(d.groups())
	v.Complexity = complexity(agents, s.last)
	if !v.Choice {
		v.Phrases = phrases(texts)
	}
	if persona != nil {
		if err := v.segments(agents, d, persona); err != nil {
			return nil, err
		}
	}
	v.Warning = v.warning()
	return v, nil
}

// groups sets what follows from the sizes of the groups of nearly equal answers.
func (v *Voice) groups(sizes []int) {
	n := float64(v.Compared)
	entropy := 0.0
	for _, size := range sizes {
		p := float64(size) / n
		entropy -= p * math.Log(p)
		v.Largest = math.Max(v.Largest, p)
	}
	v.Different, v.Coverage, v.Effective = len(sizes), float64(len(sizes))/n, math.Exp(entropy)
	if v.Compared > 1 {
		v.Uniformity = math.Min(1, math.Max(0, entropy/math.Log(n)))
	}
}

// mostValues is how many values an attribute may have to be a segment.
const mostValues = 8

// segments compares agents by each attribute with few values.
func (v *Voice) segments(agents []int, d *matrix, persona func(agent int) ([]engine.Fact, error)) error {
	values := map[string][]string{} // by attribute, in the order of agents; "" is missing
	for i, agent := range agents {
		facts, err := persona(agent)
		if err != nil {
			return err
		}
		for _, f := range facts {
			if values[f.Name] == nil {
				values[f.Name] = make([]string, len(agents))
			}
			values[f.Name][i] = f.Value
		}
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		distinct := map[string]bool{}
		for _, value := range values[name] {
			if value != "" {
				distinct[value] = true
			}
		}
		if n := len(distinct); n < 2 || n > mostValues || 2*n > len(agents) {
			continue
		}
		s := Segments{Attribute: name, Values: len(distinct)}
		var known bool
		if s.Between, s.Within, known = d.split(values[name]); known {
			v.Segments = append(v.Segments, s)
		}
	}
	return nil
}
