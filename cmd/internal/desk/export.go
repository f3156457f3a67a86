package desk

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/throng-sim/throng/cmd/internal/app/review"
	"github.com/throng-sim/throng/cmd/internal/app/runbundle"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage"
)

// ExportAs writes a run's results into a new folder inside dir, or a report or bundle into a new file there.
func (d *Desk) ExportAs(ctx context.Context, run engine.RunID, dir, format string) (string, error) {
	switch format {
	case "report":
		return d.file(run, dir, ".html", "report", func(w io.Writer) error {
			return review.Report(ctx, w, d.store, run, review.ReportOptions{})
		})
	case "bundle":
		return d.file(run, dir, ".zip", "bundle", func(w io.Writer) error {
			_, err := runbundle.Write(ctx, d.store, run, w)
			return err
		})
	}
	record, err := d.store.Run(ctx, run)
	if err == nil {
		err = review.CheckHere(&record)
	}
	if err != nil {
		return "", err
	}
	folder, err := unused(dir, run, "", func(path string) error { return os.Mkdir(path, 0o755) })
	if err != nil {
		return "", fmt.Errorf("export run %s: %w; choose another folder", run, err)
	}
	return folder, d.app.Export(ctx, run, folder, storage.Format(format))
}

// file writes a new file about a run into a folder. thing names the file in errors.
func (d *Desk) file(run engine.RunID, dir, ending, thing string, write func(io.Writer) error) (path string, err error) {
	var file *os.File
	path, err = unused(dir, run, ending, func(path string) (err error) {
		file, err = os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("%s of run %s: %w; choose another folder", thing, run, err)
	}
	w := bufio.NewWriter(file)
	err = errors.Join(write(w), w.Flush(), file.Close())
	if err != nil {
		return "", errors.Join(err, os.Remove(path))
	}
	return path, nil
}

// OpenBundle adds the run of a bundle to the store.
func (d *Desk) OpenBundle(ctx context.Context, path string) (run engine.RunID, note string, err error) {
	b, err := runbundle.Open(ctx, path)
	if err != nil {
		return "", "", err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	changed, err := b.Changed(ctx)
	if err == nil {
		err = b.Add(ctx, d.data)
	}
	if err != nil {
		return "", "", err
	}
	note = fmt.Sprintf("Added run %s, which Throng %s wrote. All files are as the bundle lists them.", b.Run, b.Throng)
	if len(changed) > 0 {
		note += " But these results are not those that it lists: " + strings.Join(changed, ", ") + "."
	}
	return b.Run, note, nil
}

// unused creates an export of a run in a folder, under an unused name.
func unused(dir string, run engine.RunID, ending string, create func(path string) error) (string, error) {
	path := filepath.Join(dir, "throng-"+string(run)+ending)
	for i := 2; ; i++ {
		err := create(path)
		if err == nil || !errors.Is(err, os.ErrExist) {
			return path, err
		}
		path = filepath.Join(dir, fmt.Sprintf("throng-%s-%d%s", run, i, ending))
	}
}
