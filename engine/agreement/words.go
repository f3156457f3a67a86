package agreement

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/throng-sim/throng/engine"
)

// Head is the head of a table of agreement.
func Head() []string {
	return []string{"Step", "Pairs", "Model decided", "Rule decided", "Same answer", "Kappa"}
}

// Rows returns the rows of the table: the step, and below it the fields of its answers if there are several.
func (s *Step) Rows() [][]string {
	row := []string{s.Step, strconv.Itoa(s.Pairs), strconv.Itoa(s.ByModel), strconv.Itoa(s.ByRule), s.Agree.text(), "-"}
	if len(s.Fields) == 1 {
		row[0], row[5] = strings.TrimSuffix(s.Step+"."+s.Fields[0].Name, "."), s.Fields[0].Kappa.text()
		return [][]string{row}
	}
	all := [][]string{row}
	for i := range s.Fields {
		if f := &s.Fields[i]; f.Agree != nil {
			all = append(all, []string{"  " + f.label(), strconv.Itoa(f.Agree.Of), "", "", f.Agree.text(), f.Kappa.text()})
		}
	}
	return all
}

// Verdict is the answer in one sentence.
func (r *Result) Verdict() string {
	pairs, low, high := 0, 1., 0.
	steps := 0
	for i := range r.Steps {
		s := &r.Steps[i]
		if pairs += s.Pairs; s.Agree != nil {
			steps++
			low, high = min(low, s.Agree.Share), max(high, s.Agree.Share)
		}
	}
	of := engine.Counted(int64(pairs), "pair", "pairs")
	switch {
	case pairs == 0:
		return "No question has an answer of both model and rule."
	case steps == 0:
		return "Model and rule answered " + of + " of questions with numbers."
	case steps == 1:
		return fmt.Sprintf("Model and rule answer the same in %.1f%% of %s.", 100*low, of)
	default:
		return fmt.Sprintf("Models and rules answer the same in %.1f%% to %.1f%% of the pairs, by step.", 100*low, 100*high)
	}
}

// label is the name of a field for display.
func (f *Field) label() string { return cmp.Or(f.Name, "answer") }

func (s *Share) text() string {
	if s == nil {
		return "-"
	}
	return fmt.Sprintf("%.1f%% [%.1f%%, %.1f%%]", 100*s.Share, 100*s.Low, 100*s.High)
}

func (k *Kappa) text() string {
	if k == nil {
		return "-"
	}
	round := func(x float64) float64 { return math.Round(100*x)/100 + 0 } // without -0
	return fmt.Sprintf("%.2f [%.2f, %.2f]", round(k.Value), round(k.Low), round(k.High))
}

// Remarks are sentences about the step, the most important first.
func (s *Step) Remarks() (all []string) {
	if d := s.Drift; d != nil {
		change := "does not change detectably"
		if d.P < 0.05 {
			change = "changes"
		}
		all = append(all, fmt.Sprintf("Agreement %s over %d cycles (trend: p = %s): %.1f%% in the first half, %.1f%% in the second, a difference of %+.1f [%+.1f, %+.1f] points.",
			change, len(s.Cycles), figure(d.P), 100*d.Early.Share, 100*d.Late.Share, 100*d.Difference, 100*d.Low, 100*d.High))
	}
	if a, b := s.Model, s.Rule; a != nil && b != nil && (a.Low > b.High || b.Low > a.High) {
		all = append(all, fmt.Sprintf("Agreement is %s where the model decided, but %s where the rule did: `share` may not be a random choice of agents.", a.text(), b.text()))
	}
	for i := range s.Fields {
		f := &s.Fields[i]
		if f.Numbers != nil {
			all = append(all, f.Numbers.sentence(f.label()))
		}
		if f.Rating != nil {
			all = append(all, f.Rating.sentence(f.label()))
		}
	}
	unanswered := 0
	var classes []string
	for _, class := range slices.Sorted(maps.Keys(s.Unanswered)) {
		unanswered += s.Unanswered[class]
		classes = append(classes, fmt.Sprintf("%s %d", class, s.Unanswered[class]))
	}
	if unanswered > 0 {
		all = append(all, fmt.Sprintf("The model did not answer %s (%s).", engine.Counted(int64(unanswered), "question of the shadow sample", "questions of the shadow sample"), strings.Join(classes, ", ")))
	}
	if s.Alone > 0 {
		all = append(all, engine.Counted(int64(s.Alone), "answer", "answers")+" of the model without an answer of a rule.")
	}
	return all
}

func (n *Numbers) sentence(name string) string {
	text := fmt.Sprintf("%s: mean %s by the model, %s by the rule", name, figure(n.Model), figure(n.Rule))
	if n.Low != nil && n.High != nil {
		text += fmt.Sprintf(", a difference of %s [%s, %s]", figure(n.Difference), figure(*n.Low), figure(*n.High))
	}
	if n.Correlation != nil {
		text += fmt.Sprintf("; correlation %.2f", *n.Correlation)
	}
	return text + "."
}

func figure(x float64) string {
	if x == 0 || math.Abs(x) >= 1e-4 {
		return strconv.FormatFloat(x, 'g', 3, 64)
	}
	return "below 0.0001"
}

// Crossed are the tables of the fields: the model's answers as rows, the rule's as columns.
func (s *Step) Crossed() (all []Cross) {
	for i := range s.Fields {
		f := &s.Fields[i]
		if f.Table == nil || len(f.Table.Answers) < 2 {
			continue
		}
		c := Cross{Title: strings.TrimSuffix(s.Step+"."+f.Name, "."), Head: append([]string{"Model \\ rule"}, f.Table.Answers...)}
		for k, answer := range f.Table.Answers {
			row := []string{answer}
			for _, n := range f.Table.Counts[k] {
				row = append(row, strconv.Itoa(n))
			}
			c.Rows = append(c.Rows, row)
		}
		all = append(all, c)
	}
	return all
}

// Cross is a table of the answers of model and rule.
type Cross struct {
	Title string
	Head  []string
	Rows  [][]string
}
