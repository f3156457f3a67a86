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
	w := NewTable(out)
	row := func(cells []string) {
		for i, cell := range cells {
			if i > 0 {
				fmt.Fprint(w, "\t")
			}
			Row(w, "%s", cell)
		}
		fmt.Fprintln(w)
	}
	var head []string
	for _, name := range validation.Head() {
		head = append(head, strings.ToUpper(name))
	}
	row(head)
	for i := range r.Rows {
		row(r.Rows[i].Cells())
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(out)
	for i := range r.Rows {
		Row(out, "%s\n", r.Rows[i].Sentence())
		for _, note := range r.Rows[i].Notes {
			Row(out, "  Note: %s\n", note)
		}
	}
	_, err := fmt.Fprintln(out, "\n"+r.Method())
	return err
}
