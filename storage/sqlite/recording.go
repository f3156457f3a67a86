package sqlite

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/codec"
	"github.com/throng-sim/throng/storage/sqlite/internal/blob"
	"github.com/throng-sim/throng/storage/sqlite/internal/file"
)

// keptBytes bounds the packs that a recording caches. Sessions that run at the same time are mostly in the same packs.
const keptBytes = 32 << 20

// Recording reads the recorded answers of a run, one pack at a time. It is safe for concurrent use.
type Recording struct {
	store  *core
	run    engine.RunID
	key    int64
	shared map[engine.SharedKey]engine.Entry

	mu    sync.Mutex
	cycle int             // of at and packs; -1 before the first
	at    map[int][]int64 // positions of the packs with requests of an agent, ascending
	packs map[int64]*recordedPack
	order []int64 // of the packs, oldest first
	bytes int     // size of the packs
}

// recordedPack is a pack by agent.
type recordedPack struct {
	requests map[int][]codec.Request
	bytes    int
}

var _ engine.Recording = (*Recording)(nil)

// Recording opens the recording of a run; ErrNotFound if there is no such run. The caller knows whether it is complete.
func (s *history) Recording(ctx context.Context, run engine.RunID) (*Recording, error) {
	key, err := s.key(ctx, run)
	if err != nil {
		return nil, fmt.Errorf("recording of run %s: %w", run, err)
	}
	r := &Recording{store: s.core, run: run, key: key, cycle: -1}
	var known engine.Shared
	if err := s.eachShared(ctx, key, known.Add); err != nil {
		return nil, fmt.Errorf("recording of run %s: %w", run, err)
	}
	r.shared = known.Answers
	return r, nil
}

// RecordingSize returns the size of a run's stored requests and answers in bytes.
func (s *history) RecordingSize(ctx context.Context, run engine.RunID) (bytes int64, err error) {
	key, err := s.key(ctx, run)
	if err == nil {
		err = s.file.Row(ctx, `SELECT (SELECT coalesce(sum(length(data)), 0) FROM requests WHERE run = ?1) +
			(SELECT coalesce(sum(length(data)), 0) FROM shared WHERE run = ?1)`, key).Scan(&bytes)
	}
	if err != nil {
		return 0, fmt.Errorf("measure the recording of run %s: %w", run, file.Translate(err))
	}
	return bytes, nil
}

// Run implements [engine.Recording].
func (r *Recording) Run() engine.RunID { return r.run }

// Shared implements [engine.Recording].
func (r *Recording) Shared() map[engine.SharedKey]engine.Entry { return r.shared }

// Session implements [engine.Recording]. It is fastest if cycles are read in order.
func (r *Recording) Session(ctx context.Context, cycle, agent int) (engine.Prefix, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.open(ctx, cycle); err != nil {
		return nil, err
	}
	var requests []codec.Request
	for _, pos := range r.at[agent] {
		p, err := r.pack(ctx, pos)
		if err != nil {
			return nil, err
		}
		requests = append(requests, p.requests[agent]...)
	}
	return lastPrefix(requests), nil
}

// open finds the packs with the requests of a cycle.
func (r *Recording) open(ctx context.Context, cycle int) error {
	if r.cycle == cycle {
		return nil
	}
	r.cycle, r.at, r.packs, r.order, r.bytes = -1, map[int][]int64{}, map[int64]*recordedPack{}, nil, 0
	for pos, page := int64(0), pageRows; page == pageRows; {
		page = 0
		for rows, err := range r.store.file.Query(ctx, `SELECT pos, data FROM requests WHERE run = ? AND kept IN (0, 1) AND cycle = ? AND pos > ? ORDER BY pos LIMIT ?`,
			r.key, cycle, pos, pageRows) {
			if err != nil {
				return err
			}
			var data []byte
			if err := rows.Scan(&pos, &data); err != nil {
				return err
			}
			if err := r.index(pos, cycle, data); err != nil {
				return err
			}
			page++
		}
	}
	if err := r.store.still(ctx, r.key); err != nil {
		return err
	}
	r.cycle = cycle
	return nil
}

// index records which agents have requests in a pack.
func (r *Recording) index(pos int64, cycle int, data []byte) error {
	return blob.Rows(data, func(c codec.Cursor, _ int64) error {
		agent := c.Place(cycle).Agent
		if at := r.at[agent]; len(at) == 0 || at[len(at)-1] != pos {
			r.at[agent] = append(at, pos)
		}
		if c.Bad() {
			return ErrDamaged
		}
		return nil
	})
}

// pack reads a pack, or returns it from the cache.
func (r *Recording) pack(ctx context.Context, pos int64) (*recordedPack, error) {
	if p, ok := r.packs[pos]; ok {
		return p, nil
	}
	p := &recordedPack{requests: map[int][]codec.Request{}}
	for rows, err := range r.store.file.Query(ctx, `SELECT data FROM requests WHERE pos = ?`, pos) {
		if err != nil {
			return nil, err
		}
		var data []byte
		if err := rows.Scan(&data); err != nil {
			return nil, err
		}
		err := blob.Rows(data, func(c codec.Cursor, _ int64) error {
			p.bytes += len(c.Bytes())
			q, err := codec.ReadRequest(c, r.cycle)
			p.requests[q.Agent] = append(p.requests[q.Agent], q)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	if len(p.requests) == 0 {
		if err := r.store.still(ctx, r.key); err != nil {
			return nil, err
		}
	}
	for len(r.order) > 0 && r.bytes+p.bytes > keptBytes {
		r.bytes -= r.packs[r.order[0]].bytes
		delete(r.packs, r.order[0])
		r.order = r.order[1:]
	}
	r.packs[pos], r.order, r.bytes = p, append(r.order, pos), r.bytes+p.bytes
	return p, nil
}

// lastPrefix returns the entries of the last take among an agent's requests, ordered by path.
func lastPrefix(requests []codec.Request) engine.Prefix {
	take, entries := 0, map[string]engine.Entry{}
	for i := range requests {
		take = max(take, requests[i].Take)
	}
	for i := range requests {
		q := &requests[i]
		if q.Take != take {
			continue
		}
		for _, e := range q.Earlier {
			entries[e.Path] = e
		}
		if _, known := entries[q.Entry.Path]; !known || q.Kind == codec.AnswerKind {
			entries[q.Entry.Path] = q.Entry
		}
	}
	var p engine.Prefix
	for _, e := range entries {
		p = append(p, e)
	}
	slices.SortFunc(p, func(a, b engine.Entry) int { return strings.Compare(a.Path, b.Path) })
	return p
}
