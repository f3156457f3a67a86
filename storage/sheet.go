package storage

import (
	"fmt"
	"io"

	"github.com/throng-sim/throng/engine/experiment/findings"
)

// sheetKinds are the kinds of the cells of a sheet.
var sheetKinds = map[findings.ColumnKind]kind{findings.Texts: textCells, findings.Whole: intCells, findings.Numbers: floatCells}

// WriteSheet writes a sheet in a format.
func WriteSheet(w io.Writer, s *findings.Sheet, f Format) error {
	t, err := newTable(f, w, sheetColumns(s))
	if err == nil {
		err = t.sheet(s)
	}
	if err != nil {
		return fmt.Errorf("write the table of an experiment: %w", err)
	}
	return nil
}

func sheetColumns(s *findings.Sheet) []column {
	all := make([]column, len(s.Columns))
	for i, c := range s.Columns {
		all[i] = column{c.Name, sheetKinds[c.Kind], c.Unit, c.Help}
	}
	return all
}

// sheet writes the rows of a sheet and ends the table.
func (t *table) sheet(s *findings.Sheet) error {
	for _, row := range s.Rows {
		for i, cell := range row {
			if s.Columns[i].Kind == findings.Texts {
				t.text(cell)
			} else {
				t.plain(cell)
			}
		}
		if err := t.next(); err != nil {
			return err
		}
	}
	return t.flush()
}
