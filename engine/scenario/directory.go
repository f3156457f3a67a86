package scenario

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/throng-sim/throng/engine/chain/message"
)

// directory finds agents by their ids. It reads all ids when the first is asked for.
type directory struct {
	p    *Program
	once sync.Once
	ids  atomic.Pointer[[]string] // nil until all are read
	byID map[string]int
	// numbers is set in place of byID if the ids are consecutive numbers behind a prefix.
	numbers *numbers
	err     error
}

var _ message.Directory = (*directory)(nil)

// Count implements message.Directory.
func (d *directory) Count() int { return d.p.s.Agents }

// Index implements message.Directory.
func (d *directory) Index(id string) (index int, ok bool, err error) {
	d.once.Do(d.read)
	if d.numbers != nil {
		index, ok = d.numbers.index(id)
		return index, ok, d.err
	}
	if index, ok = d.numbered(id); ok {
		return index, true, nil
	}
	index, ok = d.byID[id]
	return index, ok, d.err
}

// numbered finds an agent whose id ends in its index, or in the number after it, faster than a map of many agents.
func (d *directory) numbered(id string) (index int, ok bool) {
	ids := d.ids.Load()
	if ids == nil {
		return 0, false
	}
	digits := id[len(strings.TrimRight(id, "0123456789")):]
	n, err := strconv.Atoi(digits)
	if err != nil {
		return 0, false
	}
	for _, index := range [...]int{n, n - 1} {
		if index >= 0 && index < len(*ids) && (*ids)[index] == id {
			return index, true
		}
	}
	return 0, false
}

// known returns the id of an agent, if the ids have been read; d may be nil.
func (d *directory) known(index int) (id string, ok bool) {
	if d == nil {
		return "", false
	}
	ids := d.ids.Load()
	if ids == nil || index < 0 || index >= len(*ids) {
		return "", false
	}
	return (*ids)[index], true
}

func (d *directory) read() {
	d.byID = make(map[string]int, d.Count())
	ids := make([]string, d.Count())
	for i := range d.Count() {
		id, err := d.p.AgentID(i)
		if err != nil {
			d.err = err
			return
		}
		if other, taken := d.byID[id]; taken {
			d.err = fmt.Errorf("the agents %d and %d are both called %s, so messages cannot find them", other, i, id)
			return
		}
		d.byID[id], ids[i] = i, id
	}
	if d.numbers = numbersOf(ids); d.numbers != nil {
		d.byID = nil
	}
	d.ids.Store(&ids)
}

// numbers are ids that need no table: a prefix with consecutive numbers.
type numbers struct {
	prefix       string
	first, count int
}

// numbersOf returns the numbers that ids are, or nil.
func numbersOf(ids []string) *numbers {
	if len(ids) == 0 {
		return nil
	}
	prefix := strings.TrimRight(ids[0], "0123456789")
	first, err := strconv.Atoi(ids[0][len(prefix):])
	if err != nil || first+len(ids) < first {
		return nil
	}
	n := &numbers{prefix, first, len(ids)}
	for i, id := range ids {
		if index, ok := n.index(id); !ok || index != i {
			return nil
		}
	}
	return n
}

// index returns the index of an id.
func (n *numbers) index(id string) (index int, ok bool) {
	const most = 18 // digits that fit into an int
	digits, found := strings.CutPrefix(id, n.prefix)
	if !found || digits == "" || len(digits) > most || digits[0] == '0' && len(digits) > 1 {
		return 0, false
	}
	for _, c := range []byte(digits) {
		if c < '0' || c > '9' {
			return 0, false
		}
		index = 10*index + int(c-'0')
	}
	index -= n.first
	return index, index >= 0 && index < n.count
}
