package app

import (
	"context"

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
