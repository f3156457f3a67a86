//go:build unix

package awake

import (
	"os/exec"
	"sync"
)

// holdByChild runs a program until release is called.
func holdByChild(name string, args ...string) (release func(), err error) {
	cmd := exec.Command(name, args...) //nolint:noctx // release ends it
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_ = cmd.Wait() // it is usually killed
	}()
	var once sync.Once
	return func() {
		once.Do(func() {
			_ = cmd.Process.Kill() // it may have ended
			<-gone
		})
	}, nil
}
