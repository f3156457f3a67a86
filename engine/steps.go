package engine

import (
	"slices"
	"strings"
	"time"

	"github.com/throng-sim/throng/engine/internal/stats"
)

// MostSteps is how many different steps a run keeps figures of; what comes after counts in the totals only.
const MostSteps = 10_000

// StepFigures are those of one step over the run so far, all its iterations together.
type StepFigures struct {
	Path        string // without iterations: fill_cart.add_cart
	Statuses    [StepCancelled + 1]int64
	Requests    int64
	Retries     int64
	RateLimited int64
	// Service is the time that the step or its service used, where it ran and was not taken from the journal.
	Service Quantiles
	Sum     time.Duration // of what Service is of
}

// Ran is how often the step was carried out, whatever came of it.
func (f *StepFigures) Ran() int64 {
	return f.Statuses[StepOK] + f.Statuses[StepFailed] + f.Statuses[StepTimedOut]
}

// Errors is how often the step failed or timed out.
func (f *StepFigures) Errors() int64 { return f.Statuses[StepFailed] + f.Statuses[StepTimedOut] }

// stepTotals are the counts of one step.
type stepTotals struct {
	Path        string                   `cbor:"1,keyasint"`
	Statuses    [StepCancelled + 1]int64 `cbor:"2,keyasint"`
	Requests    int64                    `cbor:"3,keyasint,omitempty"`
	Retries     int64                    `cbor:"4,keyasint,omitempty"`
	RateLimited int64                    `cbor:"5,keyasint,omitempty"`
	Service     stats.Narrow             `cbor:"6,keyasint"`

	next *stepTotals // the one that followed last time: sessions mostly do the same steps again
}

func (s *stepTotals) add(r *StepRecord, limited int64) {
	s.Statuses[r.Status]++
	s.RateLimited += limited
	if r.Attempts > 0 {
		s.Requests += int64(r.Attempts)
		s.Retries += int64(r.Attempts - 1)
	}
	if r.Status <= StepTimedOut && r.Label != Replayed && r.Label != Recorded {
		s.Service.Record(r.Service)
	}
}

// StepTable holds the counts of all steps, by path. The zero value is empty and ready.
type StepTable struct {
	List []*stepTotals `cbor:"1,keyasint,omitempty"` // ascending by path

	index map[string]*stepTotals // made when it is first needed
	first stepTotals             // before the first step of a session
	last  *stepTotals            // the step that was counted last
	key   []byte
}

// begin says that the next record is the first of a session.
func (t *StepTable) begin() { t.last = &t.first }

// of finds the counts of a step; nil if there are too many.
func (t *StepTable) of(path string) *stepTotals {
	if s := t.last.next; s != nil && sameStep(path, s.Path) {
		t.last = s
		return s
	}
	t.key = appendStep(t.key[:0], path)
	if t.index == nil {
		t.index = make(map[string]*stepTotals, len(t.List))
		for _, s := range t.List {
			t.index[s.Path] = s
		}
	}
	s := t.index[string(t.key)]
	if s == nil {
		if len(t.List) == MostSteps {
			return nil
		}
		s = &stepTotals{Path: string(t.key)}
		t.index[s.Path] = s
		at, _ := slices.BinarySearchFunc(t.List, s.Path, func(s *stepTotals, path string) int { return strings.Compare(s.Path, path) })
		t.List = slices.Insert(t.List, at, s)
	}
	t.last.next, t.last = s, s
	return s
}

// Figures are those of all steps, ascending by path.
func (t *StepTable) Figures() []StepFigures {
	all := make([]StepFigures, len(t.List))
	for i, s := range t.List {
		all[i] = StepFigures{s.Path, s.Statuses, s.Requests, s.Retries, s.RateLimited, narrow(&s.Service), s.Service.Sum()}
	}
	return all
}

func (t *StepTable) clone() StepTable {
	c := StepTable{List: make([]*stepTotals, len(t.List))}
	for i, s := range t.List {
		own := *s
		own.Service, own.next = s.Service.Clone(), nil
		c.List[i] = &own
	}
	return c
}

func narrow(n *stats.Narrow) Quantiles {
	if n.Count() == 0 {
		return Quantiles{}
	}
	return Quantiles{
		n.Count(), n.Sum() / time.Duration(n.Count()), n.Quantile(0.50), n.Quantile(0.95), n.Quantile(0.99), n.Max(),
	}
}

// sameStep reports whether a path is that of a step in some iteration. It allocates nothing.
func sameStep(path, step string) bool {
	if path == step {
		return true
	}
	for {
		open := strings.IndexByte(path, '[')
		if open < 0 || open > len(step) || path[:open] != step[:open] {
			return path == step
		}
		end := strings.IndexByte(path[open:], ']')
		if end < 0 {
			return false
		}
		path, step = path[open+end+1:], step[open:]
	}
}

// StepName is the path of a step without its iterations.
func StepName(path string) string {
	if !strings.Contains(path, "[") {
		return path
	}
	return string(appendStep(nil, path))
}

func appendStep(dst []byte, path string) []byte {
	for {
		open := strings.IndexByte(path, '[')
		if open < 0 {
			return append(dst, path...)
		}
		dst = append(dst, path[:open]...)
		end := strings.IndexByte(path[open:], ']')
		if end < 0 {
			return append(dst, path[open:]...)
		}
		path = path[open+end+1:]
	}
}
