package desk

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"slices"
	"sync"
)

// recentFiles is how many scenario files are remembered.
const recentFiles = 10

// notebook is what the window remembers in the data folder: losing it costs nothing but convenience.
type notebook struct {
	path string
	mu   sync.Mutex
}

type notes struct {
	Recent  []string `json:"recent,omitempty"`  // scenario files, newest first
	Allowed []string `json:"allowed,omitempty"` // hosts that a person has allowed
}

func (b *notebook) read() notes {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.load()
}

// load reads what is there; what cannot be read is nothing.
func (b *notebook) load() (n notes) {
	text, err := os.ReadFile(b.path)
	if err != nil || json.Unmarshal(text, &n) != nil {
		return notes{}
	}
	return n
}

// opened remembers that a file was opened.
func (b *notebook) opened(path string) error {
	return b.change(func(n *notes) {
		n.Recent = slices.DeleteFunc(n.Recent, func(p string) bool { return p == path })
		n.Recent = append([]string{path}, n.Recent...)
		n.Recent = n.Recent[:min(len(n.Recent), recentFiles)]
	})
}

// forget drops files that are gone.
func (b *notebook) forget(gone []string) error {
	if len(gone) == 0 {
		return nil
	}
	return b.change(func(n *notes) {
		n.Recent = slices.DeleteFunc(n.Recent, func(p string) bool { return slices.Contains(gone, p) })
	})
}

// allow remembers hosts that were allowed.
func (b *notebook) allow(hosts []string) error {
	if len(hosts) == 0 {
		return nil
	}
	return b.change(func(n *notes) {
		n.Allowed = append(n.Allowed, hosts...)
		slices.Sort(n.Allowed)
		n.Allowed = slices.Compact(n.Allowed)
	})
}

func (b *notebook) change(f func(*notes)) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := b.load()
	f(&n)
	text, err := json.MarshalIndent(n, "", "  ")
	if err != nil {
		return err
	}
	if was, err := os.ReadFile(b.path); err == nil && string(was) == string(text)+"\n" {
		return nil
	}
	return write(b.path, append(text, '\n'))
}

// write replaces a file in one step.
func write(path string, text []byte) error {
	if err := os.WriteFile(path+".new", text, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

func missing(path string) bool {
	_, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist)
}
