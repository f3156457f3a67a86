package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/scenario"
	"github.com/throng-sim/throng/storage/sqlite"
)

// mostChanges is how many changes of a scenario a text tells.
const mostChanges = 5

// ChangedError says that the scenario of a run means something else now than what the run was made from. The run goes on
// with what is kept with it, if somebody says so; a fork goes on with the file as it is.
type ChangedError struct {
	Run        engine.RunID
	Path       string // of the file
	Checkpoint int    // the newest with a cycle behind it; 0 is none
	Changes    []scenario.Change
	Unreadable error // why the file cannot be read now; nil where it can
}

// What says what changed, without what to do.
func (e *ChangedError) What() string {
	if e.Unreadable != nil {
		return fmt.Sprintf("%s cannot be read as it is now: %v", e.Path, e.Unreadable)
	}
	var all []string
	for i, c := range e.Changes {
		if i == mostChanges {
			all = append(all, fmt.Sprintf("and %d more", len(e.Changes)-i))
			break
		}
		all = append(all, c.String())
	}
	return fmt.Sprintf("%s changed since the run was started: %s", e.Path, strings.Join(all, "; "))
}

func (e *ChangedError) Error() string { return e.What() }

// Drift compares the file that a run was made from with what is kept of it. Its error is a *ChangedError where the file
// means something else now; note says what else is to be known, such as that the file is gone.
func Drift(ctx context.Context, store *sqlite.Store, data string, r *engine.RunRecord) (note string, err error) {
	path := r.Source.Path
	if path == "" {
		return "", nil
	}
	kept, err := scenario.Restore(r.Source)
	if err != nil {
		return "", fmt.Errorf("the scenario kept with run %s: %w", r.ID, err)
	}
	if !strings.HasPrefix(path, engine.BuiltIn) {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return path + " is gone: the run goes on with what is kept of it", nil
		}
	}
	changed := &ChangedError{Run: r.ID, Path: strings.TrimPrefix(path, engine.BuiltIn)}
	parent := &Parent{Record: *r, Scenario: kept, data: data}
	now, err := parent.Read(path, nil)
	switch {
	case err != nil && strings.HasPrefix(path, engine.BuiltIn) && errors.Is(err, fs.ErrNotExist):
		return changed.Path + " is not built in any more: the run goes on with what is kept of it", nil
	case err != nil:
		changed.Unreadable = err
	default:
		changed.Changes = scenario.Changes(r.Source, now.Source)
	}
	if changed.Unreadable != nil || len(changed.Changes) > 0 {
		return "", changed.offer(ctx, store, r)
	}
	if slices.ContainsFunc(slices.Collect(maps.Keys(now.Source.Files)), func(name string) bool {
		return !strings.HasPrefix(name, engine.OwnFiles) && string(now.Source.Files[name]) != string(r.Source.Files[name])
	}) {
		return changed.Path + " changed since, but in nothing that makes a difference: the run goes on with what is kept of it", nil
	}
	return "", nil
}

// offer finds the checkpoint from which a fork can go on.
func (e *ChangedError) offer(ctx context.Context, store *sqlite.Store, r *engine.RunRecord) error {
	all, err := store.Checkpoints(ctx, r.ID)
	if err != nil {
		return err
	}
	for _, c := range all {
		if r.Cycles == 0 || c.Cycle < r.Cycles {
			e.Checkpoint = c.Number
			break
		}
	}
	return e
}
