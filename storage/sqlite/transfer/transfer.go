// Package transfer copies a whole run from one store to another: its journal, answers, checkpoints and figures.
package transfer

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage"
	"github.com/throng-sim/throng/storage/sqlite/internal/blob"
	"github.com/throng-sim/throng/storage/sqlite/internal/file"
	"github.com/throng-sim/throng/storage/sqlite/internal/lock"
)

// placed are the tables whose rows have positions of the journal, and numbered those whose rows have numbers of their own.
var (
	placed   = []string{"sessions", "deltas", "requests", "shared", "unconfirmed", "barriers", "changes", "starts", "metrics", "checkpoints"}
	numbered = []string{"exchanges", "checkpoint_memory"}
)

// Values of the column hidden of a run.
const (
	listed   = 0
	arriving = 2 // removed when the store is opened again, unless the copy was completed
	trashed  = 3
)

// batch is about how many bytes a page has.
const batch = 8 << 20

// Copy copies a run from the store in the folder from to the store in the folder to, which is created if it is missing. The run
// must not be in progress. It is listed there when all of it is copied and last, if set, has returned nil; an interrupted copy leaves
// nothing that is listed. Its path, its experiment, secrets in the addresses of its services and how far it was sent to databases are not
// copied: they belong to the other machine.
//
// The errors are [engine.ErrNotFound] if the first store lacks the run, a *[engine.FieldError] if the second one has it, and
// [blob.ErrForeign] if the first one is damaged or was not written by Throng.
func Copy(ctx context.Context, run engine.RunID, from, to string, logger *slog.Logger, last func() error) (err error) {
	source, err := open(from, logger)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	target, err := open(to, logger)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, target.Close()) }()
	importing, err := lock.Await(ctx, filepath.Join(to, lock.Imports)) // a process that opens the store has it for moments
	if err != nil {
		return file.FolderError(err)
	}
	if importing == nil {
		return fmt.Errorf("%w: another process adds a run or a checkpoint to this store", engine.ErrInUse)
	}
	defer func() { err = errors.Join(err, importing.Close()) }()
	c := &copying{ctx: ctx, source: source, target: target, last: last, page: batch}
	err = c.whole(run)
	if _, there := errors.AsType[*engine.FieldError](err); err != nil && !there {
		err = fmt.Errorf("copy run %s: %w", run, err)
	}
	return err
}

// CopyFile copies a file of a run that is not in the store, such as the log of a mock. It is durable when CopyFile returns.
func CopyFile(from, to string) error { return file.Copy(from, to) }

func open(dir string, logger *slog.Logger) (*file.File, error) {
	return file.Open(dir, file.Options{Logger: logger})
}

// copying is a copy in progress.
type copying struct {
	ctx            context.Context
	source, target *file.File
	from, to       int64 // keys of the run
	shift          int64 // of positions
	last           func() error
	page           int // bytes that are read at a time, and written in a transaction
}

func (c *copying) whole(run engine.RunID) error {
	if err := c.same(); err != nil {
		return err
	}
	if err := c.source.Row(c.ctx, `SELECT key FROM runs WHERE id = ? AND hidden = ?`, string(run), listed).Scan(&c.from); err != nil {
		return file.Translate(err)
	}
	if err := c.absent(run); err != nil {
		return err
	}
	if err := c.begin(); err != nil {
		return err
	}
	for _, table := range placed {
		if err := c.rows(table, "pos"); err != nil {
			return err
		}
	}
	for _, table := range numbered {
		if err := c.rows(table, "id"); err != nil {
			return err
		}
	}
	if c.last != nil {
		if err := c.last(); err != nil {
			return err
		}
	}
	return c.target.Write(func(tx file.Tx) error { return tx.Exec(`UPDATE runs SET hidden = ? WHERE key = ?`, listed, c.to) })
}

// same checks that both stores have the same tables, and nothing else that could act, such as a trigger of somebody's own.
func (c *copying) same() error {
	var texts [2]string
	for i, f := range []*file.File{c.source, c.target} {
		for rows, err := range f.Query(c.ctx, `SELECT type || ' ' || name || ': ' || coalesce(sql, '') FROM sqlite_schema WHERE name NOT LIKE 'sqlite_stat%' ORDER BY type, name`) {
			if err != nil {
				return err
			}
			var text string
			if err := rows.Scan(&text); err != nil {
				return err
			}
			texts[i] += text + "\n"
		}
	}
	if texts[0] != texts[1] {
		return fmt.Errorf("%w: its tables are not those of this version of Throng", blob.ErrForeign)
	}
	return nil
}

// absent checks that the target lacks the run, and removes what an interrupted copy left.
func (c *copying) absent(run engine.RunID) error {
	var key int64
	var hidden int
	err := c.target.Row(c.ctx, `SELECT key, hidden FROM runs WHERE id = ?`, string(run)).Scan(&key, &hidden)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil
	case err != nil:
		return file.Translate(err)
	case hidden == trashed:
		return &engine.FieldError{
			Field: "run", Problem: fmt.Sprintf("%s is in the trash of this store", run), Hint: "restore it: throngctl restore " + string(run),
		}
	case hidden == listed:
		return &engine.FieldError{Field: "run", Problem: fmt.Sprintf("%s is in this store already", run), Hint: "see it with: throngctl status " + string(run)}
	case hidden != arriving:
		return fmt.Errorf("%w: run %s is being deleted; try again in a minute", engine.ErrInUse, run)
	}
	return c.target.Write(func(tx file.Tx) error {
		for _, table := range slices.Concat(placed, numbered) {
			if err := tx.Exec(`DELETE FROM `+table+` WHERE run = ?`, key); err != nil {
				return err
			}
		}
		return tx.Exec(`DELETE FROM runs WHERE key = ?`, key)
	})
}

// begin adds the run, which is not listed yet, and reserves positions for its rows.
func (c *copying) begin() error {
	low, high := int64(0), int64(0)
	for _, table := range placed {
		var first, last sql.NullInt64
		if err := c.source.Row(c.ctx, `SELECT min(pos), max(pos) FROM `+table+` WHERE run = ?`, c.from).Scan(&first, &last); err != nil {
			return file.Translate(err)
		}
		if first.Valid {
			if high == 0 || first.Int64 < low {
				low = first.Int64
			}
			high = max(high, last.Int64)
		}
	}
	if low < 0 || high-low > 1<<60 {
		return fmt.Errorf("%w: a journal with positions from %d to %d", blob.ErrForeign, low, high)
	}
	columns, rows, err := c.read(`SELECT * FROM runs WHERE key = ?`, c.from)
	if err == nil && len(rows) == 0 {
		err = engine.ErrNotFound
	}
	if err != nil {
		return err
	}
	values := rows[0]
	for i, name := range columns {
		switch name {
		case "hidden":
			values[i] = arriving
		case "path", "experiment", "identity":
			values[i] = ""
		case "fetched": // its results come with it
			values[i] = nil
		case "settings":
			if values[i], err = public(values[i]); err != nil {
				return err
			}
		}
	}
	return c.target.Write(func(tx file.Tx) error {
		// A pack at the last position has rows at later ones; a pack never has a million.
		first, err := tx.Positions(high - low + 1 + packs)
		if err != nil {
			return err
		}
		c.shift = first - low
		return tx.Row(insert("runs", columns[1:])+` RETURNING key`, values[1:]...).Scan(&c.to)
	})
}

// public returns settings without possible secrets: somebody else may read the copy.
func public(settings any) (any, error) {
	text, _ := settings.(string)
	s := engine.DefaultSettings()
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return nil, fmt.Errorf("%w: the settings: %w", blob.ErrForeign, err)
	}
	if len(s.Services) == 0 {
		return settings, nil
	}
	s.Services = storage.WithoutSecrets(s.Services)
	changed, err := json.Marshal(s)
	return string(changed), err
}

// packs is more than the number of rows in a pack.
const packs = 1 << 20

// read reads a page of rows of the run. Every compressed value is checked.
func (c *copying) read(query string, args ...any) (columns []string, all [][]any, err error) {
	size := 0
	for rows, err := range c.source.Query(c.ctx, query, args...) {
		if err != nil {
			return nil, nil, err
		}
		if columns == nil {
			if columns, err = rows.Columns(); err != nil {
				return nil, nil, err
			}
		}
		values := make([]any, len(columns))
		into := make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			return nil, nil, file.Translate(err)
		}
		if err := sound(columns, values); err != nil {
			return nil, nil, err
		}
		for _, v := range values {
			if data, ok := v.([]byte); ok {
				size += len(data)
			}
		}
		all = append(all, values)
		if size += 100 * len(columns); size >= c.page {
			break
		}
	}
	return columns, all, nil
}

// sound checks that values can be unpacked within bounds.
func sound(columns []string, values []any) error {
	for i, v := range values {
		if packed, ok := v.([]byte); ok && columns[i] != "key" && len(packed) > 0 {
			if _, err := blob.UnpackForeign(packed); err != nil {
				return fmt.Errorf("a value of %s: %w", columns[i], err)
			}
		}
	}
	return nil
}

// pages calls f with the rows of a table, a part of them at a time, in the order of their place, the first column. Its reads are short:
// one as long as a copy would let the write-ahead log of the source grow.
func (c *copying) pages(table, place string, f func(columns []string, rows [][]any) error) error {
	var first, last sql.NullInt64
	if err := c.source.Row(c.ctx, `SELECT min(`+place+`), max(`+place+`) FROM `+table+` WHERE run = ?`, c.from).Scan(&first, &last); err != nil {
		return file.Translate(err)
	}
	// Without an index, the rows are read in this order; with some, a page would have to sort all.
	query := `SELECT * FROM ` + table + ` NOT INDEXED WHERE run = ? AND ` + place + ` BETWEEN ? AND ? ORDER BY ` + place
	for from := first.Int64; first.Valid && from <= last.Int64; {
		columns, rows, err := c.read(query, c.from, from, last.Int64)
		if err != nil || len(rows) == 0 {
			return err
		}
		at, ok := rows[len(rows)-1][0].(int64)
		if !ok {
			return fmt.Errorf("%w: a row of %s at %v", blob.ErrForeign, table, rows[len(rows)-1][0])
		}
		from = at + 1
		if err := f(columns, rows); err != nil {
			return err
		}
	}
	return nil
}

// rows copies the rows of a table, each page in one transaction.
func (c *copying) rows(table, place string) error {
	return c.pages(table, place, func(columns []string, rows [][]any) error {
		for _, values := range rows {
			for i, name := range columns {
				switch at, _ := values[i].(int64); name {
				case "run":
					values[i] = c.to
				case "pos":
					values[i] = at + c.shift
				}
			}
		}
		skip := 0
		if place == "id" { // the store numbers them
			skip = 1
		}
		return c.target.Write(func(tx file.Tx) error {
			for _, values := range rows {
				if err := tx.Exec(insert(table, columns[skip:]), values[skip:]...); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// insert returns a statement that adds a row.
func insert(table string, columns []string) string {
	return `INSERT INTO ` + table + ` (` + strings.Join(columns, ", ") + `) VALUES (?` + strings.Repeat(", ?", len(columns)-1) + `)`
}
