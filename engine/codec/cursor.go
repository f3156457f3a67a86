package codec

import (
	"encoding/binary"
	"math"
	"time"

	"github.com/throng-sim/throng/engine"
)

// Cursor reads what this package wrote. After the first mistake every read returns zero, and Bad is true.
type Cursor struct {
	data []byte
	bad  bool
}

// NewCursor returns a cursor at the start of data.
func NewCursor(data []byte) Cursor { return Cursor{data: data} }

// Bytes returns the unread bytes.
func (c *Cursor) Bytes() []byte { return c.data }

// Bad reports whether something could not be read.
func (c *Cursor) Bad() bool { return c.bad }

func (c *Cursor) fail() { c.data, c.bad = nil, true }

func (c *Cursor) uint() uint64 {
	n, k := binary.Uvarint(c.data)
	if k <= 0 {
		c.fail()
		return 0
	}
	c.data = c.data[k:]
	return n
}

func (c *Cursor) int() int64 {
	n, k := binary.Varint(c.data)
	if k <= 0 {
		c.fail()
		return 0
	}
	c.data = c.data[k:]
	return n
}

// index reads the number of an agent or a take.
func (c *Cursor) index() int {
	n := c.uint()
	if n > math.MaxInt32 {
		c.fail()
		return 0
	}
	return int(n)
}

// length reads a number of elements; each takes at least one byte.
func (c *Cursor) length() int {
	n := c.uint()
	if n > uint64(len(c.data)) {
		c.fail()
		return 0
	}
	return int(n)
}

func (c *Cursor) byte() byte {
	if len(c.data) == 0 {
		c.fail()
		return 0
	}
	b := c.data[0]
	c.data = c.data[1:]
	return b
}

// bytes reads a text; nil if it is empty. It shares memory with the pack.
func (c *Cursor) bytes() []byte {
	n := c.length()
	if n == 0 {
		return nil
	}
	b := c.data[:n:n]
	c.data = c.data[n:]
	return b
}

func (c *Cursor) hash() uint64 {
	if len(c.data) < 8 {
		c.fail()
		return 0
	}
	h := binary.LittleEndian.Uint64(c.data)
	c.data = c.data[8:]
	return h
}

func (c *Cursor) duration() time.Duration { return time.Duration(c.int()) }

func (c *Cursor) outcome(b byte) engine.Outcome {
	if o := engine.Outcome(b); o < engine.Cut {
		return o
	}
	c.fail()
	return 0
}

// sessionOutcome reads the outcome of a session with these flags, and whether it had an intended start.
func (c *Cursor) sessionOutcome(flags byte) (o engine.Outcome, isOpen bool) {
	if flags &= outcomeBits; flags == openOutcome {
		return c.outcome(c.byte()), true
	}
	return c.outcome(flags), false
}

func (c *Cursor) class() engine.Class {
	if b := int(c.byte()); b < len(engine.Errors{}) {
		return engine.Class(b)
	}
	c.fail()
	return 0
}

func (c *Cursor) label() engine.Label {
	if b := int(c.byte()); b < len(engine.Labels{}) {
		return engine.Label(b)
	}
	c.fail()
	return 0
}

func (c *Cursor) status(b byte) engine.StepStatus {
	if s := engine.StepStatus(b); s <= engine.StepCanceled {
		return s
	}
	c.fail()
	return 0
}

// Place reads the place of a row.
func (c *Cursor) Place(cycle int) engine.Place {
	return engine.Place{Cycle: cycle, Agent: c.index(), Take: c.index()}
}

// Segment reads the next row of a pack.
func (c *Cursor) Segment() Cursor { return Cursor{data: c.bytes(), bad: c.bad} }

// More reports whether rows are left.
func (c *Cursor) More() bool { return len(c.data) > 0 && !c.bad }
