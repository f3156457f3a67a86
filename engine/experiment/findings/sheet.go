package findings

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/throng-sim/throng/engine/experiment/statistics"
)

// Sheet is a table for files and screens. Cells are texts; a cell without a figure is empty.
type Sheet struct {
	Columns []Column
	Rows    [][]string // by row and column
}

// Column is a column of a sheet.
type Column struct {
	Name string
	Kind ColumnKind
	Unit string // "" if it has none
	Help string // a sentence
}

// ColumnKind is the kind of the cells of a column.
type ColumnKind uint8

// The kinds of columns. Cells of numbers are JSON numbers.
const (
	Texts ColumnKind = iota
	Whole
	Numbers
)

// shortID is the number of characters of a run's identity in a sheet.
const shortID = 12

// Sheet returns a row for each run of a point. It does not depend on when and in which order the runs were executed, except for
// measures of time.
func (t *Table) Sheet() Sheet {
	s := Sheet{Columns: append(append([]Column{
		{Name: "experiment", Help: "Title of the experiment."},
		{Name: "point", Kind: Whole, Help: "Number of the point, from 1."},
	}, t.FactorColumns()...), []Column{
		{Name: "replicate", Kind: Whole, Help: "Number of the replicate, from 1. A replicate has the same seed at every point."},
		{Name: "seed", Kind: Whole, Help: "Seed of the run."},
		{Name: "run", Help: "The first characters of the run's identity, which is the same in every experiment that contains the run."},
		{Name: "state", Help: "State of the run. Only runs that are done have measures."},
	}...)}
	for i := range t.Measures {
		m := &t.Measures[i]
		s.Columns = append(s.Columns, Column{unused(s.Columns, m.Name), Numbers, m.Unit, "The measure " + m.Name + "."})
	}
	for replicate, seed := range t.Seeds {
		for point := range t.Points {
			r := &t.Runs[point][replicate]
			row := append([]string{t.Title, strconv.Itoa(point + 1)}, t.ValuesOf(point)...)
			row = append(row, strconv.Itoa(replicate+1), strconv.FormatUint(seed, 10), r.Identity[:min(shortID, len(r.Identity))], string(r.State))
			for i := range t.Measures {
				v := math.NaN()
				if r.Values != nil {
					v = r.Values[i]
				}
				row = append(row, Number(v))
			}
			s.Rows = append(s.Rows, row)
		}
	}
	return s
}

// unused returns the name of the column of a measure: its own, unless another column has it.
func unused(columns []Column, name string) string {
	if slices.ContainsFunc(columns, func(c Column) bool { return strings.EqualFold(c.Name, name) }) {
		return "measure." + name
	}
	return name
}

// FactorColumns returns the columns of the factors.
func (t *Table) FactorColumns() (all []Column) {
	for i := range t.Factors {
		c := Column{Name: t.Factors[i].Name, Kind: Numbers, Help: "Value of the factor " + t.Factors[i].Name + "."}
		for k := range t.Points {
			text := t.Points[k].Values[i].Text
			if _, err := strconv.ParseFloat(text, 64); err != nil || !json.Valid([]byte(text)) {
				c.Kind = Texts
			}
		}
		all = append(all, c)
	}
	return all
}

// ValuesOf returns the values of a point, by factor.
func (t *Table) ValuesOf(point int) (all []string) {
	for _, v := range t.Points[point].Values {
		all = append(all, v.Text)
	}
	return all
}

// effectColumns are the columns of the effects after the values of the factors.
var effectColumns = []Column{
	{"runs", Whole, "", "Runs with a value."},
	{"missing", Whole, "", "Runs without a value: not done, failed, or without what is measured."},
	{"mean", Numbers, "", "Mean over the runs."},
	{"median", Numbers, "", "Median over the runs."},
	{"sd", Numbers, "", "Standard deviation between the runs."},
	{"low", Numbers, "", "Lower end of the 95% interval of the mean."},
	{"high", Numbers, "", "Upper end of the 95% interval of the mean."},
	{"interval", Texts, "", "Method of the interval."},
	{"difference", Numbers, "", "Difference from the baseline. It is empty at the baseline, like all columns after it."},
	{"difference_low", Numbers, "", "Lower end of the 95% interval of this difference alone."},
	{"difference_high", Numbers, "", "Upper end of the 95% interval of this difference alone."},
	{"joint_low", Numbers, "", "Lower end of the 95% interval that holds for all points together."},
	{"joint_high", Numbers, "", "Upper end of the 95% interval that holds for all points together."},
	{"p", Numbers, "", "Probability of such a difference by chance, of this difference alone."},
	{"p_adjusted", Numbers, "", "The same, corrected for all points and measures. Below 0.05 the difference is significant."},
	{"test", Texts, "", "Method of the test."},
	{"effect", Numbers, "", "Standardized difference."},
	{"effect_name", Texts, "", "Kind of the standardized difference."},
	{"margin", Numbers, "", "Largest difference that the runs leave possible, in either direction."},
	{"correlation", Numbers, "", "Correlation with the baseline over the seeds."},
	{"runs_saved", Numbers, "", "Runs that independent seeds would need in addition for the same interval."},
	{"note", Texts, "", "Why a figure is unknown, or what to consider."},
}

// Sheet returns a row for each measure and point: the estimate, and the difference from the baseline.
func (c *Comparison) Sheet() Sheet {
	s := Sheet{Columns: []Column{
		{Name: "experiment", Help: "Title of the experiment."},
		{Name: "measure", Help: "Name of the measure."},
		{Name: "point", Kind: Whole, Help: "Number of the point, from 1."},
	}}
	s.Columns = append(append(s.Columns, c.Table.FactorColumns()...), effectColumns...)
	for i := range c.Rows {
		row := &c.Rows[i]
		for point := range row.Estimates {
			cells := append([]string{c.Table.Title, row.Name, strconv.Itoa(point + 1)}, c.Table.ValuesOf(point)...)
			s.Rows = append(s.Rows, append(cells, c.cells(row, point)...))
		}
	}
	return s
}

// cells returns the estimate and the difference of a point.
func (c *Comparison) cells(row *statistics.Row, point int) []string {
	s := &row.Estimates[point]
	all := []string{
		strconv.Itoa(s.N), strconv.Itoa(s.Missing), Number(s.Mean), Number(s.Median), Number(s.SD), Number(s.Interval.Low), Number(s.Interval.High),
		string(s.Interval.Method),
	}
	d := c.Difference(row, point)
	if d == nil {
		return append(all, make([]string, len(effectColumns)-len(all))...)
	}
	return append(all,
		Number(d.Value), Number(d.Interval.Low), Number(d.Interval.High), Number(d.Joint.Low), Number(d.Joint.High), Number(d.P), Number(d.Adjusted), string(d.Test),
		Number(d.Effect.Value), d.Effect.Name, Number(d.Margin), Number(d.Pairing.Correlation), Number(d.Pairing.Saved), d.Note)
}

// Number returns a figure with all its digits; "" if it is unknown.
func Number(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return ""
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}
