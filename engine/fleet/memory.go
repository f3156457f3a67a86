package fleet

import (
	"bytes"
	"slices"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/retrieval"
)

// memoryChange is what turns the memory of an agent that a worker has into a newer version. Memory grows at the end and is dropped at the
// beginning, so most of it is the same.
type memoryChange struct {
	Fields []engine.Field      `cbor:"1,keyasint,omitempty"` // new or changed
	Notes  tail[[]byte]        `cbor:"2,keyasint,omitzero"`
	Inbox  tail[engine.Letter] `cbor:"3,keyasint,omitzero"`
	ReadTo int                 `cbor:"4,keyasint,omitempty"`
	Kept   []retrieval.Kept    `cbor:"5,keyasint,omitempty"` // new or changed
	Gone   []uint64            `cbor:"6,keyasint,omitempty"` // notes with which nothing is kept any more
}

// tail is a list as a part of an earlier one and what follows.
type tail[T any] struct {
	From int `cbor:"1,keyasint,omitempty"` // first element of the earlier list that stays
	Upto int `cbor:"2,keyasint,omitempty"` // end of those
	Then []T `cbor:"3,keyasint,omitempty"`
}

// changeOf returns the change from one version to the next. It returns false if the whole is simpler, such as when fields have gone.
func changeOf(was, now *engine.Memory) (c memoryChange, ok bool) {
	if len(now.Fields) < len(was.Fields) {
		return c, false
	}
	for i := range now.Fields {
		f := &now.Fields[i]
		if i < len(was.Fields) && was.Fields[i].Name != f.Name {
			return c, false // their order is part of the memory
		}
		if i >= len(was.Fields) || !bytes.Equal(was.Fields[i].Value, f.Value) {
			c.Fields = append(c.Fields, *f)
		}
	}
	c.Notes = tailOf(was.Notes, now.Notes, bytes.Equal)
	c.Inbox = tailOf(was.Inbox, now.Inbox, func(a, b engine.Letter) bool {
		return a.From == b.From && a.Cycle == b.Cycle && bytes.Equal(a.Body, b.Body)
	})
	c.ReadTo = now.ReadTo
	c.Kept, c.Gone, ok = retrieval.Changes(was.Kept, now.Kept)
	return c, ok
}

// tailOf returns now as a part of was and what follows.
func tailOf[T any](was, now []T, equal func(a, b T) bool) (t tail[T]) {
	if len(now) > 0 {
		for t.From < len(was) && !equal(was[t.From], now[0]) {
			t.From++
		}
	}
	for t.Upto = t.From; t.Upto < len(was) && t.Upto-t.From < len(now) && equal(was[t.Upto], now[t.Upto-t.From]); {
		t.Upto++
	}
	t.Then = now[t.Upto-t.From:]
	return t
}

// apply returns the newer version. It returns false if the change does not belong to this version.
func (c *memoryChange) apply(was *engine.Memory) (*engine.Memory, bool) {
	now := &engine.Memory{Fields: slices.Clone(was.Fields), ReadTo: c.ReadTo}
	for _, f := range c.Fields {
		at := slices.IndexFunc(now.Fields, func(o engine.Field) bool { return o.Name == f.Name })
		if at < 0 {
			now.Fields = append(now.Fields, f)
			continue
		}
		now.Fields[at] = f
	}
	var notes, inbox bool
	now.Notes, notes = c.Notes.apply(was.Notes)
	now.Inbox, inbox = c.Inbox.apply(was.Inbox)
	now.Kept = retrieval.Merge(retrieval.Without(was.Kept, c.Gone), c.Kept)
	return now, notes && inbox
}

func (t *tail[T]) apply(was []T) (now []T, ok bool) {
	if t.From < 0 || t.From > t.Upto || t.Upto > len(was) {
		return nil, false
	}
	return append(slices.Clone(was[t.From:t.Upto]), t.Then...), true
}
