// Package spans measures for how long processes executed a run, by the positions and times of its rows.
package spans

import (
	"cmp"
	"slices"
	"time"
)

// Spans are the times for which processes executed a run. Rows before the first one do not count.
type Spans struct{ all []span }

// span is the time of one process, or a part of it: where the wall clock was set back, another begins, because times before and after that
// cannot be compared.
type span struct {
	pos        int64
	start, end time.Time
	set        bool // it begins where the clock was set, so its first sessions may have started before
}

// Begin says that a process began to execute the run. Positions ascend.
func (s *Spans) Begin(pos int64, at time.Time) { s.all = append(s.all, span{pos: pos, start: at}) }

// SetBack says that the wall clock was set back to a time. Positions ascend, and all processes have begun.
func (s *Spans) SetBack(pos int64, at time.Time, by time.Duration) {
	if i := s.find(pos); i >= 0 {
		s.all[i].seen(at.Add(by))
		s.all = slices.Insert(s.all, i+1, span{pos: pos, start: at, set: true})
	}
}

// Seen says that the process that wrote a row was executing the run at a time.
func (s *Spans) Seen(pos int64, at time.Time) {
	if i := s.find(pos); i >= 0 {
		s.all[i].seen(at)
	}
}

// Ended says that a session of the row ended at a time, by the clock at its start.
func (s *Spans) Ended(pos int64, at time.Time) {
	if i := s.find(pos); i >= 0 && !s.all[i].set {
		s.all[i].seen(at)
	}
}

// Total returns the sum of all spans.
func (s *Spans) Total() (sum time.Duration) {
	for _, one := range s.all {
		sum += max(one.end.Sub(one.start), 0)
	}
	return sum
}

// find returns the index of the span of a position; -1 if it is before the first.
func (s *Spans) find(pos int64) int {
	i, found := slices.BinarySearchFunc(s.all, pos, func(one span, pos int64) int { return cmp.Compare(one.pos, pos) })
	if !found {
		i--
	}
	return i
}

func (s *span) seen(at time.Time) {
	if at.After(s.end) {
		s.end = at
	}
}
