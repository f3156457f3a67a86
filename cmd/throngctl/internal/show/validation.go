package show

import (
	"fmt"
	"io"
	"strings"

	"github.com/throng-sim/throng/engine/validation"
)

// Validation prints the comparison of a run with real data.
func Validation(out io.Writer, r *validation.Result) error {
	fmt.Fprintf(out, "%s (SHA-256 %.12s)\n%s\n\n", r.File, r.Digest, r.Verdict())
	rows := make([][]string, len(r.Rows))
	for i := range r.Rows {
		rows[i] = r.Rows[i].Cells()
	}
	if err := cells(out, validation.Head(), rows); err != nil {
		return err
	}
	for i := range r.Rows {
		Row(out, "%s\n", r.Rows[i].Sentence())
		for _, note := range r.Rows[i].Notes {
			Row(out, "  Note: %s\n", note)
		}
	}
	_, err := fmt.Fprintln(out, "\n"+r.Method())
	return err
}

// cells prints a table, with an empty line after it.
func cells(out io.Writer, head []string, rows [][]string) error {
	w := NewTable(out)
	line := func(cells []string, shown func(string) string) {
		for i, cell := range cells {
			if i > 0 {
				fmt.Fprint(w, "\t")
			}
			Row(w, "%s", shown(cell))
		}
		fmt.Fprintln(w)
	}
	line(head, strings.ToUpper)
	for _, r := range rows {
		line(r, strings.TrimSpace)
	}
	fmt.Fprintln(w)
	return w.Flush()
}
