package people

import (
	"bufio"
	"context"
	"encoding/csv"
	"errors"
	"io"
	"strings"
	"unicode/utf8"
)

// byteOrderMark may stand at the beginning of a text.
const byteOrderMark = "\ufeff"

// csvFile is a file with a header. Its cells are texts; a pass over the file finds their kinds.
type csvFile struct {
	r       io.ReaderAt
	size    int64
	columns []Column
}

var errLongRow = errors.New("the row is too long")

// bounded reads a file and stops in a row that is too long, which the library would hold in memory.
type bounded struct {
	r    io.Reader
	left int // of the row
}

// Read implements io.Reader.
func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errLongRow
	}
	n, err := b.r.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

// open starts reading at the top.
func (f *csvFile) open() (*csv.Reader, *bounded) {
	source := bufio.NewReader(io.NewSectionReader(f.r, 0, f.size))
	if mark, err := source.Peek(len(byteOrderMark)); err == nil && string(mark) == byteOrderMark {
		_, _ = source.Discard(len(mark)) // it is in the buffer
	}
	b := &bounded{r: source, left: maxRow}
	r := csv.NewReader(b)
	r.FieldsPerRecord, r.ReuseRecord = -1, true
	return r, b
}

func openCSV(r io.ReaderAt, size int64) (File, error) {
	f := &csvFile{r: r, size: size}
	rows, _ := f.open()
	header, err := rows.Read()
	switch {
	case errors.Is(err, io.EOF):
		return nil, wrongf("a header such as id,age, then a row for each person", "the file is empty")
	case err != nil:
		return nil, malformed(err)
	case len(header) > maxColumns:
		return nil, wrongf("", "more than %d columns", maxColumns)
	}
	for _, cell := range header {
		if !utf8.ValidString(cell) {
			return nil, wrongf("save it as UTF-8", "the header is not UTF-8 text")
		}
		f.columns = append(f.columns, Column{Name: strings.Clone(strings.TrimSpace(cell))})
	}
	if twice := duplicate(f.columns); twice != "" {
		return nil, wrongf("names are unique", "there are two columns %s", quoted(twice))
	}
	return f, nil
}

// malformed describes what the library cannot read.
func malformed(err error) *Mistake {
	var at *csv.ParseError
	switch {
	case errors.As(err, &at) && errors.Is(at.Err, errLongRow), errors.Is(err, errLongRow):
		return wrongf("is a quote not closed?", "a row of more than %d MB", maxRow>>20)
	case errors.As(err, &at):
		return wrongf(`write a quote inside of quotes as ""`, "line %d: %v", at.Line, at.Err)
	}
	return wrongf("", "%v", err)
}

// Columns implements File.
func (f *csvFile) Columns() []Column { return f.columns }

// each calls visit for each row.
func (f *csvFile) each(visit func(row int64, line int, record []string) (more bool, err error)) error {
	rows, b := f.open()
	_, err := rows.Read() // the header
	for row := int64(0); err == nil; row++ {
		b.left = maxRow
		var record []string
		if record, err = rows.Read(); err != nil {
			break
		}
		line, _ := rows.FieldPos(0)
		if len(record) != len(f.columns) {
			return wrongf("quote a cell that has a comma or a line break in it", "line %d: %s, and the header has %d", line, counted(len(record), "cell"), len(f.columns))
		}
		more, err := visit(row, line, record)
		if err != nil || !more {
			return err
		}
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return malformed(err)
}

// Kinds implements File.
func (f *csvFile) Kinds(ctx context.Context, columns []int) ([]Kind, error) {
	kinds, seen := make([]Kind, len(columns)), make([]bool, len(columns))
	filter := newRowFilter(ctx, nil)
	err := f.each(func(row int64, _ int, record []string) (bool, error) {
		for i, c := range columns {
			if cell := record[c]; cell != "" {
				kinds[i] = kinds[i].Widen(cell, !seen[i])
				seen[i] = true
			}
		}
		return filter.take(row)
	})
	for i := range kinds {
		if !seen[i] {
			kinds[i] = String
		}
	}
	return kinds, err
}

// Scan implements File.
func (f *csvFile) Scan(ctx context.Context, columns []int, only []int64, visit func(row int64, cells []Cell) error) error {
	cells, filter := make([]Cell, len(columns)), newRowFilter(ctx, only)
	return f.each(func(row int64, line int, record []string) (bool, error) {
		take, err := filter.take(row)
		if err != nil || !take {
			return !filter.done(), err
		}
		for i, c := range columns {
			if !utf8.ValidString(record[c]) {
				return false, wrongf("save it as UTF-8", "line %d: the cell %s is not UTF-8 text", line, f.columns[c].Name)
			}
			cells[i] = text(record[c])
		}
		return true, visit(row, cells)
	})
}
