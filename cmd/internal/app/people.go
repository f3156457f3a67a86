package app

import (
	"context"
	"strconv"
	"strings"

	"github.com/throng-sim/throng/cmd/internal/app/history"
	"github.com/throng-sim/throng/storage/sqlite"
)

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

// People are those of the job's run.
func (j *Job) People(store *sqlite.Store) *history.People {
	return &history.People{Store: store, Record: j.Record, Program: j.Program, Run: j.Run}
}
