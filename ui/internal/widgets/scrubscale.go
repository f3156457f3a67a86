package widgets

import (
	"slices"
	"time"
)

// scrubGap is the width of a gap between two spans, as a share of an equal division. A gap is a mark, not a duration.
const (
	scrubGap     = 0.02
	mostScrubGap = 0.3 // of all gaps together
)

// Span is a span of time.
type Span struct{ From, To time.Time }

// scrubScale maps moments to positions from 0 to 1. Spans share the width by length; gaps between them have one width, however long they
// are.
type scrubScale struct {
	spans []Span
	total time.Duration // of all spans
	gap   float64
}

func newScrubScale(spans []Span) scrubScale {
	s := scrubScale{spans: spans}
	for _, p := range spans {
		s.total += p.To.Sub(p.From)
	}
	if n := len(spans) - 1; n > 0 {
		s.gap = min(scrubGap, mostScrubGap/float64(n))
	}
	return s
}

// share returns the width of a duration.
func (s *scrubScale) share(d time.Duration) float64 {
	if s.total <= 0 {
		return 0
	}
	return float64(d) / float64(s.total) * (1 - s.gap*float64(len(s.spans)-1))
}

// place returns the position of a moment; one in a gap is at the end of the span before.
func (s *scrubScale) place(at time.Time) (x float64) {
	for i, p := range s.spans {
		if at.Before(p.From) && i > 0 {
			return x - s.gap
		}
		if !at.After(p.To) {
			return x + s.share(max(at.Sub(p.From), 0))
		}
		x += s.share(p.To.Sub(p.From)) + s.gap
	}
	return 1
}

// at returns the moment at a position; in a gap it is the nearer end of a span.
func (s *scrubScale) at(x float64) time.Time {
	from := 0.
	for i, p := range s.spans {
		width := s.share(p.To.Sub(p.From))
		switch {
		case x <= from+width || i == len(s.spans)-1 && width > 0:
			part := min(max((x-from)/max(width, 1e-9), 0), 1)
			return p.From.Add(time.Duration(part * float64(p.To.Sub(p.From))))
		case x <= from+width+s.gap/2 || i == len(s.spans)-1:
			return p.To
		case x <= from+width+s.gap:
			return s.spans[i+1].From
		}
		from += width + s.gap
	}
	return time.Time{}
}

// move moves along the spans and across gaps, and stays within them.
func (s *scrubScale) move(at time.Time, by time.Duration) time.Time {
	if len(s.spans) == 0 {
		return at
	}
	if by < 0 {
		return s.back(at, -by)
	}
	for _, p := range s.spans {
		if at.After(p.To) {
			continue
		}
		if at.Before(p.From) {
			at = p.From
		}
		left := p.To.Sub(at)
		if by <= left {
			return at.Add(by)
		}
		by -= left
		at = p.To.Add(1)
	}
	return s.spans[len(s.spans)-1].To
}

func (s *scrubScale) back(at time.Time, by time.Duration) time.Time {
	for _, p := range slices.Backward(s.spans) {
		if at.Before(p.From) {
			continue
		}
		if at.After(p.To) {
			at = p.To
		}
		left := at.Sub(p.From)
		if by <= left {
			return at.Add(-by)
		}
		by -= left
		at = p.From.Add(-1)
	}
	return s.spans[0].From
}
