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

// table writes rows. Its methods append cells to the row that next then ends.
type table struct {
	w   rowWriter
	raw bool // texts are written as they are: no spreadsheet takes them for formulas
	row []string
}

// rowWriter writes rows of cells in a format. What Write is given is good until it returns. Nothing follows a Flush but of
// formats that can be followed.
type rowWriter interface {
	Write(row []string) error
	Flush()
	Error() error // the first of all before
}

// newTable begins a table in a format.
func newTable(f Format, w io.Writer, columns []column) (*table, error) {
	t := &table{raw: f != CSV, row: make([]string, 0, len(columns))}
	if f != Parquet { // a terminal may show it
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
		return t, t.next()
	}
	return t, nil
}

// next ends the row. Errors of the writer are kept: flush returns the first.
func (t *table) next() error {
	err := t.w.Write(t.row)
	t.row = t.row[:0]
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

// harmless puts an apostrophe before a text that a spreadsheet would take for a formula.
func harmless(cell string) string {
	if first, _ := utf8.DecodeRuneInString(cell); slices.Contains(formulas, first) {
		return "'" + cell
	}
	return cell
}

// formulas are the characters that formulas begin with, and those that a spreadsheet passes over before them; the wide ones
// count in East Asian editions.
var formulas = []rune("=+-@\t\r\n＝＋－＠")

// jsonCell is a JSON text as a cell. Of all valid ones only negative numbers begin like a formula, and they are none.
func jsonCell(data []byte) string {
	if len(data) > 0 && data[0] == '-' && json.Valid(data) {
		return string(data)
	}
	return harmless(string(data))
}

// stamp is a time as cells and manifests write it; empty if it is zero.
func stamp(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format("2006-01-02T15:04:05.000000Z")
}

func millis(d time.Duration) string { return number(float64(d) / float64(time.Millisecond)) }

// number writes at most three decimals; a figure that is not known (NaN, negative) is an empty cell.
func number(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
		return ""
	}
	return strconv.FormatFloat(math.Round(v*1000)/1000, 'f', -1, 64)
}
