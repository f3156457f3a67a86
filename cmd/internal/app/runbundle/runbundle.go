// Package runbundle packs a run with everything that decided it into one file, which another machine can check, open and replay.
//
// A bundle is a ZIP archive: manifest.json, a note for readers, the files of the scenario, a store that holds only the run, and the
// logs of its mocks. The manifest has the SHA-256 of each file and of the results, so that a change is noticed; it does not prove who
// made the bundle.
package runbundle

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/cmd/internal/app/review"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/scenario"
	"github.com/throng-sim/throng/storage/sqlite"
	"github.com/throng-sim/throng/storage/sqlite/transfer"
)

// Format is the number of the format that this version writes and reads.
const Format = 2

// Names in the archive. Logs of mocks keep their names.
const (
	manifestName = "manifest.json"
	readmeName   = "README.txt"
	storeName    = "throng.db"
	sourceFolder = "scenario/"
	mockFolder   = "mock/"
)

// Manifest describes a bundle.
type Manifest struct {
	Format     int                        `json:"format"`
	Run        engine.RunID               `json:"run"`
	Title      string                     `json:"title"`
	Name       string                     `json:"name,omitempty"` // written by a person
	Created    time.Time                  `json:"created"`        // the run
	Bundled    time.Time                  `json:"bundled"`
	Throng     string                     `json:"throng_version"`
	Go         string                     `json:"go_version"`
	System     string                     `json:"system"`
	Scenario   string                     `json:"scenario"`      // name of its file
	Hash       string                     `json:"scenario_hash"` // of all its files
	Parameters map[string]json.RawMessage `json:"parameters,omitempty"`
	Seed       uint64                     `json:"seed"`
	Ending     string                     `json:"ending"`
	Sessions   int64                      `json:"sessions"`
	Exact      bool                       `json:"exact"`
	Recorded   bool                       `json:"recorded"` // it can be replayed
	Results    []File                     `json:"results"`  // as throngctl export writes them; the bundle has only the journal
	Files      []File                     `json:"files"`
}

// File is a file with its size in bytes and its SHA-256.
type File struct {
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// Write writes a bundle of a run of a store.
//
// The error is a *[engine.FieldError] if the run is in progress, if its results are elsewhere, or if the bundle would contain answers
// that the scenario says are private.
func Write(ctx context.Context, store *sqlite.Store, run engine.RunID, to io.Writer) (m *Manifest, err error) {
	release, err := store.Hold(ctx, run, "the bundle of run "+string(run))
	if standing, _ := store.Standing(ctx, run); errors.Is(err, engine.ErrInUse) && standing.InProgress {
		return nil, &engine.FieldError{Field: "run", Problem: string(run) + " is in progress", Hint: "stop it or wait for its end, or choose another run"}
	}
	if err != nil {
		return nil, err
	}
	defer release()
	record, err := store.Run(ctx, run)
	if err == nil {
		err = errors.Join(review.CheckHere(&record), checkPrivate(&record))
	}
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "throng-bundle-*")
	if err != nil {
		return nil, fmt.Errorf("a folder for the bundle: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := transfer.Copy(ctx, run, store.Dir(), dir, quiet, nil); err != nil {
		return nil, err
	}
	if err := with(dir, func(store *sqlite.Store) (err error) {
		if record, err = store.Run(ctx, run); err != nil {
			return err
		}
		m = describe(&record)
		m.Results, err = results(ctx, store, run)
		return err
	}); err != nil {
		return nil, err
	}
	return m, pack(to, m, &record, store.Dir(), dir)
}

// quiet is for stores that exist for moments.
var quiet = slog.New(slog.DiscardHandler)

// checkPrivate refuses a run whose journal still holds private answers: those of a cycle that has not ended.
func checkPrivate(r *engine.RunRecord) error {
	s, err := scenario.Restore(r.Source)
	if err != nil {
		return fmt.Errorf("the scenario stored with run %s: %w", r.ID, err)
	}
	if steps := s.Chain.Private(); len(steps) > 0 && r.Ending != engine.EndFinished {
		return &engine.FieldError{
			Field: "run", Problem: fmt.Sprintf("the journal of its open cycle has answers of private steps (%s)", strings.Join(steps, ", ")),
			Hint: "resume it to its end first; then they are deleted",
		}
	}
	return nil
}

// with calls f with the store of a folder.
func with(dir string, f func(*sqlite.Store) error) (err error) {
	store, err := sqlite.Open(dir, sqlite.Options{Logger: quiet})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	if notice := store.Notice(); notice != "" {
		return errors.New(notice)
	}
	return f(store)
}

// pack writes the archive. The manifest comes last, because it has the digests of the others.
func pack(to io.Writer, m *Manifest, r *engine.RunRecord, data, dir string) error {
	archive := zip.NewWriter(to)
	add := func(name string, from io.Reader) error {
		w, err := archive.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate, Modified: m.Bundled})
		if err != nil {
			return err
		}
		sum := sha256.New()
		n, err := io.Copy(io.MultiWriter(w, sum), from)
		m.Files = append(m.Files, newFile(name, n, sum))
		return err
	}
	if err := add(readmeName, strings.NewReader(readme(m))); err != nil {
		return err
	}
	sources := sources(r)
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		if err := add(name, bytes.NewReader(sources[name])); err != nil {
			return err
		}
	}
	files := map[string]string{storeName: filepath.Join(dir, storeName)}
	folder := filepath.Dir(config.ShopLog(data, m.Run))
	logs, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, log := range logs {
		if strings.HasPrefix(log.Name(), string(m.Run)) {
			files[mockFolder+log.Name()] = filepath.Join(folder, log.Name())
		}
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := addFile(add, name, files[name]); err != nil {
			return err
		}
	}
	head, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	w, err := archive.CreateHeader(&zip.FileHeader{Name: manifestName, Method: zip.Deflate, Modified: m.Bundled})
	if err == nil {
		_, err = w.Write(append(head, '\n'))
	}
	return errors.Join(err, archive.Close())
}

func addFile(add func(string, io.Reader) error, name, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(add(name, f), f.Close())
}
