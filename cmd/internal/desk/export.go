package desk

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/throng-sim/throng/cmd/internal/app/review"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage"
)

// ExportAs writes a run's results into a new folder inside dir, or a report into a new file there.
func (d *Desk) ExportAs(ctx context.Context, run engine.RunID, dir, format string) (string, error) {
	if format == "report" {
		return d.Report(ctx, run, dir)
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

// Report writes a report of a run into a new file in dir.
func (d *Desk) Report(ctx context.Context, run engine.RunID, dir string) (path string, err error) {
	var file *os.File
	path, err = unused(dir, run, ".html", func(path string) (err error) {
		file, err = os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("report of run %s: %w; choose another folder", run, err)
	}
	w := bufio.NewWriter(file)
	err = errors.Join(review.Report(ctx, w, d.store, run, review.ReportOptions{}), w.Flush(), file.Close())
	if err != nil {
		return "", errors.Join(err, os.Remove(path))
	}
	return path, nil
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
