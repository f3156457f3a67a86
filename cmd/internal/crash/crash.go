// Package crash keeps the text of a program that ends unexpectedly in a file of the data folder, and tells the next one
// of it.
package crash

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A process keeps an empty file of its own ready, open-PID-….txt in the folder crashes, and beside it what it is doing.
// Whoever finds one with a text makes a report of both, new-TIME-….txt, which loses the new- once a person knows of it.
const (
	folder  = "crashes"
	prefix  = "open-"
	suffix  = ".txt"
	beside  = ".doing"
	fresh   = "new-"
	stamped = "20060102T150405Z-"
)

// Folder is where reports are kept.
func Folder(data string) string { return filepath.Join(data, folder) }

// Box is what this process leaves behind if it ends unexpectedly. The nil Box keeps nothing. Its methods are safe for
// concurrent use.
type Box struct {
	program string

	mu    sync.Mutex
	file  *os.File
	doing string
	kept  bool // a panic was kept: what was done at it stays
}

// Open has panics that nobody catches, and errors of the Go runtime, written into a file of the data folder too, until
// the box is closed; one box at a time.
func Open(data, program string) (*Box, error) {
	dir := filepath.Join(data, folder)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("keep a crash's text: %w", err)
	}
	f, err := os.CreateTemp(dir, prefix+strconv.Itoa(os.Getpid())+"-*"+suffix)
	if err == nil {
		err = debug.SetCrashOutput(f, debug.CrashOptions{})
	}
	if err != nil {
		return nil, fmt.Errorf("keep a crash's text: %w", err)
	}
	b := &Box{program: program, file: f}
	return b, b.write("nothing in progress")
}

// Doing notes what the program is doing, for a report; "" is nothing in particular.
func (b *Box) Doing(text string) {
	if b == nil {
		return
	}
	if text == "" {
		text = "nothing in progress"
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.file != nil && !b.kept && text != b.doing {
		_ = b.write(text) // the run is worth more than a report of it
	}
}

// write keeps what a report begins with.
func (b *Box) write(doing string) error {
	text := fmt.Sprintf("program: %s\nsystem: %s on %s, %d processors, %s\ndoing: %s\n",
		b.program, runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version(), doing)
	if err := os.WriteFile(b.file.Name()+beside, []byte(concealed(text)), 0o600); err != nil {
		return fmt.Errorf("keep what the program does: %w", err)
	}
	b.doing = doing
	return nil
}

// Close removes the file, if there is nothing in it: the program ends as it should.
func (b *Box) Close() error {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.file == nil {
		return nil
	}
	f := b.file
	b.file = nil
	info, err := f.Stat()
	err = errors.Join(err, debug.SetCrashOutput(nil, debug.CrashOptions{}), f.Close())
	if info != nil && info.Size() == 0 {
		_ = os.Remove(f.Name() + beside) // it may never have been there
		err = errors.Join(err, os.Remove(f.Name()))
	}
	return err
}

// Keep writes down a panic that was caught, without the secrets that this process was told of, and returns where; "" if
// it could not be written. run is the run in progress; "" is none.
func (b *Box) Keep(value any, stack []byte, run string) (path string) {
	if b == nil {
		return ""
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.file == nil {
		return ""
	}
	b.kept = true
	text := fmt.Sprintf("run in progress: %s\n\npanic: %v\n\n%s\n", run, value, stack)
	if _, err := b.file.WriteString(concealed(text)); err != nil {
		return ""
	}
	_ = b.file.Sync() // the text is worth a try, and no more
	return b.file.Name()
}

// Report is what a process left that ended unexpectedly.
type Report struct {
	Path    string
	At      time.Time
	Program string // and its version
}

// Left makes reports of what processes left, and returns those that no person knows of yet, oldest first. lines, if
// set, returns what a program logged last until a moment.
func Left(data string, lines func(program string, until time.Time) []string) ([]Report, error) {
	dir := Folder(data)
	files, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look for reports of crashes: %w", err)
	}
	for _, f := range files {
		if strings.HasPrefix(f.Name(), prefix) && strings.HasSuffix(f.Name(), suffix) {
			if err := report(dir, f, lines); err != nil {
				return nil, fmt.Errorf("make a report of a crash: %w", err)
			}
		}
	}
	names, err := filepath.Glob(filepath.Join(dir, fresh+"*"+suffix))
	var all []Report
	for _, path := range names { // sorted, and so by their times
		stamp := strings.TrimPrefix(filepath.Base(path), fresh)
		at, err := time.Parse(stamped, stamp[:min(len(stamped), len(stamp))])
		text, readErr := os.ReadFile(path)
		if err != nil || readErr != nil { // it is none of ours, or another process was faster
			continue
		}
		all = append(all, Report{path, at, field(string(text), "program: ")})
	}
	return all, err
}

// report makes one of what a process left, if that has ended with a text.
func report(dir string, f fs.DirEntry, lines func(string, time.Time) []string) error {
	info, err := f.Info()
	if err != nil {
		return nil //nolint:nilerr // another process was faster
	}
	rest := strings.TrimPrefix(f.Name(), prefix)
	path := filepath.Join(dir, f.Name())
	if info.Size() == 0 {
		digits, _, _ := strings.Cut(rest, "-")
		if pid, err := strconv.Atoi(digits); err != nil || !alive(pid) {
			_, _ = os.Remove(path), os.Remove(path+beside) // it was killed and said nothing
		}
		return nil
	}
	// The name says whose the report is from here on: of two processes one makes it.
	taken := filepath.Join(dir, "making-"+rest)
	if os.Rename(path, taken) != nil {
		return nil
	}
	said, err := os.ReadFile(taken)
	if err != nil {
		return err
	}
	head, _ := os.ReadFile(path + beside) // an older Throng left none
	at := info.ModTime().UTC()
	text := fmt.Sprintf("Throng ended unexpectedly at %s\n%s", at.Format(time.RFC3339), head)
	if lines != nil {
		if logged := lines(field(string(head), "program: "), at.Add(time.Second)); len(logged) > 0 {
			text += "\nWhat was logged last\n" + strings.Join(logged, "\n") + "\n"
		}
	}
	text += "\nWhat happened\n" + string(said)
	if err := os.WriteFile(taken, []byte(private(text)), 0o600); err != nil {
		return err
	}
	_ = os.Remove(path + beside) // it is in the report
	return os.Rename(taken, filepath.Join(dir, fresh+at.Format(stamped)+rest))
}

// field is what stands behind a name on a line of its own.
func field(text, name string) string {
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(line, name); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// Told notes that a person knows of a report, and returns where it is from now on.
func Told(path string) (string, error) {
	name, is := strings.CutPrefix(filepath.Base(path), fresh)
	if !is {
		return path, nil
	}
	told := filepath.Join(filepath.Dir(path), name)
	return told, os.Rename(path, told)
}

// Words tells a person of reports; "" of none. run is one that can be resumed; "" is none.
func Words(left []Report, run string) string {
	var b strings.Builder
	for i, t := range left {
		if i > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "Throng ended unexpectedly on %s; ", t.At.Local().Format("2 January 2006 at 15:04:05"))
		if run != "" && i == len(left)-1 {
			fmt.Fprintf(&b, "run %s can be resumed, nothing that was done is lost; ", run)
		}
		fmt.Fprintf(&b, "the text is in %s", t.Path)
	}
	return b.String()
}
