package remote

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/mock"
	"github.com/throng-sim/throng/engine/scenario"
	"github.com/throng-sim/throng/storage"
	"github.com/throng-sim/throng/storage/postgres"
	"github.com/throng-sim/throng/storage/sqlite"
)

// contents reads the contents of checkpoints, with the logs of mock shops.
type contents struct {
	*sqlite.Store
	data string
}

// Contents returns the next contents to send.
func (c contents) Contents(ctx context.Context, run engine.RunID, target string, after *storage.ContentsCursor) (*storage.Contents, error) {
	return c.Store.Contents(ctx, run, target, after, func(from int64, most int) ([]byte, error) {
		return mock.ReadLog(config.ShopLog(c.data, run), from, most)
	})
}

// Runs lists the runs of all machines in a database, newest first.
func Runs(ctx context.Context, db config.Database) ([]storage.RemoteRun, error) {
	return fromArchive(ctx, db, func(a *postgres.Archive) ([]storage.RemoteRun, error) { return a.Runs(ctx) })
}

// Checkpoints finds a run in a database by its ID or the beginning of it, and lists the checkpoints that can be fetched,
// newest first.
func Checkpoints(ctx context.Context, db config.Database, id engine.RunID) (r storage.RemoteRun, all []engine.CheckpointRecord, err error) {
	all, err = fromArchive(ctx, db, func(a *postgres.Archive) ([]engine.CheckpointRecord, error) {
		if r, err = a.Run(ctx, id); err != nil {
			return nil, err
		}
		return a.Checkpoints(ctx, r.ID)
	})
	return r, all, err
}

// fromArchive opens the archive of a database for one read.
func fromArchive[T any](ctx context.Context, db config.Database, f func(a *postgres.Archive) (T, error)) (v T, err error) {
	if db.URL == "" {
		return v, config.ErrNoDatabase
	}
	cfg, err := db.Config()
	if err != nil {
		return v, err
	}
	a, err := postgres.OpenArchive(ctx, cfg)
	if err != nil {
		return v, err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	return f(a)
}

// Fetch describes a checkpoint to fetch from a database into the store.
type Fetch struct {
	Store    *sqlite.Store
	Data     string // the data folder
	Database config.Database
	Run      engine.RunID // or the beginning of its ID
	Number   int          // of the checkpoint; 0 is the newest
	// Progress receives the number of agents whose memory has arrived, and their total. It may be nil.
	Progress func(done, total int)
}

// Do fetches the checkpoint. A new run becomes visible only at the end. An interrupted fetch can be repeated.
func (f Fetch) Do(ctx context.Context) (engine.RunRecord, engine.CheckpointRecord, error) {
	var found engine.CheckpointRecord
	record, err := fromArchive(ctx, f.Database, func(a *postgres.Archive) (engine.RunRecord, error) {
		r, err := a.Run(ctx, f.Run)
		if err != nil {
			return r.RunRecord, err
		}
		all, err := a.Checkpoints(ctx, r.ID)
		if err == nil {
			found, err = f.pick(a, r.ID, all)
		}
		if err != nil {
			return r.RunRecord, err
		}
		return f.take(ctx, a, r, found.Number)
	})
	return record, found, err
}

// pick finds the requested checkpoint.
func (f Fetch) pick(a *postgres.Archive, run engine.RunID, all []engine.CheckpointRecord) (c engine.CheckpointRecord, err error) {
	if len(all) == 0 {
		return c, &engine.FieldError{
			Field: "run", Problem: fmt.Sprintf("%s has no complete checkpoint in %s", run, a.Target()),
			Hint: "run throngctl push on the machine that made the run, unless it has no checkpoints or --remote-checkpoints was off",
		}
	}
	if f.Number == 0 {
		return all[0], nil
	}
	var numbers []string
	for _, c := range all {
		if c.Number == f.Number {
			return c, nil
		}
		numbers = append(numbers, strconv.Itoa(c.Number))
	}
	return c, &engine.FieldError{
		Field: "checkpoint", Problem: fmt.Sprintf("%d of run %s is not in %s", f.Number, run, a.Target()), Hint: "choose one of " + strings.Join(numbers, ", "),
	}
}

// take imports a checkpoint into the store.
func (f Fetch) take(ctx context.Context, a *postgres.Archive, r storage.RemoteRun, number int) (record engine.RunRecord, err error) {
	state, err := a.State(ctx, r.ID, number)
	if err != nil {
		return record, err
	}
	r.Fetched = &engine.Fetched{Database: a.Target(), Machine: r.Machine, At: time.Now().UTC()}
	in, err := f.Store.Import(ctx, r.RunRecord, state)
	if err != nil {
		return record, err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	answers, upTo, agents, logged := in.Wants()
	got := 0
	for _, part := range []struct {
		kind string
		upTo int64
	}{{storage.SourcePart, 0}, {storage.AnswerPart, answers}, {storage.MemoryPart, int64(upTo)}} {
		err := a.Parts(ctx, r.ID, part.kind, part.upTo, func(parts []storage.Part) error {
			if part.kind == storage.MemoryPart && f.Progress != nil {
				got += len(parts)
				f.Progress(got, agents)
			}
			return in.Add(parts)
		})
		if err != nil {
			return record, err
		}
	}
	if record, err = in.Record(); err != nil {
		return record, err
	}
	if _, err := scenario.Restore(record.Source); err != nil {
		return record, fmt.Errorf("the scenario of run %s: %w", r.ID, err)
	}
	if logged > 0 {
		if err := f.takeLog(ctx, a, r.ID, logged); err != nil {
			return record, err
		}
	}
	return record, in.Finish()
}

// takeLog fetches the mock shop's log and moves it into place when it is complete. If an earlier fetch left a log of at
// least that size, it keeps that one.
func (f Fetch) takeLog(ctx context.Context, a *postgres.Archive, run engine.RunID, least int64) (err error) {
	path := config.ShopLog(f.Data, run)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("store the mock shop's log: %w", err)
	}
	out, err := os.CreateTemp(filepath.Dir(path), "fetched-*.part")
	if err != nil {
		return fmt.Errorf("store the mock shop's log: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, ignoreMissing(os.Remove(out.Name())))
		}
	}()
	size := int64(0)
	err = a.Parts(ctx, run, storage.LogPart, 0, func(parts []storage.Part) error {
		for _, p := range parts {
			raw, err := sqlite.UnpackLog(p.Data)
			if err != nil {
				return err
			}
			if p.Place > size || int64(len(raw)) != p.Number {
				return fmt.Errorf("the mock shop's log in %s is damaged or incomplete", a.Target())
			}
			// A part that was sent again may overlap the one before.
			if skip := size - p.Place; skip < int64(len(raw)) {
				n, err := out.Write(raw[skip:])
				size += int64(n)
				if err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err == nil && size < least {
		err = fmt.Errorf("the mock shop's log in %s is incomplete: %d of %d bytes", a.Target(), size, least)
	}
	if err = errors.Join(err, out.Sync(), out.Close()); err != nil {
		return err
	}
	if err := mock.CheckLog(out.Name()); err != nil {
		return err
	}
	if info, err := os.Stat(path); err == nil && info.Size() >= size {
		return os.Remove(out.Name())
	}
	return os.Rename(out.Name(), path)
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
