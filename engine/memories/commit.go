package memories

import (
	"maps"
	"math"
	"slices"

	"github.com/throng-sim/throng/engine"
)

// Changes are the changes of the sessions of a cycle, each to its agent's memory. Of two of an agent, the later counts.
type Changes struct {
	agents []int32
	deltas []engine.Delta
}

// Of returns changes by agent.
func Of(deltas map[int]engine.Delta) *Changes {
	c := &Changes{}
	for _, agent := range slices.Sorted(maps.Keys(deltas)) {
		c.Add(agent, deltas[agent])
	}
	return c
}

// Add adds the change of a session.
func (c *Changes) Add(agent int, d engine.Delta) {
	c.agents, c.deltas = append(c.agents, int32(agent)), append(c.deltas, d)
}

// Clear removes all changes.
func (c *Changes) Clear() {
	clear(c.deltas)
	c.agents, c.deltas = c.agents[:0], c.deltas[:0]
}

// Map returns the changes by agent.
func (c *Changes) Map() map[int]engine.Delta {
	all := make(map[int]engine.Delta, len(c.agents))
	for i, agent := range c.agents {
		all[int(agent)] = c.deltas[i]
	}
	return all
}

// order returns the places of the changes that count, ascending by agent.
func (c *Changes) order() []uint32 {
	keys := make([]uint64, len(c.agents))
	for i, agent := range c.agents {
		keys[i] = uint64(agent)<<32 | uint64(i)
	}
	slices.Sort(keys)
	places := make([]uint32, 0, len(keys))
	for i, key := range keys {
		if i == len(keys)-1 || keys[i+1]>>32 != key>>32 {
			places = append(places, uint32(key))
		}
	}
	return places
}

// CommitCycle turns the memory at the start of a cycle into the memory at the start of the next one. It applies the changes of the
// cycle's sessions, then delivers their messages, in agent order. In a sequential run it does so session by session, in turn order. It
// returns the agents whose memory changed, in ascending order, and the total growth in bytes.
func CommitCycle(s *engine.Settings, memory Store, c *Changes, cycle int) (changed []int, grown int64) {
	places := c.order()
	b := barrier{memory: memory, changes: c, cycle: cycle}
	if !s.Sequential {
		b.commit(places)
	} else {
		turns, at := make([]int32, len(places)), make(map[int32]uint32, len(places))
		for i, place := range places {
			turns[i], at[c.agents[place]] = c.agents[place], place
		}
		engine.SortByTurn(turns, s.Seed, cycle)
		for _, agent := range turns {
			b.commit([]uint32{at[agent]})
		}
	}
	slices.Sort(b.touched)
	return slices.Compact(b.touched), b.grown
}

// CommitSession makes the change of one session, and delivers its messages. It returns the agents whose memory changed.
func CommitSession(memory Store, agent int, d *engine.Delta, cycle int) (changed []int) {
	b := barrier{memory: memory, changes: &Changes{[]int32{int32(agent)}, []engine.Delta{*d}}, cycle: cycle}
	b.commit([]uint32{0})
	return b.touched
}

// barrier applies changes.
type barrier struct {
	memory  Store
	changes *Changes
	cycle   int
	touched []int // agents whose memory changed; some twice
	grown   int64
}

// commit applies some changes, then delivers their messages.
func (b *barrier) commit(places []uint32) {
	due := b.expected(places)
	for _, place := range places {
		agent, d := int(b.changes.agents[place]), &b.changes.deltas[place]
		was := b.memory.Of(agent)
		next := was.ApplyFor(d, inboxSize(due.of(agent)))
		if next == was {
			continue
		}
		if d.Read {
			next.ReadTo = b.cycle + 1 // Apply has returned a copy
		}
		b.grown += next.Size() - was.Size()
		b.memory.Keep(agent, next)
		b.touched = append(b.touched, agent)
		due.copied(agent, cap(next.Inbox) > 0 && len(next.Inbox) == 0)
	}
	b.deliver(places, due)
}

// deliver delivers the messages of some changes, several at a time.
func (b *barrier) deliver(places []uint32, due letters) {
	var several [32]delivery
	n := 0
	for _, place := range places {
		for _, m := range b.changes.deltas[place].Said {
			for _, to := range m.To {
				if n == len(several) {
					b.receive(several[:n])
					n = 0
				}
				several[n].to, several[n].letter = b.box(to, due), engine.Letter{From: int(b.changes.agents[place]), Cycle: b.cycle, Body: m.Body}
				n++
			}
		}
	}
	b.receive(several[:n])
}

// delivery is a letter for an inbox that has room.
type delivery struct {
	to     *engine.Memory
	letter engine.Letter
}

// receive puts letters into inboxes, in order. It first looks at all of them: so the processor loads them together, since they are far
// from each other in memory.
func (b *barrier) receive(several []delivery) {
	full := false
	for i := range several {
		full = full || len(several[i].to.Inbox)+len(several) > engine.MostLetters
	}
	for i := range several {
		d := &several[i]
		d.to.Inbox = append(d.to.Inbox, d.letter)
		b.grown += d.letter.Size()
		if full {
			b.grown -= shorten(d.to)
		}
	}
}

// shorten drops the oldest letters of an inbox that has too many, and returns their size.
func shorten(m *engine.Memory) (dropped int64) {
	more := len(m.Inbox) - engine.MostLetters
	if more <= 0 {
		return 0
	}
	for i := range more {
		dropped += m.Inbox[i].Size()
	}
	m.Inbox = slices.Delete(m.Inbox, 0, more)
	return dropped
}

// box returns the memory of a recipient, with room for its letters.
func (b *barrier) box(to int, due letters) *engine.Memory {
	m := b.memory.Of(to)
	n := due.of(to)
	if n == 0 {
		return m // from an earlier letter
	}
	due.done(to)
	if n > 0 { // snapshots share the memory
		next := &engine.Memory{}
		if m != nil {
			*next = *m
		}
		b.memory.Keep(to, next)
		b.touched, m = append(b.touched, to), next
	}
	inbox := make([]engine.Letter, len(m.Inbox), max(inboxSize(len(m.Inbox)+max(n, -n)), len(m.Inbox)))
	copy(inbox, m.Inbox)
	m.Inbox = inbox
	return m
}

// inboxSize returns the room that some letters need: that of the letters that are kept, and one more while it arrives.
func inboxSize(letters int) int { return min(letters, engine.MostLetters+1) }

// letters count the letters that agents get. The number is negative once the agent's memory is a copy, and zero when its inbox has room
// for them.
type letters struct {
	list []int32       // by agent, if there are many
	few  map[int]int32 // else
}

// expected counts the letters of some changes.
func (b *barrier) expected(places []uint32) letters {
	count, highest := 0, -1
	for _, place := range places {
		for _, m := range b.changes.deltas[place].Said {
			count += len(m.To)
			for _, to := range m.To {
				highest = max(highest, to)
			}
		}
	}
	var l letters
	if count > highest/16 {
		l.list = make([]int32, highest+1)
	} else {
		l.few = make(map[int]int32, count)
	}
	for _, place := range places {
		for _, m := range b.changes.deltas[place].Said {
			for _, to := range m.To {
				l.set(to, l.of(to)+1)
			}
		}
	}
	return l
}

func (l letters) of(agent int) int {
	if l.list == nil {
		return int(l.few[agent])
	}
	if agent >= len(l.list) {
		return 0
	}
	return int(l.list[agent])
}

func (l letters) set(agent, n int) {
	n = min(n, math.MaxInt32)
	if l.list == nil {
		l.few[agent] = int32(n)
	} else {
		l.list[agent] = int32(n)
	}
}

// copied notes that an agent's memory is a copy, and whether its inbox has room.
func (l letters) copied(agent int, roomy bool) {
	switch n := l.of(agent); {
	case n > 0 && roomy:
		l.done(agent)
	case n > 0:
		l.set(agent, -n)
	}
}

// done notes that an agent's inbox has room.
func (l letters) done(agent int) { l.set(agent, 0) }
