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
	"strconv"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/visible"
)

// ExportAll writes metrics.csv, cycles.csv, sessions.csv, events.csv, timings.csv and run.json to a folder, which it creates
// if necessary; population.jsonl if a model wrote the agents; and memory.jsonl if an agent remembers anything. The files
// appear, or replace older ones, when all of them are complete. After an error none of them does.
func ExportAll(ctx context.Context, dir string, r Reader, run engine.RunID, names Names, version string) error {
	return ExportAllAs(ctx, dir, CSV, r, run, names, version)
}

// ExportAllAs is like ExportAll, with the rows in the given format. JSON files stay JSON.
func ExportAllAs(ctx context.Context, dir string, f Format, r Reader, run engine.RunID, names Names, version string) error {
	e := exporting{dir: dir, format: f}
	err := e.write(ctx, r, run, names, version)
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
	dir    string
	format Format
	files  []*exportFile
}

type exportFile struct {
	name string
	*bufio.Writer
	file *os.File
}

func (e *exporting) write(ctx context.Context, r Reader, run engine.RunID, names Names, version string) error {
	if err := os.MkdirAll(e.dir, 0o755); err != nil {
		return err
	}
	var to []io.Writer
	for _, k := range sessionTables {
		w, err := e.create(k.name + "." + string(e.format))
		if err != nil {
			return err
		}
		to = append(to, w)
	}
	metrics, err := e.create("metrics." + string(e.format))
	if err != nil {
		return err
	}
	cycles, err := e.create("cycles." + string(e.format))
	if err != nil {
		return err
	}
	manifest, err := e.create("run.json")
	if err != nil {
		return err
	}
	if err := exportSessions(ctx, e.format, r, run, names, sessionTables, to); err != nil {
		return err
	}
	if names.Personas != nil {
		w, err := e.create("population.jsonl")
		if err == nil {
			err = names.Personas(visible.NewWriter(w))
		}
		if err != nil {
			return err
		}
	}
	if err := e.memory(ctx, r, run, names); err != nil {
		return err
	}
	if err := exportMetrics(ctx, metrics, e.format, r, run); err != nil {
		return err
	}
	if err := exportCycles(ctx, cycles, e.format, r, run); err != nil {
		return err
	}
	return RunJSON(ctx, manifest, r, run, version)
}

// memory writes memory.jsonl, if an agent remembers anything.
func (e *exporting) memory(ctx context.Context, r Reader, run engine.RunID, names Names) error {
	memory, err := r.Memory(ctx, run)
	if err != nil || len(memory) == 0 {
		return err
	}
	w, err := e.create("memory.jsonl")
	if err != nil {
		return err
	}
	return writeMemory(w, memory, names)
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
