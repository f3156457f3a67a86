package storage

import (
	"encoding/csv"
	"encoding/json"
	"io"
	"math"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/throng-sim/throng/engine/visible"
)

// table writes rows. Its methods append cells to the current row, and next ends it.
type table struct {
	w   rowWriter
	raw bool // texts are written unchanged, because no spreadsheet reads the format
	row []string

	columns []column
	rows    int64 // so far
}

// rowWriter writes rows of cells in a format. It does not keep the row after Write returns. Only formats that can be
// followed accept rows after Flush.
type rowWriter interface {
	Write(row []string) error
	Flush()
	Error() error // the first error so far
}

// newTable starts a table in a format.
func newTable(f Format, w io.Writer, columns []column) (*table, error) {
	t := &table{raw: f != CSV, row: make([]string, 0, len(columns)), columns: columns}
	if f != Parquet { // the output may be a terminal
		w = visible.NewWriter(w)
	}
	switch f {
	case JSONL:
		t.w = newLines(w, columns)
	case Parquet:
		t.w = newParquet(w, columns)
	default:
		t.w = csv.NewWriter(w)
		for _, c := range columns {
			t.plain(c.name)
		}
		err := t.next()
		t.rows = 0
		return t, err
	}
	return t, nil
}

// next ends the row. The writer keeps its first error, which flush returns too.
func (t *table) next() error {
	err := t.w.Write(t.row)
	t.row = t.row[:0]
	t.rows++
	return err
}

func (t *table) flush() error {
	t.w.Flush()
	return t.w.Error()
}

func (t *table) plain(cell string)  { t.row = append(t.row, cell) }
func (t *table) int(n int64)        { t.row = append(t.row, strconv.FormatInt(n, 10)) }
func (t *table) bool(b bool)        { t.row = append(t.row, strconv.FormatBool(b)) }
func (t *table) ms(d time.Duration) { t.row = append(t.row, millis(d)) }
func (t *table) time(at time.Time)  { t.row = append(t.row, stamp(at)) }

func (t *table) text(cell string) {
	if !t.raw {
		cell = harmless(cell)
	}
	t.row = append(t.row, cell)
}

func (t *table) json(data []byte) {
	if t.raw {
		t.row = append(t.row, string(data))
		return
	}
	t.row = append(t.row, jsonCell(data))
}

// harmless prefixes a text that a spreadsheet would read as a formula with an apostrophe.
func harmless(cell string) string {
	if first, _ := utf8.DecodeRuneInString(cell); slices.Contains(formulas, first) {
		return "'" + cell
	}
	return cell
}

// formulas are the characters that start a formula, and the characters that a spreadsheet skips before one. The wide
// characters count in East Asian editions.
var formulas = []rune("=+-@\t\r\n＝＋－＠")

// jsonCell returns a JSON text as a cell. The only valid JSON texts that start like a formula are negative numbers, which
// are harmless.
func jsonCell(data []byte) string {
	if len(data) > 0 && data[0] == '-' && json.Valid(data) {
		return string(data)
	}
	return harmless(string(data))
}

// stamp formats a time for cells and manifests; empty if it is zero.
func stamp(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format("2006-01-02T15:04:05.000000Z")
}

func millis(d time.Duration) string { return number(float64(d) / float64(time.Millisecond)) }

// number formats a number with at most three decimals. An unknown value (NaN, infinite or negative) is an empty cell.
func number(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
		return ""
	}
	return strconv.FormatFloat(math.Round(v*1000)/1000, 'f', -1, 64)
}
