package experiments

import (
	"bytes"
	"fmt"
	"os"

	"github.com/throng-sim/throng/cmd/internal/app/authoring"
	"github.com/throng-sim/throng/engine/experiment"
)

// Extend writes additions into the file of an experiment and returns it. Everything else in the file stays. An execution in progress adds
// the runs. If the result would have mistakes, they are the error, and the file stays as it is. data is the data folder.
func Extend(data, file string, c experiment.Changes) (*experiment.Experiment, error) {
	e, err := Read(data, file)
	if err != nil {
		return nil, err
	}
	was, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	text, err := e.Extend(file, was, c)
	if err != nil {
		return nil, err
	}
	if e, err = readAs(data, file, text); err != nil {
		return nil, fmt.Errorf("the file was not changed: %w", err)
	}
	if now, err := os.ReadFile(file); err != nil || !bytes.Equal(now, was) {
		return nil, fmt.Errorf("%s changed in the meantime; nothing was written: try again", file)
	}
	return e, authoring.Replace(file, text)
}
