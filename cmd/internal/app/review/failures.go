package review

import (
	"fmt"
	"strings"

	"github.com/throng-sim/throng/engine"
)

// shownFailures bounds the failed agents that a summary names. The export lists all of them.
const shownFailures = 8

// Failures names the first agents with failed or timed-out sessions; "" if there are none.
func Failures(t *engine.Totals, name func(index int) (string, error)) (string, error) {
	first, all := t.Failures(shownFailures)
	if all == 0 {
		return "", nil
	}
	names := make([]string, len(first))
	for i, agent := range first {
		var err error
		if names[i], err = name(agent); err != nil {
			return "", err
		}
	}
	text := engine.FormatCount(int64(all)) + ": " + strings.Join(names, ", ")
	if more := all - len(first); more > 0 {
		text += fmt.Sprintf(" and %s more; sessions.csv lists all of them", engine.FormatCount(int64(more)))
	}
	return text, nil
}
