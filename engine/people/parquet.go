package people

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
)

// parquetBatch is the number of values that are decoded in one call.
const parquetBatch = 512

// parquetFile is a Parquet file whose top-level columns are flat, except for those with a problem.
type parquetFile struct {
	file    *parquet.File
	columns []Column
	leaves  []int // by column: the index of its chunk in a row group
	read    []reading
}

// guard calls the library, which panics for some damaged files.
func guard(do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("it is damaged: %v", p)
		}
	}()
	return do()
}

// damaged returns the mistake of a file that the library cannot read.
func damaged(err error) error {
	return wrongf("write the file again, or look at it with another tool", "the Parquet file cannot be read: %v", err)
}

func openParquet(r io.ReaderAt, size int64) (File, error) {
	f := &parquetFile{}
	err := guard(func() (err error) {
		if f.file, err = parquet.OpenFile(r, size, parquet.SkipBloomFilters(true)); err != nil {
			return err
		}
		for _, c := range f.file.Root().Columns() {
			column, leaf := Column{Name: c.Name()}, -1
			var how reading
			switch {
			case !c.Leaf():
				column.Problem = "is nested"
			case c.Repeated():
				column.Problem = "has a list in each row"
			default:
				leaf = c.Index()
				how, column.Problem = readingOf(c.Type())
			}
			f.columns, f.leaves, f.read = append(f.columns, column), append(f.leaves, leaf), append(f.read, how)
		}
		return nil
	})
	switch {
	case err != nil:
		return nil, damaged(err)
	case len(f.columns) > maxColumns:
		return nil, wrongf("", "more than %d columns", maxColumns)
	}
	if twice := duplicate(f.columns); twice != "" {
		return nil, wrongf("names are unique", "there are two columns %s", quoted(twice))
	}
	return f, nil
}

// Columns implements File.
func (f *parquetFile) Columns() []Column { return f.columns }

// Kinds implements File.
func (f *parquetFile) Kinds(_ context.Context, columns []int) ([]Kind, error) {
	kinds := make([]Kind, len(columns))
	for i, c := range columns {
		kinds[i] = f.read[c].kind
	}
	return kinds, nil
}

// Scan implements File.
func (f *parquetFile) Scan(ctx context.Context, columns []int, only []int64, visit func(row int64, cells []Cell) error) error {
	start := int64(0)
	filter := newRowFilter(ctx, only)
	if len(columns) == 0 { // a damaged file may claim any number of rows
		columns = []int{f.smallest()}
	}
	for _, group := range f.file.RowGroups() {
		if group.NumRows() < 0 {
			return damaged(errors.New("a row group has fewer than 0 rows"))
		}
		end := start + group.NumRows()
		if filter.all || len(filter.only) > 0 && filter.only[0] < end {
			if err := f.scanGroup(group, columns, start, filter, visit); err != nil {
				return err
			}
		}
		if start = end; filter.done() {
			break
		}
	}
	return nil
}

// smallest returns a column that can be read, without text if there is one.
func (f *parquetFile) smallest() int {
	found := 0
	for i, c := range f.columns {
		if c.Problem == "" {
			if found = i; f.read[i].kind != String {
				break
			}
		}
	}
	return found
}

// scanGroup visits the rows of one row group, whose first row is start.
func (f *parquetFile) scanGroup(group parquet.RowGroup, columns []int, start int64, filter *rowFilter, visit func(row int64, cells []Cell) error) (err error) {
	readers := make([]*columnReader, len(columns))
	defer func() {
		for _, r := range readers {
			if r != nil {
				err = errors.Join(err, r.close())
			}
		}
	}()
	for i, c := range columns {
		if err := guard(func() error {
			readers[i] = newColumnReader(group.ColumnChunks()[f.leaves[c]])
			return nil
		}); err != nil {
			return damaged(err)
		}
	}
	cells := make([]Cell, len(columns))
	for row := start; row < start+group.NumRows() && !filter.done(); row++ {
		take, err := filter.take(row)
		if err != nil {
			return err
		}
		if !take {
			continue
		}
		for i, c := range columns {
			v, err := readers[i].value(row - start)
			if err != nil {
				return damaged(fmt.Errorf("column %s, row %d: %w", f.columns[c].Name, row+1, err))
			}
			if cells[i], err = f.read[c].cell(v); err != nil {
				return wrongf("leave the column out with `columns`", "column %s, row %d: %v", f.columns[c].Name, row+1, err)
			}
		}
		if err := visit(row, cells); err != nil {
			return err
		}
	}
	return nil
}

// columnReader reads the values of a column chunk in ascending order of their rows.
type columnReader struct {
	pages  parquet.Pages
	seeks  bool // the file says where its pages begin
	page   parquet.Page
	end    int64 // the row behind the page
	values parquet.ValueReader
	at     int64 // the row of the next value in the buffer
	buffer []parquet.Value
	left   []parquet.Value // of the buffer
}

func newColumnReader(chunk parquet.ColumnChunk) *columnReader {
	index, err := chunk.OffsetIndex()
	return &columnReader{pages: chunk.Pages(), seeks: err == nil && index != nil, buffer: make([]parquet.Value, parquetBatch)}
}

// value returns the value of a row of the chunk. It is valid until the next call.
func (r *columnReader) value(row int64) (v parquet.Value, err error) {
	for row >= r.end {
		if err := guard(func() error { return r.next(row) }); err != nil {
			return v, err
		}
	}
	for row >= r.at+int64(len(r.left)) {
		r.at += int64(len(r.left))
		n := 0
		err := guard(func() (err error) {
			n, err = r.values.ReadValues(r.buffer)
			return err
		})
		if n == 0 {
			return v, errors.Join(errors.New("a page has fewer values than rows"), err)
		}
		r.left = r.buffer[:n]
	}
	r.left = r.left[row-r.at:]
	r.at = row
	return r.left[0], nil
}

// next reads the page that follows, or the page of a row if the file says where it is.
func (r *columnReader) next(row int64) error {
	r.release()
	if r.seeks && row > r.end {
		if err := r.pages.SeekToRow(row); err != nil {
			return err
		}
		r.end = row // the page begins with it
	}
	page, err := r.pages.ReadPage()
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	if err != nil {
		return err
	}
	if page.NumValues() != page.NumRows() {
		parquet.Release(page)
		return errors.New("a page has several values a row")
	}
	r.page, r.values, r.left = page, page.Values(), nil
	r.at, r.end = r.end, r.end+page.NumRows()
	return nil
}

// release frees the page.
func (r *columnReader) release() {
	if r.page != nil {
		parquet.Release(r.page)
	}
	r.page, r.values, r.left = nil, nil, nil
}

func (r *columnReader) close() error {
	return guard(func() error {
		r.release()
		return r.pages.Close()
	})
}
