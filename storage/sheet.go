package storage

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/throng-sim/throng/engine/experiment/findings"
	"github.com/throng-sim/throng/engine/experiment/nearest"
	"github.com/throng-sim/throng/engine/visible"
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
		return fmt.Errorf("write a table: %w", err)
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

// Experiment is what [ExportExperiment] writes.
type Experiment struct {
	Table   *findings.Table
	Name    string // of its file, without a folder
	File    []byte
	Version string // of Throng
}

// ExportExperiment writes the runs, the effects and the distances from real data of an experiment in a format to a folder, which it creates if necessary, with the
// experiment's file and README.md, which describes the files. The files appear, or replace older ones, when all of them are complete.
// After an error none of them does.
func ExportExperiment(dir string, f Format, x *Experiment) error {
	e := exporting{dir: dir, format: f}
	err := e.experiment(x)
	if err == nil {
		err = e.finish()
	}
	if err != nil {
		return fmt.Errorf("export the experiment %s to %s: %w", x.Table.Title, dir, errors.Join(err, e.discard()))
	}
	return nil
}

func (e *exporting) experiment(x *Experiment) error {
	if err := os.MkdirAll(e.dir, 0o755); err != nil {
		return err
	}
	type named struct {
		name, about string
		sheet       findings.Sheet
	}
	all := []named{
		{"table", "One row for each run of a point, with its measures.", x.Table.Sheet()},
		{"effects", "One row for each measure and point: the estimate, and the difference from the baseline.", findings.Compare(x.Table).Sheet()},
	}
	if real := nearest.Rank(x.Table); real != nil {
		all = append(all, named{"real_data", "One row for each column of the real data and point: how far the runs are from it.", real.Sheet()})
	}
	for _, one := range all {
		t, err := e.table(one.name, one.about, sheetColumns(&one.sheet))
		if err != nil {
			return err
		}
		if err := t.sheet(&one.sheet); err != nil {
			return err
		}
	}
	w, err := e.create(x.Name)
	if err != nil {
		return err
	}
	if _, err := w.Write(x.File); err != nil {
		return err
	}
	e.describe(x.Name, "The experiment: what it varies, its design and its seeds.")
	return e.experimentReadme(x)
}

// experimentReadme writes README.md of an experiment.
func (e *exporting) experimentReadme(x *Experiment) error {
	file, err := e.create("README.md")
	if err != nil {
		return err
	}
	w := bufio.NewWriter(visible.NewWriter(file))
	done, of := x.Table.Count(findings.Done)
	fmt.Fprintf(w, "# %s\n\nResults of an experiment, exported by Throng %s. %d of %d runs are done.\n", inline(x.Table.Title), x.Version, done, of)
	e.listing(w, "An empty cell is unknown or does not apply. `point` connects the files.", examples{
		`print(effects[["measure", "point", "difference", "p_adjusted"]])`,
		"SELECT measure, point, difference, p_adjusted FROM effects;",
		`effects[c("measure", "point", "difference", "p_adjusted")]`,
	})
	return w.Flush()
}
