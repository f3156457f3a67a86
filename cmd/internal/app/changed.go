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

// maxListedChanges bounds the changes that an error lists.
const maxListedChanges = 5

// ChangedError says that the scenario file of a run has changed in a way that matters. The user can resume the run with the
// scenario stored with it, or fork it with the file.
type ChangedError struct {
	Run        engine.RunID
	Path       string // of the file
	Checkpoint int    // the newest one that a cycle follows; 0 if there is none
	Changes    []scenario.Change
	Unreadable error // why the file cannot be read now; nil if it can
}

// Describe returns a description of the changes, without advice.
func (e *ChangedError) Describe() string {
	if e.Unreadable != nil {
		return fmt.Sprintf("%s can no longer be read: %v", e.Path, e.Unreadable)
	}
	var all []string
	for i, c := range e.Changes {
		if i == maxListedChanges {
			all = append(all, fmt.Sprintf("and %d more", len(e.Changes)-i))
			break
		}
		all = append(all, c.String())
	}
	return fmt.Sprintf("%s has changed since the run was started: %s", e.Path, strings.Join(all, "; "))
}

func (e *ChangedError) Error() string { return e.Describe() }

// checkScenarioFile compares the scenario file of a run with the scenario stored with it. If they differ in a way that
// matters, the error is a *ChangedError. note is a remark for the user, for example that the file no longer exists.
func checkScenarioFile(ctx context.Context, store *sqlite.Store, data string, r *engine.RunRecord) (note string, err error) {
	path := r.Source.Path
	if path == "" {
		return "", nil
	}
	stored, err := scenario.Restore(r.Source)
	if err != nil {
		return "", storedScenarioError(r.ID, err)
	}
	if !strings.HasPrefix(path, engine.BuiltIn) {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return path + " no longer exists: the run uses the scenario stored with it", nil
		}
	}
	changed := &ChangedError{Run: r.ID, Path: strings.TrimPrefix(path, engine.BuiltIn)}
	parent := &Parent{Record: *r, Scenario: stored, data: data}
	now, err := parent.Read(path, nil)
	switch {
	case err != nil && strings.HasPrefix(path, engine.BuiltIn) && errors.Is(err, fs.ErrNotExist):
		return changed.Path + " is no longer built in: the run uses the scenario stored with it", nil
	case err != nil:
		changed.Unreadable = err
	default:
		changed.Changes = scenario.Changes(r.Source, now.Source)
	}
	if changed.Unreadable != nil || len(changed.Changes) > 0 {
		return "", changed.findCheckpoint(ctx, store, r)
	}
	if slices.ContainsFunc(slices.Collect(maps.Keys(now.Source.Files)), func(name string) bool {
		return !strings.HasPrefix(name, engine.OwnFiles) && string(now.Source.Files[name]) != string(r.Source.Files[name])
	}) {
		return changed.Path + " has changed, but not in a way that matters: the run uses the scenario stored with it", nil
	}
	return "", nil
}

// findCheckpoint notes the newest checkpoint that can be forked. It returns e, or the error of the store.
func (e *ChangedError) findCheckpoint(ctx context.Context, store *sqlite.Store, r *engine.RunRecord) error {
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
