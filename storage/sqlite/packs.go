package sqlite

import (
	"encoding/binary"

	"github.com/klauspost/compress/zstd"
	"github.com/throng-sim/throng/storage/sqlite/internal/blob"
	"github.com/throng-sim/throng/storage/sqlite/internal/file"
)

// packs are the packs that a transaction fills. A pack is written when it is full, before a row of another cycle, and when
// the order of positions requires it.
type packs struct {
	sessions, deltas, requests packer
	free                       free
}

// free are the positions next to end-1, which a transaction has reserved.
type free struct{ next, end int64 }

// reserve reserves as many positions as the rows of a queue need.
func (f *free) reserve(tx file.Tx, queue *batch) error {
	n := 0
	for b := queue; b != nil; b = b.next {
		n += b.rows
		for i := range b.ops {
			n += b.ops[i].deltas
		}
	}
	if n == 0 {
		return nil
	}
	next, err := tx.Positions(int64(n))
	*f = free{next, next + int64(n)}
	return err
}

// take returns the first of n consecutive positions.
func (f *free) take(n int) (first int64) {
	first = f.next
	if f.next += int64(n); f.next > f.end {
		panic("sqlite: more rows than reserved positions")
	}
	return first
}

func (p *packs) reset(j *Journal) {
	p.sessions.reset(j, sessionsTable, &p.free)
	p.deltas.reset(j, deltasTable, &p.free)
	p.requests.reset(j, requestsTable, &p.free)
}

func (p *packs) flush(tx file.Tx) error {
	for _, p := range [...]*packer{&p.requests, &p.deltas, &p.sessions} {
		if err := p.flush(tx); err != nil {
			return err
		}
	}
	return nil
}

type packTable uint8

const (
	sessionsTable packTable = iota
	deltasTable
	requestsTable
)

// packer fills the packs of one table.
type packer struct {
	table   packTable
	run     int64
	base    int64
	encoder *zstd.Encoder
	free    *free

	raw, blob []byte
	op        // of the current pack
}

func (p *packer) reset(j *Journal, table packTable, free *free) {
	*p = packer{table: table, run: j.run, base: j.base, encoder: j.encoder, free: free, raw: p.raw[:0], blob: p.blob[:0]}
}

func (p *packer) add(tx file.Tx, o *op, segments []byte) error {
	if o.count == 0 {
		return nil
	}
	if p.count > 0 && (p.cycle != o.cycle || p.count+o.count > packRows || len(p.raw)+len(segments) > packBytes) {
		if err := p.flush(tx); err != nil {
			return err
		}
	}
	if p.count == 0 {
		p.op = op{cycle: o.cycle, lo: o.lo, hi: o.hi}
		p.raw = binary.AppendVarint(p.raw[:0], p.base)
	}
	p.lo, p.hi = min(p.lo, o.lo), max(p.hi, o.hi)
	p.count += o.count
	p.bad += o.bad
	p.raw = append(p.raw, segments...)
	return nil
}

func (p *packer) flush(tx file.Tx) (err error) {
	if p.count == 0 {
		return nil
	}
	pos := p.free.take(p.count)
	p.blob = blob.Pack(p.blob[:0], p.raw, p.encoder)
	switch p.table {
	case sessionsTable:
		err = tx.Exec(`INSERT INTO sessions (pos, run, cycle, lo, hi, count, bad, data) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
			pos, p.run, p.cycle, p.lo, p.hi, p.count, p.bad, p.blob)
	case deltasTable:
		err = tx.Exec(`INSERT INTO deltas (pos, run, cycle, count, data) VALUES (?, ?, ?, ?, ?)`,
			pos, p.run, p.cycle, p.count, p.blob)
	case requestsTable:
		err = tx.Exec(`INSERT INTO requests (pos, run, kept, cycle, count, data) VALUES (?, ?, 0, ?, ?, ?)`,
			pos, p.run, p.cycle, p.count, p.blob)
	}
	p.op = op{}
	return err
}
