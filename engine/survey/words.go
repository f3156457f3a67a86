package survey

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/throng-sim/throng/engine/experiment/findings"
)

// Method says what the intervals of the answers mean.
const Method = "In brackets: 95% intervals, of shares after Wilson, of means after Student. They hold for persons like these, as the model plays them."

// Averages reports whether answers have a mean.
func (k Kind) Averages() bool { return k == Scale || k == Number }

// Head returns the heads of the columns of [Answers.Cells].
func (a *Answers) Head() []string {
	head := []string{"Agents", "Answered"}
	for _, o := range a.Groups[0].Options {
		head = append(head, o.Option)
	}
	if a.Kind.Averages() {
		head = append(head, "Mean")
	}
	return head
}

// Cells returns the figures of a group as text, with intervals.
func (a *Answers) Cells(g *Group) []string {
	cells := []string{g.Name(), fmt.Sprintf("%d of %d", g.Answered, g.Asked)}
	for _, o := range g.Options {
		cells = append(cells, o.Text())
	}
	if a.Kind.Averages() {
		cells = append(cells, within(1, g.Mean, g.Low, g.High, "%.2f"))
	}
	return cells
}

// Name returns the segment with its value, or "all".
func (g *Group) Name() string {
	if g.Segment == "" {
		return "all"
	}
	return g.Segment + " " + g.Value
}

// Text returns the share with its interval.
func (s *Share) Text() string { return within(100, s.Share, s.Low, s.High, "%.0f%%") }

// within writes a multiple of a figure with its interval; - if it is unknown.
func within(times float64, v, low, high *float64, format string) string {
	if v == nil {
		return "-"
	}
	text := fmt.Sprintf(format, times**v)
	if low == nil || high == nil {
		return text
	}
	return text + " [" + fmt.Sprintf(format, times**low) + ", " + fmt.Sprintf(format, times**high) + "]"
}

// Sheet returns the figures as a table: for each question and group, a row for those who answered, for each option, and for the mean.
func (r *Result) Sheet() findings.Sheet {
	s := findings.Sheet{Columns: []findings.Column{
		{Name: "question", Help: "Name of the question."},
		{Name: "ask", Help: "Its text."},
		{Name: "kind", Help: "choice, scale, number or text."},
		{Name: "segment", Help: "Attribute of the agents; empty for all agents."},
		{Name: "value", Help: "Its value."},
		{Name: "figure", Help: "answered, share or mean."},
		{Name: "option", Help: "Of a share."},
		{Name: "count", Kind: findings.Whole, Help: "Agents who answered, or who chose the option."},
		{Name: "of", Kind: findings.Whole, Help: "Agents who were asked or, for a share, who answered."},
		{Name: "estimate", Kind: findings.Numbers, Help: "The share from 0 to 1, or the mean."},
		{Name: "low", Kind: findings.Numbers, Help: "Lower end of the 95% interval."},
		{Name: "high", Kind: findings.Numbers, Help: "Its upper end."},
	}}
	for i := range r.Questions {
		q := &r.Questions[i]
		for k := range q.Groups {
			g := &q.Groups[k]
			row := func(figure, option string, count, of int, estimate, low, high *float64) {
				s.Rows = append(s.Rows, []string{
					q.Name, q.Ask, string(q.Kind), g.Segment, g.Value, figure, option, strconv.Itoa(count), strconv.Itoa(of), number(estimate), number(low), number(high),
				})
			}
			row("answered", "", g.Answered, g.Asked, known(float64(g.Answered)/float64(g.Asked)), nil, nil)
			for _, o := range g.Options {
				row("share", o.Option, o.Count, g.Answered, o.Share, o.Low, o.High)
			}
			if q.Kind.Averages() {
				row("mean", "", g.Answered, g.Asked, g.Mean, g.Low, g.High)
			}
		}
	}
	return s
}

// number writes a figure; "" if it is unknown.
func number(v *float64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatFloat(*v, 'g', -1, 64)
}

// Segments returns the attributes whose values have counts of their own.
func (r *Result) Segments() (all []string) {
	for i := range r.Questions {
		for k := range r.Questions[i].Groups {
			if s := r.Questions[i].Groups[k].Segment; s != "" && !slices.Contains(all, s) {
				all = append(all, s)
			}
		}
	}
	return all
}

// Answered returns how many agents answered at least one question: those of the question with the most answers.
func (r *Result) Answered() (n int) {
	for i := range r.Questions {
		n = max(n, r.Questions[i].Groups[0].Answered)
	}
	return n
}

// By returns the group of all agents and those of a segment.
func (a *Answers) By(segment string) []Group {
	found := a.Groups[:1:1]
	for _, g := range a.Groups[1:] {
		if g.Segment == segment {
			found = append(found, g)
		}
	}
	return found
}
