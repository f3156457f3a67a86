package sqlite

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
)

// TestDamagedSchemaEndsTheJournal damages the schema during a run, and checks that the journal ends instead of waiting
// for an error that waiting does not fix.
func TestDamagedSchemaEndsTheJournal(t *testing.T) {
	for _, damage := range []string{
		`DROP TABLE changes`, `ALTER TABLE changes RENAME COLUMN why TO because`,
		`INSERT INTO changes (pos, run, at, cycle, what, old, new, who, why) SELECT next + 1, 1, 0, 0, '', '', '', '', '' FROM positions`,
	} {
		t.Run(damage, func(t *testing.T) {
			s := openStore(t, t.TempDir(), Options{Logger: quiet(), RetryEvery: time.Hour, CommitEvery: time.Millisecond})
			defer closeStore(t, s)
			j := newRun(t, s, "r")
			if err := j.Commit(t.Context(), engine.ChangeRow{}); err != nil {
				t.Fatal(err)
			}
			statement(t, s, damage)
			for range 3 { // the position of the third is taken
				j.Append(engine.ChangeRow{Cycle: 1})
			}
			err := j.Commit(context.Background(), engine.ChangeRow{Cycle: 2})
			if !errors.Is(err, engine.ErrDamaged) || !strings.Contains(err.Error(), "are kept") {
				t.Errorf("got %v, want that it is damaged, and what to do", err)
			}
			if err := <-j.Trouble(); !errors.Is(err, engine.ErrDamaged) {
				t.Errorf("the run receives %v", err)
			}
			if err := j.Close(t.Context()); !errors.Is(err, engine.ErrDamaged) {
				t.Errorf("closing: %v", err)
			}
		})
	}
}
