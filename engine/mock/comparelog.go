package mock

import (
	"errors"
	"fmt"
	"os"
)

// Sent is a changing request of a cycle, as recorded in a journal.
type Sent struct {
	Key  string // Idempotency-Key
	Done bool   // it was answered with success, so that the shop must have carried it out
}

// Difference counts the disagreements between the log of a shop and a journal.
type Difference struct {
	Unknown int // changes that are missing in the journal
	Missing int // answered requests that are missing in the log
}

// CompareLog compares the changes in the first size bytes of the log at path, from a cycle on, with the requests of a journal.
func CompareLog(path string, size int64, cycle int, sent func(yield func(Sent)) error) (d Difference, err error) {
	fail := func(err error) (Difference, error) {
		return Difference{}, fmt.Errorf("compare the mutation log %s with the journal: %w", path, err)
	}
	f, err := os.Open(path)
	if err != nil {
		return fail(err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	known := map[keyHash]bool{} // whether the journal has the change too
	bare := 0                   // changes without a key
	if size > 0 {
		_, err = scan(f, size, func(c change) {
			switch {
			case c.cycle < cycle || c.op == opSeen:
			case c.keyed:
				known[c.key] = false
			default:
				bare++
			}
		})
		if err != nil {
			return fail(err)
		}
	}
	elsewhere := 0 // requests that are not in the log
	err = sent(func(s Sent) {
		key := hashKey(s.Key)
		if _, ok := known[key]; ok {
			known[key] = true
			return
		}
		if elsewhere++; s.Done {
			d.Missing++
		}
	})
	if err != nil {
		return fail(err)
	}
	for _, journaled := range known {
		if !journaled {
			d.Unknown++
		}
	}
	// Requests that must not be repeated carry no key, but each of them still has an intent in the journal.
	d.Unknown += max(bare-elsewhere, 0)
	return d, nil
}
