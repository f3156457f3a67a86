package main

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"

	"github.com/throng-sim/throng/cmd/internal/app/authoring"
	"github.com/throng-sim/throng/cmd/throngctl/internal/flags"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage/sqlite"
)

// resumeFlag makes throngctl run resume a run instead of starting one.
type resumeFlag struct {
	Resume flags.Earlier `placeholder:"RUN" help:"Resume this run, or the newest of the scenario, as throngctl resume does."`
}

// resume resumes a run, which keeps its scenario and fixed settings.
func (c *runCmd) resume(ctx context.Context, t *terminal) error {
	kept := map[string]bool{
		"set": len(c.Set) > 0, "agents": len(c.Agents) > 0, "filter": c.Filter != "", "chain": c.Chain != "", "payload": c.Payload != "", "replay": c.Replay != "",
	}
	for name := range flags.Given(c.Fixed.Plugins) {
		kept[name] = true
	}
	maps.DeleteFunc(kept, func(_ string, given bool) bool { return !given })
	if names := slices.Sorted(maps.Keys(kept)); len(names) > 0 {
		return &engine.FieldError{Field: "resume", Problem: "a resumed run keeps its --" + names[0], Hint: "leave it out, or start another run with throngctl fork"}
	}
	id := engine.RunID("")
	if c.Resume != flags.Newest {
		id = engine.RunID(c.Resume)
	}
	if c.File != "" {
		var err error
		if id, err = c.ofFile(ctx, t, id); err != nil {
			return err
		}
	}
	as := resumeCmd{RunID: string(id), output: c.output, Settings: c.Settings, Adaptive: c.Adaptive, Services: c.Services, databaseFlag: c.databaseFlag}
	return as.Run(ctx, t)
}

// ofFile returns the newest run of the named scenario. A run that is also named must belong to it.
func (c *runCmd) ofFile(ctx context.Context, t *terminal, named engine.RunID) (found engine.RunID, err error) {
	s, err := authoring.Load(c.File, nil)
	if errors.Is(err, fs.ErrNotExist) { // perhaps a mistyped run ID
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
