package logs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"
)

// Line is a line of a log.
type Line struct {
	At    time.Time
	Level string // as slog writes it: DEBUG, INFO, WARN or ERROR
	Text  string // the message
	More  string // the other values, except the run
}

// runBytes is how much of the end of a file is searched for the lines of a run.
const runBytes = 4 << 20

// OfRun returns at most the newest most lines about a run in some files, oldest first. Files that cannot be read are skipped, unless all
// fail.
func OfRun(run string, most int, paths ...string) (all []Line, err error) {
	read := 0
	for _, path := range paths {
		some, failure := ofRun(run, path)
		if failure != nil {
			err = failure
			continue
		}
		read++
		all = append(all, some...)
	}
	if read > 0 {
		err = nil
	}
	slices.SortStableFunc(all, func(a, b Line) int { return a.At.Compare(b.At) })
	return all[max(0, len(all)-most):], err
}

func ofRun(run, path string) (all []Line, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read the log: %w", err)
	}
	defer func() { _ = f.Close() }() // opened for reading
	if info, err := f.Stat(); err == nil && info.Size() > runBytes {
		if _, err := f.Seek(-runBytes, io.SeekEnd); err != nil {
			return nil, fmt.Errorf("read the log: %w", err)
		}
	}
	text, err := io.ReadAll(io.LimitReader(f, 2*runBytes)) // the file may grow
	if err != nil {
		return nil, fmt.Errorf("read the log: %w", err)
	}
	mark := []byte(`"run":"` + run + `"`)
	for line := range bytes.Lines(text) {
		if bytes.Contains(line, mark) {
			if l, ok := parseLine(line); ok {
				all = append(all, l)
			}
		}
	}
	return all, nil
}

// parseLine reads a line of JSON.
func parseLine(text []byte) (l Line, ok bool) {
	values := map[string]any{}
	if json.Unmarshal(text, &values) != nil {
		return l, false
	}
	at, _ := values["time"].(string)
	l.At, _ = time.Parse(time.RFC3339Nano, at)
	l.Level, _ = values["level"].(string)
	l.Text, _ = values["msg"].(string)
	for _, known := range []string{"time", "level", "msg", "run"} {
		delete(values, known)
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		parts = append(parts, fmt.Sprintf("%s %v", name, values[name]))
	}
	l.More = strings.Join(parts, ", ")
	return l, true
}
