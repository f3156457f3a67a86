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

// keptPersonas is the file of personas that models wrote for scenarios of one name, in the data folder. Each persona is
// appended as a line when it is finished. A repeated request finds it there.
type keptPersonas struct {
	path  string
	known map[string]json.RawMessage // by request
	file  *os.File                   // nil unless open for writing
	lock  *flock.Flock
}

// keptPersona is a line of the file.
type keptPersona struct {
	Request string          `json:"request"`
	Index   int             `json:"index"`
	Persona json.RawMessage `json:"persona"`
}

// personasFile returns the path of the file with the personas of a scenario.
func personasFile(data string, s *scenario.Scenario) string {
	name := filepath.Base(s.Source.Name)
	return filepath.Join(data, config.PopulationsName, strings.TrimSuffix(name, filepath.Ext(name))+".jsonl")
}

// readPersonas reads the file. whole is the length of its complete lines in bytes: a crash may leave a partial last line.
func readPersonas(path string) (k *keptPersonas, whole int64, err error) {
	k = &keptPersonas{path: path, known: map[string]json.RawMessage{}}
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, 0, fmt.Errorf("read stored personas: %w", err)
	}
	text = text[:bytes.LastIndexByte(text, '\n')+1]
	for line := range bytes.Lines(text) {
		var p keptPersona
		if json.Unmarshal(line, &p) == nil && scenario.IsPersona(p.Persona) { // a damaged one is requested again
			k.known[p.Request] = p.Persona
		}
	}
	return k, int64(len(text)), nil
}

// lockEvery is the interval between attempts to lock the file.
const lockEvery = 200 * time.Millisecond

// openPersonas opens the file for writing. If another process has it open, it calls waiting and waits.
func openPersonas(ctx context.Context, path string, waiting func(string)) (*keptPersonas, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("store the written personas: %w", err)
	}
	lock := flock.New(path + ".lock")
	free, err := lock.TryLock()
	if err == nil && !free {
		if waiting != nil {
			waiting("another process that writes the same personas")
		}
		_, err = lock.TryLockContext(ctx, lockEvery)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("store the written personas: %w", err), lock.Close())
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
		return nil, fmt.Errorf("store the written personas: %w", err)
	}
	_, err = k.file.Seek(whole, io.SeekStart)
	if err := errors.Join(err, k.file.Truncate(whole)); err != nil {
		return nil, errors.Join(fmt.Errorf("store the written personas: %w", err), k.file.Close())
	}
	return k, nil
}

// add stores a persona durably.
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
		return fmt.Errorf("store the written persona: %w", err)
	}
	k.known[p.Request] = p.Persona
	return nil
}

func (k *keptPersonas) close() error { return errors.Join(k.file.Close(), k.lock.Close()) }

// find returns the request for each persona, and the stored personas; a missing one is nil.
func (k *keptPersonas) find(w *scenario.Writing, address func(*chain.Service) string) (requests []string, personas [][]byte, err error) {
	requests, personas = make([]string, w.Count()), make([][]byte, w.Count())
	for i := range requests {
		if requests[i], err = w.Request(i, address); err != nil {
			return nil, nil, fmt.Errorf("the request for persona %d: %w", i+1, err)
		}
		personas[i] = k.known[requests[i]]
	}
	return requests, personas, nil
}

// Population is the population of a scenario: from its file, or written by a model.
type Population struct {
	Services
	Waiting func(holder string)   // receives the name of the process that holds the file of personas; may be nil
	Writing func(done, total int) // receives the progress of writing, one call at a time; may be nil
}

// stored returns the stored personas; a missing one is nil. w is nil if no model writes the population.
func (l Population) stored() (w *scenario.Writing, personas [][]byte, err error) {
	if w = l.Scenario.Writing(l.Settings.Seed); w == nil {
		return nil, nil, nil
	}
	k, _, err := readPersonas(personasFile(l.Data, l.Scenario))
	if err != nil {
		return w, nil, err
	}
	_, personas, err = k.find(w, l.address)
	return w, personas, err
}

// Unwritten returns the service that writes the population, and the number of stored personas. by is "" if no model writes
// it.
func (l Population) Unwritten() (by string, kept int, err error) {
	w, personas, err := l.stored()
	if w == nil || personas == nil {
		return "", 0, err
	}
	for _, p := range personas {
		if p != nil {
			kept++
		}
	}
	return w.Services()[0].Name, kept, err
}

// TakeKept uses the stored personas as the population of the scenario, if none is missing.
func (l Population) TakeKept() error {
	w, personas, err := l.stored()
	if w == nil || err != nil || slices.ContainsFunc(personas, func(p []byte) bool { return p == nil }) {
		return err
	}
	return w.Settle(personas)
}
