package storage

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/visible"
)

// Tables are the names of the files that [Export] writes.
func Tables() (all []string) {
	for i := range sessionTables {
		all = append(all, sessionTables[i].name)
	}
	for i := range otherTables {
		all = append(all, otherTables[i].name)
	}
	return append(all, peopleTable)
}

// otherTable is an exported file whose rows are not those of sessions.
type otherTable struct {
	name, about string
	columns     func(names *Names) []column
	write       func(ctx context.Context, t *table, r Reader, run engine.RunID, names *Names) error
}

var otherTables = []otherTable{
	{
		"metrics", "One row for each second of the run, and every 100 ms in the first 10 s.",
		func(names *Names) []column { return columnsOf(metricCells(names)) },
		func(ctx context.Context, t *table, r Reader, run engine.RunID, names *Names) error {
			return exportMetrics(ctx, &metricsWriter{t, metricCells(names)}, r, run)
		},
	},
	{
		"cycles", "One row for each completed cycle.",
		func(*Names) []column { return columnsOf(cycleCells) },
		func(ctx context.Context, t *table, r Reader, run engine.RunID, _ *Names) error {
			return exportCycles(ctx, t, r, run)
		},
	},
	{
		"changes", "Changes by people and governors during the run, and incidents.",
		func(*Names) []column { return columnsOf(changeCells) },
		func(ctx context.Context, t *table, r Reader, run engine.RunID, _ *Names) error {
			return exportChanges(ctx, t, r, run)
		},
	},
}

// Export writes one of the [Tables] in a format.
func Export(ctx context.Context, w io.Writer, f Format, what string, r Reader, run engine.RunID, names Names) error {
	if i := slices.IndexFunc(otherTables, func(t otherTable) bool { return t.name == what }); i >= 0 {
		t, err := newTable(f, w, otherTables[i].columns(&names))
		if err != nil {
			return err
		}
		return otherTables[i].write(ctx, t, r, run, &names)
	}
	if what == peopleTable && names.People != nil {
		return names.people(ctx, func(columns []column) (*table, error) { return newTable(f, w, columns) })
	}
	i := slices.IndexFunc(sessionTables, func(t sessionTable) bool { return t.name == what })
	if i < 0 {
		return fmt.Errorf("there is no table %q", what)
	}
	o := openTable{sessionTable: sessionTables[i]}
	if what == eventsTable {
		found, err := surveyed(ctx, r, run)
		if err != nil {
			return err
		}
		o.fields = found.all
	}
	if err := o.open(f, w, &names); err != nil {
		return err
	}
	return exportSessions(ctx, r, run, names, []openTable{o})
}

// open starts the table.
func (o *openTable) open(f Format, w io.Writer, names *Names) (err error) {
	if names.Clock == (engine.Clock{}) {
		o.cells = without(o.cells, simulated)
	}
	columns := columnsOf(o.cells)
	if o.fields != nil {
		columns = append(columns, o.fields.columns()...)
	}
	o.table, err = newTable(f, w, columns)
	return err
}

// ExportAll writes all tables of a run as CSV to a folder, which it creates if necessary, with run.json and README.md, which
// describes the files; population.jsonl if a model wrote the agents; and memory.jsonl if an agent remembers anything. If the
// fields of events differ, each event has a file events_NAME.csv, too. The files appear, or replace older ones, when all of
// them are complete. After an error none of them does.
func ExportAll(ctx context.Context, dir string, r Reader, run engine.RunID, names Names, version string) error {
	return ExportAllAs(ctx, dir, CSV, r, run, names, version)
}

// ExportAllAs is like ExportAll, with the rows in the given format. JSON files stay JSON.
func ExportAllAs(ctx context.Context, dir string, f Format, r Reader, run engine.RunID, names Names, version string) error {
	e := exporting{dir: dir, format: f, names: &names}
	err := e.write(ctx, r, run, version)
	if err == nil {
		err = e.finish()
	}
	if err != nil {
		return fmt.Errorf("export run %s to %s: %w", run, dir, errors.Join(err, e.discard()))
	}
	return nil
}

// exporting is a set of files that are written under temporary names.
type exporting struct {
	dir       string
	format    Format
	names     *Names
	files     []*exportFile
	described []description // for README.md
}

type exportFile struct {
	name string
	*bufio.Writer
	file *os.File
}

func (e *exporting) write(ctx context.Context, r Reader, run engine.RunID, version string) error {
	if err := os.MkdirAll(e.dir, 0o755); err != nil {
		return err
	}
	if err := e.sessions(ctx, r, run); err != nil {
		return err
	}
	for _, o := range otherTables {
		t, err := e.table(o.name, o.about, o.columns(e.names))
		if err != nil {
			return err
		}
		if err := o.write(ctx, t, r, run, e.names); err != nil {
			return err
		}
	}
	if e.names.People != nil {
		err := e.names.people(ctx, func(columns []column) (*table, error) { return e.table(peopleTable, peopleAbout, columns) })
		if err != nil {
			return err
		}
	}
	manifest, err := e.create("run.json")
	if err != nil {
		return err
	}
	if err := RunJSON(ctx, manifest, r, run, version); err != nil {
		return err
	}
	e.describe("run.json", "The run: scenario, parameters, settings, totals, success criteria and forecast.")
	if e.names.Personas != nil {
		w, err := e.create("population.jsonl")
		if err == nil {
			err = e.names.Personas(visible.NewWriter(w))
		}
		if err != nil {
			return err
		}
		e.describe("population.jsonl", "The agents that a model wrote, one line each.")
	}
	if err := e.memory(ctx, r, run); err != nil {
		return err
	}
	return e.readme(ctx, r, run, version)
}

// sessions writes the files with rows of sessions in one pass.
func (e *exporting) sessions(ctx context.Context, r Reader, run engine.RunID) error {
	found, err := surveyed(ctx, r, run)
	if err != nil {
		return err
	}
	var open []openTable
	for _, t := range sessionTables {
		switch {
		case t.name == "messages" && !found.messages, t.name == "decisions" && !found.decisions:
		case t.name == eventsTable:
			open = append(open, openTable{sessionTable: t, fields: found.all})
		default:
			open = append(open, openTable{sessionTable: t})
		}
	}
	apart := found.apart()
	for i, file := range fileNames(apart) {
		t := sessionTable{file, "Only the events " + strconv.Quote(apart[i]) + ", with the columns of their fields.", eventCells, eachEvent}
		open = append(open, openTable{sessionTable: t, fields: found.byName[apart[i]], only: apart[i]})
	}
	for i := range open {
		o := &open[i]
		w, err := e.create(o.name + "." + string(e.format))
		if err != nil {
			return err
		}
		if err := o.open(e.format, w, e.names); err != nil {
			return err
		}
		e.described = append(e.described, description{o.name + "." + string(e.format), o.about, o.table})
	}
	return exportSessions(ctx, r, run, *e.names, open)
}

// table starts a file with rows.
func (e *exporting) table(name, about string, columns []column) (*table, error) {
	w, err := e.create(name + "." + string(e.format))
	if err != nil {
		return nil, err
	}
	t, err := newTable(e.format, w, columns)
	if err == nil {
		e.described = append(e.described, description{name + "." + string(e.format), about, t})
	}
	return t, err
}

// memory writes memory.jsonl, if an agent remembers anything.
func (e *exporting) memory(ctx context.Context, r Reader, run engine.RunID) error {
	memory, err := r.Memory(ctx, run)
	if err != nil || len(memory) == 0 {
		return err
	}
	w, err := e.create("memory.jsonl")
	if err != nil {
		return err
	}
	e.describe("memory.jsonl", "What each agent remembers at the end: fields, notes and unread messages.")
	return writeMemory(w, memory, *e.names)
}

func (e *exporting) describe(name, about string) {
	e.described = append(e.described, description{name, about, nil})
}

func (e *exporting) create(name string) (io.Writer, error) {
	file, err := CreateTemp(e.dir, "."+name+".")
	if err != nil {
		return nil, err
	}
	f := &exportFile{name, bufio.NewWriterSize(file, 1<<16), file}
	e.files = append(e.files, f)
	return f, nil
}

// CreateTemp creates a file whose name starts with a prefix. Its mode follows the umask, because the user asked for the
// file.
func CreateTemp(dir, prefix string) (*os.File, error) {
	for try := 0; ; try++ {
		path := filepath.Join(dir, prefix+strconv.FormatUint(rand.Uint64(), 36))
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
		if !errors.Is(err, fs.ErrExist) || try == mostTries {
			return f, err
		}
	}
}

// mostTries is how many random names are tried.
const mostTries = 100

// finish syncs the files and renames them to their final names.
func (e *exporting) finish() error {
	for _, f := range e.files {
		if err := errors.Join(f.Flush(), f.file.Sync(), f.file.Close()); err != nil {
			return err
		}
	}
	for len(e.files) > 0 {
		f := e.files[0]
		if err := os.Rename(f.file.Name(), filepath.Join(e.dir, f.name)); err != nil {
			return err
		}
		e.files = e.files[1:]
	}
	return nil
}

// discard removes the files that were not renamed.
func (e *exporting) discard() error {
	var errs []error
	for _, f := range e.files {
		if err := f.file.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
			errs = append(errs, err)
		}
		errs = append(errs, os.Remove(f.file.Name()))
	}
	return errors.Join(errs...)
}
