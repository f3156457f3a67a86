package file

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"

	"github.com/throng-sim/throng/engine"
)

// openReadOnly opens an existing file that cannot be written, for example on read-only media. cause is why it cannot be
// written, and is returned if there is no file.
func (f *File) openReadOnly(cause error) error {
	if !errors.Is(cause, engine.ErrNoRoom) || !Exists(f.dir) {
		return cause
	}
	path, keys := f.Path(), "_query_only=on&_stmt_cache_size=64&mode=ro"
	if f.LogSize() > 0 { // reading the log requires writing to its folder
		dir, err := copyToTemp(path)
		if err != nil {
			return errors.Join(cause, err)
		}
		f.Copied, path = dir, filepath.Join(dir, Name)
	} else {
		keys += "&immutable=1"
	}
	f.opened = flock.New(filepath.Join(f.dir, "throng.open")) // never locked
	f.Writer, f.Reader = pool(path, keys, "", 1), pool(path, keys, "", readers)
	version, err := SchemaVersion(f.Reader)
	if newest := NewestVersion(); err == nil && version != newest {
		err = fmt.Errorf("the store is version %d and this Throng reads %d: copy the folder to a place that can be written, and open it there", version, newest)
	}
	if err != nil {
		err = errors.Join(cause, err, f.Reader.Close(), f.Writer.Close())
		if f.Copied != "" {
			err = errors.Join(err, os.RemoveAll(f.Copied))
		}
		return err
	}
	f.readOnly = true
	f.notice = "The data folder cannot be written: its runs can be read and exported. To run or resume, copy the folder to a place that can be written, or choose another with --data."
	return nil
}

// copyToTemp copies a file and its write-ahead log to a new temporary folder.
func copyToTemp(path string) (dir string, err error) {
	if dir, err = os.MkdirTemp("", "throng-look-"); err != nil {
		return "", err
	}
	for _, suffix := range []string{"", "-wal"} {
		if err := Copy(path+suffix, filepath.Join(dir, Name+suffix)); err != nil {
			return "", errors.Join(err, os.RemoveAll(dir))
		}
	}
	return dir, nil
}
