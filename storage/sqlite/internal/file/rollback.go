package file

import (
	"errors"

	"github.com/mattn/go-sqlite3"
)

// needsRollback reports whether a process was killed while it created the file. Its transaction must be rolled back by a
// connection that can write before the file can be read.
func needsRollback(err error) bool {
	var e sqlite3.Error
	return errors.As(err, &e) && e.ExtendedCode == sqlite3.ErrReadonlyRollback
}

// rollBack rolls back what a killed process began, and returns the version of the schema after it.
func rollBack(path string) (version int64, err error) {
	db := Connect(path, false, 1)
	version, err = SchemaVersion(db)
	return version, errors.Join(err, db.Close())
}
