package sqlite

import (
	"database/sql"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/throng-sim/throng/storage/sqlite/internal/file"
)

// cutShort creates the files of a process that was killed while it created the store: the first page, and a rollback journal
// that says that the file was empty.
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
	journal := []byte("\xd9\xd5\x05\xf9\x20\xa1\x63\xd7") // identifies a journal of SQLite
	for _, v := range []uint32{
		0,    // pages in it
		1,    // checksum, without pages
		0,    // size of the file in pages
		512,  // size of a sector in bytes
		4096, // size of a page in bytes
	} {
		journal = binary.BigEndian.AppendUint32(journal, v)
	}
	write(t, path+"-journal", append(journal, make([]byte, 512-len(journal))...))
}

// TestOpenCutShort checks that a store whose creation was interrupted is created again at the next start.
func TestOpenCutShort(t *testing.T) {
	dir := t.TempDir()
	cutShort(t, dir)
	s, err := Open(dir, Options{Logger: quiet()})
	if err != nil {
		t.Fatal(err)
	}
	newRun(t, s, "r")
	if got := ask[int](t, s.file.Reader, `PRAGMA user_version`); got != 0 {
		t.Error("the interrupted changes still exist")
	}
	if s.Notice() != "" {
		t.Errorf("got the notice %q, want none: nothing was lost", s.Notice())
	}
	closeStore(t, s)
	if _, err := os.Stat(filepath.Join(dir, file.Name+"-journal")); err == nil {
		t.Error("the journal still exists")
	}
}
