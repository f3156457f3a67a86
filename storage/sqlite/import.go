package sqlite

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage"
	"github.com/throng-sim/throng/storage/sqlite/internal/blob"
	"github.com/throng-sim/throng/storage/sqlite/internal/file"
	"github.com/throng-sim/throng/storage/sqlite/internal/lock"
)

// Import adds a checkpoint of a run that was executed elsewhere. A run that is new here is listed after [Import.Finish]. The
// remains of an interrupted import are removed when the store is opened or the next import begins. An Import is not safe for
// concurrent use.
type Import struct {
	store    *imports
	lock     *flock.Flock
	envelope *envelope
	run      engine.RunRecord
	key      int64
	fresh    bool // the run is new here
	done     bool

	files       []byte
	answers     int
	remembering int
	last        int64 // the last agent whose memory was added
}

// importsLock is the path of the lock that makes a process the only importer.
func (s *imports) importsLock() string { return filepath.Join(s.file.Dir(), lock.Imports) }

// waitForImports locks importsLock. It waits for a process that only removes the remains of imports; ErrInUse if another imports.
func (s *imports) waitForImports(ctx context.Context) (*flock.Flock, error) {
	select {
	case <-s.tidied:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	lock, err := lock.Await(ctx, s.importsLock())
	switch {
	case err != nil && ctx.Err() == nil:
		err = file.FolderError(err)
	case err == nil && lock == nil:
		err = fmt.Errorf("%w: another process is fetching a checkpoint", engine.ErrInUse)
	}
	return lock, err
}

// Import begins to add a checkpoint of a run. run is its entry in the list of the remote database, state the state part of
// the checkpoint. Checkpoints of a run that was fetched before are added to the existing ones. A run that was executed in
// this store is refused with a *engine.FieldError.
func (s *imports) Import(ctx context.Context, run engine.RunRecord, state storage.Part) (i *Import, err error) {
	if i, err = s.beginImport(ctx, run, state); err != nil {
		return nil, fmt.Errorf("import a checkpoint of run %s: %w", run.ID, err)
	}
	return i, nil
}

func (s *imports) beginImport(ctx context.Context, run engine.RunRecord, state storage.Part) (i *Import, err error) {
	i = &Import{store: s, run: run, last: math.MaxInt64}
	if i.envelope, err = readEnvelope(state); err != nil {
		return nil, err
	}
	if err := i.envelope.applyChanges(); err != nil {
		return nil, err
	}
	if err := (&engine.RunRecord{ID: run.ID, Ancestry: engine.Ancestry{Parent: engine.RunID(i.envelope.Parent)}}).CheckIDs(); err != nil {
		return nil, err
	}
	lock, err := s.waitForImports(ctx)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, lock.Close())
		}
	}()
	i.lock = lock
	if err := s.removeArriving(ctx); err != nil {
		return nil, err
	}
	was, key, err := s.run(ctx, run.ID)
	switch {
	case err == nil && was.Fetched == nil:
		return nil, &engine.FieldError{
			Field: "run", Problem: fmt.Sprintf("%s was executed in this store, which has its checkpoints", run.ID), Hint: "throngctl checkpoints " + string(run.ID),
		}
	case err == nil:
		i.key = key
		return i, nil
	case errors.Is(err, ErrTrashed):
		return nil, &engine.FieldError{
			Field: "run", Problem: fmt.Sprintf("%s is in the trash of this store", run.ID), Hint: "restore it first: throngctl restore " + string(run.ID),
		}
	case errors.Is(err, engine.ErrNotFound):
		i.fresh = true
		return i, i.create()
	default:
		return nil, err
	}
}

// removeArriving removes the remains of interrupted imports. The caller holds the lock.
func (s *imports) removeArriving(ctx context.Context) error {
	var keys []int64
	for rows, err := range s.file.Query(ctx, `SELECT key FROM runs WHERE hidden = ?`, arriving) {
		if err != nil {
			return err
		}
		var key int64
		if err := rows.Scan(&key); err != nil {
			return err
		}
		keys = append(keys, key)
	}
	for _, key := range keys {
		if err := s.remove(ctx, key); err != nil {
			return err
		}
	}
	return nil
}

// create adds the run without listing it.
func (i *Import) create() error {
	e, r := i.envelope, &i.run
	from, err := json.Marshal(r.Fetched)
	if err != nil {
		return err
	}
	return i.store.file.Write(func(tx file.Tx) error {
		return tx.Row(`INSERT INTO runs (id, title, created, ended, ending, reason, cycle, cycles, done, total, parent, fork_cycle, inexact, source, hash,
			parameters, settings, files, fetched, hidden, name) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, x'', ?, ?, ?) RETURNING key`,
			string(r.ID), e.Title, e.Created, micros(r.Ended), r.Ending.String(), r.Reason, r.Cycle, e.Cycles, r.Done, r.Total, e.Parent, e.ForkCycle,
			inexactText(r.Inexact), e.Source, e.Hash, e.Parameters, e.Settings, string(from), arriving, r.Name).Scan(&i.key)
	})
}

// Wants returns what must be added: shared answers up to a position, memory up to a checkpoint number, the number of agents
// with memory, and the minimum size of the mock shop's log.
func (i *Import) Wants() (answers int64, number, agents int, log int64) {
	return i.envelope.Pos, i.envelope.Number, i.envelope.Remembering, i.envelope.Log
}

// Add adds parts: files and answers in their order, and the newest memory of each agent, from the last agent to the first.
func (i *Import) Add(parts []storage.Part) error {
	if err := i.store.file.Write(func(tx file.Tx) error {
		for p := range parts {
			if err := i.add(tx, &parts[p]); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		return fmt.Errorf("import a checkpoint of run %s: %w", i.run.ID, err)
	}
	return nil
}

func (i *Import) add(tx file.Tx, p *storage.Part) error {
	switch p.Kind {
	case storage.SourcePart:
		if p.Place != int64(len(i.files)) || p.Place+int64(len(p.Data)) > i.envelope.Files {
			return fmt.Errorf("%w: invalid files", blob.ErrForeign)
		}
		i.files = append(i.files, p.Data...)
		return nil
	case storage.AnswerPart:
		return i.addAnswer(tx, p)
	case storage.MemoryPart:
		return i.addMemory(tx, p)
	default:
		return fmt.Errorf("%w: a part of kind %q", blob.ErrForeign, p.Kind)
	}
}

func (i *Import) addAnswer(tx file.Tx, p *storage.Part) error {
	var row engine.SharedRow
	if err := blob.UnmarshalForeign(p.Data, &row); err != nil {
		return err
	}
	i.answers++
	pos, err := tx.Positions(1)
	if err != nil {
		return err
	}
	return tx.Exec(`INSERT INTO shared (pos, run, key, open, data) SELECT ?1, ?2, ?3, 0, ?4 WHERE NOT EXISTS
		(SELECT 1 FROM shared WHERE run = ?2 AND key = ?3 AND data = ?4)`, pos, i.key, row.Key[:], p.Data)
}

// addMemory does not change existing rows: rows with the same key are equal.
func (i *Import) addMemory(tx file.Tx, p *storage.Part) error {
	if p.Place < 0 || p.Place > math.MaxInt32 || p.Place >= i.last || p.Number < 1 || p.Number > int64(i.envelope.Number) {
		return fmt.Errorf("%w: memory of agent %d", blob.ErrForeign, p.Place)
	}
	if len(p.Data) > 0 {
		var m engine.Memory
		if err := blob.UnmarshalForeign(p.Data, &m); err != nil {
			return err
		}
	}
	i.last = p.Place
	i.remembering++
	data := p.Data
	if data == nil {
		data = []byte{}
	}
	return tx.Exec(`INSERT INTO checkpoint_memory (run, number, agent, data) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`, i.key, p.Number, p.Place, data)
}

// Record returns the run with its files, after all of them were added.
func (i *Import) Record() (engine.RunRecord, error) {
	r, e := i.run, i.envelope
	if sum := sha256.Sum256(i.files); !bytes.Equal(sum[:], e.Sum) {
		return r, fmt.Errorf("import a checkpoint of run %s: %w: invalid files", r.ID, blob.ErrForeign)
	}
	r.Title, r.Created, r.Cycles, r.Parent, r.ForkCycle = e.Title, timeOf(e.Created), e.Cycles, engine.RunID(e.Parent), e.ForkCycle
	r.Source = engine.Source{Name: e.Source, Hash: e.Hash}
	r.Settings = engine.DefaultSettings()
	if err := errors.Join(blob.UnmarshalForeign(i.files, &r.Source.Files), json.Unmarshal([]byte(e.Parameters), &r.Source.Parameters),
		json.Unmarshal([]byte(e.Settings), &r.Settings)); err != nil {
		return r, fmt.Errorf("import a checkpoint of run %s: %w", r.ID, err)
	}
	return r, nil
}

// Finish lists the checkpoint, and the run, if all parts were added.
func (i *Import) Finish() error {
	if _, err := i.Record(); err != nil {
		return err
	}
	err := i.finish()
	if err != nil {
		return fmt.Errorf("import a checkpoint of run %s: %w", i.run.ID, err)
	}
	i.done = true
	return nil
}

func (i *Import) finish() error {
	e := i.envelope
	if i.answers != e.Answers || i.remembering != e.Remembering {
		return fmt.Errorf("%w: it has %d answers of %d, and memory of %d agents of %d", blob.ErrForeign, i.answers, e.Answers, i.remembering, e.Remembering)
	}
	var state engine.State
	if err := blob.UnmarshalForeign(e.State, &state); err != nil {
		return err
	}
	return i.store.file.Write(func(tx file.Tx) error {
		if err := i.updateRun(tx); err != nil {
			return err
		}
		if i.fresh {
			n, err := tx.Changed(`UPDATE runs SET hidden = 0, files = ? WHERE key = ? AND hidden = ?`, i.files, i.key, arriving)
			if err == nil && n != 1 {
				err = engine.ErrNotFound
			}
			if err != nil {
				return err
			}
		}
		pos, err := tx.Positions(1)
		if err != nil {
			return err
		}
		if err := tx.Exec(`INSERT INTO checkpoints (pos, run, number, at, cycle, done, total, kept, reason, bytes, state, took) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (run, number) DO UPDATE SET trashed = 0`, pos, i.key, e.Number, e.At, e.Cycle, e.Done, e.Total, state.Totals.Ended(), e.Reason, e.Bytes, e.State, max(e.Took, 0)); err != nil {
			return err
		}
		return tx.Exec(`UPDATE runs SET checkpoint_bytes = (SELECT coalesce(sum(length(state)), 0) FROM checkpoints WHERE run = ?1) +
			(SELECT coalesce(sum(length(data)), 0) FROM checkpoint_memory WHERE run = ?1) WHERE key = ?1`, i.key)
	})
}

// updateRun updates the entry of the run, and its changes if this is its newest checkpoint.
func (i *Import) updateRun(tx file.Tx) error {
	r := &i.run
	from, err := json.Marshal(r.Fetched)
	if err != nil {
		return err
	}
	if err := tx.Exec(`UPDATE runs SET ended = ?, ending = ?, reason = ?, cycle = ?, done = ?, total = ?, inexact = ?, fetched = ? WHERE key = ?`,
		micros(r.Ended), r.Ending.String(), r.Reason, r.Cycle, r.Done, r.Total, inexactText(r.Inexact), string(from), i.key); err != nil {
		return err
	}
	var newest int
	if err := tx.Row(`SELECT coalesce(max(number), 0) FROM checkpoints WHERE run = ?`, i.key).Scan(&newest); err != nil || newest >= i.envelope.Number {
		return err
	}
	if err := tx.Exec(`DELETE FROM changes WHERE run = ?`, i.key); err != nil {
		return err
	}
	changes, err := i.envelope.changes()
	if err != nil {
		return err
	}
	for _, c := range changes {
		pos, err := tx.Positions(1)
		if err != nil {
			return err
		}
		if err := tx.Exec(`INSERT INTO changes (pos, run, at, cycle, what, old, new, who, why) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			pos, i.key, micros(c.At), c.Cycle, c.What, c.Old, c.New, c.Who, c.Why); err != nil {
			return err
		}
	}
	return nil
}

// Close ends the import. Nothing is listed if it was not finished.
func (i *Import) Close() error {
	var err error
	if !i.done && i.fresh {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		err = i.store.removeArriving(ctx)
	}
	return errors.Join(err, i.lock.Close())
}
