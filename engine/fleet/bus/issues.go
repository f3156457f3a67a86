package bus

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// issues numbers the identities that the coordinator issues, and remembers which ones are revoked: all of a worker up to a number.
// The numbers increase, also when the coordinator is restarted.
type issues struct {
	file string // "" to keep it in memory

	mu      sync.Mutex
	last    uint64
	revoked map[string]uint64 // by the worker's name
}

// openIssues reads what has been revoked before, from a folder; "" is memory only.
func openIssues(folder string) (*issues, error) {
	i := &issues{revoked: map[string]uint64{}}
	if folder == "" {
		return i, nil
	}
	i.file = filepath.Join(folder, "revoked")
	f, err := os.Open(i.file)
	if errors.Is(err, fs.ErrNotExist) {
		return i, nil
	}
	if err != nil {
		return nil, fmt.Errorf("load the list of removed workers: %w", err)
	}
	defer func() { _ = f.Close() }() // only read
	for s := bufio.NewScanner(f); s.Scan(); {
		var name string
		var until uint64
		if _, err := fmt.Sscan(s.Text(), &name, &until); err == nil {
			i.revoked[name] = max(until, i.revoked[name])
			i.last = max(until, i.last)
		}
	}
	return i, nil
}

func (i *issues) next() uint64 {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.last = max(i.last+1, uint64(time.Now().UnixNano()))
	return i.last
}

// revoke refuses all identities of a worker that were issued up to now.
func (i *issues) revoke(worker string) error {
	until := i.next()
	i.mu.Lock()
	defer i.mu.Unlock()
	i.revoked[worker] = until
	if i.file == "" {
		return nil
	}
	var b strings.Builder
	for name, until := range i.revoked {
		fmt.Fprintln(&b, name, until)
	}
	if err := os.WriteFile(i.file+".new", []byte(b.String()), 0o600); err != nil {
		return fmt.Errorf("save the list of removed workers: %w", err)
	}
	if err := os.Rename(i.file+".new", i.file); err != nil {
		return fmt.Errorf("save the list of removed workers: %w", err)
	}
	return nil
}

// valid tells whether an identity is not revoked.
func (i *issues) valid(worker string, issue uint64) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return issue > i.revoked[worker]
}
