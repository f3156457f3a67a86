package sqlite

import (
	"testing"

	"github.com/throng-sim/throng/storage/sqlite/internal/file"
)

// TestPositionsOfTwoProcesses reserves positions from two processes: no position is used twice, except those of a
// transaction that was not committed.
func TestPositionsOfTwoProcesses(t *testing.T) {
	dir := t.TempDir()
	stores := [...]*Store{openStore(t, dir, Options{}), openStore(t, dir, Options{})}
	for _, s := range stores {
		defer func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}()
	}
	want := int64(0)
	reserve := func(s *Store, n int64, fails error) {
		t.Helper()
		var first int64
		err := s.file.Write(func(tx file.Tx) (err error) {
			if first, err = tx.Positions(n); err == nil {
				err = fails
			}
			return err
		})
		switch {
		case err != nil && fails == nil:
			t.Fatal(err)
		case want > 0 && first != want:
			t.Errorf("reserving %d positions returned %d, want %d", n, first, want)
		}
		if want = first; fails == nil {
			want += n
		}
	}
	for n, of := range []int{0, 0, 1, 0, 1, 1, 0} {
		reserve(stores[of], int64(n+1), nil)
		reserve(stores[1-of], 3, errClosed)
	}
}
