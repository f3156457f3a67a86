package sqlite

import (
	"errors"

	"github.com/mattn/go-sqlite3"
)

// begun reports whether err says that a process was killed as it made the file: what it had begun is to be taken back
// before anybody can read the file, by somebody who may write.
func begun(err error) bool {
	var e sqlite3.Error
	return errors.As(err, &e) && e.ExtendedCode == sqlite3.ErrReadonlyRollback
}

// undo takes back what was begun, and returns the version of the schema that is left.
func (s *Store) undo() (version int64, err error) {
	db := connect(s.path(), false, 1)
	version, err = schemaVersion(db)
	return version, errors.Join(err, db.Close())
}
