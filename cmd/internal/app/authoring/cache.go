package authoring

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/throng-sim/throng/cmd/internal/app/secrets"
	"github.com/throng-sim/throng/engine/scenario"
)

// Limits of the cache. Scenarios with large populations leave it early, but the newest one stays in any case.
const (
	maxCached      = 16
	maxCachedBytes = 64 << 20
)

// scenarios caches the parsed scenarios of this process, so that the form, the checks, the forecast and the launch of a file
// that does not change parse it once.
var scenarios cache

// Parses returns how many scenarios this process has parsed.
func Parses() int64 { return scenarios.parses.Load() }

// cache holds the most recently used scenarios. An entry is valid as long as all files that its parser opened have the same
// content. Mistakes are not cached.
type cache struct {
	parses atomic.Int64
	locks  [16]sync.Mutex // by key: one goroutine parses a scenario while others wait for it

	mu      sync.Mutex
	entries []*entry // least recently used first
}

type entry struct {
	key    [sha256.Size]byte // of the path and the extras
	files  []opened          // in the order of the parser
	parsed *scenario.Parsed
}

// opened is a file as the parser found it. Only its hash is kept, because private keys are among these files.
type opened struct {
	name   string
	key    bool // it is a private key
	data   bool // it is read in pieces: sum is that of its stamp
	failed bool
	size   int
	sum    [sha256.Size]byte
}

// open opens a file, and describes it.
func open(name string, key bool, with scenario.Opener) (text []byte, of opened, err error) {
	text, err = with(name)
	return text, opened{name: name, key: key, failed: err != nil, size: len(text), sum: sha256.Sum256(text)}, err
}

// openData opens a file that is read in pieces, and describes it.
func openData(name string, with scenario.DataOpener) (data scenario.Data, of opened, err error) {
	of = opened{name: name, data: true}
	if data, err = with(name); err != nil {
		of.failed = true
		return nil, of, err
	}
	of.sum = sha256.Sum256([]byte(data.Stamp()))
	return data, of, nil
}

// read returns a scenario from the cache, or parses its file. path identifies the file in addition to its name in a folder.
func (c *cache) read(path, name string, x scenario.Extras, with scenario.Opener) (*scenario.Scenario, error) {
	key, err := keyOf(path, &x)
	if err != nil {
		return nil, err
	}
	lock := &c.locks[int(key[0])%len(c.locks)]
	lock.Lock()
	defer lock.Unlock()
	e := c.find(key, with, &x)
	if e == nil {
		if e, err = c.parse(name, x, with); err != nil {
			return nil, err
		}
		e.key = key
	}
	c.keep(e)
	s := e.parsed.Bind()
	secrets.TakeGiven(s)
	return s, nil
}

// keyOf identifies what a scenario is read from, except for the content of its files.
func keyOf(path string, x *scenario.Extras) (key [sha256.Size]byte, err error) {
	payload := ""
	if x.Payload != nil {
		payload = fmt.Sprintf("%q %x", x.Payload.Name, sha256.Sum256(x.Payload.Text))
	}
	parameters := x.Parameters
	if len(parameters) == 0 {
		parameters = nil
	}
	text, err := json.Marshal([]any{path, parameters, x.Connectors, x.Chain, payload})
	return sha256.Sum256(text), err
}

// find returns a valid entry, or nil.
func (c *cache) find(key [sha256.Size]byte, with scenario.Opener, x *scenario.Extras) *entry {
	c.mu.Lock()
	entries := slices.Clone(c.entries)
	c.mu.Unlock()
	for _, e := range slices.Backward(entries) {
		if e.key == key && e.valid(with, x) {
			return e
		}
	}
	return nil
}

// valid reports whether the files of an entry still have the same content.
func (e *entry) valid(with scenario.Opener, x *scenario.Extras) bool {
	for _, was := range e.files {
		var now opened
		switch {
		case was.data:
			data, of, err := openData(was.name, x.Data)
			if now = of; err == nil {
				_ = data.Close() // nothing was read
			}
		case was.key:
			_, now, _ = open(was.name, true, x.Keys)
		default:
			_, now, _ = open(was.name, false, with)
		}
		if now != was {
			return false
		}
	}
	return true
}

// parse reads a scenario and notes the files that it consists of.
func (c *cache) parse(name string, x scenario.Extras, with scenario.Opener) (*entry, error) {
	e := &entry{}
	noting := func(key bool, with scenario.Opener) scenario.Opener {
		return func(name string) ([]byte, error) {
			text, of, err := open(name, key, with)
			e.files = append(e.files, of)
			return text, err
		}
	}
	if x.Keys != nil {
		x.Keys = noting(true, x.Keys)
	}
	if of := x.Data; of != nil {
		x.Data = func(name string) (scenario.Data, error) {
			data, note, err := openData(name, of)
			e.files = append(e.files, note)
			return data, err
		}
	}
	var err error
	if e.parsed, err = x.Parse(name, noting(false, with)); len(e.files) > 0 && !e.files[0].failed {
		c.parses.Add(1)
	}
	return e, err
}

// keep makes an entry the most recently used one, and drops others that exceed the limits.
func (c *cache) keep(e *entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.entries = append(slices.DeleteFunc(c.entries, func(other *entry) bool { return other == e }), e)
	first, size := len(c.entries)-1, e.size()
	for first > 0 && len(c.entries)-first < maxCached {
		if size += c.entries[first-1].size(); size > maxCachedBytes {
			break
		}
		first--
	}
	c.entries = slices.Delete(c.entries, 0, first)
}

// size returns the bytes of an entry's files.
func (e *entry) size() (all int) {
	for _, f := range e.files {
		all += f.size
	}
	return all
}
