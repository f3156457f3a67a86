// Package agreement measures how often a model and the rule that can replace it answer the same, and whether that changes over cycles.
package agreement

import (
	"cmp"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/decision"
)

// Result is the agreement in a run, by step in order of name.
type Result struct {
	Steps []Step `json:"steps"`
}

// Step is the agreement in a step. Pairs are decisions for which model and rule have an answer.
type Step struct {
	Step    string `json:"step"`
	Pairs   int    `json:"pairs"`
	ByModel int    `json:"by_model"` // pairs of sessions that used the model's answer
	ByRule  int    `json:"by_rule"`  // pairs of sessions that used the rule's answer: the shadow sample
	// Alone is how many answers of the model have no answer of a rule, Unanswered how many questions the model did not answer.
	Alone      int            `json:"alone"`
	Unanswered map[string]int `json:"unanswered,omitempty"` // by class of the error
	// Agree is the share of pairs with the same answer: all choices are the same. It is nil without choices.
	Agree  *Share  `json:"agree,omitempty"`
	Model  *Share  `json:"agree_by_model,omitempty"` // of the sessions that used the model's answer
	Rule   *Share  `json:"agree_by_rule,omitempty"`  // of those that used the rule's answer
	Fields []Field `json:"fields,omitempty"`
	Cycles []Cycle `json:"cycles,omitempty"`
	Drift  *Drift  `json:"drift,omitempty"`
}

// Share is a share with its 95% interval after Wilson, for the effective number of independent pairs.
type Share struct {
	Count int     `json:"count"`
	Of    int     `json:"of"`
	Share float64 `json:"share"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// Cycle is the agreement in a cycle.
type Cycle struct {
	Cycle int `json:"cycle"`
	Share
}

// Field is a part of the answers: a choice, with Agree, Kappa and Table, and Rating if it is among numbers, or a number, with Numbers.
type Field struct {
	Name string `json:"name"` // "" is the whole answer
	// Agree counts pairs that both have the field.
	Agree   *Share   `json:"agree,omitempty"`
	Kappa   *Kappa   `json:"kappa,omitempty"`
	Table   *Table   `json:"table,omitempty"`
	Numbers *Numbers `json:"numbers,omitempty"`
	Rating  *Rating  `json:"rating,omitempty"` // of a choice among numbers
}

// Table counts pairs by answer: Counts[i][k] is how often the model answered Answers[i] and the rule Answers[k].
type Table struct {
	Answers []string `json:"answers"`
	Counts  [][]int  `json:"counts"`
}

// Limits of what is shown.
const (
	mostAnswers = 20 // of a table; the less frequent ones are counted as one
	mostNumbers = 12 // different values of a number that counts as a choice
	otherAnswer = "other"
)

// pair is a decision that both answered.
type pair struct {
	agent, cycle int
	used         decision.By
	model, rule  string
}

// Collector collects the decisions of sessions.
type Collector struct{ steps map[string]*collected }

type collected struct {
	pairs      []pair
	known      map[string]string // texts that are stored once
	alone      int
	unanswered map[string]int
}

// Add adds the decisions of a session.
func (c *Collector) Add(row *engine.SessionRow) {
	for i := range row.Steps {
		p := row.Steps[i].Decision
		if p == nil {
			continue
		}
		name := engine.StepName(row.Steps[i].Path)
		if c.steps == nil {
			c.steps = map[string]*collected{}
		}
		s := c.steps[name]
		if s == nil {
			s = &collected{known: map[string]string{}, unanswered: map[string]int{}}
			c.steps[name] = s
		}
		switch {
		case p.Both():
			s.pairs = append(s.pairs, pair{row.Agent, row.Cycle, p.Used, s.text(p.Model), s.text(p.Rule)})
		case p.Failed != "":
			s.unanswered[p.Failed]++
		case len(p.Model) > 0:
			s.alone++
		}
	}
}

// text returns the stored copy of a text.
func (s *collected) text(b []byte) string {
	if text, ok := s.known[string(b)]; ok {
		return text
	}
	text := string(b)
	s.known[text] = text
	return text
}

// Result returns the agreement in the sessions that were added.
func (c *Collector) Result() *Result {
	r := &Result{Steps: []Step{}}
	for _, name := range slices.Sorted(maps.Keys(c.steps)) {
		s := c.steps[name]
		step := Step{Step: name, Pairs: len(s.pairs), Alone: s.alone, Unanswered: s.unanswered}
		step.measure(s.pairs)
		r.Steps = append(r.Steps, step)
	}
	return r
}

// split is a pair whose answers are split into their fields.
type split struct {
	*pair
	model, rule map[string]string // JSON of the values by path
}

func (s *Step) measure(pairs []pair) {
	if len(pairs) == 0 {
		return
	}
	known := map[string]map[string]string{}
	fields := func(text string) map[string]string {
		if known[text] == nil {
			known[text] = leaves(text)
		}
		return known[text]
	}
	all := make([]split, len(pairs))
	names := map[string]bool{}
	for i := range pairs {
		all[i] = split{&pairs[i], fields(pairs[i].model), fields(pairs[i].rule)}
		for _, of := range []map[string]string{all[i].model, all[i].rule} {
			for name := range of {
				names[name] = true
			}
		}
		if pairs[i].used == decision.Model {
			s.ByModel++
		} else {
			s.ByRule++
		}
	}
	var choices []string
	for _, name := range slices.Sorted(maps.Keys(names)) {
		f := Field{Name: name}
		if numbers, many := numbersOf(all, name); many {
			f.Numbers = newNumbers(numbers)
		} else {
			choices = append(choices, name)
			if answers := f.choice(all); isRating(answers) {
				f.Rating = newRating(numbers)
			}
		}
		s.Fields = append(s.Fields, f)
	}
	if len(choices) > 0 {
		s.agreement(all, choices)
	}
}

// agreement counts the pairs whose choices are all the same.
func (s *Step) agreement(all []split, choices []string) {
	var whole, model, rule tally
	cycles := map[int]*tally{}
	for i := range all {
		p := &all[i]
		same := !slices.ContainsFunc(choices, func(name string) bool { return p.model[name] != p.rule[name] })
		by := &model
		if p.used == decision.Rule {
			by = &rule
		}
		if cycles[p.cycle] == nil {
			cycles[p.cycle] = &tally{}
		}
		for _, t := range []*tally{&whole, by, cycles[p.cycle]} {
			t.add(p.agent, same)
		}
	}
	s.Agree, s.Model, s.Rule = whole.share(), model.share(), rule.share()
	order := slices.Sorted(maps.Keys(cycles))
	for _, cycle := range order {
		s.Cycles = append(s.Cycles, Cycle{cycle, *cycles[cycle].share()})
	}
	s.Drift = newDrift(order, cycles)
}

// leaves returns the values of an answer by path, as JSON; an answer that is not an object has the path "".
func leaves(text string) map[string]string {
	all := map[string]string{}
	var add func(path string, v json.RawMessage)
	add = func(path string, v json.RawMessage) {
		var object map[string]json.RawMessage
		if json.Unmarshal(v, &object) != nil || object == nil {
			all[path] = string(v)
			return
		}
		for name, field := range object {
			add(strings.TrimPrefix(path+"."+name, "."), field)
		}
	}
	add("", json.RawMessage(text))
	return all
}

// both is a number that model and rule answered.
type both struct {
	agent       int
	model, rule float64
}

// numbersOf returns the values of a field if it is a number with many values.
func numbersOf(all []split, name string) (numbers []both, many bool) {
	different := map[float64]bool{}
	for i := range all {
		a, err := strconv.ParseFloat(all[i].model[name], 64)
		b, err2 := strconv.ParseFloat(all[i].rule[name], 64)
		if err != nil || err2 != nil {
			if _, has := all[i].model[name]; has && err != nil && all[i].model[name] != "null" {
				return nil, false
			}
			continue
		}
		different[a], different[b] = true, true
		numbers = append(numbers, both{all[i].agent, a, b})
	}
	return numbers, len(different) > mostNumbers
}

// choice counts the pairs that both have the field, and returns their answers as JSON.
func (f *Field) choice(all []split) (answers []string) {
	counts := map[[2]string]int{}
	often := map[string]int{}
	var t tally
	for i := range all {
		a, has := all[i].model[f.Name]
		b, hasToo := all[i].rule[f.Name]
		if !has || !hasToo {
			continue
		}
		t.add(all[i].agent, a == b)
		counts[[2]string{a, b}]++
		often[a]++
		often[b]++
	}
	if t.of == 0 {
		return nil
	}
	f.Agree, f.Kappa = t.share(), newKappa(counts, t.of, t.size())
	answers = slices.SortedFunc(maps.Keys(often), func(a, b string) int {
		if often[a] != often[b] {
			return often[b] - often[a]
		}
		return strings.Compare(a, b)
	})
	if len(answers) <= mostAnswers && !slices.ContainsFunc(answers, func(a string) bool { return math.IsNaN(numberOf(a)) }) {
		slices.SortFunc(answers, func(a, b string) int { return cmp.Compare(numberOf(a), numberOf(b)) })
	}
	at := map[string]int{}
	for i, answer := range answers {
		at[answer] = min(i, mostAnswers-1)
	}
	rows := answers
	if len(answers) > mostAnswers {
		rows = append(answers[:mostAnswers-1:mostAnswers-1], otherAnswer)
	}
	f.Table = &Table{Answers: plain(rows), Counts: make([][]int, len(rows))}
	for i := range f.Table.Counts {
		f.Table.Counts[i] = make([]int, len(rows))
	}
	for both, n := range counts {
		f.Table.Counts[at[both[0]]][at[both[1]]] += n
	}
	return answers
}

// numberOf returns the number that a JSON value is; NaN for another value.
func numberOf(text string) float64 {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return math.NaN()
	}
	return f
}

// plain returns JSON values as people write them.
func plain(all []string) []string {
	out := make([]string, len(all))
	for i, text := range all {
		out[i] = text
		var s string
		if json.Unmarshal([]byte(text), &s) == nil && text != "null" {
			out[i] = s
		}
	}
	return out
}
