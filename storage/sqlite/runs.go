package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage"
	"github.com/throng-sim/throng/storage/sqlite/internal/blob"
	"github.com/throng-sim/throng/storage/sqlite/internal/file"
	"github.com/throng-sim/throng/storage/sqlite/internal/known"
	"github.com/throng-sim/throng/storage/sqlite/internal/lookup"
)

// Create adds a run.
func (s *runs) Create(ctx context.Context, r engine.RunRecord) error {
	if err := s.create(ctx, &r, func(file.Tx, int64) error { return nil }); err != nil {
		return fmt.Errorf("create run %s: %w", r.ID, err)
	}
	return nil
}

// create adds a run in one transaction with more.
func (s *core) create(ctx context.Context, r *engine.RunRecord, more func(tx file.Tx, key int64) error) error {
	if err := errors.Join(ctx.Err(), r.CheckIDs()); err != nil {
		return err
	}
	encoder := blob.NewEncoder()
	files, err := blob.Marshal(r.Source.Files, encoder)
	if err != nil {
		return err
	}
	parameters, err := json.Marshal(r.Source.Parameters)
	if err != nil {
		return err
	}
	settings, err := json.Marshal(r.Settings)
	if err != nil {
		return err
	}
	baseline, err := json.Marshal(r.Source.Baseline)
	if err != nil {
		return err
	}
	forecast, err := forecastText(r.Forecast)
	if err != nil {
		return err
	}
	return s.file.Write(func(tx file.Tx) error {
		var key int64
		err := tx.Row(`INSERT INTO runs (id, title, created, cycle, cycles, total, parent, fork_cycle, forked_at, kept, inexact, source, hash, parameters,
			settings, files, forecast, path, name, baseline, experiment, identity) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING key`,
			string(r.ID), r.Title, micros(r.Created), max(r.Cycle, r.ForkCycle), r.Cycles, r.Total, string(r.Parent), r.ForkCycle, micros(r.ForkedAt), r.Kept,
			inexactText(r.Inexact), r.Source.Name, r.Source.Hash, string(parameters), string(settings), files, forecast, r.Source.Path, r.Name, string(baseline), r.Experiment, r.Identity).Scan(&key)
		if err != nil {
			return err
		}
		return more(tx, key)
	})
}

// forecastText returns a forecast as JSON; NULL for nil.
func forecastText(f *engine.Forecast) (text sql.NullString, err error) {
	if f == nil {
		return text, nil
	}
	data, err := json.Marshal(f)
	return sql.NullString{String: string(data), Valid: true}, err
}

// Adjust replaces the settings of a run that is resumed with other settings, including its length.
func (s *runs) Adjust(ctx context.Context, run engine.RunID, settings engine.Settings) error {
	key, err := s.key(ctx, run)
	if err != nil {
		return err
	}
	text, err := json.Marshal(settings)
	if err != nil {
		return err
	}
	return s.file.Write(func(tx file.Tx) error {
		return tx.Exec(`UPDATE runs SET settings = ?, cycles = ?, total = iif(? > 0, total, 0) WHERE key = ?`, string(text), settings.Cycles, settings.Cycles, key)
	})
}

var runColumns = `key, id, title, created, ended, ending, reason, cycle, cycles, done, total, parent, fork_cycle, forked_at, kept, inexact,
	checkpoint_bytes, source, hash, path, parameters, settings, verdict, forecast,
	(SELECT json_group_object(what, new) FROM (SELECT what, new, max(pos) FROM changes WHERE run = runs.key
		AND what IN ('` + engine.LimitChange + `', '` + strings.Join(engine.LiveSettings(), "', '") + `') AND NOT (what = '` + engine.LimitSetting + `' AND new = '0')
		AND pos > coalesce((SELECT max(pos) FROM starts WHERE run = runs.key), 0) GROUP BY what)), fetched, cleaned,
	name, tags, star, note, acted, failed, baseline, experiment, identity`

// scanRun reads runColumns and the columns of more. With ErrDamaged it returns what could be read.
func scanRun(scan func(...any) error, more ...any) (r engine.RunRecord, key int64, err error) {
	var created, ended, forked int64
	var ending, parameters, settings string
	var inexact, forecast, fetched sql.NullString
	var tuned, cleaned, tags, baseline string
	var verdict []byte
	if err := scan(append([]any{
		&key, (*string)(&r.ID), &r.Title, &created, &ended, &ending, &r.Reason, &r.Cycle, &r.Cycles, &r.Done, &r.Total,
		(*string)(&r.Parent), &r.ForkCycle, &forked, &r.Kept, &inexact, &r.SizeBytes, &r.Source.Name, &r.Source.Hash, &r.Source.Path, &parameters, &settings, &verdict,
		&forecast, &tuned, &fetched, &cleaned, &r.Name, &tags, &r.Star, &r.Note, &r.Tally.Acted, &r.Tally.Failed, &baseline, &r.Experiment, &r.Identity,
	}, more...)...); err != nil {
		return r, 0, file.Translate(err)
	}
	r.Created, r.Ended, r.ForkedAt = timeOf(created), timeOf(ended), timeOf(forked)
	var errs [12]error
	errs[8] = r.CheckIDs()
	r.Ending, errs[0] = engine.ParseEnding(ending)
	r.Inexact, errs[1] = inexactOfText(inexact)
	r.Source.Parameters, errs[2] = known.Parameters(parameters)
	r.Settings, errs[3] = known.Settings(settings)
	errs[5] = tune(&r, tuned)
	if forecast.Valid {
		errs[6] = json.Unmarshal([]byte(forecast.String), &r.Forecast)
	}
	if fetched.Valid {
		errs[7] = json.Unmarshal([]byte(fetched.String), &r.Fetched)
	}
	if cleaned != "[]" { // in most runs it is
		errs[9] = json.Unmarshal([]byte(cleaned), &r.Cleaned)
	}
	if tags != "[]" {
		errs[10] = json.Unmarshal([]byte(tags), &r.Tags)
	}
	errs[11] = json.Unmarshal([]byte(baseline), &r.Source.Baseline)
	if verdict != nil {
		errs[4] = blob.Unmarshal(verdict, &r.Verdict)
	}
	for _, err := range errs {
		if err != nil && !errors.Is(err, ErrDamaged) {
			err = fmt.Errorf("%w: %w", err, ErrDamaged)
		}
		if err != nil { // the first error is enough
			return r, key, err
		}
	}
	return r, key, nil
}

// forList turns the damage of one run into a field of its entry, so that the other runs can still be listed.
func forList(r engine.RunRecord, _ int64, err error) (engine.RunRecord, error) {
	if errors.Is(err, ErrDamaged) {
		r.Damage, err = err.Error(), nil
	}
	return r, err
}

// tune applies settings that were changed since a process last started the run. The limit is returned separately in Limit.
func tune(r *engine.RunRecord, tuned string) error {
	limit := r.Settings.Limit
	if tuned == "{}" { // in most runs it is
		r.Limit = limit
		return nil
	}
	texts := map[string]string{}
	if err := json.Unmarshal([]byte(tuned), &texts); err != nil {
		return err
	}
	r.Settings.Restore(texts)
	if moved, err := strconv.Atoi(texts[engine.LimitChange]); err == nil && !r.Settings.Manual {
		r.Settings.Limit = moved
	}
	r.Limit, r.Settings.Limit = r.Settings.Limit, limit
	return nil
}

// Runs returns all runs, newest first, without their source files. It includes damaged runs. A run without an ending that is
// not in progress was interrupted.
func (s *runs) Runs(ctx context.Context) ([]engine.RunRecord, error) { return s.list(ctx, `true`) }

// Identical returns the runs whose results are decided by the same: those with the given identities, newest first.
func (s *runs) Identical(ctx context.Context, identities []string) ([]engine.RunRecord, error) {
	text, err := json.Marshal(identities)
	if err != nil {
		return nil, fmt.Errorf("list the runs: %w", err)
	}
	return s.list(ctx, `identity <> '' AND identity IN (SELECT value FROM json_each(?))`, string(text))
}

func (s *runs) list(ctx context.Context, condition string, args ...any) ([]engine.RunRecord, error) {
	var n int
	if err := s.file.Row(ctx, `SELECT count(*) FROM runs WHERE NOT hidden AND `+condition, args...).Scan(&n); err != nil {
		return nil, fmt.Errorf("list the runs: %w", err)
	}
	all := make([]engine.RunRecord, 0, n)
	for rows, err := range s.file.Query(ctx, `SELECT `+runColumns+` FROM runs WHERE NOT hidden AND `+condition+` ORDER BY created DESC, key DESC`, args...) {
		if err != nil {
			return nil, fmt.Errorf("list the runs: %w", err)
		}
		r, err := forList(scanRun(rows.Scan))
		if err != nil {
			return nil, fmt.Errorf("list the runs: %w", err)
		}
		all = append(all, r)
	}
	holders, queued := s.claims.Holders(), s.claims.Queued()
	for i := range all {
		h, held := holders[all[i].ID]
		if all[i].InProgress = held && !h.Reads; !all[i].InProgress {
			all[i].Queued = queued[all[i].ID]
		}
	}
	return all, nil
}

// Run returns a run with its source files. id may be an unambiguous prefix of an ID, or a name that only one run has.
func (s *runs) Run(ctx context.Context, id engine.RunID) (engine.RunRecord, error) {
	r, _, err := s.run(ctx, id)
	if !errors.Is(err, engine.ErrNotFound) || id == "" {
		return r, err
	}
	for _, by := range []lookup.By{lookup.ID, lookup.Name} {
		full, failed := lookup.Run(ctx, s.file, by, string(id), 0)
		switch {
		case failed == nil:
			r, _, err = s.run(ctx, full)
			return r, err
		case !errors.Is(failed, engine.ErrNotFound):
			return r, fmt.Errorf("run %s: %w", id, failed)
		case errors.As(failed, new(*storage.AmbiguousError)):
			return r, failed
		}
	}
	return r, err
}

// Newest returns the run that was created last, preferring runs that were executed in this store; ErrNotFound in an
// empty store.
func (s *runs) Newest(ctx context.Context) (engine.RunRecord, error) {
	var id string
	err := s.file.Row(ctx, `SELECT id FROM runs WHERE NOT hidden ORDER BY fetched IS NOT NULL, created DESC, key DESC LIMIT 1`).Scan(&id)
	if err != nil {
		return engine.RunRecord{}, fmt.Errorf("newest run: %w", file.Translate(err))
	}
	return s.Run(ctx, engine.RunID(id))
}

// run reads a run by its full ID.
func (s *core) run(ctx context.Context, id engine.RunID) (engine.RunRecord, int64, error) {
	var files []byte
	r, key, err := scanRun(s.file.Row(ctx, `SELECT `+runColumns+`, files FROM runs WHERE id = ? AND NOT hidden`, string(id)).Scan, &files)
	if err == nil {
		err = blob.Unmarshal(files, &r.Source.Files)
	}
	if err != nil {
		return r, 0, s.missing(ctx, id, err)
	}
	s.stand(&r)
	return r, key, nil
}

// stand finds out whether a run is in progress or waits to start.
func (s *core) stand(r *engine.RunRecord) {
	h, held := s.claims.Holder(r.ID)
	if r.InProgress = held && !h.Reads; !r.InProgress {
		r.Queued = s.claims.Queued()[r.ID]
	}
}

// key returns the key of a run.
func (s *core) key(ctx context.Context, id engine.RunID) (key int64, err error) {
	err = s.file.Row(ctx, `SELECT key FROM runs WHERE id = ? AND NOT hidden`, string(id)).Scan(&key)
	if err != nil {
		return 0, s.missing(ctx, id, file.Translate(err))
	}
	return key, nil
}

// still returns an error if a run was deleted while its rows were read: some may have been missing.
func (s *core) still(ctx context.Context, key int64) error {
	var there bool
	err := s.file.Row(ctx, `SELECT EXISTS (SELECT 1 FROM runs WHERE key = ? AND hidden <> ?)`, key, deleted).Scan(&there)
	if err == nil && !there {
		return fmt.Errorf("it was deleted while it was read: %w", engine.ErrNotFound)
	}
	return file.Translate(err)
}

// ErrTrashed says that a run is in the trash.
var ErrTrashed = fmt.Errorf("%w: it is in the trash, and can be restored", engine.ErrNotFound)

// missing adds the run to an error, and whether it is in the trash.
func (s *core) missing(ctx context.Context, id engine.RunID, err error) error {
	if errors.Is(err, engine.ErrNotFound) {
		if in, look := s.inTrash(ctx, id); look == nil {
			id, err = in, ErrTrashed
		}
	}
	return fmt.Errorf("run %s: %w", id, err)
}
