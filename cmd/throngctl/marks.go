package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/throng-sim/throng/cmd/throngctl/internal/answer"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage/sqlite"
)

// nameCmd names a run.
type nameCmd struct {
	jsonFlag
	RunID string   `arg:"" name:"run" help:"Run ID or its beginning, or a name."`
	Text  []string `arg:"" optional:"" help:"New name; \"\" restores the title of the scenario (default: show the name)."`
}

// Run is called by kong.
func (c *nameCmd) Run(ctx context.Context, t *terminal) error {
	return t.with(ctx, c.RunID, func(store *sqlite.Store, r engine.RunRecord) error {
		if len(c.Text) > 0 {
			if err := store.Rename(ctx, r.ID, strings.Join(c.Text, " ")); err != nil {
				return err
			}
		}
		return t.showMarks(ctx, store, r.ID, func(r *engine.RunRecord) string { return r.DisplayName() })
	})
}

// tagCmd adds and removes tags of a run.
type tagCmd struct {
	jsonFlag
	RunID   string   `arg:"" name:"run" help:"Run ID or its beginning, or a name."`
	Changes []string `arg:"" optional:"" name:"change" help:"+TAG or TAG to add a tag, -TAG to remove one (default: show the tags)."`
}

// minusTag replaces the - of a tag to remove, because a parser takes -TAG for flags. No tag contains it.
const minusTag = "\u2212"

// tagChanges marks the tags to remove in a command line such as tag RUN +a -b. Flags before RUN, and long flags, stay flags.
func tagChanges(args []string) []string {
	if args[0] != "tag" {
		return args
	}
	out, given := slices.Clone(args), 0
	for i := 1; i < len(out); i++ {
		switch arg := out[i]; {
		case arg == "--data" || arg == "--log-file": // with a value
			i++
		case strings.HasPrefix(arg, "--"):
		case given > 0 && len(arg) > 1 && arg[0] == '-':
			out[i] = minusTag + arg[1:]
		case arg == "" || arg[0] != '-':
			given++
		}
	}
	return out
}

// Run is called by kong.
func (c *tagCmd) Run(ctx context.Context, t *terminal) error {
	var add, remove []string
	for _, change := range c.Changes {
		if tag, minus := strings.CutPrefix(change, minusTag); minus {
			remove = append(remove, tag)
		} else {
			add = append(add, strings.TrimPrefix(change, "+"))
		}
	}
	return t.with(ctx, c.RunID, func(store *sqlite.Store, r engine.RunRecord) error {
		if len(c.Changes) > 0 {
			if _, err := store.Tag(ctx, r.ID, add, remove); err != nil {
				return err
			}
		}
		return t.showMarks(ctx, store, r.ID, func(r *engine.RunRecord) string {
			if len(r.Tags) == 0 {
				return fmt.Sprintf("Run %s has no tags.", r.ID)
			}
			return strings.Join(r.Tags, " ")
		})
	})
}

// starCmd sets or removes the star of a run.
type starCmd struct {
	jsonFlag
	RunID string `arg:"" name:"run" help:"Run ID or its beginning, or a name."`
	Off   bool   `help:"Remove the star."`
}

// Run is called by kong.
func (c *starCmd) Run(ctx context.Context, t *terminal) error {
	return t.with(ctx, c.RunID, func(store *sqlite.Store, r engine.RunRecord) error {
		if err := store.Star(ctx, r.ID, !c.Off); err != nil {
			return err
		}
		return t.showMarks(ctx, store, r.ID, func(r *engine.RunRecord) string {
			if r.Star {
				return fmt.Sprintf("Run %s has a star.", r.ID)
			}
			return fmt.Sprintf("Run %s has no star.", r.ID)
		})
	})
}

// showMarks prints the marks of a run as they are now stored.
func (t *terminal) showMarks(ctx context.Context, store *sqlite.Store, id engine.RunID, says func(*engine.RunRecord) string) error {
	r, err := store.Run(ctx, id)
	if err != nil {
		return err
	}
	if t.json {
		return t.print(answer.NewMarks(&r))
	}
	fmt.Fprintln(t.out, says(&r))
	return nil
}

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
