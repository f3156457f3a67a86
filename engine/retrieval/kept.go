// Package retrieval ranks the notes of an agent for a query, and holds what is kept with notes for that.
package retrieval

import (
	"bytes"
	"cmp"
	"slices"
)

// Kept is what is kept with a note of an agent whose scenario recalls notes. Equal notes are one note.
type Kept struct {
	Note   uint64 `cbor:"1,keyasint"`           // its [Key]
	Cycle  int    `cbor:"2,keyasint"`           // cycle in which it was last written, or [Unknown]
	Used   int    `cbor:"3,keyasint"`           // cycle in which it was last written or recalled, or [Unknown]
	Vector []byte `cbor:"4,keyasint,omitempty"` // its embedding, from [Compact]; nil until it is needed
}

// Unknown is the cycle of a note that was written before the scenario recalled notes.
const Unknown = -1

// entrySize is the size of a Kept without its vector, in bytes.
const entrySize = 48

// Key identifies a note by its JSON text: the FNV-1a hash of 64 bits.
func Key(note []byte) uint64 {
	h := uint64(14695981039346656037)
	for _, b := range note {
		h = (h ^ uint64(b)) * 1099511628211
	}
	return h
}

// Size returns the approximate size of a list in bytes.
func Size(all []Kept) (n int) {
	for i := range all {
		n += entrySize + len(all[i].Vector)
	}
	return n
}

// Of returns what is kept with the note of a key. The list is sorted by Note.
func Of(all []Kept, key uint64) (Kept, bool) {
	i, ok := find(all, key)
	if !ok {
		return Kept{Note: key, Cycle: Unknown, Used: Unknown}, false
	}
	return all[i], true
}

func find(all []Kept, key uint64) (at int, ok bool) {
	return slices.BinarySearchFunc(all, key, func(k Kept, key uint64) int { return cmp.Compare(k.Note, key) })
}

// List sorts entries by Note. Of two entries of one note, the later one of the list counts.
func List(all []Kept) []Kept {
	slices.SortStableFunc(all, func(a, b Kept) int { return cmp.Compare(a.Note, b.Note) })
	slices.Reverse(all)
	all = slices.CompactFunc(all, func(a, b Kept) bool { return a.Note == b.Note })
	slices.Reverse(all)
	return all
}

// Merge adds changes to a list. Both are sorted by Note, and so is the result; neither is modified. Of two entries of one note, the
// later cycles count, and the vector of the change unless it has none.
func Merge(all, changes []Kept) []Kept {
	if len(changes) == 0 {
		return all
	}
	merged := make([]Kept, 0, len(all)+len(changes))
	for _, c := range changes {
		for len(all) > 0 && all[0].Note < c.Note {
			merged, all = append(merged, all[0]), all[1:]
		}
		if len(all) > 0 && all[0].Note == c.Note {
			c.Cycle, c.Used = max(c.Cycle, all[0].Cycle), max(c.Used, all[0].Used)
			if len(c.Vector) == 0 {
				c.Vector = all[0].Vector
			}
			all = all[1:]
		}
		merged = append(merged, c)
	}
	return append(merged, all...)
}

// Commit returns what is kept after a session that made changes. Notes is the agent's list of notes now; dropped stood before
// them until then. If the list was replaced, only notes matters. The vectors of notes that have gone go with them.
func Commit(all, changes []Kept, dropped, notes [][]byte, replaced bool) []Kept {
	all = Merge(all, changes)
	if len(all) == 0 || !replaced && len(dropped) == 0 {
		return all
	}
	gone := make(map[uint64]bool, len(dropped))
	if replaced {
		for i := range all {
			gone[all[i].Note] = true
		}
		for _, note := range notes {
			delete(gone, Key(note))
		}
	} else {
		for _, note := range dropped {
			if !slices.ContainsFunc(notes, func(left []byte) bool { return bytes.Equal(left, note) }) {
				gone[Key(note)] = true
			}
		}
	}
	left := make([]Kept, 0, len(all))
	for i := range all {
		if !gone[all[i].Note] {
			left = append(left, all[i])
		}
	}
	return left
}

// Changes returns how a list turns into a later one: changes for [Merge], and the notes that have gone. A vector that stays is not
// repeated. ok is false if Merge cannot make the later list of them.
func Changes(was, now []Kept) (changes []Kept, gone []uint64, ok bool) {
	for i := range was {
		if _, stays := find(now, was[i].Note); !stays {
			gone = append(gone, was[i].Note)
		}
	}
	for _, k := range now {
		if old, had := Of(was, k.Note); had {
			switch same := bytes.Equal(old.Vector, k.Vector); {
			case k.Cycle < old.Cycle || k.Used < old.Used || !same && len(k.Vector) == 0:
				return nil, nil, false
			case same && k.Cycle == old.Cycle && k.Used == old.Used:
				continue
			case same:
				k.Vector = nil
			}
		}
		changes = append(changes, k)
	}
	return changes, gone, true
}

// Without returns a list without the notes of some keys.
func Without(all []Kept, gone []uint64) []Kept {
	return slices.DeleteFunc(slices.Clone(all), func(k Kept) bool { return slices.Contains(gone, k.Note) })
}
