package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/engine/chain"
	"github.com/throng-sim/throng/engine/scenario"
)

// keptPersonas are the personas that models wrote for scenarios of a name so far, in a file of the data folder. Each has a
// line, which is written when the persona comes; who asks for the same again finds it.
type keptPersonas struct {
	path  string
	known map[string]json.RawMessage // by what was asked
	file  *os.File                   // nil unless it is open for more
	lock  *flock.Flock
}

// keptPersona is a line of the file.
type keptPersona struct {
	Request string          `json:"request"`
	Index   int             `json:"index"`
	Persona json.RawMessage `json:"persona"`
}

// PersonasFile is where the personas of a scenario are kept.
func PersonasFile(data string, s *scenario.Scenario) string {
	name := filepath.Base(s.Source.Name)
	return filepath.Join(data, config.PopulationsName, strings.TrimSuffix(name, filepath.Ext(name))+".jsonl")
}

// readPersonas reads what is kept. whole is how long its complete lines are, in bytes: a crash may have torn the last.
func readPersonas(path string) (k *keptPersonas, whole int64, err error) {
	k = &keptPersonas{path: path, known: map[string]json.RawMessage{}}
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, 0, fmt.Errorf("read the personas that are kept: %w", err)
	}
	text = text[:bytes.LastIndexByte(text, '\n')+1]
	for line := range bytes.Lines(text) {
		var p keptPersona
		if json.Unmarshal(line, &p) == nil && scenario.IsPersona(p.Persona) { // another is asked for again
			k.known[p.Request] = p.Persona
		}
	}
	return k, int64(len(text)), nil
}

// lockEvery is how often it is tried whether another process has done with the file.
const lockEvery = 200 * time.Millisecond

// openPersonas opens what is kept for more. While another process has it open, waiting is told and it waits.
func openPersonas(ctx context.Context, path string, waiting func(string)) (*keptPersonas, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("keep the personas that are written: %w", err)
	}
	lock := flock.New(path + ".lock")
	free, err := lock.TryLock()
	if err == nil && !free {
		if waiting != nil {
			waiting("another process has the same personas written")
		}
		_, err = lock.TryLockContext(ctx, lockEvery)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("keep the personas that are written: %w", err), lock.Close())
	}
	k, err := open(path)
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	k.lock = lock
	return k, nil
}

func open(path string) (*keptPersonas, error) {
	k, whole, err := readPersonas(path)
	if err != nil {
		return nil, err
	}
	if k.file, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600); err != nil {
		return nil, fmt.Errorf("keep the personas that are written: %w", err)
	}
	_, err = k.file.Seek(whole, io.SeekStart)
	if err := errors.Join(err, k.file.Truncate(whole)); err != nil {
		return nil, errors.Join(fmt.Errorf("keep the personas that are written: %w", err), k.file.Close())
	}
	return k, nil
}

// add keeps a persona for good.
func (k *keptPersonas) add(p keptPersona) error {
	var line bytes.Buffer
	e := json.NewEncoder(&line)
	e.SetEscapeHTML(false) // the persona's bytes are part of a run's source
	err := e.Encode(p)
	if err == nil {
		_, err = k.file.Write(line.Bytes())
	}
	if err == nil {
		err = k.file.Sync()
	}
	if err != nil {
		return fmt.Errorf("keep the persona that was written: %w", err)
	}
	k.known[p.Request] = p.Persona
	return nil
}

func (k *keptPersonas) close() error { return errors.Join(k.file.Close(), k.lock.Close()) }

// find returns what is asked for each persona, and the personas that are kept; nil where one is missing.
func (k *keptPersonas) find(w *scenario.Writing, address func(*chain.Service) string) (requests []string, personas [][]byte, err error) {
	requests, personas = make([]string, w.Count()), make([][]byte, w.Count())
	for i := range requests {
		if requests[i], err = w.Request(i, address); err != nil {
			return nil, nil, fmt.Errorf("what is asked for persona %d: %w", i+1, err)
		}
		personas[i] = k.known[requests[i]]
	}
	return requests, personas, nil
}

// Population is who takes part in runs of a scenario: from its file, or written by a model.
type Population struct {
	Services
	Waiting func(holder string)   // is told who holds the file of personas; may be nil
	Writing func(done, total int) // is told how far the writing is, one call at a time; may be nil
}

// Unwritten says who is to write the population of a launch, and how many of the personas are kept from before; "" is
// nobody.
func (l Population) Unwritten() (by string, kept int, err error) {
	w := l.Scenario.Writing(l.Settings.Seed)
	if w == nil {
		return "", 0, nil
	}
	k, _, err := readPersonas(PersonasFile(l.Data, l.Scenario))
	if err != nil {
		return "", 0, err
	}
	_, personas, err := k.find(w, l.address)
	for _, p := range personas {
		if p != nil {
			kept++
		}
	}
	return w.Services()[0].Name, kept, err
}

// TakeKept makes the personas that are kept the population of the scenario, if they are all there.
func (l Population) TakeKept() error {
	w := l.Scenario.Writing(l.Settings.Seed)
	if w == nil {
		return nil
	}
	k, _, err := readPersonas(PersonasFile(l.Data, l.Scenario))
	if err != nil {
		return err
	}
	_, personas, err := k.find(w, l.address)
	if err != nil || slices.ContainsFunc(personas, func(p []byte) bool { return p == nil }) {
		return err
	}
	return w.Settle(personas)
}
