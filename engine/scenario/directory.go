package scenario

import (
	"fmt"
	"strconv"
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
	err  error
}

var _ message.Directory = (*directory)(nil)

// Count implements message.Directory.
func (d *directory) Count() int { return d.p.s.Agents }

// Index implements message.Directory.
func (d *directory) Index(id string) (index int, ok bool, err error) {
	d.once.Do(d.read)
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
	at := len(id)
	for at > 0 && id[at-1] >= '0' && id[at-1] <= '9' {
		at--
	}
	n, err := strconv.Atoi(id[at:])
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
	d.ids.Store(&ids)
}
