// Package surrogate fits rules to the answers of models: a table of shares by segment, or a multinomial logistic regression on what is
// known of an agent. A scenario uses a rule where it would otherwise ask a model. All functions are pure and deterministic.
package surrogate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// version is the format of the files of rules.
const version = 1

// Kinds of rules.
const (
	Logistic = "logistic"
	Table    = "table"
)

// Rule is a fitted rule, as in its file.
type Rule struct {
	Format  int      `json:"throng_rule"`
	Kind    string   `json:"kind"`
	Step    string   `json:"step"` // whose answers it learned
	Fields  []Field  `json:"fields"`
	Answers []Answer `json:"answers"`
	// Weights are those of a logistic rule, a row for each answer: the constant, then the columns of the fields in order.
	Weights [][]float64 `json:"weights,omitempty"`
	Cells   []Cell      `json:"cells,omitempty"` // of a table
	Learned Learned     `json:"learned"`
}

// Field is something that the rule knows of an agent, such as agent.age, agent.memory.spent or now.weekday.
type Field struct {
	Name string `json:"name"`
	// Values are the values of a category, which have a column each. A value that is not listed has none.
	Values []string `json:"values,omitempty"`
	// Mean and Deviation standardize a number, whose column is 0 where it is missing.
	Mean      float64   `json:"mean,omitempty"`
	Deviation float64   `json:"deviation,omitempty"`
	Cuts      []float64 `json:"cuts,omitempty"`    // upper bounds of the classes of a number in a table
	Missing   bool      `json:"missing,omitempty"` // it may be missing, which has a column of its own, the last one
}

// number reports whether the field is a number.
func (f *Field) number() bool { return f.Deviation > 0 || len(f.Cuts) > 0 }

// Answer is one of the answers that the rule chooses from.
type Answer struct {
	Value json.RawMessage `json:"value"`
	Share float64         `json:"share"` // of the answers that it learned from
	// Examples are whole answers of this kind, if they have numbers that Value does not have. One of them is drawn.
	Examples []json.RawMessage `json:"examples,omitempty"`
}

// Cell is a cell of a table: agents with the same values of all fields.
type Cell struct {
	Of     []string  `json:"of"`
	Count  int       `json:"count"`  // answers
	Shares []float64 `json:"shares"` // of the answers, drawn toward those of all agents
}

// Learned is where a rule comes from, and how good it is for agents that it did not learn from.
type Learned struct {
	Run     string `json:"run,omitempty"`
	Agents  int    `json:"agents"`
	Answers int    `json:"answers"`
	Ignored []Drop `json:"ignored,omitempty"` // fields that were left out
	HeldOut Score  `json:"held_out"`
}

// Drop is a field from which nothing can be learned.
type Drop struct {
	Name string `json:"name"`
	Why  string `json:"why"`
}

// Score is how well a rule predicts the answers of agents that it did not learn from. Shares are from 0 to 1. The baseline answers
// everybody with the shares of all answers.
type Score struct {
	Agents   int     `json:"agents"`
	Answers  int     `json:"answers"`
	Accuracy float64 `json:"accuracy"` // the most likely answer is the answer
	Low      float64 `json:"low"`      // 95% interval of Accuracy after Wilson
	High     float64 `json:"high"`
	Drawn    float64 `json:"drawn"` // expected accuracy of drawn answers
	LogLoss  float64 `json:"log_loss"`

	BaselineAccuracy float64 `json:"baseline_accuracy"`
	BaselineDrawn    float64 `json:"baseline_drawn"`
	BaselineLogLoss  float64 `json:"baseline_log_loss"`
}

// Beats reports whether the rule predicts better than the baseline.
func (s *Score) Beats() bool { return s.LogLoss < s.BaselineLogLoss }

// Warning says that the rule is not better than the most frequent answer, or that its probabilities are not better than the shares of all
// answers; "" if it is better in both.
func (s *Score) Warning() string {
	const rounding = 1e-9 // of a sum
	better := s.Accuracy > s.BaselineAccuracy+rounding
	if better && s.Beats() {
		return ""
	}
	which := "is better than"
	switch {
	case better:
	case s.Accuracy < s.BaselineAccuracy-rounding:
		which = "is worse than"
	default:
		which = "is not better than"
	}
	text := fmt.Sprintf("for agents held out, the rule %s the most frequent answer: it is right in %.1f%% of cases, the most frequent answer in %.1f%%. ",
		which, 100*s.Accuracy, 100*s.BaselineAccuracy)
	if s.Beats() {
		return text + "Its probabilities are better than the shares of all answers, so it is of use only if answers are drawn."
	}
	return text + "Its probabilities are not better than the shares of all answers: the answers do not depend on these fields, or there are too few."
}

// Get returns what is known of an agent: a text, a float64 or a bool. nil means that it is missing.
type Get func(field string) (any, error)

// mostAnswers limits the answers of a rule.
const mostAnswers = 50

// Parse reads the file of a rule.
func Parse(text []byte) (*Rule, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	r := &Rule{}
	if err := d.Decode(r); err != nil {
		return nil, fmt.Errorf("not a rule that was learned: %w", err)
	}
	if r.Format != version {
		return nil, fmt.Errorf("its format is %d, not %d: learn it again", r.Format, version)
	}
	return r, r.check()
}

// check reports rules that cannot be used.
func (r *Rule) check() error {
	if len(r.Answers) < 2 || len(r.Answers) > mostAnswers {
		return fmt.Errorf("it has %d answers, not 2 to %d", len(r.Answers), mostAnswers)
	}
	width := 1
	for i := range r.Fields {
		f := &r.Fields[i]
		width += f.width()
		if f.Name == "" || f.number() == (len(f.Values) > 0) || r.Kind == Logistic && f.number() && !(f.Deviation > 0) {
			return fmt.Errorf("the field %q is neither a number nor a category", f.Name)
		}
	}
	switch r.Kind {
	case Logistic:
		if len(r.Weights) != len(r.Answers) {
			return fmt.Errorf("it has weights of %d answers, not %d", len(r.Weights), len(r.Answers))
		}
		for _, row := range r.Weights {
			if len(row) != width {
				return fmt.Errorf("an answer has %d weights, not %d", len(row), width)
			}
		}
	case Table:
		for i := range r.Cells {
			if len(r.Cells[i].Of) != len(r.Fields) || len(r.Cells[i].Shares) != len(r.Answers) {
				return errors.New("a cell does not have a value for each field and a share for each answer")
			}
		}
	default:
		return fmt.Errorf("its kind is %q, not %s or %s", r.Kind, Logistic, Table)
	}
	return nil
}

// Text returns the file of the rule.
func (r *Rule) Text() ([]byte, error) {
	text, err := json.MarshalIndent(r, "", "  ")
	return append(text, '\n'), err
}

// Names returns the names of the fields.
func (r *Rule) Names() []string {
	all := make([]string, len(r.Fields))
	for i := range r.Fields {
		all[i] = r.Fields[i].Name
	}
	return all
}

// Odds returns the probability of each answer for an agent. Errors are those of get, and fields that are missing.
func (r *Rule) Odds(get Get) ([]float64, error) {
	if r.Kind == Table {
		return r.cell(get)
	}
	var row []entry
	at := 1
	for i := range r.Fields {
		f := &r.Fields[i]
		v, err := get(f.Name)
		if err == nil {
			row, err = f.encode(row, at, v)
		}
		if err != nil {
			return nil, err
		}
		at += f.width()
	}
	odds := make([]float64, len(r.Answers))
	softmax(odds, r.Weights, row)
	return odds, nil
}

// cell returns the shares of the agent's cell of the table; those of all agents if there is none.
func (r *Rule) cell(get Get) ([]float64, error) {
	of := make([]string, len(r.Fields))
	for i := range r.Fields {
		v, err := get(r.Fields[i].Name)
		if err == nil {
			of[i], err = r.Fields[i].class(v)
		}
		if err != nil {
			return nil, err
		}
	}
	if i := slices.IndexFunc(r.Cells, func(c Cell) bool { return slices.Equal(c.Of, of) }); i >= 0 {
		return r.Cells[i].Shares, nil
	}
	all := make([]float64, len(r.Answers))
	for i := range r.Answers {
		all[i] = r.Answers[i].Share
	}
	return all, nil
}

// Draw returns the answer for a number from 0 to 1, and, if the answer has examples, the example for another one.
func (r *Rule) Draw(odds []float64, u, example float64) json.RawMessage {
	at := len(odds) - 1
	for i, p := range odds {
		if u -= p; u < 0 {
			at = i
			break
		}
	}
	return r.Answers[at].example(example)
}

// Likely returns the most likely answer, the first one of several. u is as for Draw.
func (r *Rule) Likely(odds []float64, example float64) json.RawMessage {
	return r.Answers[likeliest(odds)].example(example)
}

func likeliest(odds []float64) int {
	best := 0
	for i, p := range odds {
		if p > odds[best] {
			best = i
		}
	}
	return best
}

func (a *Answer) example(u float64) json.RawMessage {
	if n := len(a.Examples); n > 0 {
		return a.Examples[min(int(u*float64(n)), n-1)]
	}
	return a.Value
}

// entry is a number that is not 0 in a row of columns.
type entry struct {
	at int
	x  float64
}

// width is the number of the field's columns.
func (f *Field) width() int {
	n := len(f.Values)
	if f.number() {
		n = 1
	}
	if f.Missing {
		n++
	}
	return n
}

// encode appends the field's columns, the first one at a position.
func (f *Field) encode(row []entry, at int, v any) ([]entry, error) {
	if v == nil {
		if !f.Missing {
			return nil, f.absent()
		}
		return append(row, entry{at + f.width() - 1, 1}), nil
	}
	if f.number() {
		x, ok := numeric(v)
		if !ok {
			return nil, fmt.Errorf("%s is a number, not %s", f.Name, shown(v))
		}
		return append(row, entry{at, (x - f.Mean) / f.Deviation}), nil
	}
	if i, found := slices.BinarySearch(f.Values, categoryOf(v)); found {
		row = append(row, entry{at + i, 1})
	}
	return row, nil
}

// class returns the class of a value in a table.
func (f *Field) class(v any) (string, error) {
	switch {
	case v == nil && !f.Missing:
		return "", f.absent()
	case v == nil:
		return "", nil
	case !f.number():
		return categoryOf(v), nil
	}
	x, ok := numeric(v)
	if !ok {
		return "", fmt.Errorf("%s is a number, not %s", f.Name, shown(v))
	}
	i, _ := slices.BinarySearch(f.Cuts, x)
	return "class " + strconv.Itoa(i+1), nil
}

func (f *Field) absent() error {
	return fmt.Errorf("%s is missing here; it never was where the rule was learned", f.Name)
}

// numeric returns a number, also of a text.
func numeric(v any) (float64, bool) {
	switch v := v.(type) {
	case float64:
		return v, !math.IsNaN(v) && !math.IsInf(v, 0)
	case string:
		x, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
		return x, err == nil && !math.IsNaN(x) && !math.IsInf(x, 0)
	}
	return 0, false
}

// categoryOf returns the text of a value.
func categoryOf(v any) string {
	switch v := v.(type) {
	case string:
		if x, ok := numeric(v); ok { // so that 7, 7.0 and "7" are one value
			return categoryOf(x)
		}
		return v
	case bool:
		return strconv.FormatBool(v)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return ""
}

func shown(v any) string { return strconv.Quote(categoryOf(v)) }

// softmax sets odds to the probabilities of the answers for a row.
func softmax(odds []float64, weights [][]float64, row []entry) {
	most := math.Inf(-1)
	for k, w := range weights {
		sum := w[0]
		for _, e := range row {
			sum += w[e.at] * e.x
		}
		odds[k] = sum
		most = max(most, sum)
	}
	total := 0.0
	for k := range odds {
		odds[k] = math.Exp(odds[k] - most)
		total += odds[k]
	}
	for k := range odds {
		odds[k] /= total
	}
}
