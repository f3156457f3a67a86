package retention

import (
	"context"
	"os"

	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/storage/sqlite"
)

// Weigh returns what goes when a run is deleted; its Bytes have the log of the mock too.
func Weigh(ctx context.Context, store *sqlite.Store, data string, run engine.RunID) (view.Footprint, error) {
	d, err := store.Deletion(ctx, run)
	if info, statErr := os.Stat(config.ShopLog(data, run)); statErr == nil {
		d.Bytes += info.Size()
	}
	return d, err
}

// Delete removes a run and the log of its mock at once.
func Delete(ctx context.Context, store *sqlite.Store, data string, run engine.RunID) error {
	if err := store.Delete(ctx, run); err != nil {
		return err
	}
	return deletedLog(data, run)
}
