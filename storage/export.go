package storage

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/throng-sim/throng/engine"
)

// ExportAll writes metrics.csv, cycles.csv, sessions.csv, events.csv, timings.csv and run.json into a folder, which is made if it
// is missing; population.jsonl, if a model wrote the agents; and memory.jsonl, if an agent remembers anything. Each file
// appears, or replaces an older one, when all are complete; after an error none does.
func ExportAll(ctx context.Context, dir string, r Reader, run engine.RunID, names Names, version string) error {
	return ExportAllAs(ctx, dir, CSV, r, run, names, version)
}

// ExportAllAs is like ExportAll, with the rows in a format; what is JSON stays that.
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

// exporting is a set of files that are being written under names of their own.
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
			err = names.Personas(w)
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

// memory writes memory.jsonl, if an agent has any.
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
	file, err := os.CreateTemp(e.dir, "."+name+".*")
	if err != nil {
		return nil, err
	}
	f := &exportFile{name, bufio.NewWriterSize(file, 1<<16), file}
	e.files = append(e.files, f)
	return f, nil
}

// finish gives the files their names.
func (e *exporting) finish() error {
	for _, f := range e.files {
		if err := errors.Join(f.Flush(), f.file.Chmod(0o644), f.file.Sync(), f.file.Close()); err != nil {
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

// discard removes what did not get its name.
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
