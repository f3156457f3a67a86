package sqlite

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
	// walPages is after how many pages of the write-ahead log they are moved to the file: 16 MB, four times the
	// default, since a busy run writes several MB a second.
	walPages = 4000
	// walBytes is what the log's file is cut back to afterwards. One that is longer was not begun anew in time: there was
	// always somebody who read it.
	walBytes = 32 << 20
	// walMost is how long it may get before people are told.
	walMost = 64 << 20
)

// connector opens connections that all have the same pragmas, also those which the DSN has no key for.
type connector struct {
	dsn string
	sqlite3.SQLiteDriver
}

var _ driver.Connector = (*connector)(nil)

func (c *connector) Connect(context.Context) (driver.Conn, error) { return c.Open(c.dsn) }
func (c *connector) Driver() driver.Driver                        { return &c.SQLiteDriver }

// connect returns a pool of at most n connections to the file. It opens none.
func connect(path string, readOnly bool, n int) *sql.DB {
	keys := "_busy_timeout=5000&_foreign_keys=on&_stmt_cache_size=64&_synchronous=FULL"
	pragmas := fmt.Sprintf("PRAGMA wal_autocheckpoint=%d; PRAGMA journal_size_limit=%d;", walPages, walBytes)
	if readOnly {
		keys += "&mode=ro&_query_only=on"
	} else {
		// What is removed leaves no trace in the file: private answers must not outlive their cycle.
		keys += "&_auto_vacuum=incremental&_journal_mode=WAL&_txlock=immediate&_secure_delete=on"
	}
	if runtime.GOOS == "darwin" { // there, fsync leaves the data in the drive's cache
		pragmas += "PRAGMA fullfsync=1; PRAGMA checkpoint_fullfsync=1;"
	}
	return pool(path, keys, pragmas, n)
}

// pool is a pool of at most n connections that have all these pragmas.
func pool(path, keys, pragmas string, n int) *sql.DB {
	c := &connector{dsn: "file:" + escapedPath(path) + "?" + keys}
	c.ConnectHook = func(conn *sqlite3.SQLiteConn) error {
		_, err := conn.Exec(pragmas, nil)
		return err
	}
	db := sql.OpenDB(c)
	db.SetMaxOpenConns(n)
	db.SetMaxIdleConns(n)
	return db
}

// escapedPath is the path of a file: URI.
func escapedPath(path string) string {
	path = filepath.ToSlash(path)
	if filepath.VolumeName(path) != "" && !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return (&url.URL{Path: path}).EscapedPath()
}
