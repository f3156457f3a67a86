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
	"github.com/throng-sim/throng/engine/experiment"
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
		var matters []*experiments.Sensitivity // by measure
		for i := range e.Rows {
			of := slices.IndexFunc(x.Measures, func(m experiment.Measure) bool { return m.Name == e.Rows[i].Name })
			found, err := x.Sensitivity(table, of)
			if err != nil {
				return err
			}
			matters = append(matters, found)
		}
		if t.JSON {
			all := answer.NewEffects(x, table, e)
			for _, m := range matters {
				if m != nil {
					all.Sensitivity = append(all.Sensitivity, answer.NewSensitivity(m))
				}
			}
			return answer.Print(t.Out, all)
		}
		return c.print(t.Out, x, s, e, matters)
	})
}

// print prints the comparison for a person.
func (c *compareCmd) print(out io.Writer, x *experiments.Experiment, s *experiments.Status, e *experiments.Effects, matters []*experiments.Sensitivity) error {
	done, of := s.Count(experiments.Done)
	fmt.Fprintf(out, "%s: %d of %d runs\n", x.Title, done, of)
	if e.Baseline < 0 {
		fmt.Fprintln(out, "No point has the values of the baseline, so there is nothing to compare with.")
	}
	for i := range e.Rows {
		if err := measureTable(out, x, s, e, &e.Rows[i]); err != nil {
			return err
		}
		if err := sensitivityTable(out, matters[i]); err != nil {
			return err
		}
	}
	_, err := fmt.Fprint(out, legend)
	return err
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

// sensitivityTable prints how much each factor matters. It prints nothing for nil.
func sensitivityTable(out io.Writer, s *experiments.Sensitivity) error {
	if s == nil {
		return nil
	}
	fmt.Fprintf(out, "\n%s, what matters (%s)\n", s.Measure, s.Method)
	w := show.NewTable(out)
	fmt.Fprintln(w, "FACTOR\t"+strings.Join(s.Figures, "\t"))
	for _, f := range s.Factors {
		format, cells := "%s", []any{f.Name}
		for _, v := range f.Figures {
			format, cells = format+"\t%s", append(cells, interval(v.Value, v.Interval))
		}
		show.Row(w, format+"\n", cells...)
	}
	if err := w.Flush(); err != nil || s.Note == "" {
		return err
	}
	_, err := fmt.Fprintf(out, "note: %s\n", s.Note)
	return err
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
