package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/throng-sim/throng/cmd/throngctl/internal/answer"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage/sqlite"
)

// noteCmd shows or changes the note of a run.
type noteCmd struct {
	jsonFlag
	RunID string   `arg:"" name:"run" help:"Run ID or its beginning, or a name."`
	Text  []string `arg:"" optional:"" help:"New note, replacing the old one; \"\" removes it (default: show the note)."`
}

// Run is called by kong.
func (c *noteCmd) Run(ctx context.Context, t *terminal) error {
	return t.with(ctx, c.RunID, func(store *sqlite.Store, r engine.RunRecord) error {
		if len(c.Text) > 0 {
			r.Note = strings.Join(c.Text, " ")
			if err := store.Note(ctx, r.ID, r.Note); err != nil || !t.json {
				return err
			}
		}
		if t.json {
			return t.print(answer.Note{Run: r.ID, Note: r.Note})
		}
		if r.Note == "" {
			fmt.Fprintf(t.out, "Run %s has no note.\n", r.ID)
			return nil
		}
		fmt.Fprintln(t.out, r.Note)
		return nil
	})
}
