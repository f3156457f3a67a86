package sqlite

import (
	"cmp"
	"container/heap"
	"context"
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/codec"
	"github.com/throng-sim/throng/storage/sqlite/internal/blob"
)

// Sessions yields the sessions of the cycles from to to-1 (0: all), ordered by cycle and agent, with only the last take of
// each session. Of Delta only Said is set. The row is reused. Reads are short, so that an export does not delay a run in progress,
// and may or may not include rows that are committed in the meantime.
func (s *history) Sessions(ctx context.Context, run engine.RunID, from, to int) iter.Seq2[*engine.SessionRow, error] {
	return s.merged(ctx, run, merge{to: to, last: header{cycle: from, lo: -1}})
}

// Takes is like Sessions for all cycles, with all takes.
func (s *history) Takes(ctx context.Context, run engine.RunID) iter.Seq2[*engine.SessionRow, error] {
	return s.merged(ctx, run, merge{all: true, last: header{lo: -1}})
}

func (s *history) merged(ctx context.Context, run engine.RunID, m merge) iter.Seq2[*engine.SessionRow, error] {
	if m.to <= 0 {
		m.to = math.MaxInt
	}
	return func(yield func(*engine.SessionRow, error) bool) {
		key, err := s.key(ctx, run)
		if err != nil {
			yield(nil, err)
			return
		}
		m := m // a new one for each iteration
		m.store, m.run = s.core, key
		for {
			r, err := m.next(ctx)
			if r == nil && err == nil {
				err = s.still(ctx, key)
			}
			if err != nil {
				yield(nil, fmt.Errorf("sessions of run %s: %w", run, err))
				return
			}
			if r == nil || !yield(r, nil) {
				return
			}
		}
	}
}

// header is the position of a pack in the order of reading.
type header struct {
	pos       int64
	cycle, lo int
}

// openPack is a pack that is being read, ordered by agent and take.
type openPack struct {
	header
	base     int64
	sessions []packed // remaining
}

// packed is a session of an open pack.
type packed struct {
	agent, take int
	segment     codec.Cursor
}

// merge reads packs in the order of their lowest agents, and keeps overlapping packs open. These are few, because agents
// start in order.
type merge struct {
	store   *core
	run     int64
	to      int
	all     bool     // all takes, not only the last
	last    header   // the last header that was read
	headers []header // read, but not opened
	noMore  bool
	open    []*openPack // a heap
	reader  codec.SessionReader
}

// next returns the next session; nil at the end.
func (m *merge) next(ctx context.Context) (*engine.SessionRow, error) {
	for {
		if err := m.fill(ctx); err != nil || len(m.open) == 0 {
			return nil, err
		}
		top := m.open[0]
		p := top.sessions[0]
		top.sessions = top.sessions[1:]
		if len(top.sessions) == 0 {
			heap.Pop(m)
		} else {
			heap.Fix(m, 0)
		}
		if err := m.fill(ctx); err != nil {
			return nil, err
		}
		if !m.all && len(m.open) > 0 && m.open[0].cycle == top.cycle && m.open[0].sessions[0].agent == p.agent {
			continue // there is a later take
		}
		row, err := m.reader.Read(p.segment, top.cycle, top.base)
		return row, blob.AsDamaged(err)
	}
}

// fill opens all packs that may contain the next session.
func (m *merge) fill(ctx context.Context) error {
	for {
		if len(m.headers) == 0 && !m.noMore {
			if err := m.page(ctx); err != nil {
				return err
			}
		}
		if len(m.headers) == 0 {
			return nil
		}
		h := m.headers[0]
		if len(m.open) > 0 {
			if top := m.open[0]; top.cycle < h.cycle || top.cycle == h.cycle && top.sessions[0].agent < h.lo {
				return nil
			}
		}
		m.headers = m.headers[1:]
		p, err := m.load(ctx, h)
		if err != nil {
			return err
		}
		if p != nil && len(p.sessions) > 0 {
			heap.Push(m, p)
		}
	}
}

// page reads the next headers.
func (m *merge) page(ctx context.Context) error {
	n := 0
	for rows, err := range m.store.file.Query(ctx, `SELECT pos, cycle, lo FROM sessions WHERE run = ? AND (cycle, lo, pos) > (?, ?, ?) AND cycle < ? ORDER BY cycle, lo, pos LIMIT ?`,
		m.run, m.last.cycle, m.last.lo, m.last.pos, m.to, pageRows) {
		if err != nil {
			return err
		}
		if err := rows.Scan(&m.last.pos, &m.last.cycle, &m.last.lo); err != nil {
			return err
		}
		m.headers = append(m.headers, m.last)
		n++
	}
	m.noMore = n < pageRows
	return nil
}

// load reads a pack; nil if it has been deleted.
func (m *merge) load(ctx context.Context, h header) (*openPack, error) {
	p := &openPack{header: h}
	for rows, err := range m.store.file.Query(ctx, `SELECT data FROM sessions WHERE pos = ?`, h.pos) {
		if err != nil {
			return nil, err
		}
		var data []byte
		if err := rows.Scan(&data); err != nil {
			return nil, err
		}
		err = blob.Rows(data, func(c codec.Cursor, base int64) error {
			p.base = base
			place, _, err := codec.OutcomeOf(c, h.cycle)
			p.sessions = append(p.sessions, packed{place.Agent, place.Take, c})
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(p.sessions, func(a, b packed) int {
		return cmp.Or(cmp.Compare(a.agent, b.agent), cmp.Compare(a.take, b.take))
	})
	return p, nil
}

var _ heap.Interface = (*merge)(nil)

// Len returns the number of open packs.
func (m *merge) Len() int { return len(m.open) }

// Less orders open packs by their next session.
func (m *merge) Less(i, j int) bool {
	a, b := m.open[i], m.open[j]
	return cmp.Or(cmp.Compare(a.cycle, b.cycle), cmp.Compare(a.sessions[0].agent, b.sessions[0].agent),
		cmp.Compare(a.sessions[0].take, b.sessions[0].take), cmp.Compare(a.pos, b.pos)) < 0
}

// Swap is part of [heap.Interface], as are Push and Pop.
func (m *merge) Swap(i, j int) { m.open[i], m.open[j] = m.open[j], m.open[i] }

// Push adds an open pack.
func (m *merge) Push(p any) { m.open = append(m.open, p.(*openPack)) }

// Pop removes the last open pack.
func (m *merge) Pop() any {
	last := m.open[len(m.open)-1]
	m.open = m.open[:len(m.open)-1]
	return last
}
