package lab

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/throng-sim/throng/cmd/internal/app/experiments"
	"github.com/throng-sim/throng/cmd/throngctl/internal/answer"
	"github.com/throng-sim/throng/cmd/throngctl/internal/file"
	"github.com/throng-sim/throng/cmd/throngctl/internal/show"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/experiment/findings"
	"github.com/throng-sim/throng/engine/experiment/nearest"
	"github.com/throng-sim/throng/engine/experiment/statistics"
	"github.com/throng-sim/throng/storage"
)

type compareCmd struct {
	File    string   `arg:"" help:"Experiment file."`
	Measure []string `placeholder:"NAME" help:"Only this measure; may be repeated."`
	CSV     string   `name:"csv" placeholder:"FILE" help:"Write all figures to this file: a row for each measure and point."`
	jsonFlag
}

// Run is called by kong.
func (c *compareCmd) Run(ctx context.Context, t *Terminal) error {
	return t.measured(ctx, c.File, func(_ *experiments.Experiment, table *findings.Table) error {
		e := findings.Compare(table)
		if err := c.choose(e); err != nil {
			return err
		}
		if c.CSV != "" {
			sheet := e.Sheet()
			if err := file.Write(c.CSV, func(w io.Writer) error { return storage.WriteSheet(w, &sheet, storage.CSV) }); err != nil {
				return err
			}
		}
		if !t.JSON {
			e.InPercent()
			table = e.Table
		}
		var matters []*findings.Sensitivity // by measure
		for i := range e.Rows {
			of := slices.IndexFunc(table.Measures, func(m findings.Measure) bool { return m.Name == e.Rows[i].Name })
			found, err := findings.Analyze(table, of)
			if err != nil {
				return err
			}
			matters = append(matters, found)
		}
		if t.JSON {
			all := answer.NewEffects(e)
			for _, m := range matters {
				if m != nil {
					all.Sensitivity = append(all.Sensitivity, answer.NewSensitivity(m))
				}
			}
			return answer.Print(t.Out, all)
		}
		return c.print(t.Out, e, matters)
	})
}

// print prints the comparison for a person.
func (c *compareCmd) print(out io.Writer, e *findings.Comparison, matters []*findings.Sensitivity) error {
	done, of := e.Table.Count(findings.Done)
	fmt.Fprintf(out, "%s: %d of %d runs\n", e.Table.Title, done, of)
	if e.Baseline < 0 {
		fmt.Fprintln(out, "No point has the values of the baseline, so there is nothing to compare with.")
	}
	real := nearest.Rank(e.Table)
	if real != nil {
		for _, s := range real.Sentences() {
			show.Row(out, "- %s\n", s.Text)
		}
	}
	for _, s := range e.Sentences() {
		show.Row(out, "- %s\n", s.Text)
	}
	if err := realData(out, real); err != nil {
		return err
	}
	for i := range e.Rows {
		if err := measureTable(out, e, &e.Rows[i]); err != nil {
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
measures here. "At most" is the end of the interval that is farther from 0: no difference larger than that, in either direction.
`

// choose leaves out the measures that the flags do not name.
func (c *compareCmd) choose(e *findings.Comparison) error {
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
func measureTable(out io.Writer, e *findings.Comparison, row *statistics.Row) error {
	m, _ := e.Measure(row)
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
		format, cells := "%d\t%s\t%d\t%s", []any{point + 1, e.Table.Points[point].Label, estimate.N, m.Range(estimate.Mean, estimate.Interval)}
		if d := e.Difference(row, point); d != nil {
			format += "\t%s\t%s\t%s\t%s"
			cells = append(cells, findings.Change(d), findings.Chance(d.Adjusted), findings.Text(findings.AtMost(d)), findings.Saved(d))
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
func sensitivityTable(out io.Writer, s *findings.Sensitivity) error {
	if s == nil {
		return nil
	}
	fmt.Fprintf(out, "\n%s, what matters (%s)\n", s.Measure, s.Method)
	w := show.NewTable(out)
	fmt.Fprintln(w, "FACTOR\t"+strings.Join(s.Figures, "\t"))
	for _, f := range s.Factors {
		format, cells := "%s", []any{findings.Brief(f.Name)}
		for _, v := range f.Figures {
			format, cells = format+"\t%s", append(cells, findings.Range(v.Value, v.Interval))
		}
		show.Row(w, format+"\n", cells...)
	}
	if err := w.Flush(); err != nil || s.Note == "" {
		return err
	}
	_, err := fmt.Fprintf(out, "note: %s\n", s.Note)
	return err
}
