package scenario

import (
	"hash/maphash"
	"math"

	"github.com/throng-sim/throng/engine/people"
	"github.com/throng-sim/throng/engine/script/value"
	"go.starlark.net/starlark"
)

// table is a population that is data: a row for each agent. It does not change, and any number of sessions read it.
type table struct {
	names   []string       // of the attributes, without id
	index   map[string]int // their places
	rows    int
	ids     *textColumn // nil where the rows are not named
	columns []column    // one for each name, unless there are records
	records records     // nil where there are columns
}

// has reports whether the rows have an attribute; no table has any.
func (t *table) has(name string) bool {
	if t == nil {
		return false
	}
	_, ok := t.index[name]
	return ok
}

// records are rows that are kept as a whole.
type records interface {
	record(row int) (*value.Record, error)
}

func newTable(names []string) *table {
	t := &table{names: names, index: make(map[string]int, len(names))}
	for i, name := range names {
		t.index[name] = i
	}
	return t
}

// column is the values of an attribute by row. They are frozen; value.Missing is an empty cell.
type column interface {
	value(row int) value.Value
}

// codeColumn is for columns with few distinct values: a row costs two bytes, and an access allocates nothing.
type codeColumn struct {
	codes  []uint16
	values []value.Value
}

// intColumn holds whole numbers; noInt is an empty cell.
type intColumn []int64

const noInt = people.NoInt

// floatColumn holds numbers; NaN is an empty cell.
type floatColumn []float64

// textColumn holds texts one behind the other; an empty one is an empty cell.
type textColumn struct {
	text string
	ends []uint32
}

func (c *codeColumn) value(row int) value.Value { return c.values[c.codes[row]] }

func (c intColumn) value(row int) value.Value {
	if c[row] == noInt {
		return value.Missing
	}
	return starlark.MakeInt64(c[row])
}

func (c floatColumn) value(row int) value.Value {
	if math.IsNaN(c[row]) {
		return value.Missing
	}
	return float(c[row])
}

// float is a number as data hold it: an int if it is one.
func float(f float64) value.Value {
	v, err := value.Data(starlark.Float(f))
	if err != nil { // no column holds such
		return value.Missing
	}
	return v
}

func (c *textColumn) value(row int) value.Value {
	if text := c.at(row); text != "" {
		return starlark.String(text)
	}
	return value.Missing
}

// at returns a text without copying it.
func (c *textColumn) at(row int) string {
	start := uint32(0)
	if row > 0 {
		start = c.ends[row-1]
	}
	return c.text[start:c.ends[row]]
}

// idList collects what the agents of a file are called, and finds those that are called alike.
type idList struct {
	text  []byte
	ends  []uint32
	lines []uint32
	// slots find a row by the hash of its id: each is that row and 1, below the upper half of the hash, or 0. Of a power
	// of two of them at most half are taken. It is eight bytes a slot, and one look at memory that no cache holds, where
	// a map takes several.
	slots []uint64
	seed  maphash.Seed
}

func newIDList() *idList { return &idList{slots: make([]uint64, 64), seed: maphash.MakeSeed()} }

const (
	slotRow = 1<<32 - 1
	slotTag = slotRow << 32
)

// add records the id of the next row, which is on a line. It returns the line of an earlier row of this id, or 0.
func (l *idList) add(id string, line int) (first int) {
	if 2*len(l.ends) >= len(l.slots) {
		l.grow()
	}
	l.text = append(l.text, id...)
	l.ends = append(l.ends, uint32(len(l.text)))
	l.lines = append(l.lines, uint32(line))
	h := maphash.String(l.seed, id)
	for at := l.slot(h); ; at = (at + 1) % len(l.slots) {
		switch s := l.slots[at]; {
		case s == 0:
			l.slots[at] = h&slotTag | uint64(len(l.ends))
			return 0
		case s&slotTag == h&slotTag && l.is(int(s&slotRow)-1, id):
			return int(l.lines[s&slotRow-1])
		}
	}
}

// slot is where an id of a hash is, or would be, unless that is taken.
func (l *idList) slot(h uint64) int { return int(h>>32) & (len(l.slots) - 1) }

// grow makes room for twice as many, in the order of the slots, so that memory is gone through once.
func (l *idList) grow() {
	old := l.slots
	l.slots = make([]uint64, 2*len(old))
	for _, s := range old {
		if s == 0 {
			continue
		}
		at := l.slot(s)
		for l.slots[at] != 0 {
			at = (at + 1) % len(l.slots)
		}
		l.slots[at] = s
	}
}

// is reports whether a row is called so.
func (l *idList) is(row int, id string) bool {
	start := uint32(0)
	if row > 0 {
		start = l.ends[row-1]
	}
	return string(l.text[start:l.ends[row]]) == id
}

// column returns the ids, and nil if no row has one.
func (l *idList) column() *textColumn {
	if len(l.ends) == 0 {
		return nil
	}
	return &textColumn{string(l.text), append([]uint32(nil), l.ends...)}
}
