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
	Row(w, "%s\n", strings.ToUpper(strings.Join(validation.Head(), "\t")))
	for i := range r.Rows {
		for k, cell := range r.Rows[i].Cells() {
			if k > 0 {
				fmt.Fprint(w, "\t")
			}
			Row(w, "%s", cell)
		}
		fmt.Fprintln(w)
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
