package scenario

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/throng-sim/throng/engine/people"
	"github.com/throng-sim/throng/engine/script/value"
)

// maxRow limits the text of a row, in bytes, because the library allocates all cells of a row together.
const maxRow = 1 << 20

var errLongRow = errors.New("the row is too long")

// rowSource passes the text of a file to the library, at most one row at a time where rows are too long.
type rowSource struct {
	text []byte
	at   int // what was given so far
	row  int // of it, when the row was begun
}

// Read implements io.Reader.
func (r *rowSource) Read(p []byte) (int, error) {
	switch {
	case r.at == len(r.text):
		return 0, io.EOF
	case r.at-r.row > maxRow:
		return 0, errLongRow
	}
	n := copy(p, r.text[r.at:])
	r.at += n
	return n, nil
}

// manyValues is how many different values a column has at most whose values are kept once each.
const manyValues = 4096

// cells is a column of a CSV file, as far as its cells were seen.
type cells struct {
	name  string
	kind  people.Kind // the narrowest that fits the cells so far
	fixed bool        // the scenario says the kind
	size  int         // bytes of all cells
	found map[string]uint16
	codes []string // the cells of found, in order; both are nil where there are too many
}

// csvReader goes twice through a CSV file: at first to check it and to find out what its columns are, then to keep
// their values.
type csvReader struct {
	*sheet
	csv  *csv.Reader
	from *rowSource
	row  int64 // where the row begins, in bytes
	all  []*cells
	id   int // the place of the column id, -1 where there is none
	rows int
}

func readCSV(s *sheet, types map[string]people.Kind) *table {
	r := &csvReader{sheet: s, id: -1}
	if !r.header(types) {
		return nil
	}
	r.eachRow(r.check)
	var names []string
	for i, c := range r.all {
		if i != r.id {
			names = append(names, c.name)
		}
	}
	t := newTable(names)
	if r.mistakes == 0 {
		r.fill(t)
	}
	return t
}

// open begins at the top.
func (r *csvReader) open() {
	r.from = &rowSource{text: r.text}
	r.csv = csv.NewReader(r.from)
	r.csv.FieldsPerRecord, r.csv.ReuseRecord = -1, true
}

// next reads a row.
func (r *csvReader) next() ([]string, error) {
	r.from.row, r.row = r.from.at, r.csv.InputOffset()
	return r.csv.Read()
}

// header reads the names of the columns; false where there are none.
func (r *csvReader) header(types map[string]people.Kind) bool {
	r.open()
	record, err := r.next()
	switch {
	case errors.Is(err, io.EOF):
		r.errorf(1, 1, "a header such as id,age, then a row for each agent", "the file is empty")
		return false
	case err != nil:
		r.malformed(err)
		return false
	case len(record) > maxNames:
		r.errorf(1, 1, "", "more than %d columns", maxNames)
		return false
	}
	for i, cell := range record {
		line, col := r.csv.FieldPos(i)
		name := strings.TrimSpace(cell)
		if slices.ContainsFunc(r.all, func(c *cells) bool { return c.name == name }) {
			r.errorf(line, col, "names are unique", "there is another column %s", name)
		} else if name != "id" {
			r.checkName(line, col, name)
		} else {
			r.id = i
		}
		c := &cells{name: strings.Clone(name), found: map[string]uint16{}}
		if c.kind, c.fixed = types[name]; i == r.id {
			c.kind, c.fixed, c.found = people.String, true, nil // an id is a text, whatever it looks like
		}
		r.all = append(r.all, c)
	}
	return true
}

// eachRow goes through the rows of the file. A mistake costs its row.
func (r *csvReader) eachRow(do func(record []string)) {
	for {
		record, err := r.next()
		switch {
		case errors.Is(err, io.EOF):
			return
		case errors.Is(err, errLongRow):
			r.malformed(err)
			return
		case err != nil:
			r.malformed(err)
		case len(record) != len(r.all):
			line, _ := r.csv.FieldPos(0)
			r.errorf(line, 1, "quote a cell that has a comma or a line break in it", "%s, and the header has %d",
				counted(len(record), "cell"), len(r.all))
		default:
			do(record)
		}
	}
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

// malformed reports what the reader of CSV cannot read.
func (r *csvReader) malformed(err error) {
	var at *csv.ParseError
	switch {
	case errors.Is(err, errLongRow):
		line := 1 + bytes.Count(r.text[:r.row], []byte("\n"))
		r.errorf(line, 1, "is a quote not closed?", "a row of more than %d MB", maxRow>>20)
	case !errors.As(err, &at):
		r.errorf(1, 1, "", "%v", err)
	case errors.Is(err, csv.ErrBareQuote):
		r.errorf(at.Line, at.Column, `write "a ""word"" in quotes"`, "a quote inside a cell that is not quoted")
	case errors.Is(err, csv.ErrQuote) && at.StartLine != at.Line:
		r.errorf(at.StartLine, 1, `write a quote inside of quotes as ""`, "a quoted cell of this row is not closed before line %d", at.Line)
	default:
		r.errorf(at.Line, at.Column, `write a quote inside of quotes as ""`, "a quoted cell is not closed, or text follows it")
	}
}

// check looks at a row for the first time.
func (r *csvReader) check(record []string) {
	if r.rows++; r.rows > maxAgents {
		if r.rows == maxAgents+1 {
			r.errorf(1, 1, "", "more than %d rows", maxAgents)
		}
		return
	}
	for i, cell := range record {
		c := r.all[i]
		switch {
		case i == r.id:
			line, col := r.csv.FieldPos(i)
			r.addID(cell, line, col)
		case cell == "":
		case !c.see(cell):
			line, col := r.csv.FieldPos(i)
			r.errorf(line, col, c.name+" is "+people.KindNames[c.kind]+" because `types` says so", "%s is not %s", quoted(cell), people.KindHints[c.kind])
		}
	}
}

// see takes notice of a cell that is not empty; false if it is not what the scenario says.
func (c *cells) see(cell string) bool {
	first := c.size == 0
	c.size += len(cell)
	if c.fixed && !c.kind.Fits(cell) {
		return false
	}
	c.kind = c.kind.Widen(cell, first)
	if c.found == nil {
		return true
	}
	if _, known := c.found[cell]; known {
		return true
	}
	if len(c.codes) == manyValues {
		c.found, c.codes = nil, nil
		return true
	}
	cell = strings.Clone(cell) // a record shares one text
	c.codes = append(c.codes, cell)
	c.found[cell] = uint16(len(c.codes)) // 0 is an empty cell
	return true
}

// fill reads the file, in which there are no mistakes, a second time.
func (r *csvReader) fill(t *table) {
	t.rows, t.ids = r.rows, r.ids.column()
	keep := make([]func(cell string), len(r.all))
	for i, c := range r.all {
		if i == r.id {
			keep[i] = func(string) {}
			continue
		}
		var column column
		column, keep[i] = c.column(r.rows)
		t.columns = append(t.columns, column)
	}
	r.open()
	if _, err := r.next(); err != nil { // it was read before
		return
	}
	r.eachRow(func(record []string) {
		for i, cell := range record {
			keep[i](cell)
		}
	})
	for _, c := range t.columns {
		if texts, ok := c.(*textBuilder); ok {
			texts.finish()
		}
	}
}

// column returns where the cells are kept, and what keeps the next of them.
func (c *cells) column(rows int) (column, func(cell string)) {
	switch {
	case c.found != nil:
		values := []value.Value{value.Missing}
		for _, cell := range c.codes {
			parsed, _ := c.kind.Parse(cell) // it fits
			values = append(values, cellValue(parsed))
		}
		column := &codeColumn{make([]uint16, 0, rows), values}
		return column, func(cell string) { column.codes = append(column.codes, c.found[cell]) }
	case c.kind == people.Int:
		column, next := make(intColumn, rows), 0
		return column, func(cell string) {
			column[next] = noInt
			if c, ok := people.Int.Parse(cell); ok && c.Present {
				column[next] = c.Int
			}
			next++
		}
	case c.kind == people.Float:
		column, next := make(floatColumn, rows), 0
		return column, func(cell string) {
			column[next] = math.NaN()
			if c, ok := people.Float.Parse(cell); ok && c.Present {
				column[next] = c.Float
			}
			next++
		}
	}
	column := &textBuilder{textColumn: textColumn{ends: make([]uint32, 0, rows)}}
	column.texts.Grow(c.size)
	return column, column.add
}

// textBuilder is a textColumn that is being filled.
type textBuilder struct {
	textColumn
	texts strings.Builder
}

func (b *textBuilder) add(cell string) {
	b.texts.WriteString(cell)
	b.ends = append(b.ends, uint32(b.texts.Len()))
}

func (b *textBuilder) finish() { b.text = b.texts.String() }
