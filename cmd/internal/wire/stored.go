package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/scenario"
	"github.com/throng-sim/throng/storage"
	"github.com/throng-sim/throng/storage/sqlite"
)

// Names knows how a run's agents and sessions are called: its scenario was kept with it.
func Names(ctx context.Context, store storage.Reader, run engine.RunID) (storage.Names, error) {
	record, err := store.Run(ctx, run)
	if err != nil {
		return storage.Names{}, err
	}
	s, err := scenario.Restore(record.Source)
	if err != nil {
		return storage.Names{}, fmt.Errorf("the scenario kept with run %s: %w", run, err)
	}
	seed := record.Settings.Seed
	names := storage.Names{
		Agent:   s.Program(seed).AgentID,
		Session: func(cycle, agent int) string { return engine.SessionUUID(seed, cycle, agent) },
	}
	if s.Written() {
		names.Personas = func(w io.Writer) error { return s.ExportPersonas(w, seed) }
	}
	return names, nil
}

// Delete removes a run and the log of its rehearsal.
func Delete(ctx context.Context, store *sqlite.Store, data string, run engine.RunID) error {
	if err := store.Delete(ctx, run); err != nil {
		return err
	}
	if err := os.Remove(ShopLog(data, run)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the run is deleted, the rehearsal's log is not: %w", err)
	}
	return nil
}
