package postgres

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage"
)

const (
	// pageParts is the number of parts in one query, and givenBytes the number of bytes that are passed on together.
	pageParts  = 2000
	givenBytes = 4 << 20
)

// Archive reads runs from a database, in one snapshot. It changes nothing and needs only the right to read. It is not safe
// for concurrent use.
type Archive struct {
	conn   *pgx.Conn
	tx     pgx.Tx
	target string
}

// OpenArchive connects to a database. ErrNewer if the schema is newer than this program. Other errors are explained for
// users.
func OpenArchive(ctx context.Context, c Config) (*Archive, error) {
	config, err := c.parse()
	if err != nil {
		return nil, err
	}
	a := &Archive{target: target(config.ConnConfig)}
	open, cancel := context.WithTimeout(ctx, 2*stepTime)
	defer cancel()
	if a.conn, err = pgx.ConnectConfig(open, config.ConnConfig); err == nil {
		if err = a.begin(ctx, open); err != nil {
			err = errors.Join(err, a.Close())
		}
	}
	if err != nil {
		return nil, explain(err, config.ConnConfig)
	}
	return a, nil
}

// begin checks the schema and begins a transaction.
func (a *Archive) begin(ctx, open context.Context) (err error) {
	version, err := schemaVersion(open, a.conn)
	switch {
	case err != nil:
		return err
	case version == 0:
		return &fault{a.target + " has no results of Throng: check the address, or send results first", nil}
	}
	a.tx, err = a.conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	return err
}

// Close ends the connection.
func (a *Archive) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), stepTime)
	defer cancel()
	return a.conn.Close(ctx)
}

// Target returns the name of the database.
func (a *Archive) Target() string { return a.target }

const remoteRuns = `SELECT id, title, created, ended, ending, reason, cycle, cycles, done, total, parent, fork_cycle, inexact::text, machine, name, tags,
	(SELECT count(*) FROM throng.checkpoint_parts WHERE run = r.id AND kind = 'state') FROM throng.runs r `

// Runs lists the runs of all machines, newest first.
func (a *Archive) Runs(ctx context.Context) ([]storage.RemoteRun, error) {
	all, err := a.runs(ctx, remoteRuns+`ORDER BY created DESC NULLS LAST, id DESC`)
	if err != nil {
		return nil, a.explain("list the runs", err)
	}
	return all, nil
}

// Run returns the run with an ID or prefix; ErrNotFound if there is none or more than one.
func (a *Archive) Run(ctx context.Context, id engine.RunID) (storage.RemoteRun, error) {
	all, err := a.runs(ctx, remoteRuns+`WHERE left(id, length($1)) = $1 ORDER BY id`, string(id))
	switch {
	case err != nil:
		return storage.RemoteRun{}, a.explain("find run "+string(id), err)
	case len(all) == 0 || id == "":
		return storage.RemoteRun{}, fmt.Errorf("run %s is not in %s: %w", id, a.target, engine.ErrNotFound)
	case len(all) > 1 && all[0].ID != id:
		many := storage.AmbiguousError{Text: string(id), All: len(all)}
		for _, r := range all[max(len(all)-3, 0):] {
			many.Runs = append(many.Runs, storage.Hit{ID: r.ID, Name: cmp.Or(r.Name, r.Title), Created: r.Created})
		}
		slices.Reverse(many.Runs)
		return storage.RemoteRun{}, &many
	}
	if all[0].Damage != "" {
		return storage.RemoteRun{}, fmt.Errorf("a run in %s cannot be read: %s", a.target, all[0].Damage)
	}
	return all[0], nil
}

func (a *Archive) runs(ctx context.Context, query string, args ...any) ([]storage.RemoteRun, error) {
	rows, err := a.tx.Query(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (r storage.RemoteRun, err error) {
		var created, ended *time.Time
		var ending, reason, parent, inexact, machine, name *string
		err = row.Scan((*string)(&r.ID), &r.Title, &created, &ended, &ending, &reason, &r.Cycle, &r.Cycles, &r.Done, &r.Total,
			&parent, &r.ForkCycle, &inexact, &machine, &name, &r.Tags, &r.Checkpoints)
		if err != nil {
			return r, err
		}
		r.Created, r.Ended, r.Reason, r.Parent, r.Machine = instant(created), instant(ended), text(reason), engine.RunID(text(parent)), text(machine)
		r.Name = text(name)
		var odd [2]error // other programs may have written to the database, and newer versions
		r.Ending, odd[0] = engine.ParseEnding(text(ending))
		r.Inexact, odd[1] = sinceOf(inexact)
		if err := errors.Join(odd[0], odd[1], r.CheckIDs()); err != nil {
			r.Damage, r.Checkpoints = err.Error(), 0
		}
		return r, nil
	})
}

func instant(at *time.Time) time.Time {
	if at == nil {
		return time.Time{}
	}
	return at.UTC()
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// sinceOf parses the inexact value of run.json.
func sinceOf(text *string) (*engine.Inexact, error) {
	if text == nil {
		return nil, nil //nolint:nilnil // an exact run
	}
	var i struct {
		Cycle int    `json:"cycle"`
		Agent int    `json:"agent_index"`
		Step  string `json:"step"`
		Why   string `json:"why"`
	}
	if err := json.Unmarshal([]byte(*text), &i); err != nil {
		return nil, err
	}
	return &engine.Inexact{Cycle: i.Cycle, Agent: i.Agent, Path: i.Step, Why: i.Why}, nil
}

// Checkpoints returns the checkpoints of a run that can be fetched, newest first.
func (a *Archive) Checkpoints(ctx context.Context, run engine.RunID) ([]engine.CheckpointRecord, error) {
	rows, err := a.tx.Query(ctx, `SELECT number, at, cycle, done, total, kept, reason, size_bytes, coalesce(took_ms, 0)
		FROM throng.checkpoints c WHERE run = $1 AND EXISTS
		(SELECT FROM throng.checkpoint_parts WHERE run = c.run AND kind = 'state' AND place = c.number) ORDER BY number DESC`, string(run))
	if err != nil {
		return nil, a.explain("checkpoints of run "+string(run), err)
	}
	all, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (c engine.CheckpointRecord, err error) {
		var at *time.Time
		var took float64
		err = row.Scan(&c.Number, &at, &c.Cycle, &c.Done, &c.Total, &c.Kept, &c.Reason, &c.SizeBytes, &took)
		c.Run, c.At, c.Took = run, instant(at), time.Duration(took*1000+0.5)*time.Microsecond
		return c, err
	})
	if err != nil {
		return nil, a.explain("checkpoints of run "+string(run), err)
	}
	if len(all) > 0 {
		all[0].Newest = true
	}
	return all, nil
}

// State returns the state part of a checkpoint; ErrNotFound if it does not exist.
func (a *Archive) State(ctx context.Context, run engine.RunID, number int) (storage.Part, error) {
	p := storage.Part{Kind: storage.StatePart, Place: int64(number)}
	err := a.tx.QueryRow(ctx, `SELECT number, data FROM throng.checkpoint_parts WHERE run = $1 AND kind = 'state' AND place = $2 ORDER BY number DESC LIMIT 1`,
		string(run), number).Scan(&p.Number, &p.Data)
	if errors.Is(err, pgx.ErrNoRows) {
		return p, fmt.Errorf("checkpoint %d of run %s is not in %s: %w", number, run, a.target, engine.ErrNotFound)
	}
	return p, a.explain(fmt.Sprintf("checkpoint %d of run %s", number, run), err)
}

// Parts passes on the parts of a kind, a few at a time: files and the log in their order, answers before position upTo, and
// the newest memory of each agent up to checkpoint upTo, from the last agent to the first.
func (a *Archive) Parts(ctx context.Context, run engine.RunID, kind string, upTo int64, give func([]storage.Part) error) error {
	query, number, from := `SELECT place, number, data FROM throng.checkpoint_parts
		WHERE run = $1 AND kind = $2 AND (place, number) > ($3, $4) AND ($2 <> 'answer' OR place < $5) ORDER BY place, number LIMIT $6`, int64(math.MinInt64), int64(-1)
	if kind == storage.MemoryPart {
		query, number, from = `SELECT DISTINCT ON (place) place, number, data FROM throng.checkpoint_parts
			WHERE run = $1 AND kind = $2 AND place < $3 AND number > $4 AND number <= $5 ORDER BY place DESC, number DESC LIMIT $6`, 0, math.MaxInt64
	}
	what := fmt.Sprintf("%s of run %s", kind, run)
	for {
		rows, err := a.tx.Query(ctx, query, string(run), kind, from, number, upTo, pageParts)
		if err != nil {
			return a.explain(what, err)
		}
		n, last, err := handOn(rows, kind, give)
		if err != nil {
			return a.explain(what, err)
		}
		if n < pageParts {
			return nil
		}
		from = last.Place
		if kind != storage.MemoryPart {
			number = last.Number
		}
	}
}

// handOn passes on the rows of a page, and returns their number and the last row.
func handOn(rows pgx.Rows, kind string, give func([]storage.Part) error) (n int, last storage.Part, err error) {
	defer rows.Close()
	var parts []storage.Part
	size := 0
	for rows.Next() {
		last = storage.Part{Kind: kind}
		if err := rows.Scan(&last.Place, &last.Number, &last.Data); err != nil {
			return n, last, err
		}
		n++
		parts, size = append(parts, last), size+len(last.Data)
		if size >= givenBytes {
			if err := give(parts); err != nil {
				return n, last, &givenError{err}
			}
			parts, size = nil, 0
		}
	}
	if err := rows.Err(); err != nil {
		return n, last, err
	}
	if len(parts) > 0 {
		if err := give(parts); err != nil {
			return n, last, &givenError{err}
		}
	}
	return n, last, nil
}

// givenError is an error of the caller's function, not of the database.
type givenError struct{ error }

func (e *givenError) Unwrap() error { return e.error }

func (a *Archive) explain(doing string, err error) error {
	if err == nil {
		return nil
	}
	if given, ok := errors.AsType[*givenError](err); ok {
		return given.error
	}
	return fmt.Errorf("%s from %s: %w", doing, a.target, explain(err, a.conn.Config()))
}
