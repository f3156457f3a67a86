package awake

import (
	"fmt"
	"os"
	"strconv"
)

// hold runs caffeinate(8), which prevents idle sleep. caffeinate ends with this process, also after a crash.
func hold(string) (func(), string, error) {
	release, err := holdByChild("/usr/bin/caffeinate", "-i", "-w", strconv.Itoa(os.Getpid()))
	if err != nil {
		return nil, "", fmt.Errorf("start caffeinate: %w", err)
	}
	return release, "caffeinate", nil
}
