package app

import (
	"context"
	"strconv"
	"strings"

	"github.com/throng-sim/throng/cmd/internal/app/history"
	"github.com/throng-sim/throng/storage/sqlite"
)

// Broadcast puts a message into the inboxes of the agents with the given IDs, or of all agents if there are none, after the
// current cycle. data is JSON text or empty. It returns when the message is in the journal.
func (j *Job) Broadcast(ctx context.Context, ids []string, text, data, who string) error {
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

// Find returns the indexes of agents in the given order. Each is named by its ID or, if no agent has that ID, by its index,
// which counts from 0.
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

// AgentHistory returns the agents of the job's run.
func (j *Job) AgentHistory(store *sqlite.Store) *history.Agents {
	return &history.Agents{Store: store, Record: j.Record, Program: j.Program, Run: j.Run}
}
