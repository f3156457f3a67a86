package app

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/throng-sim/throng/engine"
)

// shownFailures is how many of the agents that failed a summary names; the export has them all.
const shownFailures = 8

// Tell puts a message from outside into the inboxes of the agents with these ids, or of all without any, at the next
// barrier; data is JSON text or empty. It waits until the journal has it.
func (j *Job) Tell(ctx context.Context, ids []string, text, data, who string) error {
	m, err := j.Program.Message(ids, text, data)
	if err != nil {
		return err
	}
	to := "all"
	if len(ids) > 0 {
		to = strings.Join(ids, ", ")
	}
	return j.Run.Inject(ctx, m, to, who)
}

// Find returns the indexes of agents, each named by its id or, where nobody is called so, by its index, which counts from
// 0. They come in the order given.
func (j *Job) Find(agents []string) ([]int, error) {
	indexes := make([]int, len(agents))
	for i, name := range agents {
		found, err := j.Program.Find([]string{name})
		index, notNumber := strconv.Atoi(name)
		switch {
		case err == nil:
			index = found[0]
		case notNumber != nil || index < 0 || index >= j.Program.Agents():
			return nil, err
		}
		indexes[i] = index
	}
	return indexes, nil
}

// Failures names the agents that had a session which failed or timed out, the first of them; "" is that nobody did.
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
		text += fmt.Sprintf(" and %s more; sessions.csv has them all", engine.FormatCount(int64(more)))
	}
	return text, nil
}
