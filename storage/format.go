package storage

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
)

// Format is a file format for rows, and the extension of such files.
type Format string

// The formats. All of them have the same columns in the same order. A cell that is empty in CSV is null in the others,
// except for texts. Only CSV prefixes texts that a spreadsheet would read as a formula with an apostrophe.
const (
	CSV     Format = "csv"
	JSONL   Format = "jsonl" // one object per line
	Parquet Format = "parquet"
)

// kind is the kind of the cells of a column.
type kind uint8

const (
	textCells  kind = iota
	wordCells       // texts with few different values
	intCells        // like the following kinds, empty if unknown
	floatCells      //
	boolCells       //
	timeCells       //
	jsonCells       //
)

// lines writes JSON Lines.
type lines struct {
	w       *bufio.Writer
	columns []column
	keys    []string // with what is between them
	row     bytes.Buffer
	texts   *json.Encoder // writes to row
	err     error
}

func newLines(w io.Writer, columns []column) *lines {
	l := &lines{w: bufio.NewWriter(w), columns: columns}
	l.texts = json.NewEncoder(&l.row)
	l.texts.SetEscapeHTML(false)
	before := "{"
	for _, c := range columns {
		key, _ := json.Marshal(c.name) // a text
		l.keys = append(l.keys, before+string(key)+":")
		before = ","
	}
	return l
}

// Write is part of rowWriter.
func (l *lines) Write(row []string) error {
	l.row.Reset()
	for i, c := range l.columns {
		l.row.WriteString(l.keys[i])
		if err := l.cell(c.kind, row[i]); err != nil {
			return err
		}
	}
	l.row.WriteString("}\n")
	_, err := l.w.Write(l.row.Bytes())
	return err
}

func (l *lines) cell(k kind, text string) error {
	switch {
	case k == textCells, k == wordCells, k == timeCells && text != "", k == jsonCells && text != "" && !json.Valid([]byte(text)):
		if err := l.texts.Encode(text); err != nil {
			return err
		}
		l.row.Truncate(l.row.Len() - 1) // without the newline
	case text == "":
		l.row.WriteString("null")
	default:
		l.row.WriteString(text)
	}
	return nil
}

// Flush is part of rowWriter.
func (l *lines) Flush() { l.err = l.w.Flush() }

// Error is part of rowWriter.
func (l *lines) Error() error { return l.err }
