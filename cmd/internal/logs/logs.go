// Package logs keeps a program's log in a rotated file, without secrets.
package logs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"gopkg.in/natefinch/lumberjack.v2"

	"github.com/throng-sim/throng/engine/visible"
)

// Limits of rotation: the size of a file, the number of old files, and their age in days.
const (
	mostMegabytes = 10
	mostBackups   = 5
	mostDays      = 60
)

// Options configure a log.
type Options struct {
	File   string
	Level  slog.Leveler             // nil means Info
	Redact func(text string) string // removes secrets; may be nil
	// Later creates the file with the first line. Otherwise Open creates it, and returns an error if that fails.
	Later bool
}

// Folder returns the folder for logs in a data folder.
func Folder(data string) string { return filepath.Join(data, "logs") }

// FileIn returns the path of a program's log in a data folder.
func FileIn(data, program string) string { return filepath.Join(Folder(data), program+".log") }

// Open opens a log of JSON lines. Several programs may write to the same file.
func Open(o Options) (*slog.Logger, io.Closer, error) {
	if !o.Later {
		if err := touch(o.File); err != nil {
			return nil, nil, fmt.Errorf("open the log: %w", err)
		}
	}
	file := &logFile{Logger: lumberjack.Logger{Filename: o.File, MaxSize: mostMegabytes, MaxBackups: mostBackups, MaxAge: mostDays}}
	return slog.New(NewHandler(file, o)), file, nil
}

// logFile creates the file itself, with the first line, because the library would make the folder readable for other users.
type logFile struct {
	lumberjack.Logger
	made sync.Once
}

// Write implements [io.Writer].
func (f *logFile) Write(line []byte) (int, error) {
	var err error
	f.made.Do(func() { err = touch(f.Filename) })
	if err != nil {
		return 0, err
	}
	return f.Logger.Write(line)
}

// touch creates a file if it does not exist.
func touch(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// NewHandler returns a handler that writes JSON lines that are safe to show in a terminal.
func NewHandler(w io.Writer, o Options) slog.Handler {
	return slog.NewJSONHandler(visible.NewWriter(w), &slog.HandlerOptions{Level: o.Level, ReplaceAttr: Redacting(o.Redact)})
}

// Redacting returns a ReplaceAttr function that removes secrets from messages and values.
func Redacting(redact func(string) string) func([]string, slog.Attr) slog.Attr {
	if redact == nil {
		return nil
	}
	return func(_ []string, a slog.Attr) slog.Attr {
		v := a.Value.Resolve()
		if v.Kind() == slog.KindString || v.Kind() == slog.KindAny && v.Any() != nil {
			a.Value = slog.StringValue(redact(fmt.Sprint(v.Any())))
		}
		return a
	}
}

// tailBytes is how much of the end of a file is searched for its last lines.
const tailBytes = 64 << 10

// Last returns at most n lines, the last that were logged to a file before a moment. It returns none if the file cannot be
// read.
func Last(path string, n int, until time.Time) []string {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }() // opened for reading
	if info, err := f.Stat(); err == nil && info.Size() > tailBytes {
		if _, err := f.Seek(-tailBytes, io.SeekEnd); err != nil {
			return nil
		}
	}
	text, err := io.ReadAll(f)
	if err != nil {
		return nil
	}
	var all []string
	for line := range bytes.Lines(text) {
		var at struct{ Time time.Time }
		if err := json.Unmarshal(line, &at); err == nil && !at.Time.IsZero() && !at.Time.After(until) {
			all = append(all, string(bytes.TrimRight(line, "\n")))
		}
	}
	return all[max(len(all)-n, 0):]
}
