package sqlite

import (
	"database/sql"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/throng-sim/throng/storage/sqlite/internal/file"
)

// cutShort leaves in dir what a process does that is killed as it makes the file: its first page, and beside it the journal
// that says that there was none before.
func cutShort(t *testing.T, dir string) {
	t.Helper()
	path := filepath.Join(dir, file.Name)
	db, err := sql.Open("sqlite3", "file:"+file.EscapedPath(path))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), `PRAGMA user_version = 1`); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	journal := []byte("\xd9\xd5\x05\xf9\x20\xa1\x63\xd7") // by which SQLite knows one
	for _, v := range []uint32{
		0,    // pages in it
		1,    // of the checksums, of which there are none
		0,    // pages that the file had
		512,  // bytes of a sector
		4096, // bytes of a page
	} {
		journal = binary.BigEndian.AppendUint32(journal, v)
	}
	write(t, path+"-journal", append(journal, make([]byte, 512-len(journal))...))
}

// TestOpenCutShort is that a store whose making was killed is made anew at the next start.
func TestOpenCutShort(t *testing.T) {
	dir := t.TempDir()
	cutShort(t, dir)
	s, err := Open(dir, Options{Logger: quiet()})
	if err != nil {
		t.Fatal(err)
	}
	newRun(t, s, "r")
	if got := ask[int](t, s.file.Reader, `PRAGMA user_version`); got != 0 {
		t.Error("what was begun is still there")
	}
	if s.Notice() != "" {
		t.Errorf("got the notice %q, want none: nothing was lost", s.Notice())
	}
	closeStore(t, s)
	if _, err := os.Stat(filepath.Join(dir, file.Name+"-journal")); err == nil {
		t.Error("the journal is still there")
	}
}
