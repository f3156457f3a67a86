package people

import (
	"context"
	"io"
	"path"
	"slices"
)

// Endings are what the names of files of people end in.
var Endings = []string{".csv", ".jsonl", ".parquet"}

// Limits of a file.
const (
	maxColumns = 10_000
	maxRow     = 1 << 20 // bytes of a row of CSV or JSONL
)

// Column is a column of a file.
type Column struct {
	Name string
	// Problem says why the column cannot be read, such as "is nested"; "" if it can.
	Problem string
}

// File is a file of people. It is not safe for concurrent use.
type File interface {
	// Columns returns the columns in the order of the file.
	Columns() []Column
	// Kinds returns the kinds of some columns. It may read the whole file.
	Kinds(ctx context.Context, columns []int) ([]Kind, error)
	// Scan calls visit for each row, in order, with the cells of some columns. only lists the rows to visit, ascending;
	// nil visits all. Rows count from 0. The error is visit's, the cause of ctx, or a *Mistake.
	Scan(ctx context.Context, columns []int, only []int64, visit func(row int64, cells []Cell) error) error
}

// Open opens a file of people; the ending of its name says the format.
func Open(ctx context.Context, name string, r io.ReaderAt, size int64) (File, error) {
	switch path.Ext(name) {
	case ".csv":
		return openCSV(r, size)
	case ".jsonl":
		return openLines(ctx, r, size)
	case ".parquet":
		return openParquet(r, size)
	}
	return nil, wrongf("", "%s is not a file of people", name)
}

// names returns the names of the columns.
func names(f File) (all []string) {
	for _, c := range f.Columns() {
		all = append(all, c.Name)
	}
	return all
}

// checkEvery is the number of rows after which a scan looks whether it was canceled.
const checkEvery = 1 << 12

// rowFilter selects the rows that a scan visits.
type rowFilter struct {
	ctx  context.Context
	only []int64
	all  bool
}

func newRowFilter(ctx context.Context, only []int64) *rowFilter {
	return &rowFilter{ctx, only, only == nil}
}

// take reports whether a scan visits a row. Rows come in order.
func (f *rowFilter) take(row int64) (bool, error) {
	if row%checkEvery == 0 && f.ctx.Err() != nil {
		return false, context.Cause(f.ctx)
	}
	switch {
	case f.all:
		return true, nil
	case len(f.only) == 0 || f.only[0] != row:
		return false, nil
	}
	f.only = f.only[1:]
	return true, nil
}

// done reports whether no row is left.
func (f *rowFilter) done() bool { return !f.all && len(f.only) == 0 }

// duplicate returns a column name that occurs twice, or "".
func duplicate(columns []Column) string {
	all := make([]string, len(columns))
	for i, c := range columns {
		all[i] = c.Name
	}
	slices.Sort(all)
	for i := 1; i < len(all); i++ {
		if all[i] == all[i-1] {
			return all[i]
		}
	}
	return ""
}
