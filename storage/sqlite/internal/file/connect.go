package file

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"net/url"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/mattn/go-sqlite3"
)

const (
	// LogPages is the number of pages after which the write-ahead log is moved into the file: 16 MB, four times the default,
	// because a busy run writes several megabytes a second.
	LogPages = 4000
	// LogBytes is the size to which the log is truncated after that. A longer log could not be restarted because of
	// continuous reads.
	LogBytes = 32 << 20
	// LogWarning is the size of the log at which the user is warned.
	LogWarning = 64 << 20
)

// connector opens connections with the same pragmas, including those that have no key in the DSN.
type connector struct {
	dsn string
	sqlite3.SQLiteDriver
}

var _ driver.Connector = (*connector)(nil)

func (c *connector) Connect(context.Context) (driver.Conn, error) { return c.Open(c.dsn) }
func (c *connector) Driver() driver.Driver                        { return &c.SQLiteDriver }

// Connect returns a pool of at most n connections to the file. They are opened when they are used.
func Connect(path string, readOnly bool, n int) *sql.DB {
	keys := "_busy_timeout=5000&_foreign_keys=on&_stmt_cache_size=64&_synchronous=FULL"
	pragmas := fmt.Sprintf("PRAGMA wal_autocheckpoint=%d; PRAGMA journal_size_limit=%d;", LogPages, LogBytes)
	if readOnly {
		keys += "&mode=ro&_query_only=on"
	} else {
		// Deleted rows are overwritten: private answers must not outlive their cycle.
		keys += "&_auto_vacuum=incremental&_journal_mode=WAL&_txlock=immediate&_secure_delete=on"
	}
	if runtime.GOOS == "darwin" { // fsync leaves the data in the drive's cache there
		pragmas += "PRAGMA fullfsync=1; PRAGMA checkpoint_fullfsync=1;"
	}
	return pool(path, keys, pragmas, n)
}

// pool returns a pool of at most n connections with these keys of the DSN and pragmas.
func pool(path, keys, pragmas string, n int) *sql.DB {
	c := &connector{dsn: "file:" + EscapedPath(path) + "?" + keys}
	c.ConnectHook = func(conn *sqlite3.SQLiteConn) error {
		_, err := conn.Exec(pragmas, nil)
		return err
	}
	db := sql.OpenDB(c)
	db.SetMaxOpenConns(n)
	db.SetMaxIdleConns(n)
	return db
}

// EscapedPath returns the path of a file: URI.
func EscapedPath(path string) string {
	path = filepath.ToSlash(path)
	if filepath.VolumeName(path) != "" && !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return (&url.URL{Path: path}).EscapedPath()
}
