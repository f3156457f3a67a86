package file

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"syscall"
)

// ownNames matches the files and folders that Throng creates in its data folder.
var ownNames = regexp.MustCompile(`^(throng\..*|\.throng-.*|(settings|prices|calibrations)\.json.*|connectors\.yaml|database-ca\.pem.*|folder|claims|control|crashes|drafts.*|logs|mock|populations|calibrate-.*)$`)

// restrict makes the contents of a data folder readable by this user only: it removes all permissions beyond 0600 of files
// and 0700 of folders. Files that Throng did not create keep their mode, and then so does the folder itself.
func restrict(dir string) error {
	if runtime.GOOS == "windows" { // it has no modes, and the folder belongs to the user
		return nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	alone := true
	var errs []error
	for _, entry := range entries {
		if !ownNames.MatchString(entry.Name()) {
			alone = false
			continue
		}
		errs = append(errs, filepath.WalkDir(filepath.Join(dir, entry.Name()), func(path string, e fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			return restrictMode(path, e)
		}))
	}
	if info, err := os.Lstat(dir); err == nil && alone {
		errs = append(errs, restrictMode(dir, fs.FileInfoToDirEntry(info)))
	}
	return errors.Join(errs...)
}

// restrictMode removes the permissions of other users from a file or folder. It skips links, and files that are missing,
// owned by another user, or on a read-only disk.
func restrictMode(path string, e fs.DirEntry) error {
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

// createPrivate creates an empty file that only this user can read, unless it exists. SQLite would create it with the umask,
// and its log with the same mode.
func createPrivate(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(f.Chmod(0o600), f.Close())
}
