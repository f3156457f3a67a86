package sqlite

import (
	"testing"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage/sqlite/internal/file"
)

// TestSweepLeavesNoAnswerAlone interrupts a sweep between two pieces, where the later one has the answers to the earlier
// one.
func TestSweepLeavesNoAnswerAlone(t *testing.T) {
	s := openStore(t, t.TempDir(), Options{Logger: quiet()})
	defer closeStore(t, s)
	j := newRun(t, s, "r")
	j.settings.KeepShare = 0
	if err := j.Commit(t.Context(), engine.IntentRow{Place: engine.Place{Agent: 1}, Path: "a"}); err != nil {
		t.Fatal(err)
	}
	if err := s.file.Write(func(tx file.Tx) error {
		return tx.Exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2 * ?)
			INSERT INTO requests (run, pos, cycle, kept, count, data) SELECT run, pos + i, cycle, kept, count, data FROM requests, n`, maintenanceRows)
	}); err != nil {
		t.Fatal(err)
	}
	first := ask[int64](t, s.file.Reader, `SELECT min(pos) FROM requests`)
	var rest maintenance = &sweep{journal: j, upTo: 0}
	if err := s.file.Write(func(tx file.Tx) (err error) {
		rest, err = rest.piece(tx)
		return err
	}); err != nil || rest == nil {
		t.Fatalf("a piece left %v, %v", rest, err)
	}
	n, least, most := ask[int64](t, s.file.Reader, `SELECT count(*) FROM requests`), ask[int64](t, s.file.Reader, `SELECT min(pos) FROM requests`), ask[int64](t, s.file.Reader, `SELECT max(pos) FROM requests`)
	if n == 0 || least != first || most != first+n-1 {
		t.Errorf("%d rows are left, from %d to %d of those from %d on", n, least, most, first)
	}
}
