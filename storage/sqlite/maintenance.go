package sqlite

import (
	"database/sql"
	"encoding/binary"
	"errors"
	"math"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/codec"
	"github.com/throng-sim/throng/storage/sqlite/internal/blob"
	"github.com/throng-sim/throng/storage/sqlite/internal/file"
)

const (
	// maintenanceRows is the number of rows that a piece of maintenance removes, and pruneRows the number of agents whose
	// memory is removed in one statement.
	maintenanceRows = 10_000
	pruneRows       = 200
	// After a piece of maintenance, rows that callers wait for have priority for maintenanceShare times the duration of the
	// piece, but no longer than maintenancePause.
	maintenanceShare = 4
	maintenancePause = 20 * time.Millisecond
)

// maintenance removes rows that are no longer needed, in pieces that do not delay other rows for long.
type maintenance interface {
	// piece does a piece, a smaller one if the journal is pressed, and returns the remaining work, or nil. It is called
	// again for the same piece if the transaction failed.
	piece(tx file.Tx) (rest maintenance, err error)
}

// doMaintenance does a piece of the first maintenance task.
func (j *Journal) doMaintenance(busy bool) bool {
	if busy && time.Since(j.maintenanceAt) < j.maintenancePause {
		return true
	}
	var rest maintenance
	began := time.Now()
	ok := j.persist(func(tx file.Tx) (err error) {
		rest, err = j.maintenances[0].piece(tx)
		if errors.Is(err, ErrDamaged) { // keeping too many rows is better than stopping the run
			j.store.options.Logger.Error("old rows of the journal cannot be removed", "run", j.id, "error", err)
			rest, err = nil, nil
		}
		return err
	})
	if !ok {
		return false
	}
	if rest == nil {
		j.swept(j.maintenances[0])
		j.maintenances = j.maintenances[1:]
	} else {
		j.maintenances[0] = rest
	}
	j.maintenanceAt = time.Now()
	j.maintenancePause = min(maintenanceShare*j.maintenanceAt.Sub(began), maintenancePause)
	return true
}

// sweep removes the intents and answers of closed cycles, except for failed sessions, a sample, and runs that record.
// Answers of private steps are always removed.
type sweep struct {
	journal *Journal
	upTo    int

	cycle int          // of bad
	bad   map[int]bool // agents with failed sessions, which no longer change; nil if not read
}

type pack struct {
	pos         int64
	cycle, rows int
	data        []byte
}

func (s *sweep) piece(tx file.Tx) (rest maintenance, err error) {
	began := time.Now()
	// Newest first: if the sweep stops between two pieces, no answer may remain without its intent.
	packs, last, err := somePacks(tx, `SELECT pos, cycle, count, data FROM requests WHERE run = ? AND kept = 0 AND cycle <= ? ORDER BY cycle DESC, pos DESC`, s.journal.run, s.upTo)
	if err != nil {
		return nil, err
	}
	for i, p := range packs {
		if i > 0 && s.journal.queue.pressed(began) {
			return s, nil
		}
		if s.bad == nil || s.cycle != p.cycle {
			bad, err := badAgents(tx, s.journal.run, p.cycle)
			if err != nil {
				return nil, err
			}
			s.cycle, s.bad = p.cycle, bad
		}
		if err := s.pack(tx, p, s.bad); err != nil {
			return nil, err
		}
	}
	return restOf(s, last), nil
}

func restOf(c maintenance, last bool) maintenance {
	if last {
		return nil
	}
	return c
}

// pack removes the rows of a pack that are not kept.
func (s *sweep) pack(tx file.Tx, p pack, bad map[int]bool) error {
	var kept []byte
	count := 0
	err := blob.Rows(p.data, func(c codec.Cursor, base int64) error {
		whole := c.Bytes()
		place := c.Place(p.cycle)
		if c.Bad() {
			return ErrDamaged
		}
		if !s.journal.settings.Record && !bad[place.Agent] && !sampled(s.journal.id, p.cycle, place.Agent, s.journal.settings.KeepShare) {
			return nil
		}
		if kept == nil {
			kept = binary.AppendVarint(nil, base)
		}
		count++
		r, err := codec.ReadRequest(codec.NewCursor(whole), p.cycle)
		if err == nil && r.Conceal() {
			kept = r.Append(kept)
		} else {
			kept = codec.AppendRow(kept, whole)
		}
		return err
	})
	if err != nil {
		return err
	}
	if count == 0 {
		err = tx.Exec(`DELETE FROM requests WHERE pos = ?`, p.pos)
	} else {
		err = tx.Exec(`UPDATE requests SET kept = 1, count = ?, data = ? WHERE pos = ?`, count, blob.Pack(nil, kept, s.journal.encoder), p.pos)
	}
	return err
}

// somePacks reads the packs for one piece; last is set at the end.
func somePacks(tx file.Tx, query string, args ...any) (packs []pack, last bool, err error) {
	rows, err := tx.Rows(query, args...)
	if err != nil {
		return nil, false, err
	}
	defer rows.Close()
	n, bytes := 0, 0
	for rows.Next() {
		if n >= maintenanceRows || bytes >= pieceBytes {
			return packs, false, nil
		}
		var p pack
		if err := rows.Scan(&p.pos, &p.cycle, &p.rows, &p.data); err != nil {
			return nil, false, err
		}
		packs = append(packs, p)
		n, bytes = n+p.rows, bytes+len(p.data)
	}
	return packs, true, rows.Err()
}

// badAgents returns the agents with a session of the cycle that failed or timed out.
func badAgents(tx file.Tx, run int64, cycle int) (map[int]bool, error) {
	bad := map[int]bool{}
	rows, err := tx.Rows(`SELECT data FROM sessions WHERE run = ? AND cycle = ? AND bad > 0`, run, cycle)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var data sql.RawBytes
		if err := rows.Scan(&data); err != nil {
			return nil, err
		}
		err := blob.Rows(data, func(c codec.Cursor, _ int64) error {
			place, outcome, err := codec.OutcomeOf(c, cycle)
			if outcome == engine.Failed || outcome == engine.TimedOut {
				bad[place.Agent] = true
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return bad, rows.Err()
}

// sampled decides whether the requests of a session are stored. It depends on run, cycle and agent only.
func sampled(run engine.RunID, cycle, agent int, share float64) bool {
	h := uint64(14695981039346656037) // FNV-1a
	for i := range len(run) {
		h = (h ^ uint64(run[i])) * 1099511628211
	}
	for _, n := range [...]int{cycle, agent} { // SplitMix64's finalizer
		h += uint64(n) + 0x9e3779b97f4a7c15
		h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
		h = (h ^ h>>27) * 0x94d049bb133111eb
		h ^= h >> 31
	}
	return float64(h>>11)/(1<<53) < share
}

// dropDeltas removes memory changes that a checkpoint includes.
type dropDeltas struct {
	journal *Journal
	below   int // cycle
}

func (d *dropDeltas) piece(tx file.Tx) (rest maintenance, err error) {
	began := time.Now()
	packs, last, err := somePacks(tx, `SELECT pos, cycle, count, x'' FROM deltas WHERE run = ? AND cycle < ? ORDER BY cycle, pos`, d.journal.run, d.below)
	if err != nil {
		return nil, err
	}
	for i, p := range packs {
		if i > 0 && d.journal.queue.pressed(began) {
			return d, nil
		}
		if err := tx.Exec(`DELETE FROM deltas WHERE pos = ?`, p.pos); err != nil {
			return nil, err
		}
	}
	return restOf(d, last), nil
}

// prune removes old checkpoints, except those in the trash, and then memory that no remaining checkpoint needs: the memory
// of an agent from before the oldest remaining checkpoint, if that checkpoint or an earlier one has newer memory.
type prune struct {
	journal *Journal

	pruned        bool
	number, agent int // progress of the removal of memory
	oldest        int
}

func (p prune) piece(tx file.Tx) (rest maintenance, err error) {
	began := time.Now()
	if !p.pruned {
		if err := p.checkpoints(tx); err != nil || p.number > p.oldest {
			return nil, err
		}
	}
	for n := 0; n < maintenanceRows && err == nil && p.number <= p.oldest && (n == 0 || !p.journal.queue.pressed(began)); n += pruneRows {
		err = p.memory(tx)
	}
	if err != nil || p.number <= p.oldest {
		return p, err
	}
	err = tx.Exec(`UPDATE runs SET collected = ? WHERE key = ?`, p.oldest, p.journal.run)
	return nil, err
}

func (p *prune) checkpoints(tx file.Tx) error {
	run, keep := p.journal.run, max(p.journal.settings.KeepCheckpoints, 1)
	var bytes, deleted, collected int
	err := tx.Row(`SELECT coalesce(sum(length(state)), 0), count(*) FROM checkpoints WHERE run = ?1 AND NOT trashed AND number NOT IN
		(SELECT number FROM checkpoints WHERE run = ?1 AND NOT trashed ORDER BY number DESC LIMIT ?2)`, run, keep).Scan(&bytes, &deleted)
	if err == nil && deleted > 0 {
		if err = tx.Exec(`DELETE FROM checkpoints WHERE run = ?1 AND NOT trashed AND number NOT IN
			(SELECT number FROM checkpoints WHERE run = ?1 AND NOT trashed ORDER BY number DESC LIMIT ?2)`, run, keep); err == nil {
			err = tx.Exec(`UPDATE runs SET checkpoint_bytes = checkpoint_bytes - ? WHERE key = ?`, bytes, run)
		}
	}
	if err == nil {
		err = tx.Row(`SELECT collected, (SELECT coalesce(min(number), 0) FROM checkpoints WHERE run = ?1) FROM runs WHERE key = ?1`, run).Scan(&collected, &p.oldest)
	}
	p.pruned, p.number, p.agent = true, max(collected, 1)+1, -1 // nothing comes before the first
	return err
}

// memory removes the memory that a page of agents of a checkpoint replaced.
func (p *prune) memory(tx file.Tx) error {
	run := p.journal.run
	upTo := math.MaxInt
	err := tx.Row(`SELECT agent FROM checkpoint_memory WHERE run = ? AND number = ? AND agent > ? ORDER BY agent LIMIT 1 OFFSET ?`,
		run, p.number, p.agent, pruneRows-1).Scan(&upTo)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	const replaced = ` FROM checkpoint_memory n CROSS JOIN checkpoint_memory o ON o.run = n.run AND o.agent = n.agent AND o.number < n.number
		WHERE n.run = ? AND n.number = ? AND n.agent > ? AND n.agent <= ?`
	var bytes int64
	if err := tx.Row(`SELECT coalesce(sum(length(o.data)), 0)`+replaced, run, p.number, p.agent, upTo).Scan(&bytes); err != nil {
		return err
	}
	if err := tx.Exec(`DELETE FROM checkpoint_memory WHERE id IN (SELECT o.id`+replaced+`)`, run, p.number, p.agent, upTo); err != nil {
		return err
	}
	if err := tx.Exec(`UPDATE runs SET checkpoint_bytes = checkpoint_bytes - ? WHERE key = ?`, bytes, run); err != nil {
		return err
	}
	p.agent = upTo
	if upTo == math.MaxInt {
		p.number, p.agent = p.number+1, -1
	}
	return nil
}
