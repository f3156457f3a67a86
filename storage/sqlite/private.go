package sqlite

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"syscall"
)

// own are the names of what Throng keeps in its data folder.
var own = regexp.MustCompile(`^(throng\..*|\.throng-.*|(settings|prices|calibrations)\.json.*|connectors\.yaml|database-ca\.pem.*|folder|control|crashes|drafts.*|logs|mock|populations|calibrate-.*)$`)

// tighten lets nobody but this user read what is in a data folder: files get the mode 0600 and folders 0700, or less where
// they had less, whatever the umask is. Where a person keeps other things in the folder too, those stay as they are, and so
// does the folder itself.
func tighten(dir string) error {
	if runtime.GOOS == "windows" { // which has no modes; the folder is the user's own
		return nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	alone := true
	var errs []error
	for _, entry := range entries {
		if !own.MatchString(entry.Name()) {
			alone = false
			continue
		}
		errs = append(errs, filepath.WalkDir(filepath.Join(dir, entry.Name()), func(path string, e fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			return narrow(path, e)
		}))
	}
	if info, err := os.Lstat(dir); err == nil && alone {
		errs = append(errs, narrow(dir, fs.FileInfoToDirEntry(info)))
	}
	return errors.Join(errs...)
}

// narrow takes from a file or folder what others may do with it. A link is left alone, and so is what is gone, another
// user's, or on a disk that cannot be written.
func narrow(path string, e fs.DirEntry) error {
	mode := fs.FileMode(0o600)
	switch {
	case e.IsDir():
		mode = 0o700
	case !e.Type().IsRegular():
		return nil
	}
	info, err := e.Info()
	if err == nil && info.Mode().Perm()&^mode != 0 {
		err = os.Chmod(path, info.Mode().Perm()&mode)
	}
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return nil
	}
	return err
}

// makePrivate makes an empty file that only this user can read, if there is none: SQLite would make it by the umask, and
// its log after it.
func makePrivate(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(f.Chmod(0o600), f.Close())
}
