package experiments

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/throng-sim/throng/engine/experiment"
	"github.com/throng-sim/throng/engine/experiment/statistics"
)

// Effects are the estimates of an experiment's measures at each point, and their differences from the baseline.
type Effects struct {
	Rows     []statistics.Row // by measure
	Baseline int              // index of the point that the others are compared with; -1 if there is none
}

// Effects estimates the measures. The unit is the run; runs that are not done are missing. Runs with the same seed at different
// points are compared with each other.
func (x *Experiment) Effects(t *Table) *Effects {
	all := make([]statistics.Measure, len(x.Measures))
	for i := range x.Measures {
		m := &x.Measures[i]
		all[i] = statistics.Measure{Name: m.Name, Kind: kindOf(m)}
		for point := range t.Values {
			all[i].Values = append(all[i].Values, t.Column(point, i))
		}
	}
	e := &Effects{Baseline: t.Status.Plan.Baseline}
	e.Rows = statistics.Table(all, e.Baseline, true, x.Seed)
	if rule, of := x.until(); rule != nil { // its interval takes into account that the number of runs was not fixed
		for point := range t.Values {
			e.Rows[of].Estimates[point].Interval = rule.Final(t.Column(point, of))
		}
	}
	return e
}

// shares are the metrics of success criteria that are fractions.
var shares = map[string]bool{"agents_completed": true, "error_rate": true, "request_error_rate": true}

// kindOf returns which statistics suit a measure.
func kindOf(m *experiment.Measure) statistics.Kind {
	_, quantile := m.Quantile()
	switch {
	case m.Timing():
		return statistics.Timing
	case m.Kind == experiment.MeasureTokens, m.Kind == experiment.MeasureMetric && m.Subject == "cost":
		return statistics.Cost
	case m.Kind == experiment.MeasureActed, m.Kind == experiment.MeasureOutcome, m.Kind == experiment.MeasureMetric && shares[m.Subject]:
		return statistics.Share
	case quantile:
		return statistics.Percentile
	default:
		return statistics.Number
	}
}

// effectColumns are the columns of the table of effects after the values of the factors.
var effectColumns = []string{
	"runs", "missing", "mean", "median", "sd", "low", "high", "interval", "difference", "difference_low", "difference_high",
	"joint_low", "joint_high", "p", "p_adjusted", "test", "effect", "effect_name", "margin", "correlation", "runs_saved", "note",
}

// WriteEffects writes a row for each measure and point: the estimate with its 95% interval, and the difference from the baseline with
// its interval, the interval that holds for all points together, its p-value alone and corrected for all points and measures, the
// effect size, the largest difference that there may be (margin), the correlation with the baseline over seeds, and the number of
// runs that using the same seeds saved. Unknown figures are empty.
func (x *Experiment) WriteEffects(w io.Writer, t *Table, e *Effects) error {
	out := csv.NewWriter(w)
	header := []string{"experiment", "measure", "point"}
	for i := range x.Factors {
		header = append(header, x.Factors[i].Name)
	}
	if err := out.Write(append(header, effectColumns...)); err != nil {
		return err
	}
	for i := range e.Rows {
		row := &e.Rows[i]
		for point := range row.Estimates {
			cells := []string{x.Title, row.Name, strconv.Itoa(point + 1)}
			for _, v := range t.Status.Plan.Points[point].Values {
				cells = append(cells, v.Text)
			}
			if err := out.Write(append(cells, e.cells(row, point)...)); err != nil {
				return err
			}
		}
	}
	out.Flush()
	if err := out.Error(); err != nil {
		return fmt.Errorf("write the effects of the experiment %s: %w", x.Title, err)
	}
	return nil
}

// cells returns the estimate and the difference of a point.
func (e *Effects) cells(row *statistics.Row, point int) []string {
	s := &row.Estimates[point]
	all := []string{
		strconv.Itoa(s.N), strconv.Itoa(s.Missing), number(s.Mean), number(s.Median), number(s.SD), number(s.Interval.Low), number(s.Interval.High),
		string(s.Interval.Method),
	}
	d := e.Difference(row, point)
	if d == nil {
		return append(all, make([]string, len(effectColumns)-len(all))...)
	}
	return append(all,
		number(d.Value), number(d.Interval.Low), number(d.Interval.High), number(d.Joint.Low), number(d.Joint.High), number(d.P), number(d.Adjusted), string(d.Test),
		number(d.Effect.Value), d.Effect.Name, number(d.Margin), number(d.Pairing.Correlation), number(d.Pairing.Saved), d.Note)
}

// Difference returns the difference of a point from the baseline; nil at the baseline and without one.
func (e *Effects) Difference(row *statistics.Row, point int) *statistics.Difference {
	if e.Baseline < 0 || point == e.Baseline || point >= len(row.Against) {
		return nil
	}
	return &row.Against[point]
}

func number(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return ""
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}
