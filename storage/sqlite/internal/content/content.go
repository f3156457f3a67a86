// Package content keeps the exchanges of runs for reading. They are not a part of the journal: a lost one changes no result.
package content

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/codec"
	"github.com/throng-sim/throng/storage"
	"github.com/throng-sim/throng/storage/sqlite/internal/blob"
	"github.com/throng-sim/throng/storage/sqlite/internal/file"
)

const (
	// contentEvery is the longest time until kept content is in the store, and contentPack the size of a pack before
	// compression from which it is written earlier.
	contentEvery = time.Second
	contentPack  = 1 << 20
	// queuedContent bounds the content that waits for the disk. More is not kept.
	queuedContent = 16 << 20
	// contentPerSecond and contentBurst bound the CPU time for keeping content: removing secrets from a text takes some
	// microseconds.
	contentPerSecond = 1000
	contentBurst     = 10_000
	// readContent bounds the content that one read returns.
	readContent = 32 << 20
)

// Content keeps the exchanges of one run for reading, up to a size. Its methods are safe for concurrent use and do not wait
// for the disk, except for Close. It starts a goroutine with the first exchange.
type Content struct {
	file   *file.File
	log    *slog.Logger
	run    int64
	most   int64
	redact func(*engine.Exchange)
	size   atomic.Int64 // in the store
	full   atomic.Bool

	mu      sync.Mutex
	queue   []engine.Exchange
	bytes   int // of the queue
	credit  float64
	counted time.Time
	wake    chan struct{} // nil before the first exchange
	closed  bool
	ended   chan struct{}
}

var _ engine.ContentKeeper = (*Content)(nil)

// New keeps the exchanges of a run until they take most bytes in the store, those of earlier processes included. redact removes
// secrets from an exchange before it is written.
func New(ctx context.Context, f *file.File, log *slog.Logger, run, most int64, redact func(*engine.Exchange)) (*Content, error) {
	c := &Content{file: f, log: log, run: run, most: most, redact: redact, credit: contentBurst, ended: make(chan struct{})}
	n, err := Size(ctx, f, run)
	if err != nil {
		return nil, err
	}
	c.size.Store(n)
	c.full.Store(n >= most)
	return c, nil
}

// Wants implements [engine.ContentKeeper]. Each call may use up a part of the rate at which content is kept.
func (c *Content) Wants() bool {
	if c.full.Load() {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if !c.counted.IsZero() {
		c.credit = min(c.credit+now.Sub(c.counted).Seconds()*contentPerSecond, contentBurst)
	}
	c.counted = now
	return !c.closed && c.credit >= 1 && c.bytes < queuedContent
}

// Keep implements [engine.ContentKeeper].
func (c *Content) Keep(e engine.Exchange) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || c.full.Load() {
		return
	}
	c.credit--
	e.Headers = ""
	c.queue = append(c.queue, e)
	before := c.bytes
	c.bytes += len(e.Sent) + len(e.Answer) + len(e.Prompt) + len(e.Reply) + len(e.Request) + 100
	if c.wake == nil {
		c.wake = make(chan struct{}, 1)
		go c.write(c.wake)
	}
	if before < contentPack && c.bytes >= contentPack {
		c.nudge()
	}
}

// nudge wakes the writer. The caller holds the lock.
func (c *Content) nudge() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// Close writes what is queued. Nothing is kept afterwards.
func (c *Content) Close() error {
	c.mu.Lock()
	c.closed = true
	began := c.wake != nil
	if began {
		c.nudge()
	}
	c.mu.Unlock()
	if began {
		<-c.ended
	}
	return nil
}

// write writes the queue until Close.
func (c *Content) write(wake <-chan struct{}) {
	defer close(c.ended)
	encoder := blob.NewEncoder()
	tick := time.NewTicker(contentEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-wake:
		}
		c.mu.Lock()
		all, closed := c.queue, c.closed
		c.queue, c.bytes = nil, 0
		c.mu.Unlock()
		if err := c.flush(all, encoder); err != nil { // the run does not depend on it
			c.full.Store(true)
			c.log.Warn("the prompts, requests and answers of the run are no longer kept", "error", err)
		}
		if closed {
			return
		}
	}
}

// flush writes exchanges as one pack for each cycle.
func (c *Content) flush(all []engine.Exchange, encoder *zstd.Encoder) error {
	if len(all) == 0 || c.full.Load() {
		return nil
	}
	for i := range all {
		c.redact(&all[i])
	}
	slices.SortStableFunc(all, func(a, b engine.Exchange) int { return cmp.Compare(a.Cycle, b.Cycle) })
	added := int64(0)
	err := c.file.Transact(func(tx file.Tx) error {
		added = 0
		for part := all; len(part) > 0; {
			n := 1
			for n < len(part) && part[n].Cycle == part[0].Cycle {
				n++
			}
			size, err := c.insert(tx, part[:n], encoder)
			if err != nil {
				return err
			}
			added, part = added+size, part[n:]
		}
		return nil
	})
	if err == nil && c.size.Add(added) >= c.most {
		c.full.Store(true)
	}
	return err
}

// insert writes the exchanges of one cycle as a pack: for each, the agent, the time in microseconds, the length and the CBOR,
// whose times have no fractions of a second.
func (c *Content) insert(tx file.Tx, all []engine.Exchange, encoder *zstd.Encoder) (size int64, err error) {
	var raw []byte
	lo, hi := all[0].Agent, all[0].Agent
	first, last := all[0].At, all[0].At
	for i := range all {
		e := &all[i]
		lo, hi = min(lo, e.Agent), max(hi, e.Agent)
		if e.At.Before(first) {
			first = e.At
		}
		if e.At.After(last) {
			last = e.At
		}
		data, err := codec.Marshal(e)
		if err != nil {
			return 0, err
		}
		raw = binary.AppendUvarint(raw, uint64(e.Agent))
		raw = binary.AppendVarint(raw, e.At.UnixMicro())
		raw = binary.AppendUvarint(raw, uint64(len(data)))
		raw = append(raw, data...)
	}
	packed := blob.Pack(nil, raw, encoder)
	err = tx.Exec(`INSERT INTO exchanges (run, cycle, lo, hi, first, last, count, data) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
		c.run, all[0].Cycle, lo, hi, first.UnixMicro(), last.UnixMicro(), len(all), packed)
	return int64(len(packed)), err
}

// Size returns how many bytes of content a run keeps.
func Size(ctx context.Context, f *file.File, key int64) (bytes int64, err error) {
	err = f.Row(ctx, `SELECT coalesce(sum(length(data)), 0) FROM exchanges WHERE run = ?`, key).Scan(&bytes)
	return bytes, file.Translate(err)
}

// Read returns the kept exchanges of some agents in a cycle, oldest first. It returns at most some megabytes.
func Read(ctx context.Context, f *file.File, key int64, q *storage.ExchangeQuery) (all []engine.Exchange, err error) {
	if all, err = read(ctx, f, key, q); err != nil {
		return nil, err
	}
	slices.SortStableFunc(all, func(a, b engine.Exchange) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Attempt, b.Attempt))
	})
	return all, nil
}

func read(ctx context.Context, f *file.File, key int64, q *storage.ExchangeQuery) (all []engine.Exchange, err error) {
	from, to := int64(0), int64(1<<62)
	if !q.From.IsZero() {
		from = q.From.UnixMicro()
	}
	if !q.To.IsZero() {
		to = q.To.UnixMicro()
	}
	bytes := 0
	for rows, err := range f.Query(ctx, `SELECT data FROM exchanges WHERE run = ? AND cycle = ? AND lo <= ? AND hi >= ? AND first <= ? AND last >= ? ORDER BY id`,
		key, q.Cycle, q.Hi, q.Lo, to, from) {
		if err != nil {
			return nil, err
		}
		var data []byte
		if err := rows.Scan(&data); err != nil {
			return nil, err
		}
		raw, err := blob.Unpack(data)
		if err != nil {
			return nil, err
		}
		for len(raw) > 0 {
			agent, at, one, rest, ok := nextExchange(raw)
			if !ok {
				return nil, blob.ErrDamaged
			}
			raw = rest
			if agent < q.Lo || agent > q.Hi || q.Agents != nil && !q.Agents[agent] {
				continue
			}
			var e engine.Exchange
			if err := codec.Unmarshal(one, &e); err != nil {
				return nil, fmt.Errorf("%w: %w", err, blob.ErrDamaged)
			}
			e.At = at
			all, bytes = append(all, e), bytes+len(one)
		}
		if bytes > readContent {
			break
		}
	}
	return all, nil
}

// nextExchange splits the first exchange off a pack.
func nextExchange(raw []byte) (agent int, at time.Time, one, rest []byte, ok bool) {
	a, n := binary.Uvarint(raw)
	if n <= 0 {
		return 0, at, nil, nil, false
	}
	raw = raw[n:]
	when, n := binary.Varint(raw)
	if n <= 0 {
		return 0, at, nil, nil, false
	}
	raw = raw[n:]
	size, n := binary.Uvarint(raw)
	if n <= 0 || size > uint64(len(raw)-n) {
		return 0, at, nil, nil, false
	}
	raw = raw[n:]
	return int(a), time.UnixMicro(when).UTC(), raw[:size], raw[size:], true //nolint:gosec // an index of an agent
}
