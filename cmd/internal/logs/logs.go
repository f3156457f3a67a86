// Package logs keeps a program's log in a file that does not grow without bound, without secrets.
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

// What is kept: the file, and so many before it, for so many days.
const (
	mostMegabytes = 10
	mostBackups   = 5
	mostDays      = 60
)

// Options say where the log is and what is in it.
type Options struct {
	File   string
	Level  slog.Leveler             // nil is Info
	Redact func(text string) string // takes secrets out; nil leaves all as it is
	// Later makes the file with the first line only. Else it is made now, and not being able to is an error.
	Later bool
}

// Folder is where programs log that keep their data in a folder.
func Folder(data string) string { return filepath.Join(data, "logs") }

// FileIn is where a program's log is in a data folder.
func FileIn(data, program string) string { return filepath.Join(Folder(data), program+".log") }

// Open begins a log of lines of JSON. More than one program may write to the file.
func Open(o Options) (*slog.Logger, io.Closer, error) {
	if !o.Later {
		if err := touch(o.File); err != nil {
			return nil, nil, fmt.Errorf("open the log: %w", err)
		}
	}
	file := &logFile{Logger: lumberjack.Logger{Filename: o.File, MaxSize: mostMegabytes, MaxBackups: mostBackups, MaxAge: mostDays}}
	return slog.New(NewHandler(file, o)), file, nil
}

// logFile is a file of lines. It makes the file itself, with the first line, since the library would let others look into
// its folder.
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

// touch makes a file, if it is not there yet.
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

// NewHandler writes lines of JSON that a terminal can show safely.
func NewHandler(w io.Writer, o Options) slog.Handler {
	return slog.NewJSONHandler(visible.NewWriter(w), &slog.HandlerOptions{Level: o.Level, ReplaceAttr: Redacting(o.Redact)})
}

// Redacting is what takes secrets out of the message and the values of a line, for a handler.
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
	var all []string
	for line := range bytes.Lines(text) {
		var at struct{ Time time.Time }
		if err := json.Unmarshal(line, &at); err == nil && !at.Time.IsZero() && !at.Time.After(until) {
			all = append(all, string(bytes.TrimRight(line, "\n")))
		}
	}
	return all[max(len(all)-n, 0):]
}
