// Package crash keeps the text of a program that ends unexpectedly in a file of the data folder, and tells the next one
// of it.
package crash

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A process keeps an empty file of its own ready, open-PID-….txt in the folder crashes. Whoever finds one with a text
// renames it, so that it is told once.
const (
	folder = "crashes"
	prefix = "open-"
	suffix = ".txt"
)

// Box is what this process leaves behind if it ends unexpectedly. The nil Box keeps nothing. Its methods are safe for
// concurrent use.
type Box struct {
	program string

	mu   sync.Mutex
	file *os.File
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
	return &Box{program: program, file: f}, nil
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
	text := fmt.Sprintf("%s ended unexpectedly at %s\nrun in progress: %s\n\npanic: %v\n\n%s\n",
		b.program, time.Now().UTC().Format(time.RFC3339), run, value, stack)
	if _, err := b.file.WriteString(concealed(text)); err != nil {
		return ""
	}
	_ = b.file.Sync() // the text is worth a try, and no more
	return b.file.Name()
}

// Text is what a process left.
type Text struct {
	Path string
	At   time.Time
}

// Left returns what processes left since it was asked last, oldest first.
func Left(data string) ([]Text, error) {
	dir := filepath.Join(data, folder)
	files, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look for texts of crashes: %w", err)
	}
	var all []Text
	for _, f := range files {
		rest, ours := strings.CutPrefix(f.Name(), prefix)
		info, err := f.Info()
		if !ours || err != nil { // another process was faster
			continue
		}
		path := filepath.Join(dir, f.Name())
		if info.Size() == 0 {
			digits, _, _ := strings.Cut(rest, "-")
			if pid, err := strconv.Atoi(digits); err != nil || !alive(pid) {
				_ = os.Remove(path) // it was killed and said nothing
			}
			continue
		}
		told := filepath.Join(dir, info.ModTime().UTC().Format("20060102T150405Z-")+rest)
		if err := os.Rename(path, told); err != nil {
			continue
		}
		all = append(all, Text{told, info.ModTime()})
	}
	return all, nil
}

// Words tells a person of what was left; "" if nothing was. run is one that can be resumed; "" is none.
func Words(left []Text, run string) string {
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
