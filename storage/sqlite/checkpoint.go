package sqlite

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage/sqlite/internal/blob"
	"github.com/throng-sim/throng/storage/sqlite/internal/file"
)

const (
	// pieceRows and pieceBytes bound the piece of a checkpoint that one transaction writes, and pieceTime its duration while
	// requests wait. They are delayed by about that time plus one commit.
	pieceRows  = 500
	pieceBytes = 1 << 20
	pieceTime  = 2 * time.Millisecond
	// pageRows is the number of rows that a reader reads in one query. A long read would let the write-ahead log grow.
	pageRows = 1000
)

// checkpointJob is a checkpoint that is being written. A goroutine encodes it in pieces, which the writer writes between
// commits of rows. The last piece makes it visible.
type checkpointJob struct {
	row     engine.CheckpointRow
	pos     int64
	number  int
	pieces  <-chan checkpointPiece
	piece   *checkpointPiece // the next one to write
	bytes   int64            // written so far
	waiting []chan struct{}  // closed when the checkpoint is durable
	cancel  context.CancelFunc
}

type checkpointPiece struct {
	agents []int
	data   [][]byte
	bytes  int64
	last   bool
	state  []byte // in the last piece
}

// written removes the first n agents and returns the size of their memory.
func (p *checkpointPiece) written(n int) (bytes int64) {
	for _, data := range p.data[:n] {
		bytes += int64(len(data))
	}
	p.agents, p.data, p.bytes = p.agents[n:], p.data[n:], p.bytes-bytes
	return bytes
}

// begin starts to encode a checkpoint whose position in the journal is durable.
func (j *Journal) begin(c *checkpointJob) {
	ctx, cancel := context.WithCancel(context.Background())
	pieces := make(chan checkpointPiece, 2)
	c.pieces, c.cancel = pieces, cancel
	j.number = c.number
	j.jobs = append(j.jobs, c)
	j.working.Go(func() { c.encode(ctx, pieces) })
}

func (c *checkpointJob) encode(ctx context.Context, pieces chan<- checkpointPiece) {
	encoder := blob.NewEncoder()
	var p checkpointPiece
	send := func() bool {
		select {
		case pieces <- p:
			p = checkpointPiece{}
			return true
		case <-ctx.Done():
			return false
		}
	}
	for _, agent := range slices.Sorted(maps.Keys(c.row.Memory)) {
		var data []byte
		if m := c.row.Memory[agent]; m != nil {
			data = blob.MustMarshal(m, encoder) // cannot fail
		} else {
			data = []byte{}
		}
		p.agents, p.data, p.bytes = append(p.agents, agent), append(p.data, data), p.bytes+int64(len(data))
		if (len(p.agents) >= pieceRows || p.bytes >= pieceBytes) && !send() {
			return
		}
	}
	p.last, p.state = true, blob.MustMarshal(&c.row.State, encoder)
	p.bytes += int64(len(p.state))
	send()
}

// advance writes a piece of the first checkpoint if one is ready, or as much of it as time permits.
func (j *Journal) advance() bool {
	c := j.jobs[0]
	if c.piece == nil {
		select {
		case p := <-c.pieces:
			c.piece = &p
		default:
			return true
		}
	}
	var n int
	if !j.persist(func(tx file.Tx) (err error) {
		n, err = c.write(tx, j)
		return err
	}) {
		return false
	}
	c.bytes += c.piece.written(n)
	if len(c.piece.agents) > 0 {
		return true
	}
	if c.piece.last {
		c.cancel()
		j.jobs = j.jobs[1:]
		j.maintenances = append(j.maintenances, &dropDeltas{journal: j, below: c.row.Cycle}, prune{journal: j})
		for _, w := range c.waiting {
			close(w)
		}
	}
	c.piece = nil
	return true
}

// write writes the memory of the first n agents of the piece. After all agents of the last piece it writes the checkpoint
// itself.
func (c *checkpointJob) write(tx file.Tx, j *Journal) (n int, err error) {
	began, run, p := time.Now(), j.run, c.piece
	for i, agent := range p.agents {
		if i > 0 && j.queue.pressed(began) {
			return i, nil
		}
		if err := tx.Exec(`INSERT INTO checkpoint_memory (run, number, agent, data) VALUES (?, ?, ?, ?)`, run, c.number, agent, p.data[i]); err != nil {
			return 0, err
		}
	}
	if n = len(p.agents); !p.last {
		return n, nil
	}
	r, bytes := &c.row, c.bytes+p.bytes
	if err := tx.Exec(`INSERT INTO checkpoints (pos, run, number, at, cycle, done, total, kept, reason, bytes, state, took) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		c.pos, run, c.number, micros(r.At), r.Cycle, r.Done, r.Total, r.State.Totals.Ended(), r.Reason, bytes, p.state, int64(max(time.Since(r.At).Truncate(time.Microsecond), 0))); err != nil {
		return 0, err
	}
	return n, tx.Exec(`UPDATE runs SET checkpoint_bytes = checkpoint_bytes + ?, total = iif(? > 0, ?, total) WHERE key = ?`,
		bytes, r.Total, r.Total, run)
}

// Checkpoints returns the checkpoints of a run that are not in the trash, newest first.
func (s *checkpoints) Checkpoints(ctx context.Context, run engine.RunID) ([]engine.CheckpointRecord, error) {
	key, err := s.key(ctx, run)
	if err != nil {
		return nil, err
	}
	return s.listCheckpoints(ctx, run, key, `number > ? AND NOT trashed`, 0)
}

func (s *core) listCheckpoints(ctx context.Context, run engine.RunID, key int64, where string, arg any) (all []engine.CheckpointRecord, err error) {
	query := `SELECT number, at, cycle, done, total, kept, reason, bytes, took, number = (SELECT max(number) FROM checkpoints WHERE run = ?1)
		FROM checkpoints WHERE run = ?1 AND ` + where + ` ORDER BY number DESC`
	for rows, err := range s.file.Query(ctx, query, key, arg) {
		if err != nil {
			return nil, fmt.Errorf("checkpoints of run %s: %w", run, err)
		}
		c := engine.CheckpointRecord{Run: run}
		var at, took int64
		if err := rows.Scan(&c.Number, &at, &c.Cycle, &c.Done, &c.Total, &c.Kept, &c.Reason, &c.SizeBytes, &took, &c.Newest); err != nil {
			return nil, fmt.Errorf("checkpoints of run %s: %w", run, err)
		}
		c.At, c.Took = timeOf(at), time.Duration(took)
		all = append(all, c)
	}
	return all, nil
}

// Checkpoint returns a checkpoint, its state, and the memory of all agents at the start of its cycle.
func (s *checkpoints) Checkpoint(ctx context.Context, run engine.RunID, number int) (engine.CheckpointRecord, engine.State, map[int]*engine.Memory, error) {
	record, state, memory, err := s.restore(ctx, run, number)
	if err != nil {
		err = fmt.Errorf("checkpoint %d of run %s: %w", number, run, err)
	}
	return record, state, memory, err
}

func (s *checkpoints) restore(ctx context.Context, run engine.RunID, number int) (record engine.CheckpointRecord, state engine.State, memory map[int]*engine.Memory, err error) {
	key, err := s.key(ctx, run)
	if err != nil {
		return record, state, nil, err
	}
	found, err := s.listCheckpoints(ctx, run, key, `number = ? AND NOT trashed`, number)
	if err != nil {
		return record, state, nil, err
	}
	if len(found) == 0 {
		return record, state, nil, engine.ErrNotFound
	}
	var data []byte
	if err := s.file.Row(ctx, `SELECT state FROM checkpoints WHERE run = ? AND number = ?`, key, number).Scan(&data); err != nil {
		return record, state, nil, file.Translate(err)
	}
	if err := blob.Unmarshal(data, &state); err != nil {
		return record, state, nil, err
	}
	memory, err = s.memory(ctx, key, number)
	if err != nil {
		return record, state, nil, err
	}
	// Pruning removes a checkpoint before the memory that only it needs. The checkpoint still exists, so nothing was
	// missing.
	var still bool
	if err := s.file.Row(ctx, `SELECT count(*) FROM checkpoints WHERE run = ? AND number = ?`, key, number).Scan(&still); err != nil {
		return record, state, nil, file.Translate(err)
	}
	if !still {
		return record, state, nil, engine.ErrNotFound
	}
	return found[0], state, memory, nil
}

// memory returns the memory of all agents at a checkpoint.
func (s *core) memory(ctx context.Context, key int64, number int) (map[int]*engine.Memory, error) {
	memory := make(map[int]*engine.Memory)
	agent, at, page := -1, 0, 0
	for {
		page = 0
		for rows, err := range s.file.Query(ctx, `SELECT agent, number, data FROM checkpoint_memory
			WHERE run = ? AND number <= ? AND (agent, number) > (?, ?) ORDER BY agent, number LIMIT ?`, key, number, agent, at, pageRows) {
			if err != nil {
				return nil, err
			}
			page++
			var data []byte
			if err := rows.Scan(&agent, &at, &data); err != nil {
				return nil, file.Translate(err)
			}
			delete(memory, agent)
			if len(data) == 0 {
				continue
			}
			var m engine.Memory
			if err := blob.Unmarshal(data, &m); err != nil {
				return nil, err
			}
			memory[agent] = &m
		}
		if page < pageRows {
			return memory, nil
		}
	}
}
