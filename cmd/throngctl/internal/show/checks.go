package show

import (
	"fmt"
	"io"
	"strings"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/audit"
)

// Checks prints a line for each check, with details and advice below.
func Checks(out io.Writer, all []engine.Check) error {
	w := NewTable(out)
	for _, c := range all {
		first, more, _ := strings.Cut(c.Text, "\n")
		Row(w, "%s\t%s\t%s\n", c.Grade, c.Name, first)
		for line := range strings.SplitSeq(more, "\n") {
			if line != "" {
				Row(w, "\t\t%s\n", line)
			}
		}
		if hint := Hint(&c); hint != "" {
			Row(w, "\t\t> %s\n", hint)
		}
	}
	return w.Flush()
}

// Hint returns the advice of a check for a terminal, which has no buttons.
func Hint(c *engine.Check) string {
	way, to := c.FixAction()
	switch way {
	case engine.FixAllow:
		return "to allow it: --allow " + to
	case engine.FixSecret:
		return "throngctl secret set " + to + ", or set an environment variable of that name"
	case engine.FixConnections:
		return c.Hint + "; to limit them: throngctl settings database-connections=" + to
	case engine.FixFree:
		return strings.TrimPrefix(c.Hint+"; see throngctl prune --help", "; ")
	}
	return c.Hint
}

// grade describes the result of comparing a figure.
func grade(differ int, alone bool) string {
	switch {
	case alone:
		return "recorded only"
	case differ > 0:
		return engine.FormatCount(int64(differ)) + Plural(differ, " differs", " differ")
	default:
		return "ok"
	}
}

// Audit prints the result of an audit: every figure, or a line for each group and each figure that differs.
func Audit(out io.Writer, r *audit.Report, all bool) error {
	w := NewTable(out)
	fmt.Fprintln(w, "FIGURE\tVALUES\tRECORDED\tRECOMPUTED\t")
	if !all {
		for _, g := range r.Groups() {
			Row(w, "%s\t%s\t\t\t%s\n", g.Name, engine.FormatCount(int64(g.Values)), grade(g.Differ, g.Values == 0))
		}
	}
	for i := range r.Figures {
		f := &r.Figures[i]
		if !all && f.Differ == 0 {
			continue
		}
		verdict := grade(f.Differ, f.Alone)
		if f.Bound != "" {
			verdict += " (within " + f.Bound + ")"
		}
		if f.Where != "" {
			verdict += ": " + f.Where
		}
		Row(w, "%s: %s\t%s\t%s\t%s\t%s\n", f.Group, f.Name, engine.FormatCount(int64(f.Values)), f.Recorded, f.Recomputed, verdict)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(out, "run %s: %s\n", r.Run, r.Summary())
	return nil
}
