package retention

import (
	"context"
	"os"

	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/storage/sqlite"
)

// Weigh returns what is deleted with a run. Its Bytes include the mock shop's log.
func Weigh(ctx context.Context, store *sqlite.Store, data string, run engine.RunID) (view.Footprint, error) {
	d, err := store.Deletion(ctx, run)
	if info, statErr := os.Stat(config.ShopLog(data, run)); statErr == nil {
		d.Bytes += info.Size()
	}
	return d, err
}

// Delete permanently deletes a run and its mock shop's log.
func Delete(ctx context.Context, store *sqlite.Store, data string, run engine.RunID) error {
	if err := store.Delete(ctx, run); err != nil {
		return err
	}
	return deletedLog(data, run)
}
