// Package marks has the commands for what a user writes on a run: its name, tags, star and note.
package marks

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/throng-sim/throng/cmd/throngctl/internal/answer"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage/sqlite"
)

// Terminal is what the commands need of the program.
type Terminal struct {
	Out  io.Writer
	JSON bool
	// With opens the store and finds a run by a name.
	With func(ctx context.Context, name string, f func(*sqlite.Store, engine.RunRecord) error) error
}

// jsonFlag is the flag of commands with JSON output.
type jsonFlag struct {
	JSON bool `name:"json" help:"Print JSON."`
}

// NameCmd names a run.
type NameCmd struct {
	jsonFlag
	RunID string   `arg:"" name:"run" help:"Run ID or its beginning, or a name."`
	Text  []string `arg:"" optional:"" help:"New name; \"\" restores the title of the scenario (default: show the name)."`
}

// Run is called by kong.
func (c *NameCmd) Run(ctx context.Context, t *Terminal) error {
	return t.With(ctx, c.RunID, func(store *sqlite.Store, r engine.RunRecord) error {
		if len(c.Text) > 0 {
			if err := store.Rename(ctx, r.ID, strings.Join(c.Text, " ")); err != nil {
				return err
			}
		}
		return t.showMarks(ctx, store, r.ID, func(r *engine.RunRecord) string { return r.DisplayName() })
	})
}

// TagCmd adds and removes tags of a run.
type TagCmd struct {
	jsonFlag
	RunID   string   `arg:"" name:"run" help:"Run ID or its beginning, or a name."`
	Changes []string `arg:"" optional:"" name:"change" help:"+TAG or TAG to add a tag, -TAG to remove one (default: show the tags)."`
}

// minusTag replaces the - of a tag to remove, because a parser takes -TAG for flags. No tag contains it.
const minusTag = "\u2212"

// TagChanges marks the tags to remove in a command line such as tag RUN +a -b. Flags before RUN, and long flags, stay flags.
func TagChanges(args []string) []string {
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
func (c *TagCmd) Run(ctx context.Context, t *Terminal) error {
	var add, remove []string
	for _, change := range c.Changes {
		if tag, minus := strings.CutPrefix(change, minusTag); minus {
			remove = append(remove, tag)
		} else {
			add = append(add, strings.TrimPrefix(change, "+"))
		}
	}
	return t.With(ctx, c.RunID, func(store *sqlite.Store, r engine.RunRecord) error {
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

// StarCmd sets or removes the star of a run.
type StarCmd struct {
	jsonFlag
	RunID string `arg:"" name:"run" help:"Run ID or its beginning, or a name."`
	Off   bool   `help:"Remove the star."`
}

// Run is called by kong.
func (c *StarCmd) Run(ctx context.Context, t *Terminal) error {
	return t.With(ctx, c.RunID, func(store *sqlite.Store, r engine.RunRecord) error {
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
func (t *Terminal) showMarks(ctx context.Context, store *sqlite.Store, id engine.RunID, says func(*engine.RunRecord) string) error {
	r, err := store.Run(ctx, id)
	if err != nil {
		return err
	}
	if t.JSON {
		return answer.Print(t.Out, answer.NewMarks(&r))
	}
	fmt.Fprintln(t.Out, says(&r))
	return nil
}

// NoteCmd shows or changes the note of a run.
type NoteCmd struct {
	jsonFlag
	RunID string   `arg:"" name:"run" help:"Run ID or its beginning, or a name."`
	Text  []string `arg:"" optional:"" help:"New note, replacing the old one; \"\" removes it (default: show the note)."`
}

// Run is called by kong.
func (c *NoteCmd) Run(ctx context.Context, t *Terminal) error {
	return t.With(ctx, c.RunID, func(store *sqlite.Store, r engine.RunRecord) error {
		if len(c.Text) > 0 {
			r.Note = strings.Join(c.Text, " ")
			if err := store.Note(ctx, r.ID, r.Note); err != nil || !t.JSON {
				return err
			}
		}
		if t.JSON {
			return answer.Print(t.Out, answer.Note{Run: r.ID, Note: r.Note})
		}
		if r.Note == "" {
			fmt.Fprintf(t.Out, "Run %s has no note.\n", r.ID)
			return nil
		}
		fmt.Fprintln(t.Out, r.Note)
		return nil
	})
}
