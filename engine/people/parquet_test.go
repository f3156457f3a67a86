package people

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
	"pgregory.net/rapid"
)

// parquetOf returns a Parquet file with rows.
func parquetOf[T any](t testing.TB, rows []T, options ...parquet.WriterOption) []byte {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[T](&b, options...)
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func openedParquet(t testing.TB, content []byte) File {
	t.Helper()
	f, err := Open(t.Context(), "a.parquet", bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// everything has a column of each type that is read.
type everything struct {
	B     bool      `parquet:"b"`
	I32   int32     `parquet:"i32"`
	I64   *int64    `parquet:"i64,optional"`
	U64   uint64    `parquet:"u64"`
	F32   float32   `parquet:"f32"`
	F64   *float64  `parquet:"f64,optional"`
	S     *string   `parquet:"s,optional,dict"`
	Raw   []byte    `parquet:"raw"`
	Day   int32     `parquet:"day,date"`
	At    time.Time `parquet:"at,timestamp(millisecond)"`
	Price int64     `parquet:"price,decimal(2:12)"`
	Small int32     `parquet:"small,decimal(1:5)"`
	Wide  [4]byte   `parquet:"wide,decimal(3:9)"`
	UUID  [16]byte  `parquet:"uuid,uuid"`
	Enum  string    `parquet:"enum,enum"`
}

// TestParquetTypes checks what becomes of the values of each type.
func TestParquetTypes(t *testing.T) {
	n, x, s := int64(-7), math.NaN(), "é, x"
	at := time.Date(2026, 3, 1, 8, 30, 0, 250_000_000, time.UTC)
	f := openedParquet(t, parquetOf(t, []everything{
		{true, -1, &n, 8, 1.5, &x, &s, []byte("raw"), 20_000, at, 1234, -15, [4]byte{0xff, 0xff, 0xff, 0xfe}, [16]byte{1, 0xab}, "one"},
		{Day: -1, At: at.AddDate(-100, 0, 0), Wide: [4]byte{0, 0, 4, 0}},
	}))
	lines, d := taken(t, f, &Plan{Count: -1})
	want := []string{
		"b,i32,i64,u64,f32,f64,s,raw,day,at,price,small,wide,uuid,enum",
		`true,-1,-7,8,1.5,,"é, x",raw,2024-10-04,2026-03-01T08:30:00.25Z,12.34,-1.5,-0.002,01ab0000-0000-0000-0000-000000000000,one`,
		`false,0,,0,0,,,,1969-12-31,1926-03-01T08:30:00.25Z,0,0,1.024,00000000-0000-0000-0000-000000000000,`,
	}
	if !slices.Equal(lines, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
	}
	kinds := map[string]Kind{
		"b": Bool, "i32": Int, "i64": Int, "u64": Int, "f32": Float, "f64": Float, "s": String, "raw": String, "day": String, "at": String,
		"price": Float, "small": Float, "wide": Float, "uuid": String, "enum": String,
	}
	if fmt.Sprint(d.Types) != fmt.Sprint(kinds) {
		t.Errorf("types %v, want %v", d.Types, kinds)
	}
}

// TestHalf checks floats of 16 bits.
func TestHalf(t *testing.T) {
	for bits, want := range map[uint16]float64{0: 0, 0x3c00: 1, 0xc000: -2, 0x3555: 0.333251953125, 0x7bff: 65504, 1: 5.960464477539063e-08, 0x7c00: math.Inf(1), 0xfc00: math.Inf(-1)} {
		if got := half([]byte{byte(bits), byte(bits >> 8)}); got != want {
			t.Errorf("%#x is %g, want %g", bits, got, want)
		}
	}
	if !math.IsNaN(half([]byte{0, 0x7e})) || !math.IsNaN(half(nil)) {
		t.Error("NaN is not NaN")
	}
}

// TestNestedParquet checks that nested columns are errors that name them, unless other columns are chosen.
func TestNestedParquet(t *testing.T) {
	type home struct {
		City string `parquet:"city"`
	}
	type nested struct {
		Age  int64             `parquet:"age"`
		Home home              `parquet:"home"`
		Tags []string          `parquet:"tags,list"`
		Many []int64           `parquet:"many"`
		Map  map[string]string `parquet:"map"`
		Hash [3]byte           `parquet:"hash"`
		Last string            `parquet:"last"`
	}
	f := openedParquet(t, parquetOf(t, []nested{{Age: 30, Home: home{"Ulm"}, Tags: []string{"a", "b"}, Many: []int64{1, 2}, Last: "x"}, {Age: 31, Last: "y"}}))
	_, err := Take(t.Context(), f, &Plan{Count: -1})
	var got []string
	for _, m := range Mistakes(err) {
		got = append(got, m.Problem)
	}
	want := []string{
		"the column home is nested", "the column tags is nested", "the column many has a list in each row", "the column map is nested",
		"the column hash holds bytes without a meaning",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	lines, _ := taken(t, f, &Plan{Count: -1, Columns: []Choice{{"last", "last"}, {"age", "age"}}})
	if want := []string{"last,age", "x,30", "y,31"}; !slices.Equal(lines, want) {
		t.Errorf("got %q, want %q", lines, want)
	}
	for _, p := range []*Plan{
		{Count: 1, Columns: []Choice{{"age", "age"}}, Sample: &Sample{Weight: "home"}},
		{Count: 1, Columns: []Choice{{"age", "age"}}, Where: &Condition{Names: []string{"home"}}},
		{Count: 1, Columns: []Choice{{"age", "home"}}},
	} {
		if _, err := Take(t.Context(), f, p); err == nil || !strings.Contains(err.Error(), "the column home is nested") {
			t.Errorf("got %v", err)
		}
	}
}

// TestLargeNumbers checks that a number that no agent can have is an error with its row.
func TestLargeNumbers(t *testing.T) {
	type row struct {
		N uint64 `parquet:"n"`
	}
	_, err := Take(t.Context(), openedParquet(t, parquetOf(t, []row{{1}, {math.MaxUint64}})), &Plan{Count: -1})
	if err == nil || !strings.Contains(err.Error(), "column n, row 2: 18446744073709551615 is too large") {
		t.Errorf("got %v", err)
	}
}

// person is a row of a large file.
type person struct {
	ID     int64   `parquet:"id"`
	Gender string  `parquet:"gender,dict"`
	Region *string `parquet:"region,optional,dict"`
	Age    int32   `parquet:"age"`
	Weight float64 `parquet:"weight"`
	Story  string  `parquet:"story"`
}

// personOf is made up from its number.
func personOf(i int) person {
	regions := []string{"north", "south", "east", "west"}
	return person{int64(i), []string{"female", "male"}[i%2], &regions[i/2%4], int32(18 + i*7%70), 1 + float64(i%5), strings.Repeat(fmt.Sprintf("Person %d lives here. ", i), 12)}
}

// crowded writes a Parquet file with many rows in row groups and pages.
func crowded(t testing.TB, rows, group int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "crowd.parquet")
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := parquet.NewGenericWriter[person](out, parquet.Compression(&parquet.Zstd), parquet.MaxRowsPerRowGroup(int64(group)), parquet.PageBufferSize(64<<10))
	batch := make([]person, 0, 1000)
	for i := range rows {
		if batch = append(batch, personOf(i)); len(batch) == cap(batch) || i == rows-1 {
			if _, err := w.Write(batch); err != nil {
				t.Fatal(err)
			}
			batch = batch[:0]
		}
	}
	if err := errors.Join(w.Close(), out.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

// watched reads a file and notes the memory in use at every so many reads.
type watched struct {
	io.ReaderAt
	reads int
	most  uint64
}

// ReadAt implements io.ReaderAt.
func (w *watched) ReadAt(p []byte, off int64) (int, error) {
	if w.reads++; w.reads%64 == 0 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		w.most = max(w.most, m.HeapAlloc)
	}
	return w.ReaderAt.ReadAt(p, off)
}

// TestCrowd draws from a file of 200,000 people and checks that little of it is in memory.
func TestCrowd(t *testing.T) {
	const rows, few = 200_000, 500
	path := crowded(t, rows, 20_000)
	in, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close() }()
	info, err := in.Stat()
	if err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	var before runtime.MemStats
	runtime.ReadMemStats(&before)
	defer debug.SetGCPercent(debug.SetGCPercent(50))
	w := &watched{ReaderAt: in}
	f, err := Open(t.Context(), path, w, info.Size())
	if err != nil {
		t.Fatal(err)
	}
	d, err := Take(t.Context(), f, &Plan{Count: few, Sample: &Sample{
		Seed: 9, Weight: "weight", Targets: []Target{{"gender", []Share{{"female", 1}, {"male", 1}}}, {"region", []Share{{"north", 4}, {"south", 3}, {"east", 2}, {"west", 1}}}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if w.most == 0 {
		t.Fatalf("only %d reads", w.reads)
	}
	// The texts of the file are 50 MB.
	if most := int64(w.most) - int64(before.HeapAlloc); most > 16<<20 {
		t.Errorf("%d MB are in use to draw from a file with 50 MB of texts", most>>20)
	}
	lines := strings.Split(strings.TrimSuffix(string(d.Rows), "\n"), "\n")
	if len(lines) != few+1 || d.Report.Rows != rows || d.Report.Eligible != rows {
		t.Fatalf("%d lines, %+v", len(lines), d.Report)
	}
	for _, line := range lines[1:] {
		var id int
		if _, err := fmt.Sscanf(line, "%d,", &id); err != nil {
			t.Fatal(err)
		}
		p := personOf(id)
		if want := fmt.Sprintf("%d,%s,%s,%d,%g,%s", id, p.Gender, *p.Region, p.Age, p.Weight, p.Story); line != want {
			t.Fatalf("got %s, want %s", line, want)
		}
	}
	for _, m := range d.Report.Marginals {
		for _, c := range m.Categories {
			if math.Abs(c.Drawn-c.Target) > 2*c.Margin {
				t.Errorf("%s %+v", m.Attribute, c)
			}
		}
	}
}

// TestScattered checks that any set of rows is read from any layout of groups and pages, with and without an index of pages.
func TestScattered(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		rows := rapid.IntRange(1, 400).Draw(r, "rows")
		group, page := rapid.IntRange(1, 150).Draw(r, "group"), rapid.IntRange(100, 4000).Draw(r, "page")
		var all []person
		for i := range rows {
			p := personOf(i)
			if i%3 == 0 {
				p.Region = nil
			}
			p.Story = fmt.Sprint("story ", i)
			all = append(all, p)
		}
		content := parquetOf(t, all, parquet.MaxRowsPerRowGroup(int64(group)), parquet.PageBufferSize(page))
		options := []parquet.FileOption{parquet.SkipPageIndex(rapid.Bool().Draw(r, "without index"))}
		only := []int64{}
		for row := range int64(rows) {
			if rapid.IntRange(0, 9).Draw(r, "take") == 0 {
				only = append(only, row)
			}
		}
		opened := openedParquet(t, content).(*parquetFile)
		var err error
		if opened.file, err = parquet.OpenFile(bytes.NewReader(content), int64(len(content)), options...); err != nil {
			r.Fatal(err)
		}
		var got []int64
		if err := opened.Scan(t.Context(), []int{5, 2, 0}, only, func(row int64, cells []Cell) error {
			got = append(got, row)
			region := ""
			if row%3 != 0 {
				region = *personOf(int(row)).Region
			}
			if cells[0].Text != fmt.Sprint("story ", row) || cells[1].String() != region || cells[2].Int != row {
				r.Fatalf("row %d is %v", row, cells)
			}
			return nil
		}); err != nil {
			r.Fatal(err)
		}
		if !slices.Equal(got, only) {
			r.Fatalf("visited %v, want %v", got, only)
		}
	})
}

// TestDamagedParquet checks that a file with damaged bytes is an error or other rows, and never ends the program.
func TestDamagedParquet(t *testing.T) {
	var all []person
	for i := range 300 {
		all = append(all, personOf(i))
	}
	content := parquetOf(t, all, parquet.MaxRowsPerRowGroup(100), parquet.Compression(&parquet.Snappy))
	failed := 0
	for i := range 400 {
		damaged := bytes.Clone(content)
		for j := range 1 + i%3 {
			at := (i*7919 + j*104729) % len(damaged)
			damaged[at] ^= byte(1 + i*31%255)
		}
		f, err := Open(t.Context(), "a.parquet", bytes.NewReader(damaged), int64(len(damaged)))
		if err == nil {
			_, err = Take(t.Context(), f, &Plan{Count: 20, Sample: &Sample{Weight: "weight"}})
		}
		if err != nil {
			failed++
		}
	}
	if failed == 0 {
		t.Error("no damage is noticed")
	}
}

// FuzzOpen checks that no file ends the program.
func FuzzOpen(f *testing.F) {
	f.Add(0, []byte("a,b\n1,\"x\"\n"))
	f.Add(1, []byte("{\"a\": 1}\n{\"b\": [1]}\n"))
	var b bytes.Buffer
	w := parquet.NewGenericWriter[person](&b)
	if _, err := w.Write([]person{personOf(1), personOf(2)}); err != nil {
		f.Fatal(err)
	}
	if err := w.Close(); err != nil {
		f.Fatal(err)
	}
	f.Add(2, b.Bytes())
	f.Fuzz(func(t *testing.T, format int, content []byte) {
		file, err := Open(t.Context(), "a"+Endings[uint(format)%3], bytes.NewReader(content), int64(len(content)))
		if err != nil {
			return
		}
		d, err := Take(t.Context(), file, &Plan{Count: 2, Sample: &Sample{Seed: 1}})
		if err == nil && (d.Report.Taken != 2 || len(d.Rows) == 0) {
			t.Errorf("%+v", d)
		}
	})
}

// BenchmarkTake draws 300 of 200,000 people.
func BenchmarkTake(b *testing.B) {
	content, err := os.ReadFile(crowded(b, 200_000, 50_000))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		_, err := Take(b.Context(), openedParquet(b, content), &Plan{Count: 300, Columns: []Choice{{"age", "age"}, {"gender", "gender"}}, Sample: &Sample{
			Weight: "weight", Targets: []Target{{"gender", []Share{{"female", 1}, {"male", 1}}}},
		}})
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(200_000*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}
