package storage

import "slices"

// column is a column of an exported file. It is the only place where the column's name, type, unit and meaning are
// written: CSV, JSON Lines, Parquet and README.md use it.
type column struct {
	name string
	kind kind
	unit string // "" if it has none
	help string
}

// cell is a column with the cell of a row.
type cell[R any] struct {
	column
	add func(t *table, row R)
}

// columnsOf returns the columns of cells.
func columnsOf[R any](cells []cell[R]) []column {
	all := make([]column, len(cells))
	for i := range cells {
		all[i] = cells[i].column
	}
	return all
}

// add appends the cells of a row and ends it.
func addRow[R any](t *table, cells []cell[R], row R) error {
	for i := range cells {
		cells[i].add(t, row)
	}
	return t.next()
}

// without returns the cells without those of a name.
func without[R any](cells []cell[R], name string) []cell[R] {
	return slices.DeleteFunc(slices.Clone(cells), func(c cell[R]) bool { return c.name == name })
}

// kindNames are the types of columns in README.md.
var kindNames = map[kind]string{
	textCells: "text", wordCells: "text", intCells: "integer", floatCells: "number", boolCells: "true or false",
	timeCells: "time, UTC", jsonCells: "JSON",
}
