package engine

import (
	"slices"
	"strings"
	"time"

	"github.com/throng-sim/throng/engine/internal/stats"
)

// MostSteps is the maximum number of different steps with figures. Further steps count only in the totals.
const MostSteps = 10_000

// StepFigures are the figures of one step over the run so far, summed over its iterations.
type StepFigures struct {
	Path        string // without iterations: fill_cart.add_cart
	Statuses    [StepCanceled + 1]int64
	Requests    int64
	Retries     int64
	RateLimited int64
	// Service is the time used by the step or its service, for executions that were not replayed from the journal.
	Service Quantiles
	Sum     time.Duration // sum of the durations in Service
	Size    int64         // of all answers, in bytes
}

// Ran returns how often the step was executed, regardless of its status.
func (f *StepFigures) Ran() int64 {
	return f.Statuses[StepOK] + f.Statuses[StepFailed] + f.Statuses[StepTimedOut]
}

// Errors returns how often the step failed or timed out.
func (f *StepFigures) Errors() int64 { return f.Statuses[StepFailed] + f.Statuses[StepTimedOut] }

// MeanSize returns the mean size in bytes of the answers of an execution that succeeded; 0 without answers.
func (f *StepFigures) MeanSize() int64 { return f.Size / max(f.Statuses[StepOK], 1) }

// stepTotals are the counts of one step.
type stepTotals struct {
	Path        string                  `cbor:"1,keyasint"`
	Statuses    [StepCanceled + 1]int64 `cbor:"2,keyasint"`
	Requests    int64                   `cbor:"3,keyasint,omitempty"`
	Retries     int64                   `cbor:"4,keyasint,omitempty"`
	RateLimited int64                   `cbor:"5,keyasint,omitempty"`
	Service     stats.Narrow            `cbor:"6,keyasint"`
	Bytes       int64                   `cbor:"7,keyasint,omitempty"` // of answers

	next *stepTotals // the step that followed last time: sessions usually repeat the same order
}

func (s *stepTotals) add(r *StepRecord, limited int64) {
	s.Statuses[r.Status]++
	s.RateLimited, s.Bytes = s.RateLimited+limited, s.Bytes+r.Size
	if r.Attempts > 0 {
		s.Requests += int64(r.Attempts)
		s.Retries += int64(r.Retries())
	}
	if r.measured() {
		s.Service.Record(r.Service)
	}
}

// measured reports whether the step was executed, and not replayed from the journal or a recording.
func (r *StepRecord) measured() bool {
	return r.Status <= StepTimedOut && r.Label != Replayed && r.Label != Recorded
}

// Asked reports whether Service is the time of a request, or of several attempts.
func (r *StepRecord) Asked() bool { return r.Attempts > 0 && r.measured() }

// StepTable holds the counts of all steps, by path. The zero value is an empty table.
type StepTable struct {
	List []*stepTotals `cbor:"1,keyasint,omitempty"` // ascending by path

	index map[string]*stepTotals // created on first use
	first stepTotals             // before the first step of a session
	last  *stepTotals            // the step counted last
	key   []byte
}

// begin marks the next record as the first of a session.
func (t *StepTable) begin() { t.last = &t.first }

// of returns the counts of a step, or nil if there are too many steps.
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

// Figures returns the figures of all steps, sorted by path.
func (t *StepTable) Figures() []StepFigures {
	all := make([]StepFigures, len(t.List))
	for i, s := range t.List {
		all[i] = StepFigures{s.Path, s.Statuses, s.Requests, s.Retries, s.RateLimited, narrow(&s.Service), s.Service.Sum(), s.Bytes}
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

// sameStep reports whether path is an iteration of step. It does not allocate.
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

// StepName returns the path of a step without its iterations.
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
