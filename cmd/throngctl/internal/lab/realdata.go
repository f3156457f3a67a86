package lab

import (
	"fmt"
	"io"
	"strings"

	"github.com/throng-sim/throng/cmd/throngctl/internal/show"
	"github.com/throng-sim/throng/engine/experiment/findings"
	"github.com/throng-sim/throng/engine/experiment/nearest"
)

// realData prints the distances of the points from real data: of all columns together, and the figures of each column. It prints nothing
// for nil.
func realData(out io.Writer, r *nearest.Result) error {
	if r == nil {
		return nil
	}
	fmt.Fprintf(out, "\ndistance from %s (SHA-256 %.12s)\n", r.Table.Real.File, r.Table.Real.Digest)
	w := show.NewTable(out)
	fmt.Fprintln(w, "POINT\tVALUES\tRUNS\tDISTANCE\tFARTHER THAN THE NEAREST\tP")
	of := &r.Overall
	for point := range r.Table.Points {
		show.Row(w, "%d\t%s\t%d\t%s\t%s\t%s\n", point+1, r.Table.Points[point].Label, of.Estimates[point].N, of.Distance(point), of.Change(point), of.Chance(point))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for i := range r.Columns {
		if err := realColumn(out, r, &r.Columns[i]); err != nil {
			return err
		}
	}
	for _, note := range r.Notes() {
		show.Row(out, "note: %s\n", note)
	}
	_, err := fmt.Fprintln(out, "\n"+nearest.Method)
	return err
}

// realColumn prints the figures of a column.
func realColumn(out io.Writer, r *nearest.Result, c *nearest.Column) error {
	show.Row(out, "\n%s of %s, and %s\n", c.Name, r.Table.Real.File, c.Figure)
	w := show.NewTable(out)
	fmt.Fprint(w, "POINT\tVALUES\tRUNS THAT DIFFER\tDISTANCE\tP")
	shown := c.Shown()
	for _, k := range shown {
		fmt.Fprint(w, "\t"+strings.ToUpper(nearest.Figures[k].Title))
	}
	fmt.Fprintln(w)
	for point := range r.Table.Points {
		format, cells := "%d\t%s\t%s\t%s\t%s", []any{point + 1, r.Table.Points[point].Label, c.Differing(point), c.Distance(point), c.Chance(point)}
		for _, k := range shown {
			e := &c.Figures[k][point]
			format, cells = format+"\t%s", append(cells, findings.Range(e.Mean, e.Interval))
		}
		show.Row(w, format+"\n", cells...)
	}
	return w.Flush()
}
