// Package crash saves the output of a program that ends unexpectedly to a file in the data folder, and reports it at the
// next start.
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

// A process keeps an empty file open-PID-….txt in the folder crashes, and next to it a file that says what it is doing. The
// next process that finds such a file with text makes a report of both, new-TIME-….txt, and drops the prefix new- once a
// user has seen the report.
const (
	folder      = "crashes"
	prefix      = "open-"
	suffix      = ".txt"
	doingSuffix = ".doing"
	fresh       = "new-"
	stamped     = "20060102T150405Z-"
)

// Folder returns the folder for reports.
func Folder(data string) string { return filepath.Join(data, folder) }

// Box holds the crash file of this process. The nil Box keeps nothing. Its methods are safe for concurrent use.
type Box struct {
	program string

	mu    sync.Mutex
	file  *os.File
	doing string
	kept  bool // a panic was saved; the description stays
}

// Open also writes uncaught panics and errors of the Go runtime to a file in the data folder, until the box is closed. There
// can be one open box at a time.
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

// Doing records what the program is doing, for a report; "" means nothing in particular.
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
		_ = b.write(text) // a failure must not disturb the run
	}
}

// write saves the head of a report.
func (b *Box) write(doing string) error {
	text := fmt.Sprintf("program: %s\nsystem: %s on %s, %d processors, %s\ndoing: %s\n",
		b.program, runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version(), doing)
	if err := os.WriteFile(b.file.Name()+doingSuffix, []byte(concealed(text)), 0o600); err != nil {
		return fmt.Errorf("keep what the program does: %w", err)
	}
	b.doing = doing
	return nil
}

// Close removes the file if it is empty: the program ends normally.
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
		_ = os.Remove(f.Name() + doingSuffix) // it may not exist
		err = errors.Join(err, os.Remove(f.Name()))
	}
	return err
}

// Keep saves a caught panic, without the secrets that this process knows, and returns the path of the file, or "" if it
// cannot be written. run is the run in progress, or "".
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
	_ = b.file.Sync() // best effort
	return b.file.Name()
}

// Report describes a process that ended unexpectedly.
type Report struct {
	Path    string
	At      time.Time
	Program string // with its version
}

// Left makes reports of crash files and returns the reports that no user has seen yet, oldest first. lines, if set, returns
// the last lines that a program logged before a moment.
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
	for _, path := range names { // sorted by name, which is by time
		stamp := strings.TrimPrefix(filepath.Base(path), fresh)
		at, err := time.Parse(stamped, stamp[:min(len(stamped), len(stamp))])
		text, readErr := os.ReadFile(path)
		if err != nil || readErr != nil { // not a report, or another process was faster
			continue
		}
		all = append(all, Report{path, at, field(string(text), "program: ")})
	}
	return all, err
}

// report makes a report of a crash file if its process has ended and the file has text.
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
			_, _ = os.Remove(path), os.Remove(path+doingSuffix) // the process was killed without output
		}
		return nil
	}
	// The rename decides which of two processes makes the report.
	taken := filepath.Join(dir, "making-"+rest)
	if os.Rename(path, taken) != nil {
		return nil
	}
	said, err := os.ReadFile(taken)
	if err != nil {
		return err
	}
	head, _ := os.ReadFile(path + doingSuffix) // older versions wrote none
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
	_ = os.Remove(path + doingSuffix) // its text is in the report
	return os.Rename(taken, filepath.Join(dir, fresh+at.Format(stamped)+rest))
}

// field returns the value after a name at the start of a line.
func field(text, name string) string {
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(line, name); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// Told records that a user has seen a report, and returns its new path.
func Told(path string) (string, error) {
	name, is := strings.CutPrefix(filepath.Base(path), fresh)
	if !is {
		return path, nil
	}
	told := filepath.Join(filepath.Dir(path), name)
	return told, os.Rename(path, told)
}

// Words describes reports to a user, or returns "" if there are none. run is a run that can be resumed, or "".
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
