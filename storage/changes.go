package storage

import (
	"io"

	"github.com/throng-sim/throng/engine"
)

// ExportChanges writes what was changed mid-run as CSV, in the order given: by whom, from what to what, and why.
func ExportChanges(w io.Writer, changes []engine.ChangeRow) error {
	t, err := newTable(CSV, w, columns("time:time cycle:int what:word old:text new:text who:word why:text"))
	if err != nil {
		return err
	}
	for i := range changes {
		c := &changes[i]
		t.time(c.At)
		t.int(int64(c.Cycle))
		for _, text := range []string{c.What, c.Old, c.New, c.Who, c.Why} {
			t.text(text)
		}
		if err := t.next(); err != nil {
			return err
		}
	}
	return t.flush()
}
