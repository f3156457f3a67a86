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

// Fork adds a run that starts at a checkpoint of its Parent; ForkCycle is the cycle of the checkpoint. It copies memory,
// shared answers, and manual changes of agents and services up to the checkpoint. It does not copy the rows of the parent,
// which does not change. ErrNotFound if the checkpoint does not exist.
func (s *runs) Fork(ctx context.Context, r engine.RunRecord, f storage.Fork) error {
	err := s.create(ctx, &r, func(tx file.Tx, key int64) error {
		return (&forking{tx: tx, Fork: f, record: &r, key: key}).copy()
	})
	if err != nil {
		return fmt.Errorf("fork run %s as %s: %w", r.Parent, r.ID, err)
	}
	return nil
}

// State returns the state of a checkpoint.
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

// forking is a fork in progress.
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

// find reads the parent's checkpoint. The totals of the fork start at 0.
func (f *forking) find() error {
	var cycle int
	var state []byte
	err := f.tx.Row(`SELECT c.run, c.pos, c.cycle, c.state FROM checkpoints c JOIN runs r ON r.key = c.run
		WHERE r.id = ? AND NOT r.hidden AND c.number = ? AND NOT c.trashed`, string(f.record.Parent), f.Checkpoint).Scan(&f.parent, &f.pos, &cycle, &state)
	if errors.Is(err, sql.ErrNoRows) || err == nil && cycle != f.record.ForkCycle {
		return fmt.Errorf("there is no checkpoint %d at the start of cycle %d: %w", f.Checkpoint, f.record.ForkCycle, engine.ErrNotFound)
	}
	if err != nil {
		return err
	}
	if err := blob.Unmarshal(state, &f.state); err != nil {
		return err
	}
	since := f.state.Totals.Inexact
	f.state.Totals = engine.Totals{}
	if since != nil && since.Cycle < cycle { // the memory at the start of the fork depends on timing
		f.state.Totals.Inexact = since
		if err := f.tx.Exec(`UPDATE runs SET inexact = coalesce(inexact, ?) WHERE key = ?`, inexactText(since), f.key); err != nil {
			return err
		}
	}
	f.move()
	return nil
}

// move translates the indexes of agents in the state.
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
		if i.To = slices.Sorted(slices.Values(to)); len(to) > 0 { // an empty list would address all agents
			injected = append(injected, i)
		}
	}
	f.state.Injected = injected
}

// tuned determines the changed settings of services. Changed settings of the run are in the record.
func (f *forking) tuned() error {
	resumed := engine.Resumption{Tuned: f.state.Tuned}
	// A fetched checkpoint has all changes in its state. The rows describe another checkpoint.
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
		if err := resumed.Apply(&c); err != nil {
			return err
		}
	}
	own := engine.LiveSettings()
	f.state.Tuned = slices.DeleteFunc(resumed.Tuned, func(t engine.Tunable) bool {
		service, _, _ := strings.Cut(t.Name, ".")
		return slices.Contains(own, t.Name) || slices.Contains(f.Untuned, service) || slices.Contains(f.Untuned, t.Name)
	})
	return rows.Err()
}

const memoryAt = ` FROM checkpoint_memory m WHERE run = ?2 AND number =
	(SELECT max(number) FROM checkpoint_memory WHERE run = ?2 AND agent = m.agent AND number <= ?3)`

// memory copies the memory of the agents at the checkpoint.
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
			if !ok { // the sender does not exist in the fork
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

// answers copies shared answers that were requested before the first cycle of the fork. Their cost belongs to the parent;
// the copies have none.
func (f *forking) answers() error {
	encoder := blob.NewEncoder()
	for pos, page := int64(0), pageRows; page == pageRows; {
		all, err := f.asked(pos)
		if err != nil {
			return err
		}
		page = len(all)
		for _, answer := range all {
			pos = answer.pos
			var row engine.SharedRow
			if err := blob.Unmarshal(answer.data, &row); err != nil {
				return err
			}
			if !row.Answers() || row.Cycle >= f.record.ForkCycle {
				continue
			}
			row.Record = &engine.StepRecord{Path: row.Record.Path, Label: engine.Replayed}
			data, err := blob.Marshal(&row, encoder)
			if err != nil {
				return err
			}
			own, err := f.tx.Positions(1)
			if err != nil {
				return err
			}
			if err := f.tx.Exec(`INSERT INTO shared (pos, run, key, open, data) VALUES (?, ?, ?, 0, ?)`, own, f.key, row.Key[:], data); err != nil {
				return err
			}
		}
	}
	return nil
}

// positioned is the data of a row with its position.
type positioned struct {
	pos  int64
	data []byte
}

// asked reads a page of the parent's completed shared requests.
func (f *forking) asked(after int64) (all []positioned, err error) {
	rows, err := f.tx.Rows(`SELECT pos, data FROM shared WHERE run = ? AND NOT open AND pos > ? ORDER BY pos LIMIT ?`, f.parent, after, pageRows)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var b positioned
		if err := rows.Scan(&b.pos, &b.data); err != nil {
			return nil, err
		}
		all = append(all, b)
	}
	return all, rows.Err()
}

// checkpoint creates the first checkpoint of the fork from what was copied.
func (f *forking) checkpoint() error {
	state, err := blob.Marshal(&f.state, blob.NewEncoder())
	if err != nil {
		return err
	}
	pos, err := f.tx.Positions(1)
	if err != nil {
		return err
	}
	err = f.tx.Exec(`INSERT INTO checkpoints (pos, run, number, at, cycle, done, total, kept, reason, bytes, state)
		SELECT ?1, ?2, 1, ?3, ?4, 0, ?5, 0, ?6, length(?7) + coalesce(sum(length(data)), 0), ?7 FROM checkpoint_memory WHERE run = ?2`,
		pos, f.key, micros(f.record.Created), f.record.ForkCycle, f.record.Total, engine.ForkReason+string(f.record.Parent), state)
	if err != nil {
		return err
	}
	return f.tx.Exec(`UPDATE runs SET checkpoint_bytes = (SELECT sum(bytes) FROM checkpoints WHERE run = ?1) WHERE key = ?1`, f.key)
}
