//go:build !windows

package cmdline

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// errTaken is returned if there is a file where the link would be.
var errTaken = errors.New("it is not a link, so it is kept. Move it to another folder, then try again")

// Install links the program in a folder on PATH and says so. If it may not write to such a folder, it returns the command that the
// user can type.
func (t *Tool) Install(context.Context) (text, command string, err error) {
	if strings.Contains(t.program, "/AppTranslocation/") || strings.HasPrefix(t.program, "/Volumes/") { // macOS removes these
		return "", "", errors.New("the program runs from the disk image. Move it to the Applications folder, start it there, then try again")
	}
	for i, dir := range t.folders {
		if !t.leads(dir) {
			continue
		}
		if i > 0 { // the user's own
			_ = os.MkdirAll(dir, 0o755) // otherwise the link fails
		}
		to := filepath.Join(dir, Name)
		switch err := link(t.program, to); {
		case errors.Is(err, errTaken):
			return "", "", fmt.Errorf("%s exists: %w", to, err)
		case err == nil:
			return fmt.Sprintf("Linked %s to %s.\nOpen a terminal and type %s.%s", to, t.program, Name, t.shadow()), "", nil
		}
	}
	dir := t.folders[0]
	command = "sudo ln -sf " + quoted(t.program) + " " + quoted(filepath.Join(dir, Name))
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		command = "sudo mkdir -p " + quoted(dir) + " && " + command
	}
	return "Throng may not write to a folder on PATH. To install " + Name + ", type this in a terminal:", command, nil
}

// link makes or replaces a link.
func link(program, to string) error {
	if info, err := os.Lstat(to); err == nil && info.Mode()&fs.ModeSymlink == 0 {
		return errTaken
	}
	part := fmt.Sprintf("%s.%d", to, os.Getpid())
	if err := os.Symlink(program, part); err != nil {
		return err
	}
	if err := os.Rename(part, to); err != nil {
		return errors.Join(err, os.Remove(part))
	}
	return nil
}

// quoted quotes a path for a shell.
func quoted(path string) string {
	if strings.ContainsFunc(path, func(r rune) bool {
		return !strings.ContainsRune("/._-+", r) && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}) {
		return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
	}
	return path
}
