package memory

import (
	"fmt"

	"go.starlark.net/starlark"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/retrieval"
	"github.com/throng-sim/throng/engine/script/value"
)

// maxNotes is how many notes an agent can keep.
const maxNotes = 100_000

// keeping is the number of newest notes to keep, or the list that replaces all notes.
type keeping struct {
	most  int      // 0 if unset
	notes [][]byte // JSON texts; nil if unset
}

// apply sets the change. Without an explicit number, more notes than the default may stay.
func (k keeping) apply(d *engine.Delta) {
	d.Keep = k.most
	if k.notes != nil {
		d.Notes, d.Replace = k.notes, true
		if len(k.notes) > engine.DefaultNotes {
			d.Keep = len(k.notes)
		}
	}
}

// keepingOf reads the value of `keep`: a number of notes, or the list of those to keep.
func keepingOf(v value.Value) (k keeping, err error) {
	switch v := v.(type) {
	case starlark.NoneType: // the list came from a step that did not run
		return k, nil
	case starlark.Int:
		if n, ok := v.Int64(); ok && n >= 1 && n <= maxNotes {
			k.most = int(n)
			return k, nil
		}
	case *starlark.List:
		if v.Len() > maxNotes {
			return k, fmt.Errorf("keep is a list of %d notes; at most %d", v.Len(), maxNotes)
		}
		k.notes = make([][]byte, v.Len())
		for i := range k.notes {
			if k.notes[i], err = value.AppendJSON(nil, v.Index(i)); err != nil {
				return k, err
			}
		}
		return k, nil
	}
	return k, fmt.Errorf("keep is %s; it must be a number from 1 to %d, or a list of the notes to keep", value.Shown(v), maxNotes)
}

// Date adds to a writing the cycle of its notes, so that a step that recalls notes knows their age. Notes of a list that replaces the
// notes keep their age if they were notes before.
func (m *View) Date(w *Writing, cycle int) {
	d := &w.Delta
	before := map[string]bool{}
	if d.Replace {
		for _, n := range m.Now().Notes {
			before[string(n)] = true
		}
	}
	var all []retrieval.Kept
	for i, n := range d.Notes {
		if newest := w.Note != nil && i == len(d.Notes)-1; newest || !before[string(n)] {
			all = append(all, retrieval.Kept{Note: retrieval.Key(n), Cycle: cycle, Used: cycle})
		}
	}
	d.Kept = retrieval.List(all)
}
