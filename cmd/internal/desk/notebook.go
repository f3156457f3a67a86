package desk

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

// recentFiles is the maximum number of recent scenario files.
const recentFiles = 10

// notebook is the window's state in the data folder. Losing it loses only convenience.
type notebook struct {
	path string
	mu   sync.Mutex
}

type notes struct {
	Recent []string `json:"recent,omitempty"` // scenario files, newest first
	// Favorites are built-in scenarios and files, in the order in which they were chosen.
	Favorites []string `json:"favorites,omitempty"`
}

// files returns the listed scenario files: the favorites, then the recent ones.
func (n notes) files() (all []string) {
	for _, path := range slices.Concat(n.Favorites, n.Recent) {
		if filepath.IsAbs(path) && !slices.Contains(all, path) {
			all = append(all, path)
		}
	}
	return all
}

func (b *notebook) read() notes {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.load()
}

// load reads the notebook; an unreadable one is empty.
func (b *notebook) load() (n notes) {
	text, err := os.ReadFile(b.path)
	if err != nil || json.Unmarshal(text, &n) != nil {
		return notes{}
	}
	return n
}

// opened adds a file to the recent ones.
func (b *notebook) opened(path string) error {
	return b.change(func(n *notes) {
		n.Recent = slices.DeleteFunc(n.Recent, func(p string) bool { return p == path })
		n.Recent = append([]string{path}, n.Recent...)
		n.Recent = n.Recent[:min(len(n.Recent), recentFiles)]
	})
}

// favor stores whether a scenario is a favorite.
func (b *notebook) favor(name string, favorite bool) error {
	return b.change(func(n *notes) {
		n.Favorites = slices.DeleteFunc(n.Favorites, func(f string) bool { return f == name })
		if favorite {
			n.Favorites = append(n.Favorites, name)
		}
	})
}

// forget removes files that no longer exist.
func (b *notebook) forget(gone []string) error {
	if len(gone) == 0 {
		return nil
	}
	return b.change(func(n *notes) {
		lost := func(p string) bool { return slices.Contains(gone, p) }
		n.Recent, n.Favorites = slices.DeleteFunc(n.Recent, lost), slices.DeleteFunc(n.Favorites, lost)
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

// write replaces a file atomically and durably.
func write(path string, text []byte) error {
	f, err := os.OpenFile(path+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

func missing(path string) bool {
	_, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist)
}
