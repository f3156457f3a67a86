package calibration

import (
	"fmt"
	"os"

	"github.com/throng-sim/throng/engine/scratch"
)

const scratchPrefix = "calibrate-"

// Scratch creates a temporary folder in the data folder; leave removes it. It also removes the folders of dead processes.
func Scratch(data string) (dir string, leave func() error, err error) {
	if err := os.MkdirAll(data, 0o700); err != nil {
		return "", nil, fmt.Errorf("create a store for the measurements: %w", err)
	}
	f, err := scratch.New(data, scratchPrefix)
	if err != nil {
		return "", nil, fmt.Errorf("create a store for the measurements: %w", err)
	}
	return f.Path, f.Remove, nil
}
