package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	_ "github.com/mattn/go-sqlite3" // the driver

	"github.com/throng-sim/throng/cmd/internal/app/authoring"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage/sqlite"
)

// A big store has a long run, a run of a tenth of its length, and many copies of a day of 372 shoppers.
const (
	shoppers   = 372
	longRun    = engine.RunID("20260101-000000-long")
	middleRun  = engine.RunID("20260102-000000-midd")
	dayRun     = engine.RunID("20260103-000000-0000") // copies have the next numbers
	longCycles = 2688                                 // a million sessions
	dayCycles  = 24

	bigRuns   = 1000 // with the long run: 10 million sessions
	tenthRuns = 112  // without it: a million

	// storeVersion must be raised if the content of the store changes.
	storeVersion = 1
)

// bigStore returns the folder of a store of 1,000 runs and 10 million sessions, about 1.6 GB, which the window and throngctl
// use as their data folder. It is made once, which takes a minute, and kept with the tools. Measurements must leave it
// unchanged.
func bigStore(ctx context.Context, e env) (dir string, err error) {
	return keptStore(ctx, e, bigRuns, true)
}

// tenthStore returns a store of a tenth of that size.
func tenthStore(ctx context.Context, e env) (dir string, err error) {
	return keptStore(ctx, e, tenthRuns, false)
}

func keptStore(ctx context.Context, e env, runs int, long bool) (dir string, err error) {
	dir = filepath.Join(e.tools, fmt.Sprintf("store-%d-of-%d", storeVersion, runs))
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		return dir, err
	}
	if err := os.MkdirAll(e.tools, 0o755); err != nil {
		return "", err
	}
	part, err := os.MkdirTemp(e.tools, "store-*.part")
	if err != nil {
		return "", err
	}
	if err := makeStore(ctx, part, runs, long); err != nil {
		return "", fmt.Errorf("make a store of %d runs: %w", runs, errors.Join(err, os.RemoveAll(part)))
	}
	return dir, os.Rename(part, dir)
}

func openStore(dir string) (*sqlite.Store, error) {
	return sqlite.Open(dir, sqlite.Options{Logger: slog.New(slog.DiscardHandler)})
}

// makeStore journals the distinct runs and copies the rest.
func makeStore(ctx context.Context, dir string, runs int, long bool) error {
	store, err := openStore(dir)
	if err != nil {
		return err
	}
	write := func(id engine.RunID, cycles int) error {
		if err := journalShoppers(ctx, store, id, cycles); err != nil {
			return fmt.Errorf("run %s: %w", id, err)
		}
		runs--
		return nil
	}
	if long {
		err = write(longRun, longCycles)
	}
	if err == nil {
		err = write(middleRun, longCycles/10)
	}
	if err == nil {
		err = write(dayRun, dayCycles)
	}
	if err = errors.Join(err, store.Close()); err != nil {
		return err
	}
	db, err := openFile(ctx, dir)
	if err != nil {
		return err
	}
	for n := 1; n <= runs && err == nil; n++ {
		err = copyRun(ctx, db, dayRun, engine.RunID(fmt.Sprintf("20260103-000000-%04d", n)))
	}
	return errors.Join(err, db.Close())
}

// journalShoppers writes a run in the form of a journal: sessions with steps, events and memory, metrics, a checkpoint every
// tenth of its cycles, and the requests of 1% of sessions.
func journalShoppers(ctx context.Context, store *sqlite.Store, id engine.RunID, cycles int) error {
	loaded, err := authoring.Load("shopping", nil)
	if err != nil {
		return err
	}
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	settings := engine.DefaultSettings()
	settings.Cycles = cycles
	record := engine.RunRecord{
		ID: id, Title: loaded.Title, Source: loaded.Source, Settings: settings, Created: at, Cycles: cycles, Total: int64(cycles) * shoppers,
	}
	if err := store.Create(ctx, record); err != nil {
		return err
	}
	journal, err := store.Journal(id)
	if err != nil {
		return err
	}
	random := rand.New(rand.NewPCG(uint64(cycles), 1))
	totals := &engine.Totals{}
	memory := map[int]*engine.Memory{}
	journal.Append(engine.StartRow{At: at})
	for cycle := range cycles {
		rows := make(engine.SessionRows, shoppers)
		for agent := range rows {
			rows[agent] = shopping(random, at)
			rows[agent].Place = engine.Place{Cycle: cycle, Agent: agent}
			totals.Add(&rows[agent])
			memory[agent] = memory[agent].Apply(&rows[agent].Delta)
			if agent%100 == 0 {
				journal.Append(
					engine.IntentRow{Place: rows[agent].Place, Path: "pay", Hash: random.Uint64()},
					engine.AnswerRow{Place: rows[agent].Place, Entry: engine.Entry{Path: "pay", Status: engine.StepOK, Attempts: 1, Statuses: []int{201}, Output: rows[agent].Events[2].Data}},
				)
			}
		}
		journal.Append(rows)
		for range 12 {
			at = at.Add(time.Second)
			journal.Append(metricsOf(random, cycle, totals, at))
		}
		journal.Append(engine.BarrierRow{Cycle: cycle, At: at, Active: shoppers, Took: 12 * time.Second, Sessions: totals.Ended()})
		if every := max(cycles/10, 1); (cycle+1)%every == 0 {
			journal.Append(engine.CheckpointRow{
				At: at, Cycle: cycle + 1, Done: totals.Ended(), Total: record.Total, Reason: "every 5 minutes", State: engine.State{Limit: 50, Totals: *totals}, Memory: memory,
			})
		}
	}
	journal.Append(engine.EndRow{At: at, Total: record.Total, Ending: engine.EndFinished, Totals: *totals})
	return journal.Close(ctx)
}

// shopping returns a session of six steps with three events.
func shopping(r *rand.Rand, at time.Time) engine.SessionRow {
	s := engine.SessionRow{Outcome: engine.OK, Started: at, Queue: time.Duration(r.Int64N(2e6)), Acted: true}
	for i, path := range []string{"browse", "choose", "fill_cart[0].add_cart", "fill_cart[1].add_cart", "checkout", "pay"} {
		service := time.Duration(20e6 + r.Int64N(20e6))
		s.Steps = append(s.Steps, engine.StepRecord{Path: path, Status: engine.StepOK, Attempts: 1, Statuses: []int{200 + i/2}, Service: service})
		s.Service += service
	}
	s.Total = s.Service + 200*time.Microsecond
	s.Events = []engine.Event{
		{Path: "fill_cart[0].add_cart", Name: "added", Data: fmt.Appendf(nil, `{"product":"p%d","price":%d}`, r.IntN(500), r.IntN(9000))},
		{Path: "fill_cart[1].add_cart", Name: "added", Data: fmt.Appendf(nil, `{"product":"p%d","price":%d}`, r.IntN(500), r.IntN(9000))},
		{Path: "pay", Name: "bought", Data: fmt.Appendf(nil, `{"order":"o-%08x","total":%d}`, r.Uint32(), r.IntN(20000))},
	}
	s.Delta = engine.Delta{
		Set:   []engine.Field{{Name: "budget", Value: fmt.Append(nil, r.IntN(20000))}},
		Notes: [][]byte{fmt.Appendf(nil, `"bought p%d"`, r.IntN(500))}, Keep: 20,
	}
	return s
}

// metricsOf returns a second of metrics.
func metricsOf(r *rand.Rand, cycle int, t *engine.Totals, at time.Time) engine.MetricsRow {
	q := engine.Quantiles{Count: 31, Mean: 180e6, P50: time.Duration(150e6 + r.Int64N(50e6)), P95: 220e6, P99: 240e6, Max: 250e6}
	return engine.MetricsRow{
		At:          at,
		Cycle:       cycle,
		Phase:       engine.Running,
		Ended:       t.Ended(),
		Acted:       t.Acted,
		Limit:       50,
		InFlight:    50,
		SecondTimes: engine.SecondTimes{Total: q, Service: q, Queue: q},
		SecondRates: engine.SecondRates{SessionsPerSec: 30 + r.Float64(), RequestsPerSec: 180 + r.Float64()},
		DatabaseUse: engine.DatabaseUse{Connections: -1, ServerConnections: -1, Unsent: -1, ServerMax: -1},
		Host:        engine.HostMetrics{CPU: 100 * r.Float64(), ProcessCPU: 90 * r.Float64(), Memory: 1e8 + r.Uint64N(1e7), Available: 8e9, DiskFree: 1e11, MemoryTotal: 16e9},
	}
}

// openFile opens a store's file for changes that the store does not offer.
func openFile(ctx context.Context, dir string) (*sql.DB, error) {
	db, err := sql.Open("sqlite3", "file:"+filepath.ToSlash(filepath.Join(dir, "throng.db"))+"?_synchronous=OFF&_cache_size=-65536")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	return db, db.PingContext(ctx)
}

// copyRun adds a copy of a run with all its rows, with another ID and created an hour after the newest run.
func copyRun(ctx context.Context, db *sql.DB, from, to engine.RunID) (err error) {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, tx.Rollback())
		}
	}()
	var run, key, shift int64
	if err := tx.QueryRowContext(ctx, `SELECT key, (SELECT max(key) + 1 FROM runs), (SELECT next FROM positions) FROM runs WHERE id = ?`, string(from)).Scan(&run, &key, &shift); err != nil {
		return err
	}
	tables, err := runTables(ctx, tx)
	if err != nil {
		return err
	}
	var first int64
	if err := tx.QueryRowContext(ctx, `SELECT min(pos) FROM starts WHERE run = ?`, run).Scan(&first); err != nil {
		return err
	}
	other := map[string]string{
		"runs.key": fmt.Sprint(key), "id": "NULL", "run": fmt.Sprint(key), "pos": fmt.Sprintf("pos + %d", shift-first),
		"runs.id": "'" + string(to) + "'", "created": "(SELECT max(created) + 3600000000 FROM runs)",
	}
	for _, t := range tables {
		values := make([]string, len(t.columns))
		for i, c := range t.columns {
			values[i] = c
			for _, name := range []string{c, t.name + "." + c} {
				if v, ok := other[name]; ok {
					values[i] = v
				}
			}
		}
		if _, err := tx.ExecContext(ctx, `INSERT INTO `+t.name+` (`+strings.Join(t.columns, ", ")+`) SELECT `+strings.Join(values, ", ")+
			` FROM `+t.name+` WHERE `+t.key+` = ? ORDER BY 1`, run); err != nil {
			return fmt.Errorf("copy %s: %w", t.name, err)
		}
	}
	// The last barrier is followed by a checkpoint and the end.
	if _, err := tx.ExecContext(ctx, `UPDATE positions SET next = next + (SELECT max(pos) FROM barriers WHERE run = ?) - ? + 3`, run, first); err != nil {
		return err
	}
	return tx.Commit()
}

// runTable is a table with rows of runs, and the column that identifies the run.
type runTable struct {
	name, key string
	columns   []string
}

func runTables(ctx context.Context, tx *sql.Tx) (all []runTable, err error) {
	rows, err := tx.QueryContext(ctx, `SELECT m.name, iif(m.name = 'runs', 'key', 'run'), group_concat(c.name) FROM sqlite_schema m JOIN pragma_table_info(m.name) c
		WHERE m.type = 'table' AND (m.name = 'runs' OR EXISTS (SELECT 1 FROM pragma_table_info(m.name) WHERE name = 'run')) GROUP BY m.name ORDER BY m.name <> 'runs'`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var t runTable
		var columns string
		if err := rows.Scan(&t.name, &t.key, &columns); err != nil {
			return nil, err
		}
		t.columns = strings.Split(columns, ",")
		all = append(all, t)
	}
	return all, rows.Err()
}
