package sqlite

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage/sqlite/internal/file"
)

// readFile returns the contents of a file.
func readFile(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func closeStore(t testing.TB, s *Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// statement runs statements on the writer.
func statement(t testing.TB, s *Store, statements ...string) {
	t.Helper()
	for _, q := range statements {
		if _, err := s.file.Writer.ExecContext(t.Context(), q); err != nil {
			t.Fatalf("%s: %v", q, err)
		}
	}
}

// ask returns the single value of a query.
func ask[T any](t testing.TB, db *sql.DB, query string, args ...any) (v T) {
	t.Helper()
	if err := db.QueryRowContext(t.Context(), query, args...).Scan(&v); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return v
}

func TestOpenRefusesNewer(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir, Options{Logger: quiet()})
	newRun(t, s, "r")
	statement(t, s, `INSERT INTO goose_db_version (version_id, is_applied) VALUES (999, 1)`)
	closeStore(t, s)
	before := readFile(t, s.file.Path())

	_, err := Open(dir, Options{Logger: quiet()})
	if !errors.Is(err, engine.ErrNewer) || !strings.Contains(err.Error(), "version 999") {
		t.Errorf("got %v, want ErrNewer and the version", err)
	}
	if !bytes.Equal(readFile(t, s.file.Path()), before) {
		t.Error("the file was changed")
	}
	if kept, _ := filepath.Glob(filepath.Join(dir, "*damaged*")); len(kept) > 0 {
		t.Errorf("the file was renamed: %v", kept)
	}
}

func TestOpenSetsDamagedAside(t *testing.T) {
	sound := func(t *testing.T, dir string) string {
		s := openStore(t, dir, Options{Logger: quiet()})
		for i := range 50 {
			newRun(t, s, engine.RunID(fmt.Sprint("run-", i)))
		}
		closeStore(t, s)
		return s.file.Path()
	}
	for _, c := range []struct {
		name   string
		damage func(t *testing.T, dir, path string)
	}{
		{"no database", func(t *testing.T, _, path string) {
			write(t, path, []byte(strings.Repeat("not a database ", 100)))
		}},
		{"truncated header", func(t *testing.T, dir, path string) {
			write(t, path, readFile(t, sound(t, dir))[:50])
		}},
		{"broken schema", func(t *testing.T, dir, path string) {
			data := readFile(t, sound(t, dir))
			copy(data[100:], bytes.Repeat([]byte{0xee}, 3000))
			write(t, path, data)
		}},
		{"a broken page of a file that was not closed", func(t *testing.T, dir, path string) {
			data := readFile(t, sound(t, dir))
			copy(data[len(data)-4096:], bytes.Repeat([]byte{0xee}, 4096)) // of runs, which opening does not read
			write(t, path, data)
			write(t, path+"-wal", []byte("left over"))
		}},
		{"broken pages of a file that was closed", func(t *testing.T, dir, path string) {
			s := openStore(t, dir, Options{Logger: quiet()})
			page := ask[int](t, s.file.Reader, `SELECT rootpage FROM sqlite_master WHERE name = 'positions'`)
			closeStore(t, s)
			data := readFile(t, path)
			copy(data[(page-1)*4096:], bytes.Repeat([]byte{0xee}, 4096))
			write(t, path, data)
		}},
		{"another program's", func(t *testing.T, _, path string) {
			db := file.Connect(path, false, 1)
			if _, err := db.ExecContext(t.Context(), `CREATE TABLE bookmarks (url TEXT)`); err != nil {
				t.Fatal(err)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, file.Name)
			c.damage(t, dir, path)
			before := readFile(t, path)
			s, err := Open(dir, Options{Logger: quiet()})
			if err != nil {
				t.Fatal(err)
			}
			defer closeStore(t, s)
			kept, err := filepath.Glob(path + ".damaged-*Z")
			if err != nil || len(kept) != 1 {
				t.Fatalf("got %v, %v, want one renamed file", kept, err)
			}
			if c.name != "broken pages of a file that was closed" && !bytes.Equal(readFile(t, kept[0]), before) { // found at the first write
				t.Error("the renamed file differs from the damaged one")
			}
			if !strings.Contains(s.Notice(), filepath.Base(kept[0])) {
				t.Errorf("the notice does not name the file: %s", s.Notice())
			}
			newRun(t, s, "r") // the new store works
		})
	}
}

func write(t testing.TB, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestOpenLeavesDamagedInUse(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir, Options{Logger: quiet()})
	defer closeStore(t, s)
	newRun(t, s, "r")
	// A copy of the folder as another process sees it, without the header.
	file, err := os.OpenFile(s.file.Path(), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := file.Close(); err != nil {
			t.Error(err)
		}
	}()
	head := readFile(t, s.file.Path())[:16]
	if _, err := file.WriteAt([]byte("not a database"), 0); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, Options{Logger: quiet()}); !errors.Is(err, engine.ErrInUse) {
		t.Errorf("got %v, want ErrInUse", err)
	}
	if _, err := file.WriteAt(head, 0); err != nil {
		t.Fatal(err)
	}
}

func TestOpenTwice(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a folder", "50% of #1?")
	first := openStore(t, dir, Options{Logger: quiet()})
	defer closeStore(t, first)
	newRun(t, first, "r")
	second := openStore(t, dir, Options{Logger: quiet()})
	defer closeStore(t, second)
	if runs, err := second.Runs(t.Context()); err != nil || len(runs) != 1 {
		t.Errorf("got %v, %v, want the run of the first store", runs, err)
	}
	if err := second.Create(t.Context(), engine.RunRecord{ID: "other"}); err != nil {
		t.Errorf("the second store cannot write: %v", err)
	}
	if _, err := first.Run(t.Context(), "other"); err != nil {
		t.Errorf("the first store does not see the rows of the second: %v", err)
	}
}

// TestOpenConcurrently opens a new store from several goroutines.
func TestOpenConcurrently(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			s, err := Open(dir, Options{Logger: quiet()})
			if err != nil {
				t.Error(err)
				return
			}
			if err := errors.Join(s.Create(t.Context(), engine.RunRecord{ID: engine.RunID(fmt.Sprint(i))}), s.Close()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	s := openStore(t, dir, Options{Logger: quiet()})
	defer closeStore(t, s)
	if runs, err := s.Runs(t.Context()); err != nil || len(runs) != 8 {
		t.Errorf("got %d runs, %v, want 8", len(runs), err)
	}
}

func TestOpenNoFolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	write(t, path, nil)
	_, err := Open(filepath.Join(path, "data"), Options{Logger: quiet()})
	if !errors.Is(err, engine.ErrNoRoom) || !strings.Contains(err.Error(), "choose another data folder") {
		t.Errorf("got %v, want ErrNoRoom and what to do", err)
	}
	if strings.Contains(err.Error(), "no room") {
		t.Errorf("a file in place of the folder is reported as a full disk: %v", err)
	}
	if full := file.FolderError(&fs.PathError{Op: "open", Path: "x", Err: syscall.ENOSPC}); !errors.Is(full, engine.ErrNoRoom) || !strings.Contains(full.Error(), "free some space") {
		t.Errorf("a full disk: %v", full)
	}
}

// TestPragmas checks that every connection of both pools has the settings that durability requires.
func TestPragmas(t *testing.T) {
	s := openStore(t, t.TempDir(), Options{Logger: quiet()})
	defer closeStore(t, s)
	want := map[string]string{
		"journal_mode": "wal", "synchronous": "2", "foreign_keys": "1", "busy_timeout": "5000",
		"wal_autocheckpoint": fmt.Sprint(file.LogPages), "journal_size_limit": fmt.Sprint(file.LogBytes), "auto_vacuum": "2",
	}
	for name, pool := range map[string]*sql.DB{"writer": s.file.Writer, "reader": s.file.Reader} {
		var conns []*sql.Conn
		for range pool.Stats().MaxOpenConnections {
			c, err := pool.Conn(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			conns = append(conns, c)
			for pragma, value := range want {
				var got string
				if err := c.QueryRowContext(t.Context(), "PRAGMA "+pragma).Scan(&got); err != nil || got != value {
					t.Errorf("%s: %s is %s, %v, want %s", name, pragma, got, err, value)
				}
			}
		}
		for _, c := range conns {
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	if _, err := s.file.Reader.ExecContext(t.Context(), `DELETE FROM runs`); err == nil {
		t.Error("the readers can write")
	}
}
