package report

import (
	"cmp"
	"fmt"
	"html/template"
	"math"
	"slices"

	"github.com/throng-sim/throng/engine/experiment/findings"
	"github.com/throng-sim/throng/engine/experiment/nearest"
)

// realRanking says which point of an experiment is nearest to real data.
type realRanking struct {
	File, Digest string
	Sentences    []findings.Sentence
	Columns      []realColumn // all together first
	Notes        []string
	Method       string
}

// realColumn has the distances of the points in a column, or in all.
type realColumn struct {
	Name string
	Axis template.HTML
	Head []string // of further figures
	Rows []realPoint
	Rest string // about the points that are left out
}

// realPoint is a point.
type realPoint struct {
	Number                    int
	Label                     string
	Runs                      int
	Distance, Farther, Chance string
	Picture                   template.HTML
	Clear                     bool
	Figures                   []string
}

// newRealRanking returns nil for nil.
func newRealRanking(r *nearest.Result) *realRanking {
	if r == nil {
		return nil
	}
	v := &realRanking{File: r.Table.Real.File, Digest: r.Table.Real.Digest, Sentences: r.Sentences(), Notes: r.Notes(), Method: nearest.Method}
	v.Columns = append(v.Columns, newRealColumn(r, &r.Overall, "All columns"))
	for i := range r.Columns {
		c := &r.Columns[i]
		one := newRealColumn(r, &c.Ranking, c.Name+" and "+c.Figure)
		one.Head = append(one.Head, "Runs that differ")
		shown := c.Shown()
		for _, k := range shown {
			one.Head = append(one.Head, nearest.Figures[k].Title)
		}
		for point := range one.Rows {
			p := &one.Rows[point]
			p.Figures = append(p.Figures, c.Differing(p.Number-1))
			for _, k := range shown {
				e := &c.Figures[k][p.Number-1]
				p.Figures = append(p.Figures, whole.Replace(findings.Range(e.Mean, e.Interval)))
			}
		}
		v.Columns = append(v.Columns, one)
	}
	return v
}

func newRealColumn(r *nearest.Result, of *nearest.Ranking, name string) realColumn {
	c := realColumn{Name: name}
	bars := of.Plot(r.Table).Bars
	ends := []float64{0}
	for i := range bars {
		ends = append(ends, bars[i].Value, bars[i].Low, bars[i].High)
	}
	ruler := newRuler(ends)
	c.Axis = ruler.axis()
	for i := range bars {
		c.Rows = append(c.Rows, realPoint{
			Number: i + 1, Label: bars[i].Label, Runs: bars[i].Runs, Distance: whole.Replace(of.Distance(i)), Farther: whole.Replace(of.Change(i)),
			Chance: whole.Replace(of.Chance(i)), Picture: ruler.bar(&bars[i], false), Clear: bars[i].Clear,
		})
	}
	if all := len(c.Rows); all > longForest {
		slices.SortStableFunc(c.Rows, func(a, b realPoint) int { return cmp.Compare(distanceOf(of, a.Number-1), distanceOf(of, b.Number-1)) })
		c.Rows = c.Rows[:topForest]
		slices.SortFunc(c.Rows, func(a, b realPoint) int { return cmp.Compare(a.Number, b.Number) })
		c.Rest = fmt.Sprintf("The %d nearest of %d points, in the order of the design. An export has all.", topForest, all)
	}
	return c
}

// distanceOf is what points are sorted by: their distance.
func distanceOf(of *nearest.Ranking, point int) float64 {
	if !of.Ranked(point) {
		return math.Inf(1)
	}
	return of.Estimates[point].Mean
}
