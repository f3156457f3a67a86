package people

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"unicode/utf8"
)

// linesFile is a file with a JSON object a line.
type linesFile struct {
	r       io.ReaderAt
	size    int64
	columns []Column
	index   map[string]int
	kinds   []Kind // of the columns
	seen    []bool // whether a column has a value
}

const lineHint = `an object a line, such as {"id": "ann", "age": 30}`

func openLines(ctx context.Context, r io.ReaderAt, size int64) (File, error) {
	f := &linesFile{r: r, size: size, index: map[string]int{}}
	filter, rows := newRowFilter(ctx, nil), 0
	err := f.each(func(row int64, line int, text []byte) (bool, error) {
		rows++
		if err := eachField(line, text, func(name string, value json.RawMessage) error { return f.learn(line, name, value) }); err != nil {
			return false, err
		}
		return filter.take(row)
	})
	if err == nil && rows == 0 {
		err = wrongf(lineHint, "the file is empty")
	}
	if err != nil {
		return nil, err
	}
	for i := range f.kinds {
		if !f.seen[i] {
			f.kinds[i] = String
		}
	}
	return f, nil
}

// each calls visit for each line that is not blank.
func (f *linesFile) each(visit func(row int64, line int, text []byte) (more bool, err error)) error {
	lines := bufio.NewScanner(io.NewSectionReader(f.r, 0, f.size))
	lines.Buffer(make([]byte, 0, 1<<16), maxRow)
	row := int64(0)
	line := 0
	for lines.Scan() {
		line++
		text := lines.Bytes()
		if line == 1 {
			text = bytes.TrimPrefix(text, []byte(byteOrderMark))
		}
		if text = bytes.TrimSpace(text); len(text) == 0 {
			continue
		}
		if !utf8.Valid(text) {
			return wrongf("save it as UTF-8", "line %d is not UTF-8 text", line)
		}
		more, err := visit(row, line, text)
		if err != nil || !more {
			return err
		}
		row++
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return wrongf("", "line %d has more than %d MB", line+1, maxRow>>20)
	}
	return lines.Err()
}

// eachField calls field for the fields of an object in their order.
func eachField(line int, text []byte, field func(name string, value json.RawMessage) error) error {
	if text[0] != '{' || !json.Valid(text) {
		return wrongf(lineHint, "line %d is not a JSON object", line)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	if _, err := d.Token(); err != nil { // {
		return wrongf(lineHint, "line %d: %v", line, err)
	}
	for d.More() {
		name, err := d.Token()
		var value json.RawMessage
		if err == nil {
			err = d.Decode(&value)
		}
		if err != nil {
			return wrongf(lineHint, "line %d: %v", line, err)
		}
		if err := field(name.(string), value); err != nil { // the names of a valid object are strings
			return err
		}
	}
	return nil
}

// learn notes the kind of a value, and the column if it is new.
func (f *linesFile) learn(line int, name string, value json.RawMessage) error {
	i, known := f.index[name]
	if !known {
		if len(f.columns) == maxColumns {
			return wrongf("rows have the same names, mostly", "line %d: more than %d names", line, maxColumns)
		}
		i = len(f.columns)
		f.index[name] = i
		f.columns, f.kinds, f.seen = append(f.columns, Column{Name: name}), append(f.kinds, Bool), append(f.seen, false)
	}
	if value[0] == '{' || value[0] == '[' {
		f.columns[i].Problem = "is nested on line " + strconv.Itoa(line)
		return nil
	}
	c := jsonCell(value)
	switch {
	case !c.Present:
		return nil
	case !f.seen[i]:
		f.kinds[i] = c.Kind
	case f.kinds[i] == c.Kind:
	case isNumber(f.kinds[i]) && isNumber(c.Kind):
		f.kinds[i] = Float
	default:
		f.kinds[i] = String
	}
	f.seen[i] = true
	return nil
}

func isNumber(k Kind) bool { return k == Int || k == Float }

// jsonCell reads a value that is not nested.
func jsonCell(value json.RawMessage) Cell {
	switch value[0] {
	case 'n':
		return Cell{}
	case 't':
		return Cell{Kind: Bool, Present: true, Int: 1}
	case 'f':
		return Cell{Kind: Bool, Present: true}
	case '"':
		var s string
		if json.Unmarshal(value, &s) != nil { // cannot happen: it is valid
			return Cell{}
		}
		return text(s)
	}
	if n, err := strconv.ParseInt(string(value), 10, 64); err == nil && n != NoInt {
		return Cell{Kind: Int, Present: true, Int: n}
	}
	x, err := strconv.ParseFloat(string(value), 64)
	if err != nil { // too large for a number
		return text(string(value))
	}
	return number(x)
}

// Columns implements File.
func (f *linesFile) Columns() []Column { return f.columns }

// Kinds implements File.
func (f *linesFile) Kinds(_ context.Context, columns []int) ([]Kind, error) {
	kinds := make([]Kind, len(columns))
	for i, c := range columns {
		kinds[i] = f.kinds[c]
	}
	return kinds, nil
}

// Scan implements File.
func (f *linesFile) Scan(ctx context.Context, columns []int, only []int64, visit func(row int64, cells []Cell) error) error {
	cells, filter := make([]Cell, len(columns)), newRowFilter(ctx, only)
	places := make(map[string]int, len(columns))
	for i, c := range columns {
		places[f.columns[c].Name] = i
	}
	return f.each(func(row int64, line int, text []byte) (bool, error) {
		take, err := filter.take(row)
		if err != nil || !take {
			return !filter.done(), err
		}
		clear(cells)
		if err := eachField(line, text, func(name string, value json.RawMessage) error {
			if i, wanted := places[name]; wanted {
				cells[i] = jsonCell(value)
			}
			return nil
		}); err != nil {
			return false, err
		}
		return true, visit(row, cells)
	})
}
