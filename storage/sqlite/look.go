package sqlite

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"

	"github.com/throng-sim/throng/engine"
)

// errLookOnly is the error of whatever would write to a store that can only be looked at.
var errLookOnly = &unwritable{errors.New("the data folder cannot be written, so that its runs can only be looked at: " +
	"copy it to a place that can be written, or choose another with --data")}

// look opens a store that cannot be written, as on read-only media, to be looked at. cause is why it cannot; it is returned
// where there is nothing to look at.
func (s *Store) look(cause error) error {
	if !errors.Is(cause, engine.ErrNoRoom) || !Exists(s.dir) {
		return cause
	}
	path, keys := s.path(), "_query_only=on&_stmt_cache_size=64&mode=ro"
	if size(path+"-wal") > 0 { // what is only in the log cannot be read without writing beside it
		dir, err := copiedStore(path)
		if err != nil {
			return errors.Join(cause, err)
		}
		s.copied, path = dir, filepath.Join(dir, fileName)
	} else {
		keys += "&immutable=1"
	}
	s.opened = flock.New(filepath.Join(s.dir, "throng.open")) // never taken
	s.writer, s.reader = pool(path, keys, "", 1), pool(path, keys, "", readers)
	version, err := schemaVersion(s.reader)
	if newest := newestVersion(); err == nil && version != newest {
		err = fmt.Errorf("the store is version %d and this Throng reads %d: copy the folder to a place that can be written, and open it there", version, newest)
	}
	if err != nil {
		err = errors.Join(cause, err, s.reader.Close(), s.writer.Close())
		if s.copied != "" {
			err = errors.Join(err, os.RemoveAll(s.copied))
		}
		return err
	}
	s.lookOnly = true
	s.notice = "The data folder cannot be written: its runs can be looked at and exported. To run or resume, copy the folder to a place that can be written, or choose another with --data."
	return nil
}

// copiedStore copies a store and its write-ahead log to a folder of its own.
func copiedStore(path string) (dir string, err error) {
	if dir, err = os.MkdirTemp("", "throng-look-"); err != nil {
		return "", err
	}
	for _, suffix := range []string{"", "-wal"} {
		if err := copyFile(filepath.Join(dir, fileName+suffix), path+suffix); err != nil {
			return "", errors.Join(err, os.RemoveAll(dir))
		}
	}
	return dir, nil
}

func copyFile(to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return errors.Join(err, in.Close())
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, in.Close(), out.Close())
}
