package show

import (
	"fmt"
	"io"
	"strings"

	"github.com/throng-sim/throng/engine/agreement"
	"github.com/throng-sim/throng/engine/surrogate"
)

// Agreement prints how often models and rules answered the same.
func Agreement(out io.Writer, r *agreement.Result) error {
	if len(r.Steps) == 0 {
		_, err := fmt.Fprintln(out, "No model answered with a truth value, a number or a choice.")
		return err
	}
	var rows [][]string
	for i := range r.Steps {
		rows = append(rows, r.Steps[i].Rows()...)
	}
	if err := cells(out, agreement.Head(), rows); err != nil {
		return err
	}
	for i := range r.Steps {
		s := &r.Steps[i]
		for _, c := range s.Crossed() {
			Row(out, "%s\n", c.Title)
			w := NewTable(out)
			for _, row := range append([][]string{c.Head}, c.Rows...) {
				Row(w, "%s", row[0])
				for _, cell := range row[1:] {
					Row(w, "\t%s", cell)
				}
				fmt.Fprintln(w)
			}
			fmt.Fprintln(w)
			if err := w.Flush(); err != nil {
				return err
			}
		}
		for _, remark := range s.Remarks() {
			Row(out, "%s: %s\n", s.Step, remark)
		}
	}
	_, err := fmt.Fprintln(out, "In brackets: 95% intervals. They allow for several decisions of one agent.")
	return err
}

// Learned prints a rule that was learned and written to a file, and how good it is.
func Learned(out io.Writer, file string, r *surrogate.Rule) error {
	l, h := &r.Learned, &r.Learned.HeldOut
	kind := "logistic regression"
	if r.Kind == surrogate.Table {
		kind = "table"
	}
	w := NewTable(out)
	Row(w, "rule\t%s, a %s over %s\n", file, kind, strings.Join(r.Names(), ", "))
	Row(w, "learned from\t%s of %s to %s, %d different\n", Counted(l.Answers, "answer"), Counted(l.Agents, "agent"), r.Step, len(r.Answers))
	Row(w, "held out\t%s of %s that the score does not learn from\n", Counted(h.Answers, "answer"), Counted(h.Agents, "agent"))
	if err := w.Flush(); err != nil {
		return err
	}
	percent := func(share float64) string { return fmt.Sprintf("%.1f%%", 100*share) }
	fmt.Fprintln(out)
	err := cells(out, []string{"Agents held out", "Rule", "Baseline"}, [][]string{
		{"accuracy of the most likely answer", percent(h.Accuracy) + " [" + percent(h.Low) + ", " + percent(h.High) + "]", percent(h.BaselineAccuracy)},
		{"accuracy of drawn answers", percent(h.Drawn), percent(h.BaselineDrawn)},
		{"log loss", fmt.Sprintf("%.3f", h.LogLoss), fmt.Sprintf("%.3f", h.BaselineLogLoss)},
	})
	if err != nil {
		return err
	}
	for _, d := range l.Ignored {
		Row(out, "Left out %s: %s.\n", d.Name, d.Why)
	}
	if w := h.Warning(); w != "" {
		Row(out, "Warning: %s The rule was written all the same.\n", w)
	}
	Row(out, "Use it with `otherwise: {learned: %s}`.\n", file)
	return nil
}
