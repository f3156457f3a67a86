package findings

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine/experiment/statistics"
)

// Sentence says what the experiment found for one measure.
type Sentence struct {
	Text    string
	Measure int  // index
	Point   int  // index of the point that it is about; -1 if it is about several
	Clear   bool // it states a significant difference
}

// Sentences returns a sentence for each measure: the largest clear difference, or how large one could be. Clear ones are first. While
// runs are missing, the sentences say so.
func (c *Comparison) Sentences() []Sentence {
	all := make([]Sentence, 0, len(c.Rows))
	for i := range c.Rows {
		s := c.sentence(&c.Rows[i])
		s.Text = c.Table.SoFar(s.Text)
		all = append(all, s)
	}
	slices.SortStableFunc(all, func(a, b Sentence) int { return cmp.Compare(rank(a.Clear), rank(b.Clear)) })
	return all
}

// SoFar begins a sentence about the runs, which says so if runs are missing.
func (t *Table) SoFar(text string) string {
	if t.toDo() {
		done, of := t.Count(Done)
		return fmt.Sprintf("So far (%d of %d runs): %s", done, of, text)
	}
	return capital(text)
}

func rank(found bool) int {
	if found {
		return 0
	}
	return 1
}

// capital begins a sentence with a capital letter. Names of factors and measures, which have no space, stay as they are.
func capital(text string) string {
	if strings.HasPrefix(text, "no ") {
		return "N" + text[1:]
	}
	return text
}

// sentence returns the sentence of a measure.
func (c *Comparison) sentence(row *statistics.Row) Sentence {
	m, index := c.Measure(row)
	s := Sentence{Measure: index, Point: -1}
	runs := c.Table.valued(index)
	found := c.clear(row)
	switch {
	case runs == 0:
		s.Text = "no run has a value of " + row.Name
	case c.Baseline < 0 || len(row.Estimates) < 2:
		s.Text, s.Point = c.span(row, m)
	case len(found) == 0:
		s.Text = c.bound(row, m, runs)
	default:
		s.Point, s.Clear = found[0], true
		s.Text = c.effect(row, m, found)
	}
	return s
}

// clear returns the points with a clear difference, the largest one first.
func (c *Comparison) clear(row *statistics.Row) (all []int) {
	for point := range row.Estimates {
		if d := c.Difference(row, point); d != nil && d.Clear() && d.Value != 0 {
			all = append(all, point)
		}
	}
	slices.SortStableFunc(all, func(a, b int) int {
		return cmp.Compare(math.Abs(row.Against[b].Value), math.Abs(row.Against[a].Value))
	})
	return all
}

// effect describes the largest of the clear differences.
func (c *Comparison) effect(row *statistics.Row, m *Measure, found []int) string {
	d := &row.Against[found[0]]
	verb, value, interval := "raises", d.Value, d.Interval
	if value < 0 {
		verb, value = "lowers", -value
		interval.Low, interval.High = -interval.High, -interval.Low
	}
	change := Measure{Unit: m.difference()}
	text := fmt.Sprintf("%s %s %s by %s", c.changed(found[0]), verb, row.Name, change.Range(value, interval))
	if from := row.Estimates[c.Baseline].Mean; !math.IsNaN(from) {
		text += ", from " + m.Text(from)
	}
	switch more := len(found) - 1; more {
	case 0:
		return text
	case 1:
		return text + "; 1 other point differs clearly, too"
	default:
		return fmt.Sprintf("%s; %d other points differ clearly, too", text, more)
	}
}

// changed returns the values of a point that the baseline does not have.
func (c *Comparison) changed(point int) string {
	t := c.Table
	var all []string
	for i, v := range t.Points[point].Values {
		if v.Text != t.Points[c.Baseline].Values[i].Text {
			all = append(all, Brief(t.Factors[i].Name)+"="+v.Text)
		}
	}
	if len(all) == 0 {
		return t.Points[point].Label
	}
	return strings.Join(all, ", ")
}

// bound describes how large a difference could be that was not found.
func (c *Comparison) bound(row *statistics.Row, m *Measure, runs int) string {
	most, same := 0.0, true
	for point := range row.Estimates {
		d := c.Difference(row, point)
		if d == nil || d.Same {
			continue
		}
		same = false
		margin := AtMost(d)
		if math.IsNaN(margin) && !math.IsNaN(d.P) { // the same difference in all runs
			margin = math.Abs(d.Value)
		}
		most = max(most, margin) // NaN if one of them is
	}
	switch {
	case same:
		return fmt.Sprintf("no difference in %s in any run (%s)", row.Name, counted(runs))
	case math.IsNaN(most):
		return fmt.Sprintf("no clear difference in %s: too few runs to say how large it could be (%s)", row.Name, counted(runs))
	default:
		return fmt.Sprintf("no clear difference in %s: at most %s either way (%s)", row.Name, InUnit(most, m.difference()), counted(runs))
	}
}

// span describes estimates without a comparison, and returns the point of the highest one if there are several.
func (c *Comparison) span(row *statistics.Row, m *Measure) (string, int) {
	low, high := -1, -1
	for point := range row.Estimates {
		v := row.Estimates[point].Mean
		if math.IsNaN(v) {
			continue
		}
		if low < 0 || v < row.Estimates[low].Mean {
			low = point
		}
		if high < 0 || v > row.Estimates[high].Mean {
			high = point
		}
	}
	one := func(point int) string {
		e := &row.Estimates[point]
		text := m.Range(e.Mean, e.Interval)
		if label := c.Table.Points[point].Label; label != "" {
			text += " at " + label
		}
		return text
	}
	if row.Estimates[low].Mean == row.Estimates[high].Mean {
		return fmt.Sprintf("%s is %s", row.Name, one(low)), low
	}
	return fmt.Sprintf("%s is between %s and %s", row.Name, one(low), one(high)), high
}

func counted(runs int) string {
	if runs == 1 {
		return "1 run"
	}
	return fmt.Sprintf("%d runs", runs)
}
