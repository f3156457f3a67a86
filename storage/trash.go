package storage

import (
	"time"

	"github.com/throng-sim/throng/engine"
)

// TrashTime is how long deleted runs and checkpoints stay in the trash before they are removed.
const TrashTime = 30 * 24 * time.Hour

// Trashed is a run in the trash, or a checkpoint in the trash of a run that is not.
type Trashed struct {
	Run        engine.RunRecord // without its source files
	Checkpoint int              // its number; 0 for the whole run
	At         time.Time        // when it was moved to the trash
	Bytes      int64            // approximate space that its removal frees
}

// Until returns when it is removed.
func (t *Trashed) Until() time.Time { return t.At.Add(TrashTime) }

// DaysLeft returns the number of days until it is removed, rounded up.
func (t *Trashed) DaysLeft(now time.Time) int {
	const day = 24 * time.Hour
	return max(int((t.Until().Sub(now)+day-1)/day), 0)
}
