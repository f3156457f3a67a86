package sqlite

import (
	"math/rand/v2"
	"testing"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage/sqlite/internal/file"
)

// TestDeletionsAreInShortTransactions deletes 60 MB of memory, and looks at the write-ahead log meanwhile: other processes cannot write
// during a transaction, which may last for many seconds on a slow disk.
func TestDeletionsAreInShortTransactions(t *testing.T) {
	const agents, each = 1000, 50_000
	for name, remove := range map[string]func(s *Store) error{
		"run":        func(s *Store) error { return s.Delete(t.Context(), "r") },
		"checkpoint": func(s *Store) error { return s.DeleteCheckpoints(t.Context(), "r", []int{1}) },
	} {
		t.Run(name, func(t *testing.T) {
			var s *Store
			longest := int64(0)
			s = openStore(t, t.TempDir(), Options{Logger: quiet(), OnCommit: func(int64) {
				longest = max(longest, s.file.LogSize())
			}})
			<-s.tidied
			j := newRun(t, s, "r")
			random := rand.New(rand.NewPCG(1, 1))
			for range 2 {
				row := engine.CheckpointRow{Memory: map[int]*engine.Memory{}}
				for agent := range agents {
					text := make([]byte, each)
					for i := range text {
						text[i] = byte('a' + random.IntN(26))
					}
					row.Memory[agent] = &engine.Memory{Notes: [][]byte{text}}
				}
				j.Append(row)
			}
			if err := j.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			if !s.file.EmptyLog() {
				t.Fatal("the log cannot be emptied")
			}
			if longest = 0; remove(s) != nil {
				t.Fatal("it cannot be deleted")
			}
			if most := int64(file.LogPages*file.PageSize + 8<<20); longest > most {
				t.Errorf("the log grew to %d bytes, want at most %d", longest, most)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
