package file

// PageSize is the size of a page of the store in bytes, the default of SQLite.
const PageSize = 4096

// Growth returns how much f adds to the used part of the store, in bytes. It is negative if f removes more.
func (tx Tx) Growth(f func(Tx) error) (int64, error) {
	before, err := tx.pages()
	if err != nil {
		return 0, err
	}
	if err := f(tx); err != nil {
		return 0, err
	}
	after, err := tx.pages()
	return (after - before) * PageSize, err
}

// pages returns the number of used pages.
func (tx Tx) pages() (int64, error) {
	var all, free int64
	for _, ask := range []struct {
		pragma string
		into   *int64
	}{{`PRAGMA page_count`, &all}, {`PRAGMA freelist_count`, &free}} {
		if err := tx.Row(ask.pragma).Scan(ask.into); err != nil {
			return 0, err
		}
	}
	return all - free, nil
}
