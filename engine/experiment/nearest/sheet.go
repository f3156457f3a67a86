package nearest

import (
	"strconv"

	"github.com/throng-sim/throng/engine/experiment/findings"
	"github.com/throng-sim/throng/engine/experiment/statistics"
)

// overall is the name of all columns together in a sheet.
const overall = "*"

// Sheet returns a row for each column and point, after one for all columns together at each point.
func (r *Result) Sheet() findings.Sheet {
	s := findings.Sheet{Columns: []findings.Column{
		{Name: "experiment", Help: "Title of the experiment."},
		{Name: "column", Help: "Column of the real data; " + overall + " is the mean of all."},
		{Name: "figure", Help: "Figure of the run."},
		{Name: "point", Kind: findings.Whole, Help: "Number of the point, from 1."},
	}}
	s.Columns = append(s.Columns, r.Table.FactorColumns()...)
	figure := func(name, help string) {
		s.Columns = append(s.Columns, findings.Column{Name: name, Kind: findings.Numbers, Help: help})
	}
	s.Columns = append(s.Columns, findings.Column{Name: "runs", Kind: findings.Whole, Help: "Runs with a distance."})
	figure("distance", "Mean distance from the real data, from 0 to 1.")
	figure("distance_low", "Lower end of its 95% interval.")
	figure("distance_high", "Upper end of its 95% interval.")
	s.Columns = append(s.Columns, findings.Column{Name: "rank", Help: "nearest, rival if it may be as near, or farther."})
	figure("farther", "Distance minus that of the nearest point. It is empty there, like the next three columns.")
	figure("farther_low", "Lower end of its 95% interval.")
	figure("farther_high", "Upper end of its 95% interval.")
	figure("p_adjusted", "Probability of such a difference by chance, corrected for all points, and for all columns in rows of a column.")
	s.Columns = append(s.Columns, findings.Column{Name: "runs_that_differ", Kind: findings.Whole, Help: "Runs whose tests find a difference from the real data."})
	for _, f := range Figures {
		figure(f.Name, f.Help+" Mean over the runs.")
		figure(f.Name+"_low", "Lower end of its 95% interval.")
		figure(f.Name+"_high", "Upper end of its 95% interval.")
	}
	for point := range r.Table.Points {
		cells := append(r.cells(overall, "", point, &r.Overall), "")
		s.Rows = append(s.Rows, append(cells, make([]string, len(s.Columns)-len(cells))...))
	}
	for i := range r.Columns {
		c := &r.Columns[i]
		for point := range r.Table.Points {
			cells := append(r.cells(c.Name, c.Figure, point, &c.Ranking), strconv.Itoa(c.Differs[point]))
			for k := range Figures {
				cells = append(cells, interval(&c.Figures[k][point])...)
			}
			s.Rows = append(s.Rows, cells)
		}
	}
	return s
}

// cells returns what a ranking says of a point.
func (r *Result) cells(column, figure string, point int, of *Ranking) []string {
	cells := append([]string{r.Table.Title, column, figure, strconv.Itoa(point + 1)}, r.Table.ValuesOf(point)...)
	cells = append(append(cells, strconv.Itoa(of.Estimates[point].N)), interval(&of.Estimates[point])...)
	cells = append(cells, string(of.Rank(point)))
	if point == of.Nearest || !of.Ranked(point) {
		return append(cells, "", "", "", "")
	}
	d := &of.Farther[point]
	return append(cells, findings.Number(d.Value), findings.Number(d.Interval.Low), findings.Number(d.Interval.High), findings.Number(d.Adjusted))
}

// interval returns a mean with its interval.
func interval(e *statistics.Estimate) []string {
	return []string{findings.Number(e.Mean), findings.Number(e.Interval.Low), findings.Number(e.Interval.High)}
}

// Place is the place of a point in a ranking.
type Place string

// The places.
const (
	Nearest Place = "nearest"
	Rival   Place = "rival" // it may be as near
	Farther Place = "farther"
)

// Rank returns the place of a point; "" if it has no distance. If runs are missing, a point may be nearer in the seeds that both have; it is a
// rival.
func (r *Ranking) Rank(point int) Place {
	switch {
	case !r.Ranked(point):
		return ""
	case point == r.Nearest:
		return Nearest
	case r.Farther[point].Clear() && r.Farther[point].Value > 0:
		return Farther
	}
	return Rival
}
