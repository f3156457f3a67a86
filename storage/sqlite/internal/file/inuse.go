package file

// InUse returns the number of used bytes of the store, and the size of a page.
func (tx Tx) InUse() (used, size int64, err error) {
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
