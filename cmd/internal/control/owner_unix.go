//go:build unix

package control

import (
	"fmt"
	"os"
	"syscall"
)

// checkOwner checks that a folder outside the data folder belongs to this user alone. All users can write to the folder for
// temporary files, and another user may have created a folder of the same name.
func checkOwner(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || !info.IsDir() || info.Mode().Perm()&0o077 != 0 || int(stat.Uid) != os.Geteuid() {
		return fmt.Errorf("%s is not this user's alone: nothing is sent there", dir)
	}
	return nil
}

// closeToOthers allows only this user to connect to a socket.
func closeToOthers(socket string) error { return os.Chmod(socket, 0o600) }
