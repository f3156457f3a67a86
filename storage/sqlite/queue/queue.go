// Package queue is the line of runs and experiments that wait to start in a store. Every process of the store sees it, and can cancel an
// entry or change its priority. It needs no open store.
package queue

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage/sqlite/internal/file"
	"github.com/throng-sim/throng/storage/sqlite/internal/lock"
)

// An entry is a file that its process locks while it waits, so that the entry of a process that dies is gone. The name has the time when
// the wait began. The content is in another file, because a locked file cannot be read on Windows. Empty
// files cancel the entry, let it yield, and say that it is not canceled any more.
const (
	// Folder holds the files, in the folder of the store.
	Folder = "claims"
	// Prefix is the start of the names of entries.
	Prefix = "waiting-"

	contentSuffix = ".json"
	cancelSuffix  = ".cancel"
	yieldSuffix   = ".yields"
	beginSuffix   = ".begins"
	idLength      = 4
	attempts      = 5
)

// ErrCanceled is the error of a wait that somebody canceled in the queue.
var ErrCanceled = errors.New("canceled in the queue: nothing was started")

// Entry is a run or an experiment that waits.
type Entry struct {
	ID       string       `json:"id"`                // 4 letters
	Work     string       `json:"work"`              // for a person, such as the experiment "prices"
	Run      engine.RunID `json:"run,omitempty"`     // "" for an experiment, and before a start time
	Priority int          `json:"priority"`          // higher ones start first
	Start    time.Time    `json:"start,omitzero"`    // not before; zero as soon as possible
	Since    time.Time    `json:"since"`             // of those with the same priority, the one that has waited longest is first
	Process  int          `json:"process"`           // that waits
	Program  string       `json:"program,omitempty"` // of the process
	Next     bool         `json:"next,omitempty"`    // it starts when what is in progress ends; set by [Queue.List]

	yields bool // see [Place.Yield]
}

// Queue is the queue of a store.
type Queue struct {
	dir    string
	logger *slog.Logger
	now    func() time.Time
}

// Of returns the queue of the store in a folder, which may not exist yet.
func Of(dir string, logger *slog.Logger) *Queue {
	return &Queue{dir: filepath.Join(dir, Folder), logger: logger, now: time.Now}
}

// Place is the place of this process in the queue.
type Place struct {
	queue *Queue
	name  string
	lock  *flock.Flock
}

// Enter adds an entry to the queue, until [Place.Leave] is called or the process ends. Its ID, process and program are set; Since is, if it
// is zero.
func (q *Queue) Enter(e Entry) (*Place, error) {
	if err := os.MkdirAll(q.dir, 0o700); err != nil {
		return nil, file.FolderError(err)
	}
	if e.Since.IsZero() {
		e.Since = q.now().UTC()
	}
	e.Process, e.Program, e.Next = os.Getpid(), program(), false
	for range attempts {
		e.ID = letters(idLength)
		p := &Place{queue: q, name: fmt.Sprintf("%s%020d-%s", Prefix, e.Since.UnixNano(), e.ID)}
		var err error
		if p.lock, err = lock.Take(q.path(p.name)); err != nil {
			return nil, file.FolderError(err)
		}
		if p.lock == nil {
			continue
		}
		if err := q.write(p.name, &e); err != nil {
			p.Leave()
			return nil, file.FolderError(err)
		}
		return p, nil
	}
	return nil, engine.ErrInUse
}

// Leave removes the entry.
func (p *Place) Leave() {
	lock.Drop(p.lock, p.queue.logger)
	p.queue.forget(p.name) // what was written until the lock was gone
}

// Begin ends the wait: from now on, the entry cannot be canceled. If it was canceled before, the error is ErrCanceled.
func (p *Place) Begin() error {
	// Cancel writes its own file and then looks for this one, so that one of the two notices the other.
	if err := p.queue.mark(p.name + beginSuffix); err != nil {
		return fmt.Errorf("leave the queue: %w", err)
	}
	if p.queue.marked(p.name + cancelSuffix) {
		return ErrCanceled
	}
	return nil
}

// Yield says whether the entry holds up no other one, because what it waits for has a place behind those.
func (p *Place) Yield(yields bool) error {
	if yields {
		return p.queue.mark(p.name + yieldSuffix)
	}
	return p.queue.remove(p.name + yieldSuffix)
}

// Entry returns the entry as it is now. If it was canceled, the error is ErrCanceled.
func (p *Place) Entry() (Entry, error) {
	if p.queue.marked(p.name + cancelSuffix) {
		return Entry{}, ErrCanceled
	}
	return p.queue.read(p.name)
}

// First reports whether no other entry comes first. If it was canceled, the error is ErrCanceled.
func (p *Place) First() (bool, error) {
	mine, err := p.Entry()
	if err != nil {
		return false, err
	}
	first := true
	for name := range p.queue.names() {
		if name == p.name {
			continue
		}
		e, _ := p.queue.read(name) // without content, it is being written and counts by its age, or it is gone
		if p.queue.before(&e, name, &mine, p.name) && p.queue.lives(name) {
			first = false
			break
		}
	}
	return first, nil
}

// before reports whether one entry starts before another.
func (q *Queue) before(a *Entry, nameA string, b *Entry, nameB string) bool {
	due := func(e *Entry) int {
		switch {
		case e.Start.After(q.now()):
			return 2
		case e.yields:
			return 1
		}
		return 0
	}
	order := cmp.Or(cmp.Compare(due(a), due(b)), cmp.Compare(b.Priority, a.Priority), cmp.Compare(nameA, nameB))
	if due(a) == 2 && due(b) == 2 {
		order = cmp.Or(a.Start.Compare(b.Start), order)
	}
	return order < 0
}

// List returns the entries in the order in which they start. An entry whose process ended is not among them.
func (q *Queue) List() ([]Entry, error) {
	type named struct {
		name string
		Entry
	}
	var all []named
	for name := range q.names() {
		if !q.lives(name) {
			continue
		}
		if e, err := q.read(name); err == nil {
			all = append(all, named{name, e})
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("read the queue: %w", err)
		}
	}
	slices.SortFunc(all, func(a, b named) int {
		switch {
		case q.before(&a.Entry, a.name, &b.Entry, b.name):
			return -1
		case q.before(&b.Entry, b.name, &a.Entry, a.name):
			return 1
		}
		return 0
	})
	entries := make([]Entry, len(all))
	for i := range all {
		entries[i] = all[i].Entry
		entries[i].Next = i == 0 && !entries[i].yields && !entries[i].Start.After(q.now())
	}
	return entries, nil
}

// Cancel cancels an entry: its process starts nothing.
func (q *Queue) Cancel(id string) error {
	name, err := q.find(id)
	if err != nil {
		return err
	}
	if err := q.mark(name + cancelSuffix); err != nil {
		return file.FolderError(err)
	}
	if q.marked(name + beginSuffix) {
		return errStarted
	}
	return q.keep(name)
}

// Prioritize changes the priority of an entry.
func (q *Queue) Prioritize(id string, priority int) error {
	name, err := q.find(id)
	if err != nil {
		return err
	}
	e, err := q.read(name)
	if errors.Is(err, fs.ErrNotExist) {
		return errStarted
	}
	if err != nil {
		return fmt.Errorf("read the queue: %w", err)
	}
	e.Priority = priority
	if err := q.write(name, &e); err != nil {
		return file.FolderError(err)
	}
	return q.keep(name)
}

// keep removes what was written for an entry that has left meanwhile.
func (q *Queue) keep(name string) error {
	if q.lives(name) {
		return nil
	}
	q.forget(name)
	return errStarted
}

var errStarted = &engine.FieldError{Field: "id", Problem: "it waits no longer", Hint: "throngctl queue lists what waits, throngctl status shows what is in progress"}

// find returns the name of an entry's file.
func (q *Queue) find(id string) (string, error) {
	for name := range q.names() {
		if strings.HasSuffix(name, "-"+id) && q.lives(name) {
			return name, nil
		}
	}
	return "", &engine.FieldError{Field: "id", Problem: fmt.Sprintf("nothing with the ID %q waits", id), Hint: errStarted.Hint}
}

// names yields the names of entries, oldest first.
func (q *Queue) names() func(yield func(string) bool) {
	return func(yield func(string) bool) {
		entries, err := os.ReadDir(q.dir)
		if err != nil {
			return // the lock of the turn itself decides
		}
		for _, e := range entries { // sorted
			if strings.HasPrefix(e.Name(), Prefix) && !strings.Contains(e.Name(), ".") && !yield(e.Name()) {
				return
			}
		}
	}
}

// lives reports whether the process of an entry is alive. It removes the files of a dead one.
func (q *Queue) lives(name string) bool {
	held, err := lock.Held(q.path(name), q.logger, func() { q.forget(name) })
	return held || err != nil
}

// forget removes the content of an entry.
func (q *Queue) forget(name string) {
	for _, suffix := range []string{contentSuffix, cancelSuffix, yieldSuffix, beginSuffix} {
		if err := q.remove(name + suffix); err != nil {
			q.logger.Warn("an entry of the queue cannot be removed", "file", name+suffix, "error", err)
		}
	}
}

// remove removes a file, which need not exist.
func (q *Queue) remove(name string) error {
	if err := os.Remove(q.path(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (q *Queue) path(name string) string { return filepath.Join(q.dir, name) }

func (q *Queue) read(name string) (e Entry, err error) {
	text, err := os.ReadFile(q.path(name) + contentSuffix)
	if err == nil {
		err = json.Unmarshal(text, &e)
	}
	e.yields = q.marked(name + yieldSuffix)
	return e, err
}

// mark writes an empty file.
func (q *Queue) mark(name string) error { return os.WriteFile(q.path(name), nil, 0o600) }

func (q *Queue) marked(name string) bool {
	_, err := os.Stat(q.path(name))
	return err == nil
}

func (q *Queue) write(name string, e *Entry) error {
	text, err := json.Marshal(e)
	if err != nil {
		return err
	}
	return lock.Replace(q.path(name)+contentSuffix, text)
}

func program() string {
	path, err := os.Executable()
	if err != nil {
		path = os.Args[0]
	}
	return filepath.Base(path)
}

func letters(n int) string {
	const all = "abcdefghjkmnpqrstuvwxyz"
	text := make([]byte, n)
	for i := range text {
		text[i] = all[rand.IntN(len(all))]
	}
	return string(text)
}
