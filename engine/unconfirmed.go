package engine

import (
	"sync"
	"time"
)

// UnconfirmedWhy is why a run with an unconfirmed request is inexact.
const UnconfirmedWhy = "a changing request was sent again, and no answer proved that it was carried out only once"

// UnconfirmedRow is journaled for each changing request that was sent again without proof that it was carried out only
// once. It makes the run inexact.
type UnconfirmedRow struct {
	Place
	At      time.Time
	Path    string // of the step
	Request string // method and path, or a statement without its arguments
}

// Inexact is what the row makes of its run.
func (r *UnconfirmedRow) Inexact() *Inexact {
	return &Inexact{r.Cycle, r.Agent, r.Path, UnconfirmedWhy}
}

// Unconfirmed journals that a changing request of a step may have been carried out twice.
func (s *Session) Unconfirmed(path, request string) {
	row := UnconfirmedRow{Place: s.Place, At: time.Now(), Path: path, Request: request}
	s.run.journal.Append(row)
	s.run.doubts.add(row.Inexact())
}

// doubts keep the earliest of what made a run inexact before its session ended. The zero value is ready and safe for
// concurrent use.
type doubts struct {
	mu    sync.Mutex
	first *Inexact
}

func (d *doubts) add(i *Inexact) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if was := d.first; was == nil || i.Cycle < was.Cycle || i.Cycle == was.Cycle && i.Agent < was.Agent {
		d.first = i
	}
}

// count makes totals inexact where the run is.
func (d *doubts) count(t *Totals) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.first != nil {
		t.inexactSince(*d.first)
	}
}
