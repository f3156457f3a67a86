// Package logs writes what a program logs into a file of the data folder, which is set aside when it is large.
package logs

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gopkg.in/natefinch/lumberjack.v2"
)

// A file of so many megabytes is set aside, so many of those are kept, and so many days.
const (
	largest  = 5
	setAside = 4
	keptDays = 60
)

// Options are where and how a program logs. Dir or File must be set.
type Options struct {
	Dir    string       // the folder of the logs
	Name   string       // of the program
	File   string       // in place of both
	Level  slog.Leveler // nil is info
	Redact func(string) string
	Also   io.Writer // that gets the same lines; nil is none
}

// Folder is where programs log that keep their data in a folder.
func Folder(data string) string { return filepath.Join(data, "logs") }

func (o Options) path() string {
	if o.File != "" {
		return o.File
	}
	return filepath.Join(o.Dir, o.Name+".log")
}

// Open begins to log. It fails where the file cannot be written.
func Open(o Options) (*slog.Logger, io.Closer, error) {
	path := o.path()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, nil, fmt.Errorf("log into %s: %w", path, err)
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600) // the library tells at the first line only
	if err != nil {
		return nil, nil, fmt.Errorf("log into %s: %w", path, err)
	}
	if err := f.Close(); err != nil {
		return nil, nil, fmt.Errorf("log into %s: %w", path, err)
	}
	file := &lumberjack.Logger{Filename: path, MaxSize: largest, MaxBackups: setAside, MaxAge: keptDays}
	return slog.New(slog.NewTextHandler(&lines{file, o.Also, o.Redact}, &slog.HandlerOptions{Level: o.Level})), file, nil
}

// lines writes each line without its secrets. The handler writes one at a time.
type lines struct {
	file   io.Writer
	also   io.Writer
	redact func(string) string
}

// Write is part of [io.Writer].
func (l *lines) Write(line []byte) (int, error) {
	text := line
	if l.redact != nil {
		text = []byte(l.redact(string(line)))
	}
	_, err := l.file.Write(text)
	if l.also != nil {
		_, alsoErr := l.also.Write(text)
		err = errors.Join(err, alsoErr)
	}
	return len(line), err
}

// tailBytes is how much of a file's end is looked at for its last lines.
const tailBytes = 64 << 10

// Last returns the last n lines, at most, that were logged into a file until a moment. A file that cannot be read has
// none.
func Last(path string, n int, until time.Time) []string {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }() // it was read only
	if info, err := f.Stat(); err == nil && info.Size() > tailBytes {
		if _, err := f.Seek(-tailBytes, io.SeekEnd); err != nil {
			return nil
		}
	}
	text, err := io.ReadAll(f)
	if err != nil {
		return nil
	}
	all := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	all = slices.DeleteFunc(all, func(line string) bool {
		stamp, ok := strings.CutPrefix(line, "time=")
		stamp, _, _ = strings.Cut(stamp, " ")
		at, err := time.Parse(time.RFC3339, stamp)
		return !ok || err != nil || at.After(until)
	})
	return all[max(len(all)-n, 0):]
}
