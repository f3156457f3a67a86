package survey

import (
	"cmp"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/experiment/statistics"
	"github.com/throng-sim/throng/engine/internal/doc"
)

// Result is what the agents answered.
type Result struct {
	Title     string    `json:"title"`
	Asked     int       `json:"asked" doc:"agents that were asked"`
	Questions []Answers `json:"questions"`
}

// Answers are those to one question: of all agents first, then by segment.
type Answers struct {
	Question
	Groups []Group `json:"groups" doc:"all agents first, then the values of each segment"`
}

// Group is the answers of all agents, or of those with a value of a segment. Unknown figures are nil.
type Group struct {
	Segment  string   `json:"segment,omitempty" doc:"an attribute of the agents; missing for all agents"`
	Value    string   `json:"value,omitempty"`
	Asked    int      `json:"asked"`
	Answered int      `json:"answered"`
	Options  []Share  `json:"options,omitempty" doc:"of a choice or a scale, in their order"`
	Mean     *float64 `json:"mean,omitempty" doc:"of a scale or of numbers"`
	Low      *float64 `json:"low,omitempty" doc:"lower end of the 95% interval of the mean (Student's t)"`
	High     *float64 `json:"high,omitempty" doc:"its upper end"`
	Texts    []string `json:"texts,omitempty" doc:"the first answers in words"`
}

// Share is how often an option was chosen, with the 95% interval of its share among those who answered. Unknown figures are nil.
type Share struct {
	Option string   `json:"option"`
	Count  int      `json:"count"`
	Share  *float64 `json:"share,omitempty" doc:"of those who answered, 0 to 1"`
	Low    *float64 `json:"low,omitempty" doc:"lower end of its 95% interval (Wilson)"`
	High   *float64 `json:"high,omitempty" doc:"its upper end"`
}

// mostTexts is how many answers in words a group keeps, and mostValues how many values of a segment are apart.
const (
	mostTexts  = 5
	mostValues = 50
)

// Of returns the survey that a run executes, from its source; nil for another run.
func Of(src engine.Source) *Survey {
	root := doc.Parse(src.Name, src.Files[src.Name], &doc.Report{})
	chain := root.Get("chain survey")
	if chain == nil || root.Get("acted").Text() != Event {
		return nil
	}
	s := &Survey{Title: root.Get("title").Text()}
	asked := map[string]bool{}
	for _, e := range chain.Entries() {
		for _, p := range doc.At(e.Value, "answer", "schema", "properties").Entries() {
			q := asking(p.Key.Text(), p.Value)
			asked[q.Name] = true
			s.Questions = append(s.Questions, q)
		}
	}
	for _, e := range doc.At(chain, "step record", "data").Entries() {
		if name := e.Key.Text(); !asked[name] {
			s.Segments = append(s.Segments, name)
		}
	}
	return s
}

// asking returns the question of a property of a schema.
func asking(name string, n *doc.Node) Question {
	q := Question{Name: name, Ask: n.Get("description").Text(), Kind: Text}
	switch n.Get("type").Text() {
	case "integer":
		q.Kind, q.Low, q.High = Scale, n.Get("minimum").Int(math.MinInt, math.MaxInt), n.Get("maximum").Int(math.MinInt, math.MaxInt)
	case "number":
		q.Kind = Number
	}
	if n.Get("enum") != nil {
		q.Kind, q.Options = Choice, n.Get("enum").Texts()
	}
	return q
}

// Tally counts the answers of the sessions of a survey.
func (s *Survey) Tally(sessions iter.Seq2[*engine.SessionRow, error]) (*Result, error) {
	t := &tally{survey: s, groups: map[groupKey]*counted{}}
	r := &Result{Title: s.Title}
	for row, err := range sessions {
		if err != nil {
			return nil, err
		}
		r.Asked++
		for i := range row.Events {
			if e := &row.Events[i]; e.Name == Event {
				if err := t.add(e.Data); err != nil {
					return nil, fmt.Errorf("the answers of agent %d: %w", row.Agent, err)
				}
			}
		}
	}
	for i := range s.Questions {
		r.Questions = append(r.Questions, Answers{s.Questions[i], t.all(i, r.Asked)})
	}
	return r, nil
}

// groupKey is a question with a value of a segment; segment -1 is all agents.
type groupKey struct {
	question, segment int
	value             string
}

// counted are the answers of a group.
type counted struct {
	asked, answered int
	options         map[string]int
	numbers         []float64
	texts           []string
}

type tally struct {
	survey *Survey
	groups map[groupKey]*counted
}

func (t *tally) add(data []byte) error {
	var fields map[string]any
	if err := json.Unmarshal(data, &fields); err != nil {
		return err
	}
	for i := range t.survey.Questions {
		q := &t.survey.Questions[i]
		t.group(groupKey{i, -1, ""}).add(q, fields[q.Name])
		for k, segment := range t.survey.Segments {
			if v, ok := fields[segment]; ok && v != nil {
				t.group(groupKey{i, k, fmt.Sprint(v)}).add(q, fields[q.Name])
			}
		}
	}
	return nil
}

func (t *tally) group(k groupKey) *counted {
	c := t.groups[k]
	if c == nil {
		c = &counted{options: map[string]int{}}
		t.groups[k] = c
	}
	return c
}

func (c *counted) add(q *Question, answer any) {
	c.asked++
	switch v := answer.(type) {
	case string:
		if q.Kind == Text && len(c.texts) < mostTexts {
			c.texts = append(c.texts, v)
		}
		if q.Kind == Choice {
			c.options[v]++
		}
	case float64:
		c.numbers = append(c.numbers, v)
		if q.Kind == Scale {
			c.options[strconv.FormatFloat(v, 'f', -1, 64)]++
		}
	default:
		return
	}
	c.answered++
}

// all returns the groups of a question. Agents whose session failed count as asked among all agents only: their segment is unknown.
func (t *tally) all(question, asked int) []Group {
	q := &t.survey.Questions[question]
	whole := t.group(groupKey{question, -1, ""}).result(q)
	whole.Asked = asked
	found := []Group{whole}
	keys := slices.SortedFunc(maps.Keys(t.groups), func(a, b groupKey) int {
		return cmp.Or(cmp.Compare(a.segment, b.segment), cmp.Compare(a.value, b.value))
	})
	values := map[int]int{}
	for _, k := range keys {
		if k.question != question || k.segment < 0 || values[k.segment] == mostValues {
			continue
		}
		values[k.segment]++
		g := t.groups[k].result(q)
		g.Segment, g.Value = t.survey.Segments[k.segment], k.value
		found = append(found, g)
	}
	return found
}

func (c *counted) result(q *Question) Group {
	g := Group{Asked: c.asked, Answered: c.answered, Texts: c.texts}
	options := q.Options
	if q.Kind == Scale {
		for v := q.Low; v <= q.High; v++ {
			options = append(options, strconv.Itoa(v))
		}
	}
	for _, o := range options {
		low, high := statistics.Wilson(c.options[o], c.answered)
		g.Options = append(g.Options, Share{o, c.options[o], known(float64(c.options[o]) / float64(c.answered)), known(low), known(high)})
	}
	e := statistics.Summarize(c.numbers, statistics.Number, 0)
	g.Mean, g.Low, g.High = known(e.Mean), known(e.Interval.Low), known(e.Interval.High)
	return g
}

// known returns a figure; nil for NaN.
func known(v float64) *float64 {
	if math.IsNaN(v) {
		return nil
	}
	return &v
}
