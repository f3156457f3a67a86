// Package steering keeps what users want of experiments while they run: pause, stop, runs to skip and runs to execute first. The
// orders are files in the data folder, so that a window and a terminal give orders to each other, and so that they outlive a crash.
package steering

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/throng-sim/throng/cmd/internal/app/authoring"
)

const (
	folder        = "experiments" // in the data folder
	recordSuffix  = ".json"
	lockName      = "lock" // held while a record is changed
	executeSuffix = ".executing"
	damagedSuffix = ".damaged"
)

// ErrDamaged says that a record could not be read. It was moved aside, and the experiment continues without it.
var ErrDamaged = errors.New("the orders for the experiment are damaged")

// Record is what is known of an experiment in addition to its file and its runs.
type Record struct {
	File     string    `json:"file"` // absolute path
	Title    string    `json:"title"`
	Used     time.Time `json:"used"` // when it was executed last, or opened first
	Progress Progress  `json:"progress"`
	// Paused is set while no further run starts.
	Paused *Order `json:"paused,omitempty"`
	// Stops counts the orders to stop. Stop is the newest one; nil without any.
	Stops int    `json:"stops,omitempty"`
	Stop  *Order `json:"stop,omitempty"`
	// Skipped are the identities of runs that are left out, and First those that run before all others, in this order.
	Skipped []string `json:"skipped,omitempty"`
	First   []string `json:"first,omitempty"`
	// Executor is the process that executes the experiment, or did before it was killed.
	Executor *Executor `json:"executor,omitempty"`
}

// Progress counts the runs of an experiment. All is 0 if it is unknown.
type Progress struct {
	All     int `json:"all"`
	Done    int `json:"done"`
	Failed  int `json:"failed"`
	Skipped int `json:"skipped"`
	Begun   int `json:"begun"` // in progress or interrupted
}

// Complete reports whether no run is missing.
func (p Progress) Complete() bool { return p.All > 0 && p.Done+p.Failed+p.Skipped == p.All }

// Order is a pause or a stop.
type Order struct {
	Who string    `json:"who"`
	Why string    `json:"why,omitempty"`
	Cut bool      `json:"cut,omitempty"` // does not wait for sessions in progress
	At  time.Time `json:"at"`
}

// Executor is the process that executes an experiment.
type Executor struct {
	Process int       `json:"process"`
	Program string    `json:"program"`
	Since   time.Time `json:"since"`
}

// Orders are the orders for one experiment. They are safe for concurrent use, also by several processes.
type Orders struct {
	dir  string
	file string
	key  string
}

// Of returns the orders for the experiment in a file. data is the data folder. The file need not exist.
func Of(data, file string) (*Orders, error) {
	path, err := filepath.Abs(file)
	if err != nil {
		return nil, fmt.Errorf("the path of the experiment %s: %w", file, err)
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil { // else the folder is missing, and its name has to do
		path = filepath.Join(dir, filepath.Base(path))
	}
	sum := sha256.Sum256([]byte(path))
	return &Orders{dir: filepath.Join(data, folder), file: path, key: hex.EncodeToString(sum[:8])}, nil
}

// File returns the absolute path of the experiment.
func (o *Orders) File() string { return o.file }

func (o *Orders) path() string { return filepath.Join(o.dir, o.key+recordSuffix) }

// Read returns the record, which is empty apart from the file if there is none. The error wraps ErrDamaged if it was moved aside.
func (o *Orders) Read() (Record, error) {
	r, err := o.read()
	if !errors.Is(err, ErrDamaged) {
		return r, err
	}
	release, err := o.lock()
	if err != nil {
		return r, err
	}
	r, err = o.readOrMove()
	return r, errors.Join(err, release())
}

func (o *Orders) read() (Record, error) {
	empty := Record{File: o.file}
	text, err := os.ReadFile(o.path())
	if errors.Is(err, fs.ErrNotExist) {
		return empty, nil
	}
	if err != nil {
		return empty, fmt.Errorf("read the orders for the experiment: %w", err)
	}
	var r Record
	if err := json.Unmarshal(text, &r); err != nil {
		return empty, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	r.File = o.file
	return r, nil
}

// readOrMove reads the record, and moves it aside if it is damaged. The caller has the lock.
func (o *Orders) readOrMove() (Record, error) {
	r, err := o.read()
	if !errors.Is(err, ErrDamaged) {
		return r, err
	}
	aside := o.path() + damagedSuffix
	if moved := os.Rename(o.path(), aside); moved != nil {
		return r, errors.Join(err, moved)
	}
	return r, fmt.Errorf("%w; they were moved to %s: pause it, skip runs and set their order again if that is needed", err, aside)
}

// lock waits for the lock of all records.
func (o *Orders) lock() (release func() error, err error) {
	if err := os.MkdirAll(o.dir, 0o700); err != nil {
		return nil, fmt.Errorf("the folder of orders for experiments: %w", err)
	}
	lock := flock.New(filepath.Join(o.dir, lockName))
	if err := lock.Lock(); err != nil {
		return nil, fmt.Errorf("lock the orders for experiments: %w", err)
	}
	return lock.Close, nil
}

// Change reads, changes and writes the record in one step. A damaged one is replaced; the error wraps ErrDamaged, but the change is
// made.
func (o *Orders) Change(f func(*Record)) (err error) {
	release, err := o.lock()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	r, damage := o.readOrMove()
	if damage != nil && !errors.Is(damage, ErrDamaged) {
		return damage
	}
	f(&r)
	text, err := json.MarshalIndent(&r, "", "  ")
	if err != nil {
		return err
	}
	if err := authoring.Replace(o.path(), append(text, '\n')); err != nil {
		return fmt.Errorf("write the orders for the experiment: %w", err)
	}
	return damage
}

// Use records the title of an experiment that is opened. Only the first time counts as use, so that looking at experiments does not
// change their order.
func (o *Orders) Use(title string) error {
	return o.Change(func(r *Record) {
		r.Title = title
		if r.Used.IsZero() {
			r.Used = now()
		}
	})
}

// Progress records the numbers of runs.
func (o *Orders) Progress(p Progress) error { return o.Change(func(r *Record) { r.Progress = p }) }

func now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

// Pause lets no further run start until Resume.
func (o *Orders) Pause(who string) error {
	return o.Change(func(r *Record) {
		if r.Paused == nil {
			r.Paused = &Order{Who: who, At: now()}
		}
	})
}

// Resume undoes Pause.
func (o *Orders) Resume() error { return o.Change(func(r *Record) { r.Paused = nil }) }

// Stop ends the execution in progress. With cut, it does not wait for sessions in progress.
func (o *Orders) Stop(who, why string, cut bool) error {
	return o.Change(func(r *Record) {
		r.Stops++
		r.Stop = &Order{Who: who, Why: why, Cut: cut, At: now()}
	})
}

// Skip leaves runs out. With undo, it takes them back.
func (o *Orders) Skip(runs []string, undo bool) error {
	return o.Change(func(r *Record) {
		r.Skipped = slices.DeleteFunc(r.Skipped, func(id string) bool { return slices.Contains(runs, id) })
		if !undo {
			r.Skipped = append(r.Skipped, runs...)
		}
	})
}

// First has runs begin before all others, in this order, and before those that were named earlier.
func (o *Orders) First(runs []string) error {
	return o.Change(func(r *Record) {
		others := slices.DeleteFunc(r.First, func(id string) bool { return slices.Contains(runs, id) })
		r.First = append(slices.Clone(runs), others...)
	})
}

// lockTries is how often an execution tries to mark itself, retryInterval apart: another process may just look at the mark.
const lockTries, retryInterval = 10, 10 * time.Millisecond

// Execute marks this process as the one that executes the experiment, until release or the end of the process.
func (o *Orders) Execute() (release func() error, err error) {
	if err := os.MkdirAll(o.dir, 0o700); err != nil {
		return nil, fmt.Errorf("the folder of orders for experiments: %w", err)
	}
	lock := flock.New(o.mark())
	for try := 1; ; try++ {
		got, err := lock.TryLock()
		if got {
			break
		}
		if err != nil || try == lockTries {
			return nil, errors.Join(errors.New("mark the experiment as one in progress"), err)
		}
		time.Sleep(retryInterval)
	}
	program, err := os.Executable()
	if err != nil {
		program = os.Args[0]
	}
	by := &Executor{os.Getpid(), filepath.Base(program), now()}
	if err := o.Change(func(r *Record) { r.Executor, r.Used = by, by.Since }); err != nil && !errors.Is(err, ErrDamaged) {
		return nil, errors.Join(err, lock.Close())
	}
	return func() error {
		err := o.Change(func(r *Record) { r.Executor = nil })
		return errors.Join(err, lock.Close())
	}, nil
}

func (o *Orders) mark() string { return filepath.Join(o.dir, o.key+executeSuffix) }

// Executing returns the process that executes the experiment; nil if none does.
func (o *Orders) Executing() *Executor {
	r, err := o.Read()
	if err != nil || r.Executor == nil || !o.marked() {
		return nil
	}
	return r.Executor
}

// marked reports whether a living process executes the experiment.
func (o *Orders) marked() bool {
	lock := flock.New(o.mark(), flock.SetFlag(os.O_RDWR)) // does not create the file
	got, err := lock.TryRLock()                           // shared with others who look
	if err != nil {
		return false
	}
	if got {
		_ = lock.Close() // the file was only locked
	}
	return !got
}

// Forget removes the record. The file of the experiment and its runs stay. It refuses while the experiment is executed.
func (o *Orders) Forget() (err error) {
	if by := o.Executing(); by != nil {
		return fmt.Errorf("process %d (%s) executes the experiment; nothing was changed: stop it first", by.Process, by.Program)
	}
	release, err := o.lock()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	for _, path := range []string{o.path(), o.mark()} {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// State is what an experiment does.
type State string

// The states of an experiment.
const (
	Running  State = "running"
	Paused   State = "paused"   // it is executed, and starts no further run
	Stopped  State = "stopped"  // runs are missing, and nothing executes it
	Complete State = "complete" // all runs have ended
	Missing  State = "missing"  // its file does not exist
)

// Entry is an experiment in a list.
type Entry struct {
	Record
	State State
}

// List returns the experiments that were opened or executed with a data folder, newest first. It reads no runs: their numbers are
// those of the last look. Damaged records are moved aside and reported in problem, and the others are listed.
func List(data string) (all []Entry, problem error) {
	entries, err := os.ReadDir(filepath.Join(data, folder))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the experiments: %w", err)
	}
	for _, e := range entries {
		key, isRecord := strings.CutSuffix(e.Name(), recordSuffix)
		if !isRecord {
			continue
		}
		one, err := entryOf(filepath.Join(data, folder), key)
		if err != nil {
			problem = errors.Join(problem, err)
			continue
		}
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b Entry) int { return cmp.Or(b.Used.Compare(a.Used), cmp.Compare(a.File, b.File)) })
	return all, problem
}

// State returns what the experiment does. It must have been opened before.
func (o *Orders) State() (State, error) {
	e, err := entryOf(o.dir, o.key)
	return e.State, err
}

func entryOf(dir, key string) (e Entry, err error) {
	o := &Orders{dir: dir, key: key}
	text, err := os.ReadFile(o.path())
	if err != nil {
		return e, err
	}
	var named struct{ File string }
	if json.Unmarshal(text, &named) == nil {
		o.file = named.File
	}
	if e.Record, err = o.Read(); err != nil {
		return e, err
	}
	_, missing := os.Stat(o.file)
	switch marked := e.Executor != nil && o.marked(); {
	case marked && e.Paused != nil:
		e.State = Paused
	case marked:
		e.State = Running
	case errors.Is(missing, fs.ErrNotExist):
		e.State = Missing
	case e.Progress.Complete():
		e.State = Complete
	default:
		e.State = Stopped
	}
	if e.State != Running && e.State != Paused {
		e.Executor = nil
	}
	return e, nil
}
