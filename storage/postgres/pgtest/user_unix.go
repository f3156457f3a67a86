//go:build unix

package pgtest

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
)

// other is the user that runs the servers if this process is root; otherwise "".
func other() string {
	if os.Getuid() != 0 {
		return ""
	}
	for _, name := range []string{"postgres", "nobody"} {
		if _, err := user.Lookup(name); err == nil {
			return name
		}
	}
	return ""
}

// asOther returns the beginning of a command that runs as another user than root.
func asOther() []string {
	name := other()
	if name == "" {
		return nil
	}
	u, err := user.Lookup(name)
	if err != nil {
		return nil
	}
	if _, err := exec.LookPath("setpriv"); err == nil {
		return []string{"setpriv", "--reuid=" + u.Uid, "--regid=" + u.Gid, "--clear-groups"}
	}
	return []string{"sudo", "-u", name}
}

// giveAway changes the owner of the files in a folder to the user that runs the servers.
func giveAway(dir string) error {
	name := other()
	if name == "" {
		return nil
	}
	u, err := user.Lookup(name)
	if err != nil {
		return err
	}
	uid, err := strconv.Atoi(u.Uid)
	if err != nil {
		return fmt.Errorf("user %s: %w", name, err)
	}
	gid, err := strconv.Atoi(u.Gid)
	if err != nil {
		return fmt.Errorf("user %s: %w", name, err)
	}
	return filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, uid, gid)
	})
}
