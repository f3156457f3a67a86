package storage

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/throng-sim/throng/engine"
)

// written returns a table of a run in a format.
func written(t *testing.T, f Format, what string, r Reader) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := Export(t.Context(), &out, f, what, r, "r", names); err != nil {
		t.Fatalf("%s.%s: %v", what, f, err)
	}
	return out.Bytes()
}

// cells returns the rows of CSV after a row with the names, without the apostrophes for spreadsheets.
func cells(t *testing.T, text []byte) [][]string {
	t.Helper()
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		for i, cell := range row {
			if rest, ok := strings.CutPrefix(cell, "'"); ok && harmless(rest) == cell {
				row[i] = rest
			}
		}
	}
	return rows
}

// many returns a run with more sessions and seconds than a row group has rows.
func many(t *testing.T) *reader {
	t.Helper()
	r := crowd()
	for len(r.sessions) < rowGroup+3*rowBatch/2 {
		s := r.sessions[len(r.sessions)%4]
		s.Cycle += 1 + len(r.sessions)
		r.sessions = append(r.sessions, s)
	}
	return r
}

// TestParquetIsCSV reads Parquet back: it has the columns of the CSV in the same order, with the same cells.
func TestParquetIsCSV(t *testing.T) {
	all := Tables()
	for name, c := range map[string]struct {
		*reader
		tables []string
	}{"crowd": {crowd(), all}, "empty": {&reader{record: crowd().record}, all}, "many": {many(t), all[:1]}} {
		for _, what := range c.tables {
			r := c.reader
			want := cells(t, written(t, CSV, what, r))
			got := parquetCells(t, written(t, Parquet, what, r))
			if len(got) != len(want) {
				t.Fatalf("%s %s: %d rows, want %d", name, what, len(got)-1, len(want)-1)
			}
			for y := range want {
				for x := range want[y] {
					if !sameCell(got[y][x], want[y][x]) {
						t.Fatalf("%s %s: row %d, %s: got %q, want %q", name, what, y, want[0][x], got[y][x], want[y][x])
					}
				}
			}
		}
	}
}

// sameCell also accepts different spellings of a number.
func sameCell(got, want string) bool {
	if got == want {
		return true
	}
	a, err := strconv.ParseFloat(got, 64)
	b, other := strconv.ParseFloat(want, 64)
	return err == nil && other == nil && a == b
}

// parquetCells returns the rows of Parquet as CSV would write them, after a row with the names.
func parquetCells(t *testing.T, data []byte) [][]string {
	t.Helper()
	file, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	fields := file.Schema().Fields()
	var all [][]string
	var head []string
	for _, f := range fields {
		head = append(head, f.Name())
	}
	all = append(all, head)
	for _, group := range file.RowGroups() {
		if group.NumRows() > rowGroup {
			t.Errorf("a row group has %d rows", group.NumRows())
		}
		rows := group.Rows()
		buffer := make([]parquet.Row, 100)
		for {
			n, err := rows.ReadRows(buffer)
			for _, row := range buffer[:n] {
				cells := make([]string, len(fields))
				for _, v := range row {
					cells[v.Column()] = cellOf(fields[v.Column()], v)
				}
				all = append(all, cells)
			}
			if errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
		}
		if err := rows.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func cellOf(f parquet.Field, v parquet.Value) string {
	switch {
	case v.IsNull():
		return ""
	case strings.HasPrefix(f.Type().String(), "TIMESTAMP"):
		return stamp(time.UnixMicro(v.Int64()))
	case v.Kind() == parquet.Double:
		return strconv.FormatFloat(v.Double(), 'f', -1, 64)
	default:
		return v.String()
	}
}

// TestParquetTypes checks that columns have types other than text.
func TestParquetTypes(t *testing.T) {
	for what, want := range map[string]map[string]string{
		"sessions": {"cycle": "INT(64,true)", "agent": "STRING", "outcome": "STRING", "acted": "BOOLEAN"},
		"timings":  {"started": "TIMESTAMP(isAdjustedToUTC=true,unit=MICROS)", "total_ms": "DOUBLE", "requests": "INT(64,true)", "cost_usd": "DOUBLE"},
		"events":   {"items": "INT(64,true)", "note": "STRING", "value": "INT(64,true)", "sequence": "INT(64,true)", "simulated_time": "TIMESTAMP(isAdjustedToUTC=true,unit=MICROS)"},
		"metrics":  {"timestamp": "TIMESTAMP(isAdjustedToUTC=true,unit=MICROS)", "limit": "INT(64,true)", "cpu_percent": "DOUBLE", "phase": "STRING", "errors_timeout": "INT(64,true)"},
	} {
		data := written(t, Parquet, what, crowd())
		file, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range file.Schema().Fields() {
			if of := want[f.Name()]; of != "" && f.Type().String() != of {
				t.Errorf("%s: %s is %s, want %s", what, f.Name(), f.Type(), of)
			}
			delete(want, f.Name())
		}
		if len(want) > 0 {
			t.Errorf("%s: there is no %v", what, want)
		}
	}
}

// TestLinesAreCSV reads JSON Lines back: they have the same keys in the same order, and values with their types.
func TestLinesAreCSV(t *testing.T) {
	for _, what := range Tables() {
		want := cells(t, written(t, CSV, what, crowd()))
		got := bytes.Split(bytes.TrimSuffix(written(t, JSONL, what, crowd()), []byte("\n")), []byte("\n"))
		if len(got) != len(want)-1 {
			t.Fatalf("%s: %d lines, want %d", what, len(got), len(want)-1)
		}
		for y, line := range got {
			d := json.NewDecoder(bytes.NewReader(line))
			d.UseNumber()
			if _, err := d.Token(); err != nil {
				t.Fatalf("%s: %s: %v", what, line, err)
			}
			for x, name := range want[0] {
				key, err := d.Token()
				if err != nil || key != name {
					t.Fatalf("%s: the key is %v, %v, want %s", what, key, err, name)
				}
				var value json.RawMessage
				if err := d.Decode(&value); err != nil {
					t.Fatalf("%s: %s: %v", what, line, err)
				}
				if text := lineCell(value, name == "data" || name == "statuses"); text != want[y+1][x] {
					t.Errorf("%s: line %d, %s: got %s, want %q", what, y+1, name, value, want[y+1][x])
				}
			}
		}
	}
}

func lineCell(value json.RawMessage, data bool) string {
	var text string
	switch {
	case string(value) == "null":
		return ""
	case !data && json.Unmarshal(value, &text) == nil:
		return text
	default:
		return string(value)
	}
}

func TestExportAllAs(t *testing.T) {
	for f, want := range map[Format]string{
		Parquet: "README.md agents.parquet changes.parquet cycles.parquet decisions.parquet events.parquet events__paid.parquet events_bought.parquet events_left.parquet memory.jsonl messages.parquet metrics.parquet requests.parquet run.json sessions.parquet steps.parquet timings.parquet",
		JSONL:   "README.md agents.jsonl changes.jsonl cycles.jsonl decisions.jsonl events.jsonl events__paid.jsonl events_bought.jsonl events_left.jsonl memory.jsonl messages.jsonl metrics.jsonl requests.jsonl run.json sessions.jsonl steps.jsonl timings.jsonl",
	} {
		dir := t.TempDir()
		if err := ExportAllAs(t.Context(), dir, f, crowd(), "r", names, "1.2.3"); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(listFiles(t, dir), " "); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		got, err := os.ReadFile(filepath.Join(dir, "sessions."+string(f)))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, written(t, f, "sessions", crowd())) {
			t.Errorf("sessions.%s differs from the file that is exported alone", f)
		}
	}
}

// full is a full disk.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, engine.ErrNoRoom }

func TestFormatsReportAFullDisk(t *testing.T) {
	for _, f := range []Format{CSV, JSONL, Parquet} {
		if err := Export(t.Context(), full{}, f, "sessions", crowd(), "r", names); !errors.Is(err, engine.ErrNoRoom) {
			t.Errorf("%s: got %v", f, err)
		}
	}
}

// TestMetricCellsFitTheirKind checks the cells of each column of metrics.
func TestMetricCellsFitTheirKind(t *testing.T) {
	m := crowd().metrics[0]
	for i := range metricColumns {
		c := &metricColumns[i]
		if _, err := valueOf(c.kind(), c.cell(&m)); err != nil {
			t.Errorf("%s: %q: %v", c.Name, c.cell(&m), err)
		}
	}
}

// endless is a run with many sessions that are not stored.
type endless struct {
	*reader
	sessions int
}

func (e *endless) Sessions(context.Context, engine.RunID, int, int) iter.Seq2[*engine.SessionRow, error] {
	return func(yield func(*engine.SessionRow, error) bool) {
		for i := range e.sessions {
			row := e.reader.sessions[i%len(e.reader.sessions)]
			row.Cycle = i / 1000
			if !yield(&row, nil) {
				return
			}
		}
	}
}

// BenchmarkExport writes 100,000 sessions, their events and timings.
func BenchmarkExport(b *testing.B) {
	for _, f := range []Format{CSV, JSONL, Parquet} {
		b.Run(string(f), func(b *testing.B) {
			r := &endless{crowd(), 100_000}
			var size counted
			for b.Loop() {
				size = 0
				for _, what := range []string{"sessions", "events", "timings"} {
					if err := Export(b.Context(), &size, f, what, r, "r", names); err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(size)/float64(r.sessions), "bytes/session")
		})
	}
}

// counted counts the bytes that were written.
type counted int64

func (c *counted) Write(p []byte) (int, error) {
	*c += counted(len(p))
	return len(p), nil
}
