//go:build !unix

package crash

import "os"

// alive reports whether a process with this ID exists.
func alive(pid int) bool {
	p, err := os.FindProcess(pid)
	if err == nil {
		_ = p.Release()
	}
	return err == nil
}
