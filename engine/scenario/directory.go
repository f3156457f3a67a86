package scenario

import (
	"fmt"
	"sync"

	"github.com/throng-sim/throng/engine/chain"
)

// directory finds agents by their ids. It reads all ids when the first is asked for.
type directory struct {
	p    *Program
	once sync.Once
	byID map[string]int
	err  error
}

var _ chain.Directory = (*directory)(nil)

// Count implements chain.Directory.
func (d *directory) Count() int { return d.p.s.Agents }

// Index implements chain.Directory.
func (d *directory) Index(id string) (index int, ok bool, err error) {
	d.once.Do(d.read)
	index, ok = d.byID[id]
	return index, ok, d.err
}

func (d *directory) read() {
	d.byID = make(map[string]int, d.Count())
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
		d.byID[id] = i
	}
}
