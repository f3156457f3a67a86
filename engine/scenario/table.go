package scenario

import (
	"hash/maphash"
	"math"

	"github.com/throng-sim/throng/engine/script"
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
	record(row int) (*script.Record, error)
}

func newTable(names []string) *table {
	t := &table{names: names, index: make(map[string]int, len(names))}
	for i, name := range names {
		t.index[name] = i
	}
	return t
}

// column is the values of an attribute by row. They are frozen; script.Missing is an empty cell.
type column interface {
	value(row int) script.Value
}

// codeColumn is for values of which there are few: a row costs two bytes, and an access allocates nothing.
type codeColumn struct {
	codes  []uint16
	values []script.Value
}

// intColumn holds whole numbers; noInt is an empty cell.
type intColumn []int64

const noInt = math.MinInt64

// floatColumn holds numbers; NaN is an empty cell.
type floatColumn []float64

// textColumn holds texts one behind the other; an empty one is an empty cell.
type textColumn struct {
	text string
	ends []uint32
}

func (c *codeColumn) value(row int) script.Value { return c.values[c.codes[row]] }

func (c intColumn) value(row int) script.Value {
	if c[row] == noInt {
		return script.Missing
	}
	return starlark.MakeInt64(c[row])
}

func (c floatColumn) value(row int) script.Value {
	if math.IsNaN(c[row]) {
		return script.Missing
	}
	return float(c[row])
}

// float is a number as data hold it: an int if it is one.
func float(f float64) script.Value {
	v, err := script.Data(starlark.Float(f))
	if err != nil { // no column holds such
		return script.Missing
	}
	return v
}

func (c *textColumn) value(row int) script.Value {
	if text := c.at(row); text != "" {
		return starlark.String(text)
	}
	return script.Missing
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
	rows  map[uint64]uint32 // by the hash of the id, or the next free number above it
	seed  maphash.Seed
}

func newIDList() *idList { return &idList{rows: map[uint64]uint32{}, seed: maphash.MakeSeed()} }

// add records the id of the next row, which is on a line. It returns the line of an earlier row of this id, or 0.
func (l *idList) add(id string, line int) (first int) {
	row := len(l.ends)
	l.text = append(l.text, id...)
	l.ends = append(l.ends, uint32(len(l.text)))
	l.lines = append(l.lines, uint32(line))
	for h := maphash.String(l.seed, id); ; h++ {
		other, taken := l.rows[h]
		if !taken {
			l.rows[h] = uint32(row)
			return 0
		}
		if l.is(int(other), id) {
			return int(l.lines[other])
		}
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
