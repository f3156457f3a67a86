package lab

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/throng-sim/throng/cmd/internal/app/experiments"
	"github.com/throng-sim/throng/cmd/throngctl/internal/answer"
	"github.com/throng-sim/throng/cmd/throngctl/internal/file"
	"github.com/throng-sim/throng/cmd/throngctl/internal/show"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/experiment/statistics"
)

type compareCmd struct {
	File    string   `arg:"" help:"Experiment file."`
	Measure []string `placeholder:"NAME" help:"Only this measure; may be repeated."`
	CSV     string   `name:"csv" placeholder:"FILE" help:"Write all figures to this file: a row for each measure and point."`
	jsonFlag
}

// Run is called by kong.
func (c *compareCmd) Run(ctx context.Context, t *Terminal) error {
	return t.measured(ctx, c.File, func(x *experiments.Experiment, table *experiments.Table) error {
		s, e := table.Status, x.Effects(table)
		if err := c.choose(e); err != nil {
			return err
		}
		if c.CSV != "" {
			if err := file.Write(c.CSV, func(w io.Writer) error { return x.WriteEffects(w, table, e) }); err != nil {
				return err
			}
		}
		if t.JSON {
			return answer.Print(t.Out, answer.NewEffects(x, table, e))
		}
		done, of := s.Count(experiments.Done)
		fmt.Fprintf(t.Out, "%s: %d of %d runs\n", x.Title, done, of)
		if e.Baseline < 0 {
			fmt.Fprintln(t.Out, "No point has the values of the baseline, so there is nothing to compare with.")
		}
		for i := range e.Rows {
			if err := measureTable(t.Out, x, s, e, &e.Rows[i]); err != nil {
				return err
			}
		}
		fmt.Fprint(t.Out, legend)
		return nil
	})
}

const legend = `
Brackets are 95% intervals; the unit is a run. P is the probability of such a difference by chance, corrected for all points and
measures here. "At most" is the largest difference that the runs leave possible, in either direction.
`

// choose leaves out the measures that the flags do not name.
func (c *compareCmd) choose(e *experiments.Effects) error {
	if len(c.Measure) == 0 {
		return nil
	}
	var names []string
	for i := range e.Rows {
		names = append(names, e.Rows[i].Name)
	}
	for _, name := range c.Measure {
		if !slices.Contains(names, name) {
			return &engine.FieldError{Field: "measure", Problem: "the experiment does not measure " + name, Hint: "measures: " + strings.Join(names, ", ")}
		}
	}
	e.Rows = slices.DeleteFunc(e.Rows, func(r statistics.Row) bool { return !slices.Contains(c.Measure, r.Name) })
	return nil
}

// measureTable prints a measure at all points.
func measureTable(out io.Writer, x *experiments.Experiment, s *experiments.Status, e *experiments.Effects, row *statistics.Row) error {
	fmt.Fprintf(out, "\n%s\n", row.Name)
	w := show.NewTable(out)
	header := "POINT\tVALUES\tRUNS\tMEAN"
	if e.Baseline >= 0 {
		header += fmt.Sprintf("\tDIFFERENCE FROM POINT %d\tP\tAT MOST\tSAME SEEDS SAVED", e.Baseline+1)
	}
	fmt.Fprintln(w, header)
	var notes []string
	for point := range row.Estimates {
		estimate := &row.Estimates[point]
		format, cells := "%d\t%s\t%d\t%s", []any{point + 1, x.Label(s.Plan.Points[point].Values), estimate.N, interval(estimate.Mean, estimate.Interval)}
		if d := e.Difference(row, point); d != nil {
			format += "\t%s\t%s\t%s\t%s"
			cells = append(cells, difference(d), chance(d.Adjusted), figure(d.Margin), saved(d))
			notes = append(notes, d.Note)
		} else if e.Baseline >= 0 {
			format += "\tthe baseline\t\t\t"
		}
		notes = append(notes, estimate.Interval.Note)
		show.Row(w, format+"\n", cells...)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	slices.Sort(notes)
	for _, note := range slices.Compact(notes) {
		if note != "" {
			fmt.Fprintf(out, "note: %s\n", note)
		}
	}
	return nil
}

// unknown stands for a figure that is not known.
const unknown = "-"

func figure(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return unknown
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}

func interval(v float64, i statistics.Interval) string {
	if !i.Known() {
		return figure(v)
	}
	return fmt.Sprintf("%s [%s, %s]", figure(v), figure(i.Low), figure(i.High))
}

func difference(d *statistics.Difference) string {
	if d.Same {
		return "none in any run"
	}
	return interval(d.Value, d.Interval)
}

func chance(p float64) string {
	switch {
	case math.IsNaN(p):
		return unknown
	case p < 0.001:
		return "< 0.001"
	}
	return strconv.FormatFloat(p, 'f', 3, 64)
}

// saved returns how many runs it saved that both points had the same seeds.
func saved(d *statistics.Difference) string {
	n := d.Pairing.Saved
	if !d.Pairing.Used || math.IsNaN(n) || math.IsInf(n, 0) {
		return unknown
	}
	return fmt.Sprintf("%.0f runs", n)
}
