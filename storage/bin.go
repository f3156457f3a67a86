package storage

import (
	"time"

	"github.com/throng-sim/throng/engine"
)

// TrashTime is how long what was deleted stays in the trash before it goes for good.
const TrashTime = 30 * 24 * time.Hour

// Trashed is a run in the trash, or a checkpoint of a run that is not.
type Trashed struct {
	Run        engine.RunRecord // without its source files
	Checkpoint int              // its number; 0 is the whole run
	At         time.Time        // when it was put there
	Bytes      int64            // that are free without it, about
}

// Until is when it goes for good.
func (b *Trashed) Until() time.Time { return b.At.Add(TrashTime) }

// DaysLeft is in how many days that is, rounded up.
func (b *Trashed) DaysLeft(now time.Time) int {
	const day = 24 * time.Hour
	return max(int((b.Until().Sub(now)+day-1)/day), 0)
}
