package app

import (
	"context"
	"strconv"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/storage/sqlite"
)

// Origin says which run a fork continues and from when; "" if the run is not a fork. A parent that is no longer in the store appears as its
// ID.
func Origin(ctx context.Context, store *sqlite.Store, r *engine.RunRecord) string {
	if r.Parent == "" {
		return ""
	}
	name := ""
	if parent, err := store.Run(ctx, r.Parent); err == nil {
		name = parent.DisplayName()
	}
	return view.Origin(r, name)
}

// lastMove returns the governor's last move of the limit before a resume, if the run resumes with that limit.
func (l assembly) lastMove(ctx context.Context, j *Job) (*engine.ChangeRow, error) {
	if l.Resume == "" {
		return nil, nil //nolint:nilnil // nothing moved it yet
	}
	changes, err := l.Store.Changes(ctx, j.Record.ID)
	if err != nil {
		return nil, err
	}
	if m := view.LastMove(changes); m != nil && m.New == strconv.Itoa(l.Settings.Limit) {
		return m, nil
	}
	return nil, nil //nolint:nilnil // the limit has another cause
}
