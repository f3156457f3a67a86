package nearest

import (
	"fmt"
	"strings"

	"github.com/throng-sim/throng/engine/experiment/findings"
)

// Method says how the points are compared.
const Method = "The distance of a run is the mean over the columns of a figure from 0 to 1: Kolmogorov–Smirnov D for numbers, half the sum of the differences " +
	"of the shares for categories. Brackets are 95% intervals over the seeds; they leave out the chance in the real data itself. Runs with the same seed are " +
	"compared with each other. P is corrected for all points, so that the nearest one is, with 95% confidence, among those that are not clearly farther."

// Sentences says which point is nearest to the real data in all columns together, and then in each column if there are several.
func (r *Result) Sentences() []findings.Sentence {
	all := []findings.Sentence{r.sentence(&r.Overall, "", r.Columns)}
	if len(r.Columns) > 1 {
		for i := range r.Columns {
			all = append(all, r.sentence(&r.Columns[i].Ranking, " in "+r.Columns[i].Name, r.Columns[i:i+1]))
		}
	}
	return all
}

// sentence describes a ranking of the columns. in names the column; "" is all of them.
func (r *Result) sentence(of *Ranking, in string, columns []Column) findings.Sentence {
	s := findings.Sentence{Measure: -1, Point: of.Nearest, Clear: of.Clear()}
	file := r.Table.Real.File + in
	if of.Nearest < 0 {
		s.Text = r.Table.SoFar("no run can be compared with " + file)
		if why := reason(columns); why != "" {
			s.Text += ". " + why
		}
		return s
	}
	e, rivals, others := &of.Estimates[of.Nearest], of.Rivals(), of.others()
	label, distance := r.label(of.Nearest), findings.Range(e.Mean, e.Interval)
	switch {
	case others == 0:
		s.Text = fmt.Sprintf("%s has the distance %s from %s", label, distance, file)
	case s.Clear && others == 1:
		s.Text = fmt.Sprintf("%s is nearer to %s than the other point, by more than chance: its distance is %s", label, file, distance)
	case s.Clear:
		s.Text = fmt.Sprintf("%s is nearest to %s, by more than chance against each of the %d other points: its distance is %s", label, file, others, distance)
	case len(rivals) == others:
		s.Text = fmt.Sprintf("no point is nearest to %s by more than chance. %s has the smallest distance, %s", file, label, distance)
	default:
		s.Text = fmt.Sprintf("%s has the smallest distance from %s, %s, but %s may be as near", label, file, distance, r.list(rivals))
	}
	s.Text = r.Table.SoFar(s.Text)
	if e.N < 2 && others > 0 {
		s.Text += ". A single run says nothing about chance; add seeds"
	}
	return s
}

// label names a point.
func (r *Result) label(point int) string {
	if label := findings.Brief(r.Table.Points[point].Label); label != "" {
		return label
	}
	return fmt.Sprintf("point %d", point+1)
}

// mostListed is how many points a sentence names.
const mostListed = 3

// list names points.
func (r *Result) list(points []int) string {
	var names []string
	for _, p := range points[:min(len(points), mostListed)] {
		names = append(names, r.label(p))
	}
	text := strings.Join(names, "; ")
	if more := len(points) - len(names); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// reason says why no run of columns was compared; "" if it is unknown.
func reason(columns []Column) string {
	for i := range columns {
		for _, why := range columns[i].Problem {
			if why != "" {
				return strings.TrimSuffix(columns[i].Name+": "+why, ".")
			}
		}
	}
	return ""
}

// Notes says which points were not compared in a column, and what to consider.
func (r *Result) Notes() (all []string) {
	for i := range r.Columns {
		c := &r.Columns[i]
		n, why := 0, ""
		for _, p := range c.Problem {
			if p != "" {
				n, why = n+1, p
			}
		}
		if n > 0 {
			all = append(all, fmt.Sprintf("In %s, runs of %s could not be compared, and have no distance: %s", c.Name, pointCount(n), why))
		}
	}
	if why := r.Table.Real.Shared; why != "" {
		all = append(all, "The tests of a single run take agents as independent of each other. These are not, because "+why+". The comparison of points does not need that: its unit is the run.")
	}
	return all
}

func pointCount(n int) string {
	if n == 1 {
		return "1 point"
	}
	return fmt.Sprintf("%d points", n)
}

// Differing says how many runs of a point differ from the real data in a column, such as 3 of 10.
func (c *Column) Differing(point int) string {
	return fmt.Sprintf("%d of %d", c.Differs[point], c.Estimates[point].N)
}

// Chance returns the p-value of a point, or a word at the nearest one.
func (r *Ranking) Chance(point int) string {
	switch {
	case point == r.Nearest:
		return "nearest"
	case !r.Ranked(point):
		return findings.Unknown
	}
	return findings.Chance(r.Farther[point].Adjusted)
}

// Change returns how much farther a point is than the nearest one; "" at that point.
func (r *Ranking) Change(point int) string {
	if point == r.Nearest || !r.Ranked(point) {
		return ""
	}
	return findings.Change(&r.Farther[point])
}

// Distance returns the distance of a point with its interval.
func (r *Ranking) Distance(point int) string {
	e := &r.Estimates[point]
	return findings.Range(e.Mean, e.Interval)
}

// Shown returns the figures that the column has: those of numbers or those of categories.
func (c *Column) Shown() (figures []int) {
	for k := range Figures {
		for point := range c.Figures[k] {
			if c.Figures[k][point].N > 0 {
				figures = append(figures, k)
				break
			}
		}
	}
	return figures
}
