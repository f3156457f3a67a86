package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app/review"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage"
	"github.com/throng-sim/throng/storage/sqlite"
)

// growthRow compares what a person waits for in a store of 10 million rows with the same in one of a tenth.
func growthRow() row {
	const big, tenth = 0, 1
	grows := func(figure string, most float64) ratio {
		return ratio{name: figure + ", times that of the tenth", must: most, less: true, of: over(big, figure, tenth, figure)}
	}
	longer := func(figure string, most float64) ratio {
		return ratio{name: "the long run's " + figure + ", times those of the run of a tenth", must: most, less: true, of: over(big, "long run's "+figure, big, figure)}
	}
	return row{
		name: "12b",
		what: "The store: 1,000 runs and 10 million rows compared with a tenth of it",
		sides: []side{
			{name: "1,000 runs", prepare: made(bigStore), run: func(ctx context.Context, e env) (figures, error) { return useStore(ctx, e, bigStore, bigRuns, true) }},
			{name: "112 runs", prepare: made(tenthStore), run: func(ctx context.Context, e env) (figures, error) {
				return useStore(ctx, e, tenthStore, tenthRuns, false)
			}},
		},
		shown: []string{
			"ms to open", "ms to list a thousand runs", "ms to list checkpoints", "ms for totals", "ms for metrics", "ms for an agent", "ms to weigh", "ms to prune", "exported rows per CPU second",
			"long run's ms for totals", "long run's ms for metrics", "long run's ms for an agent", "peak MB",
		},
		ratios: []ratio{
			grows("ms to open", 1.5), grows("ms to list a thousand runs", 1.5), grows("ms to list checkpoints", 1.5), grows("ms for totals", 1.5),
			grows("ms for metrics", 1.5), grows("ms for an agent", 1.5), grows("ms to weigh", 1.5), grows("ms to prune", 1.5),
			longer("ms for totals", 1.5), longer("ms for metrics", 11), longer("ms for an agent", 1.5),
			{name: "exported rows per CPU second, of those of the tenth", must: 0.7, of: over(big, "exported rows per CPU second", tenth, "exported rows per CPU second")},
		},
		note: "What is not said to be the long run's is of a run of 100,000 sessions that both stores have, and must not take longer in the " +
			"big one; nor must the list of runs, for each of them. Times are the processor's, of this process, which other programs disturb less. The long run has ten times its sessions and metrics. Pruned is a run of 8,928 sessions.",
	}
}

// made prepares a store.
func made(store func(context.Context, env) (string, error)) func(context.Context, env) (string, error) {
	return func(ctx context.Context, e env) (string, error) {
		_, err := store(ctx, e)
		return "", err
	}
}

// useStore does what a person does with a store, each thing several times, and takes the median.
func useStore(ctx context.Context, e env, store func(context.Context, env) (string, error), runs float64, long bool) (figures, error) {
	dir, err := store(ctx, e)
	if err != nil {
		return nil, err
	}
	u := &use{ctx: ctx, dir: dir, out: e.dir, figures: figures{}}
	u.time("ms to open", 5, u.open)
	if u.err != nil {
		return nil, u.err
	}
	const list = "ms to list a thousand runs"
	u.time(list, 20, func() error { _, err := u.store.Runs(ctx); return err })
	u.figures[list] *= 1000 / runs
	u.time("ms to list checkpoints", 20, func() error { _, err := u.store.Checkpoints(ctx, middleRun); return err })
	u.time("ms to weigh", 20, func() error { _, err := u.store.Deletion(ctx, dayRun); return err })
	u.look("", middleRun)
	if long {
		u.look("long run's ", longRun)
	}
	u.export()
	u.prune()
	u.figures["peak MB"] = ownPeak()
	return u.figures, u.err
}

// use is the use of a store, up to the first error.
type use struct {
	ctx      context.Context
	dir, out string
	store    *sqlite.Store
	figures  figures
	err      error
}

// time has something done n times and takes the median of the processor's milliseconds.
func (u *use) time(name string, n int, do func() error) {
	var took []float64
	for range n {
		if u.err != nil {
			return
		}
		before := ownTime()
		u.err = do()
		took = append(took, (ownTime()-before).Seconds()*1e3)
	}
	u.figures[name] = spreadOf(took).median
}

// open closes the store and opens it again, up to where it can be asked.
func (u *use) open() error {
	if u.store != nil {
		if err := u.store.Close(); err != nil {
			return err
		}
	}
	var err error
	u.store, err = openStore(u.dir)
	return err
}

// look reads of a run what Results, the charts and the timeline of an agent do.
func (u *use) look(whose string, run engine.RunID) {
	u.time(whose+"ms for totals", 5, func() error {
		_, err := u.store.Totals(u.ctx, run)
		return err
	})
	u.time(whose+"ms for metrics", 3, func() error {
		for _, err := range u.store.Metrics(u.ctx, run, time.Time{}) {
			if err != nil {
				return err
			}
		}
		return nil
	})
	u.time(whose+"ms for an agent", 5, func() error {
		_, _, err := u.store.Recent(u.ctx, run, shoppers/2, 0, 100)
		return err
	})
}

// export writes all files of a run.
func (u *use) export() {
	const name = "exported rows per CPU second"
	u.time(name, 1, func() error {
		names, err := review.Names(u.ctx, u.store, middleRun)
		if err == nil {
			err = storage.ExportAll(u.ctx, filepath.Join(u.out, "export"), u.store, middleRun, names, "")
		}
		return err
	})
	u.figures[name] = longCycles / 10 * shoppers / u.figures[name] * 1e3
}

// prune deletes copies of a run that are made for it, after those of a measurement that was stopped.
func (u *use) prune() {
	const copies = 3
	var going []engine.RunID
	db, err := openFile(u.ctx, u.dir)
	for n := range copies {
		id := engine.RunID(fmt.Sprint("pruned-", n))
		if err == nil {
			if err = u.store.Delete(u.ctx, id); err == nil || errors.Is(err, engine.ErrNotFound) {
				err = copyRun(u.ctx, db, dayRun, id)
			}
		}
		going = append(going, id)
	}
	if db != nil {
		err = errors.Join(err, db.Close())
	}
	u.err = errors.Join(u.err, err)
	u.time("ms to prune", copies, func() error {
		run := going[0]
		going = going[1:]
		return u.store.Delete(u.ctx, run)
	})
	if u.store != nil {
		u.err = errors.Join(u.err, u.store.Close())
	}
}
