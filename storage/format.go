package storage

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"strings"
)

// Format is how rows are written, and how their files' names end.
type Format string

// The formats. Rows have the same columns in the same order in each of them; what stands in CSV as an empty cell is null
// in the others, but for texts, and only CSV puts an apostrophe before what a spreadsheet would take for a formula.
const (
	CSV     Format = "csv"
	JSONL   Format = "jsonl" // an object a line
	Parquet Format = "parquet"
)

// kind is what the cells of a column are.
type kind uint8

const (
	textCells  kind = iota
	wordCells       // texts of which there are few different ones
	intCells        // as the rest, or empty where it is not known
	floatCells      //
	boolCells       //
	timeCells       //
	jsonCells       //
)

// column is one of a table.
type column struct {
	name string
	kind kind
}

var kinds = map[string]kind{
	"text": textCells, "word": wordCells, "int": intCells, "float": floatCells, "bool": boolCells, "time": timeCells, "json": jsonCells,
}

// columns reads names with their kinds, such as "cycle:int agent:text".
func columns(text string) (all []column) {
	for one := range strings.FieldsSeq(text) {
		name, of, _ := strings.Cut(one, ":")
		all = append(all, column{name, kinds[of]})
	}
	return all
}

// lines writes JSON Lines.
type lines struct {
	w       *bufio.Writer
	columns []column
	row     bytes.Buffer
	texts   *json.Encoder // to row
	err     error
}

func newLines(w io.Writer, columns []column) *lines {
	l := &lines{w: bufio.NewWriter(w), columns: columns}
	l.texts = json.NewEncoder(&l.row)
	l.texts.SetEscapeHTML(false)
	return l
}

// Write is part of rowWriter.
func (l *lines) Write(row []string) error {
	l.row.Reset()
	for i, c := range l.columns {
		before := `,"`
		if i == 0 {
			before = `{"`
		}
		l.row.WriteString(before + c.name + `":`)
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
		l.row.Truncate(l.row.Len() - 1) // the end of the line
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
