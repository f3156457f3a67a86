package apimock

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
)

// record is a line of the log: a request that changed something. The first line has the seed only.
type record struct {
	Seed   uint64 `json:"seed,omitempty"`
	User   string `json:"user,omitempty"`
	Cycle  int    `json:"cycle,omitempty"`
	Place  string `json:"place,omitempty"`
	Key    string `json:"key,omitempty"`
	Method string `json:"method,omitempty"`
	Target string `json:"target,omitempty"`
	Type   string `json:"type,omitempty"`
	Body   string `json:"body,omitempty"`
}

// changeLog keeps changes over restarts. A nil log keeps nothing.
type changeLog struct {
	mu   sync.Mutex
	file *os.File
}

// openLog reads a log and continues it. An unfinished line at its end is cut off: its request was not answered.
func openLog(path string, seed uint64, begin func(uint64), redo func(record)) (*changeLog, error) {
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	whole := bytes.LastIndexByte(text, '\n') + 1
	for n, line := range bytes.Split(bytes.TrimSuffix(text[:whole], []byte("\n")), []byte("\n")) {
		if len(line) == 0 {
			continue
		}
		var r record
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, fmt.Errorf("line %d of %s is damaged: remove the file to start with an empty mock", n+1, path)
		}
		if n == 0 {
			begin(r.Seed)
			continue
		}
		redo(r)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	l := &changeLog{file: f}
	if err := f.Truncate(int64(whole)); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if _, err := f.Seek(0, 2); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if whole == 0 {
		err = l.append(record{Seed: seed})
	}
	return l, err
}

func (l *changeLog) append(r record) error {
	if l == nil {
		return nil
	}
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err = l.file.Write(append(line, '\n'))
	return err
}

func (l *changeLog) sync() error {
	if l == nil {
		return nil
	}
	return l.file.Sync()
}

func (l *changeLog) close() error {
	if l == nil {
		return nil
	}
	return errors.Join(l.file.Sync(), l.file.Close())
}

// CopyLog copies the changes of cycles before beforeCycle from one log to another, for a fork that starts there.
func CopyLog(to, from string, beforeCycle int) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	var out bytes.Buffer
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 4*maxBody)
	for n := 0; lines.Scan(); n++ {
		var r record
		if json.Unmarshal(lines.Bytes(), &r) == nil && (n == 0 || r.Cycle < beforeCycle) {
			out.Write(lines.Bytes())
			out.WriteByte('\n')
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	return os.WriteFile(to, out.Bytes(), 0o600)
}
