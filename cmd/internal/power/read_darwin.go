package power

import (
	"context"
	"fmt"
	"os/exec"
)

func read(ctx context.Context) (Source, error) {
	text, err := exec.CommandContext(ctx, "/usr/bin/pmset", "-g", "batt").Output()
	if err != nil {
		return Source{}, fmt.Errorf("%w: %w", ErrUnknown, err)
	}
	return pmset(string(text))
}
