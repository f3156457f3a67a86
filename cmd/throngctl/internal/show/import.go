package show

import (
	"fmt"
	"io"
	"strings"

	"github.com/throng-sim/throng/cmd/internal/app/importing"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/importer"
)

// Limits of the lists of an import.
const (
	mostDropped = 8
	mostNotes   = 10
	mostOpen    = 20
)

// Import shows what an import wrote to a file.
func Import(out io.Writer, d *importer.Draft, s *importing.Saved, file string) error {
	used := 0
	for i := range d.Steps {
		if d.Steps[i].Use {
			used++
		}
	}
	fmt.Fprintf(out, "%s: %s from %s\n", file, engine.Counted(int64(used), "step", "steps"), d.Source)
	if d.Partial != "" {
		fmt.Fprintf(out, "This is a part of the source only: %s\n", d.Partial)
	}
	if m := s.Merged; m != nil {
		mergedList(out, "added", m.Added)
		mergedList(out, "updated", m.Updated)
		mergedList(out, "changed in the source, but kept as you edited them", m.Kept)
		mergedList(out, "no longer in the source", m.Gone)
		if len(m.Added)+len(m.Updated)+len(m.Kept)+len(m.Gone) == 0 {
			fmt.Fprintln(out, "The file has it all already.")
		}
	}
	if err := ImportSteps(out, d, false); err != nil {
		return err
	}
	list(out, "Left out:", len(d.Dropped), mostDropped, func(i int) string {
		x := d.Dropped[i]
		if x.Count > 1 {
			return fmt.Sprintf("%s: %s (%s)", x.Reason, x.What, engine.FormatCount(int64(x.Count)))
		}
		return x.Reason + ": " + x.What
	})
	list(out, "Notes:", len(d.Notes), mostNotes, func(i int) string { return d.Notes[i] })
	mergedList(out, "other files", s.Files)
	mergedList(out, "secrets now in the keychain", s.Kept)
	mergedList(out, "secrets that no keychain could take; set them as environment variables", s.Unkept)
	mergedList(out, "secrets to set (throngctl secret set NAME)", s.Missing)
	list(out, "To decide, marked with unresolved(…) in the file:", len(s.Open), mostOpen, func(i int) string { return s.Open[i] })
	return nil
}

// ImportSteps lists the steps of a draft: those of the journey, and with all the others too.
func ImportSteps(out io.Writer, d *importer.Draft, all bool) error {
	w := NewTable(out)
	n, others := 0, 0
	for i := range d.Steps {
		if s := &d.Steps[i]; s.Use {
			n++
			Row(w, "  %d\t%s\t%s\n", n, s.Name, s.ID)
		}
	}
	for i := range d.Steps {
		s := &d.Steps[i]
		if s.Use {
			continue
		}
		if others++; all {
			Row(w, "  -\t%s\t%s\t%s\n", s.Name, s.ID, strings.Join(s.Notes, " "))
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if others > 0 && !all {
		fmt.Fprintf(out, "%s not in the journey (--list shows them, --journey names others).\n", engine.Counted(int64(others), "operation is", "operations are"))
	}
	return nil
}

func mergedList(out io.Writer, what string, names []string) {
	if len(names) > 0 {
		fmt.Fprintf(out, "%s: %s\n", what, strings.Join(names, ", "))
	}
}

// list prints at most most lines.
func list(out io.Writer, title string, n, most int, line func(i int) string) {
	if n == 0 {
		return
	}
	fmt.Fprintln(out, title)
	for i := range min(n, most) {
		fmt.Fprintf(out, "  %s\n", line(i))
	}
	if n > most {
		fmt.Fprintf(out, "  and %d more\n", n-most)
	}
}
