package main

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"

	"github.com/alecthomas/kong"

	"github.com/throng-sim/throng/cmd/internal/app/authoring"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage/sqlite"
)

// resumeFlag makes throngctl run resume a run instead of starting one.
type resumeFlag struct {
	Resume earlier `placeholder:"RUN" help:"Resume this run, or the newest of the scenario, as throngctl resume does."`
}

// earlier is the run to resume, or newest, or "".
type earlier string

// theNewest is what a flag says that stands alone.
const theNewest earlier = "newest"

// Decode implements kong.MapperValue. A word that names no run is left to what follows.
func (e *earlier) Decode(ctx *kong.DecodeContext) error {
	next := ctx.Scan.Peek()
	word, _ := next.Value.(string)
	switch {
	case word == "latest" || word == string(theNewest):
		*e = theNewest
	case next.Type == kong.FlagValueToken || isRun(word):
		*e = earlier(word)
	default:
		*e = theNewest
		return nil
	}
	ctx.Scan.Pop()
	return nil
}

// resume is run with --resume: the run keeps its scenario and fixed settings.
func (c *runCmd) resume(ctx context.Context, t *terminal) error {
	kept := map[string]bool{
		"set": len(c.Set) > 0, "agents": len(c.Agents) > 0, "filter": c.Filter != "", "chain": c.Chain != "", "payload": c.Payload != "", "replay": c.Replay != "",
	}
	for name := range texts(c.newFlags.Plugins) {
		kept[name] = true
	}
	maps.DeleteFunc(kept, func(_ string, given bool) bool { return !given })
	if names := slices.Sorted(maps.Keys(kept)); len(names) > 0 {
		return &engine.FieldError{Field: "resume", Problem: "a resumed run keeps its --" + names[0], Hint: "leave it out, or start another run with throngctl fork"}
	}
	id := engine.RunID("")
	if c.Resume != theNewest {
		id = engine.RunID(c.Resume)
	}
	if c.File != "" {
		var err error
		if id, err = c.ofFile(ctx, t, id); err != nil {
			return err
		}
	}
	as := resumeCmd{RunID: string(id), output: c.output, settingFlags: c.settingFlags, adaptiveFlag: c.adaptiveFlag, outsideFlags: c.outsideFlags, databaseFlag: c.databaseFlag}
	return as.Run(ctx, t)
}

// ofFile is the newest run of the scenario that is named; one that is named too has to be of it.
func (c *runCmd) ofFile(ctx context.Context, t *terminal, named engine.RunID) (found engine.RunID, err error) {
	s, err := authoring.Load(c.File, nil)
	if errors.Is(err, fs.ErrNotExist) { // a name of a run that is not one, maybe
		return "", &engine.FieldError{Field: "resume", Problem: "no run and no scenario named " + c.File, Hint: "list runs with: throngctl runs"}
	}
	if err != nil {
		return "", err
	}
	return found, t.look(ctx, func(store *sqlite.Store) error {
		if named != "" {
			r, err := store.Run(ctx, named)
			if err == nil && r.Source.Path != s.Source.Path {
				err = &engine.FieldError{Field: "resume", Problem: "run " + string(r.ID) + " is not of " + c.File, Hint: "leave the file out"}
			}
			found = r.ID
			return err
		}
		runs, err := store.Runs(ctx)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(runs, func(r engine.RunRecord) bool { return r.Source.Path == s.Source.Path && r.Fetched == nil })
		if i < 0 {
			return &engine.FieldError{Field: "resume", Problem: "no run of " + c.File + " yet", Hint: "leave out --resume to start one"}
		}
		found = runs[i].ID
		return nil
	})
}
