package storage

import (
	"io"

	"github.com/throng-sim/throng/engine"
)

// ExportChanges writes the changes of a run as CSV, in the given order: what changed, the old and new value, who changed it
// and why.
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
