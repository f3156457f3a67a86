package storage

import (
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/parquet-go/parquet-go"
)

const (
	// rowGroup is the number of rows that are buffered and compressed together.
	rowGroup = 1 << 16
	// rowBatch is the number of rows that are passed to the library in one call.
	rowBatch = 256
)

// parquetRows writes Parquet, compressed with zstd. It buffers a row group.
type parquetRows struct {
	w       *parquet.GenericWriter[any]
	columns []column
	rows    []parquet.Row // reused; the first waiting rows are pending
	waiting int
	err     error
}

func newParquet(w io.Writer, columns []column) *parquetRows {
	p := &parquetRows{
		w:       parquet.NewGenericWriter[any](w, schemaOf(columns), parquet.Compression(&parquet.Zstd), parquet.MaxRowsPerRowGroup(rowGroup)),
		columns: columns,
		rows:    make([]parquet.Row, rowBatch),
	}
	for i := range p.rows {
		p.rows[i] = make(parquet.Row, len(columns))
	}
	return p
}

// parquetKinds are the types and tags of the kinds of cells. Only the fields of a struct keep their order in a schema.
var parquetKinds = map[kind]struct {
	of   reflect.Type
	tags string
}{
	textCells:  {reflect.TypeFor[string](), ""},
	wordCells:  {reflect.TypeFor[string](), ",dict"},
	intCells:   {reflect.TypeFor[int64](), ",optional"},
	floatCells: {reflect.TypeFor[float64](), ",optional"},
	boolCells:  {reflect.TypeFor[bool](), ",optional"},
	timeCells:  {reflect.TypeFor[int64](), ",optional,timestamp(microsecond)"},
	jsonCells:  {reflect.TypeFor[string](), ",optional,json"},
}

func schemaOf(columns []column) *parquet.Schema {
	fields := make([]reflect.StructField, len(columns))
	for i, c := range columns {
		k := parquetKinds[c.kind]
		fields[i] = reflect.StructField{
			Name: "C" + strconv.Itoa(i), Type: k.of, Tag: reflect.StructTag("parquet:" + strconv.Quote(strings.ReplaceAll(c.name, ",", "_")+k.tags)), // commas end names
		}
	}
	return parquet.SchemaOf(reflect.New(reflect.StructOf(fields)).Interface())
}

// Write is part of rowWriter.
func (p *parquetRows) Write(row []string) error {
	values := p.rows[p.waiting]
	for i, c := range p.columns {
		v, err := valueOf(c.kind, row[i])
		if err != nil {
			return fmt.Errorf("column %s: %w", c.name, err)
		}
		defined := 0 // always set for texts
		if c.kind != textCells && c.kind != wordCells && !v.IsNull() {
			defined = 1
		}
		values[i] = v.Level(0, defined, i)
	}
	if p.waiting++; p.waiting < rowBatch {
		return nil
	}
	return p.hand()
}

func valueOf(k kind, text string) (v parquet.Value, err error) {
	if text == "" && k != textCells && k != wordCells {
		return parquet.NullValue(), nil
	}
	switch k {
	case intCells:
		n, err := strconv.ParseInt(text, 10, 64)
		return parquet.Int64Value(n), err
	case floatCells:
		x, err := strconv.ParseFloat(text, 64)
		return parquet.DoubleValue(x), err
	case boolCells:
		return parquet.BooleanValue(text == "true"), nil
	case timeCells:
		at, err := time.Parse(time.RFC3339Nano, text)
		return parquet.Int64Value(at.UnixMicro()), err
	default:
		return parquet.ByteArrayValue([]byte(text)), nil
	}
}

// hand passes the pending rows to the library.
func (p *parquetRows) hand() error {
	_, err := p.w.WriteRows(p.rows[:p.waiting])
	p.waiting = 0
	return err
}

// Flush is part of rowWriter. It completes the file.
func (p *parquetRows) Flush() {
	if p.err = p.hand(); p.err == nil {
		p.err = p.w.Close()
	}
}

// Error is part of rowWriter.
func (p *parquetRows) Error() error { return p.err }
