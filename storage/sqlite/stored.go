package sqlite

import (
	"time"

	"github.com/throng-sim/throng/storage/sqlite/internal/file"
)

// measureEvery is how far apart the looks at the size of the store are, but for the ends of cycles.
const measureEvery = time.Second

// Stored is how many bytes the store has grown by since the journal was opened: what its run took, as long as nobody else
// writes. It is safe for concurrent use.
func (j *Journal) Stored() int64 { return j.stored.Load() }

// measure brings Stored up to date where that is due.
func (j *Journal) measure(tx file.Tx, now bool) error {
	if !now && time.Since(j.measured) < measureEvery {
		return nil
	}
	n, page, err := inUse(tx)
	if err != nil {
		return err
	}
	j.measured = time.Now()
	j.stored.Store(max(n-j.before, page)) // a run takes part of a page at least
	return nil
}

// inUse is how many bytes of the store's pages hold something, and how many a page has.
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
