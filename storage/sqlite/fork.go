package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage"
	"github.com/throng-sim/throng/storage/sqlite/internal/blob"
	"github.com/throng-sim/throng/storage/sqlite/internal/file"
)

// Fork adds a run that begins where a checkpoint of its Parent stands: its ForkCycle is that of the checkpoint. Memory,
// what people injected, retired and tuned, and the answers that belong to the parent are copied as of that moment; the
// rows of the parent are not, and nothing of it changes. ErrNotFound if the parent does not keep the checkpoint.
func (s *runs) Fork(ctx context.Context, r engine.RunRecord, f storage.Fork) error {
	err := s.create(ctx, &r, func(tx file.Tx, key int64) error {
		return (&forking{tx: tx, Fork: f, record: &r, key: key}).copy()
	})
	if err != nil {
		return fmt.Errorf("fork run %s as %s: %w", r.Parent, r.ID, err)
	}
	return nil
}

// State returns what a checkpoint kept of the loop.
func (s *checkpoints) State(ctx context.Context, run engine.RunID, number int) (state engine.State, err error) {
	key, err := s.key(ctx, run)
	if err != nil {
		return state, err
	}
	var data []byte
	err = s.file.Row(ctx, `SELECT state FROM checkpoints WHERE run = ? AND number = ? AND NOT trashed`, key, number).Scan(&data)
	if err == nil {
		err = blob.Unmarshal(data, &state)
	}
	if err != nil {
		err = fmt.Errorf("checkpoint %d of run %s: %w", number, run, file.Translate(err))
	}
	return state, err
}

// forking is a fork that is being made.
type forking struct {
	storage.Fork
	tx          file.Tx
	record      *engine.RunRecord
	key, parent int64 // of the runs
	pos         int64 // of the parent's checkpoint
	state       engine.State
}

func (f *forking) copy() error {
	if err := f.find(); err != nil {
		return err
	}
	if err := f.tuned(); err != nil {
		return err
	}
	if err := f.memory(); err != nil {
		return err
	}
	if !f.Unanswered {
		if err := f.answers(); err != nil {
			return err
		}
	}
	return f.checkpoint()
}

// find reads the parent's checkpoint. The figures of the fork will be its own.
func (f *forking) find() error {
	var cycle int
	var state []byte
	err := f.tx.Row(`SELECT c.run, c.pos, c.cycle, c.state FROM checkpoints c JOIN runs r ON r.key = c.run
		WHERE r.id = ? AND NOT r.hidden AND c.number = ? AND NOT c.trashed`, string(f.record.Parent), f.Checkpoint).Scan(&f.parent, &f.pos, &cycle, &state)
	if errors.Is(err, sql.ErrNoRows) || err == nil && cycle != f.record.ForkCycle {
		return fmt.Errorf("it keeps no checkpoint %d at the start of cycle %d: %w", f.Checkpoint, f.record.ForkCycle, engine.ErrNotFound)
	}
	if err != nil {
		return err
	}
	if err := blob.Unmarshal(state, &f.state); err != nil {
		return err
	}
	since := f.state.Totals.Inexact
	f.state.Totals = engine.Totals{}
	if since != nil && since.Cycle < cycle { // what it begins with depends on timing
		f.state.Totals.Inexact = since
		if err := f.tx.Exec(`UPDATE runs SET inexact = coalesce(inexact, ?) WHERE key = ?`, inexactText(since), f.key); err != nil {
			return err
		}
	}
	f.move()
	return nil
}

// move brings what the loop kept of agents to the indexes that they have now.
func (f *forking) move() {
	if f.Moved == nil {
		return
	}
	retired := map[int]int{}
	for agent, from := range f.state.Retired {
		if now, ok := f.Moved[agent]; ok {
			retired[now] = from
		}
	}
	f.state.Retired = retired
	var injected []engine.Injection
	for _, i := range f.state.Injected {
		if len(i.To) == 0 {
			injected = append(injected, i)
			continue
		}
		var to []int
		for _, agent := range i.To {
			if now, ok := f.Moved[agent]; ok {
				to = append(to, now)
			}
		}
		if i.To = slices.Sorted(slices.Values(to)); len(to) > 0 { // to nobody would be to everybody
			injected = append(injected, i)
		}
	}
	f.state.Injected = injected
}

// tuned finds what services had been changed to. Settings that were changed are in the record.
func (f *forking) tuned() error {
	heard := engine.Resumption{Tuned: f.state.Tuned}
	// The state of a checkpoint that was fetched has them all; the rows are of another moment.
	rows, err := f.tx.Rows(`SELECT what, new FROM changes WHERE run = ?1 AND pos <= ?2 AND (SELECT fetched FROM runs WHERE key = ?1) IS NULL ORDER BY pos`, f.parent, f.pos)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var c engine.ChangeRow
		if err := rows.Scan(&c.What, &c.New); err != nil {
			return err
		}
		if err := heard.Hear(&c); err != nil {
			return err
		}
	}
	own := engine.LiveSettings()
	f.state.Tuned = slices.DeleteFunc(heard.Tuned, func(t engine.Tunable) bool {
		service, _, _ := strings.Cut(t.Name, ".")
		return slices.Contains(own, t.Name) || slices.Contains(f.Untuned, service) || slices.Contains(f.Untuned, t.Name)
	})
	return rows.Err()
}

const memoryAt = ` FROM checkpoint_memory m WHERE run = ?2 AND number =
	(SELECT max(number) FROM checkpoint_memory WHERE run = ?2 AND agent = m.agent AND number <= ?3)`

// memory copies that of the agents, as of the checkpoint.
func (f *forking) memory() error {
	if f.Moved == nil {
		return f.tx.Exec(`INSERT INTO checkpoint_memory (run, number, agent, data) SELECT ?1, 1, agent, data`+memoryAt+` AND length(data) > 0`,
			f.key, f.parent, f.Checkpoint)
	}
	encoder := blob.NewEncoder()
	for _, was := range slices.Sorted(maps.Keys(f.Moved)) {
		var data []byte
		err := f.tx.Row(`SELECT data`+memoryAt+` AND agent = ?4`, 0, f.parent, f.Checkpoint, was).Scan(&data)
		if errors.Is(err, sql.ErrNoRows) || err == nil && len(data) == 0 {
			continue
		}
		var m engine.Memory
		if err == nil {
			err = blob.Unmarshal(data, &m)
		}
		if err != nil {
			return err
		}
		for i := range m.Inbox {
			now, ok := f.Moved[m.Inbox[i].From]
			if !ok { // who said it is nobody that can be named here
				now = engine.Outside
			}
			m.Inbox[i].From = now
		}
		if data, err = blob.Marshal(&m, encoder); err != nil {
			return err
		}
		if err := f.tx.Exec(`INSERT INTO checkpoint_memory (run, number, agent, data) VALUES (?, 1, ?, ?)`, f.key, f.Moved[was], data); err != nil {
			return err
		}
	}
	return nil
}

// answers copies those that were asked for before the fork's first cycle. What they cost is the parent's: here they are
// as if asking had taken nothing.
func (f *forking) answers() error {
	encoder := blob.NewEncoder()
	for pos, page := int64(0), pageRows; page == pageRows; {
		all, err := f.asked(pos)
		if err != nil {
			return err
		}
		page = len(all)
		for _, data := range all {
			pos = data.pos
			var row engine.SharedRow
			if err := blob.Unmarshal(data.blob, &row); err != nil {
				return err
			}
			if !row.Answers() || row.Cycle >= f.record.ForkCycle {
				continue
			}
			row.Record = &engine.StepRecord{Path: row.Record.Path, Label: engine.Replayed}
			blob, err := blob.Marshal(&row, encoder)
			if err != nil {
				return err
			}
			own, err := f.tx.Positions(1)
			if err != nil {
				return err
			}
			if err := f.tx.Exec(`INSERT INTO shared (pos, run, key, open, data) VALUES (?, ?, ?, 0, ?)`, own, f.key, row.Key[:], blob); err != nil {
				return err
			}
		}
	}
	return nil
}

// blobAt is a blob of a row with the row's position.
type blobAt struct {
	pos  int64
	blob []byte
}

// asked reads a page of the parent's askings that ended.
func (f *forking) asked(after int64) (all []blobAt, err error) {
	rows, err := f.tx.Rows(`SELECT pos, data FROM shared WHERE run = ? AND NOT open AND pos > ? ORDER BY pos LIMIT ?`, f.parent, after, pageRows)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var b blobAt
		if err := rows.Scan(&b.pos, &b.blob); err != nil {
			return nil, err
		}
		all = append(all, b)
	}
	return all, rows.Err()
}

// checkpoint makes the fork's first one of what was copied.
func (f *forking) checkpoint() error {
	state, err := blob.Marshal(&f.state, blob.NewEncoder())
	if err != nil {
		return err
	}
	pos, err := f.tx.Positions(1)
	if err != nil {
		return err
	}
	err = f.tx.Exec(`INSERT INTO checkpoints (pos, run, number, at, cycle, done, total, reason, bytes, state)
		SELECT ?1, ?2, 1, ?3, ?4, 0, ?5, ?6, length(?7) + coalesce(sum(length(data)), 0), ?7 FROM checkpoint_memory WHERE run = ?2`,
		pos, f.key, micros(f.record.Created), f.record.ForkCycle, f.record.Total, engine.ForkReason+string(f.record.Parent), state)
	if err != nil {
		return err
	}
	return f.tx.Exec(`UPDATE runs SET checkpoint_bytes = (SELECT sum(bytes) FROM checkpoints WHERE run = ?1) WHERE key = ?1`, f.key)
}
