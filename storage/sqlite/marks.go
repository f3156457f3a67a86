package sqlite

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/marks"
	"github.com/throng-sim/throng/storage/sqlite/internal/file"
)

// Note replaces the note of a run.
func (s *runs) Note(ctx context.Context, run engine.RunID, text string) error {
	return s.mark(ctx, "keep the note of", run, "note", text, marks.CheckNote(text))
}

// Rename names a run; "" shows the title of its scenario again.
func (s *runs) Rename(ctx context.Context, run engine.RunID, name string) error {
	name, wrong := marks.CheckName(name)
	return s.mark(ctx, "name", run, "name", name, wrong)
}

// Star sets or removes the star of a run.
func (s *runs) Star(ctx context.Context, run engine.RunID, star bool) error {
	return s.mark(ctx, "star", run, "star", star, nil)
}

// Tag adds and removes tags of a run and returns its tags.
func (s *runs) Tag(ctx context.Context, run engine.RunID, add, remove []string) ([]string, error) {
	r, _, err := s.run(ctx, run)
	if err != nil {
		return nil, err
	}
	tags, wrong := marks.ChangeTags(r.Tags, add, remove)
	text, _ := json.Marshal(append([]string{}, tags...)) // texts can always be encoded
	return tags, s.mark(ctx, "tag", run, "tags", string(text), wrong)
}

// mark changes one column of a run, unless its value is wrong.
func (s *runs) mark(ctx context.Context, doing string, run engine.RunID, column string, value any, wrong error) error {
	key, err := s.key(ctx, run)
	if err = errors.Join(err, wrong); err == nil {
		err = s.file.Write(func(tx file.Tx) error { return tx.Exec(`UPDATE runs SET `+column+` = ? WHERE key = ?`, value, key) })
	}
	if err != nil {
		return fmt.Errorf("%s run %s: %w", doing, run, err)
	}
	return nil
}

// Sizes returns how many bytes each run uses in the store, approximately.
func (s *removal) Sizes(ctx context.Context) (map[engine.RunID]int64, error) {
	all := map[engine.RunID]int64{}
	for _, t := range runTables {
		query := `SELECT r.id, t.bytes FROM (SELECT run, sum(` + t.bytes + `) AS bytes FROM ` + t.name + ` GROUP BY run) t JOIN runs r ON r.key = t.run WHERE NOT r.hidden`
		for rows, err := range s.file.Query(ctx, query) {
			var id string
			var bytes int64
			if err == nil {
				err = rows.Scan(&id, &bytes)
			}
			if err != nil {
				return nil, fmt.Errorf("measure the runs: %w", err)
			}
			all[engine.RunID(id)] += bytes
		}
	}
	return all, nil
}
