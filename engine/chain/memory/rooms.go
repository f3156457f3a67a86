package memory

import (
	"slices"

	"github.com/throng-sim/throng/engine"
)

// rooms are free parts of slices in which sessions write one after another what is kept until the end of the cycle. So most sessions
// allocate nothing for it.
type rooms struct {
	set  []engine.Field
	said []engine.Message
	to   []int
}

// roomSize is the length of a new room.
const roomSize = 128

// begun returns an empty list at the beginning of a room. Only one list of a room may be open.
func begun[T any](room *[]T) []T {
	if len(*room) == 0 {
		*room = make([]T, roomSize)
	}
	return (*room)[:0]
}

// closed returns a list that nothing is added to, and takes it out of the room that it began in, unless it has grown out of it.
func closed[T any](list []T, room *[]T) []T {
	if len(list) == 0 {
		return nil
	}
	if len(*room) > 0 && &list[0] == &(*room)[0] {
		*room = (*room)[len(list):]
	}
	return slices.Clip(list)
}

// Take returns the writes of a session that has ended.
func (m *View) Take() engine.Delta {
	d := m.Delta
	d.Set, d.Said = closed(d.Set, &m.set), closed(d.Said, &m.said)
	return d
}

// To returns a list of one recipient of a message.
func (m *View) To(agent int) []int {
	if m.Own != nil {
		return []int{agent}
	}
	return closed(append(begun(&m.to), agent), &m.to)
}
