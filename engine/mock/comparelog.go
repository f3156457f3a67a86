package mock

import (
	"errors"
	"fmt"
	"os"
)

// Sent is a changing request of a cycle, as a journal knows it.
type Sent struct {
	Key  string // Idempotency-Key
	Done bool   // the shop must have carried it out: it answered well
}

// Difference is in what the log of a shop and a journal do not agree.
type Difference struct {
	Unknown int // changes of which the journal knows nothing
	Missing int // requests that the shop has answered and of which the log knows nothing
}

// CompareLog compares the changes from a cycle on in the log at path, up to a byte of it, with the requests of a journal.
func CompareLog(path string, size int64, cycle int, sent func(yield func(Sent)) error) (d Difference, err error) {
	fail := func(err error) (Difference, error) {
		return Difference{}, fmt.Errorf("compare the mutation log %s with the journal: %w", path, err)
	}
	f, err := os.Open(path)
	if err != nil {
		return fail(err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	known := map[keyHash]bool{} // to whether the journal has it
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
	// Requests that must not be sent twice carry no key: there must be an intent for each all the same.
	d.Unknown += max(bare-elsewhere, 0)
	return d, nil
}
