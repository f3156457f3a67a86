// Package consent stores what a user has allowed: the addresses that each scenario file may call, the secrets that it may
// send there, and which scenario texts were written on this machine.
package consent

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"github.com/throng-sim/throng/engine"
)

// fileName is the name of the table in the data folder. It holds names of secrets, never values.
const fileName = "consent.json"

// mostWritten is how many texts are remembered as written here. The oldest are dropped.
const mostWritten = 10_000

// Table holds the permissions of a data folder, which windows and terminals share. Its methods are safe for concurrent use,
// also by several processes. A table that cannot be read allows nothing.
type Table struct {
	data string
	mu   sync.Mutex
}

// Of returns the table of a data folder. Without a folder it is empty and stores nothing.
func Of(data string) *Table { return &Table{data: data} }

// Grant is an address that a file may call, and the secrets that it may send there.
type Grant struct {
	Address string    `json:"address"` // host:port, or host:port/database
	Secrets []string  `json:"secrets,omitempty"`
	At      time.Time `json:"at"`
}

// kept is the stored form of the table.
type kept struct {
	Allowed map[string][]Grant `json:"allowed,omitempty"` // by file
	Written []string           `json:"written,omitempty"` // hashes of texts, the oldest first
}

func (t *Table) path() string { return filepath.Join(t.data, fileName) }

func (t *Table) read() (k kept) {
	if t.data == "" {
		return k
	}
	text, err := os.ReadFile(t.path())
	if err != nil || json.Unmarshal(text, &k) != nil {
		return kept{}
	}
	return k
}

// Allows reports whether a file may call an address and send all its secrets there.
func (t *Table) Allows(file string, p engine.Destination) bool {
	return slices.ContainsFunc(t.read().Allowed[file], func(g Grant) bool {
		return g.Address == p.Address() && !slices.ContainsFunc(p.Secrets, func(s string) bool { return !slices.Contains(g.Secrets, s) })
	})
}

// Allow allows a file to call addresses and to send them their secrets.
func (t *Table) Allow(file string, places []engine.Destination) error {
	places = slices.DeleteFunc(slices.Clone(places), func(p engine.Destination) bool { return t.Allows(file, p) })
	if len(places) == 0 {
		return nil
	}
	return t.change(func(k *kept) {
		if k.Allowed == nil {
			k.Allowed = map[string][]Grant{}
		}
		for _, p := range places {
			k.Allowed[file] = with(k.Allowed[file], Grant{p.Address(), p.Secrets, time.Now().UTC().Truncate(time.Second)})
		}
	})
}

// with adds a grant, or replaces that of the same address.
func with(all []Grant, g Grant) []Grant {
	g.Secrets = slices.Clone(g.Secrets)
	if i := slices.IndexFunc(all, func(old Grant) bool { return old.Address == g.Address }); i >= 0 {
		g.Secrets = append(g.Secrets, all[i].Secrets...)
		all = slices.Delete(all, i, i+1)
	}
	slices.Sort(g.Secrets)
	g.Secrets = slices.Compact(g.Secrets)
	all = append(all, g)
	slices.SortFunc(all, func(a, b Grant) int { return strings.Compare(a.Address, b.Address) })
	return all
}

// Forget revokes all permissions of a file.
func (t *Table) Forget(file string) error {
	if len(t.read().Allowed[file]) == 0 {
		return nil
	}
	return t.change(func(k *kept) { delete(k.Allowed, file) })
}

// Granted holds the permissions of a file.
type Granted struct {
	File   string
	Grants []Grant
}

// All lists all permissions, by file.
func (t *Table) All() (all []Granted) {
	k := t.read()
	for _, file := range slices.Sorted(maps.Keys(k.Allowed)) {
		all = append(all, Granted{file, k.Allowed[file]})
	}
	return all
}

// Write remembers a scenario text that the user wrote here. The text counts, not the path of the file.
func (t *Table) Write(text []byte) error {
	if t.Wrote(text) {
		return nil
	}
	return t.change(func(k *kept) {
		k.Written = append(k.Written, hash(text))
		k.Written = k.Written[max(len(k.Written)-mostWritten, 0):]
	})
}

// Wrote reports whether a text was written here.
func (t *Table) Wrote(text []byte) bool { return slices.Contains(t.read().Written, hash(text)) }

func hash(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// change reads, changes and writes the table in one step.
func (t *Table) change(f func(*kept)) (err error) {
	if t.data == "" {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := os.MkdirAll(t.data, 0o700); err != nil {
		return err
	}
	lock := flock.New(t.path() + ".lock")
	if err := lock.Lock(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	k := t.read()
	f(&k)
	text, err := json.MarshalIndent(k, "", "  ")
	if err != nil {
		return err
	}
	return replace(t.path(), append(text, '\n'))
}

// replace writes a file atomically and durably.
func replace(path string, text []byte) error {
	file, err := os.OpenFile(path+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return errors.Join(err, remove(path+".new"))
	}
	return os.Rename(path+".new", path)
}

func remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
