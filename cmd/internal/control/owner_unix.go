//go:build unix

package control

import (
	"fmt"
	"os"
	"syscall"
)

// checkOwner makes sure that a folder elsewhere is this user's alone: temporary folders are everybody's, and the name of
// one that is gone can be taken.
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

// closeToOthers lets nobody but this user connect to a socket.
func closeToOthers(socket string) error { return os.Chmod(socket, 0o600) }
