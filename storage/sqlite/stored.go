package sqlite

import (
	"time"

	"github.com/throng-sim/throng/storage/sqlite/internal/file"
)

// measureEvery is the interval of measurements of the store's size, in addition to the ends of cycles.
const measureEvery = time.Second

// Stored returns the growth of the store in bytes since the journal was opened, which is the size of its run as long as no
// one else writes. It is safe for concurrent use.
func (j *Journal) Stored() int64 { return j.stored.Load() }

// measure updates Stored if it is due.
func (j *Journal) measure(tx file.Tx, now bool) error {
	if !now && time.Since(j.measured) < measureEvery {
		return nil
	}
	n, page, err := inUse(tx)
	if err != nil {
		return err
	}
	j.measured = time.Now()
	j.stored.Store(max(n-j.before, page)) // a run uses at least a part of a page
	return nil
}

// inUse returns the number of used bytes of the store, and the size of a page.
func inUse(tx file.Tx) (used, size int64, err error) {
	var pages, free int64
	for _, ask := range []struct {
		pragma string
		into   *int64
	}{{`PRAGMA page_count`, &pages}, {`PRAGMA freelist_count`, &free}, {`PRAGMA page_size`, &size}} {
		if err := tx.Row(ask.pragma).Scan(ask.into); err != nil {
			return 0, 0, err
		}
	}
	return (pages - free) * size, size, nil
}
