package chain

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/script/value"
	"github.com/throng-sim/throng/engine/service/redact"
)

// Watch records the step results of one session, for running a chain alone. It is never stored. A nil Watch records
// nothing.
type Watch struct {
	Report Report // once the session has ended
	Trace  *Trace // records all nested steps too; may be nil

	began time.Time
	mu    sync.Mutex // steps run concurrently
	steps map[string]*stepSeen
}

// stepSeen is the result of a step at the top level of the chain.
type stepSeen struct {
	began     time.Time
	took      time.Duration
	hasOutput bool
	output    json.RawMessage // nil if it must not be shown
	err       string
}

// Report is the result of a chain that ran alone.
type Report struct {
	Status   string          `json:"status"` // ok, partial, stopped, failed, timeout, canceled; cut if it will run again
	Result   json.RawMessage `json:"result"` // output of the last successful step; null unless the session completed
	Steps    []StepReport    `json:"steps"`  // top-level steps that were reached, in file order
	Error    *string         `json:"error"`
	Metadata Metadata        `json:"metadata"`
	Agent    int             `json:"-"` // its index
}

// StepReport is the result of one step of the chain. Its output is null if it is private or does not exist.
type StepReport struct {
	Name      string          `json:"name"`
	Kind      string          `json:"kind"`
	Status    string          `json:"status"`
	Output    json.RawMessage `json:"output"`
	ElapsedMS int64           `json:"elapsed_ms"`
	Error     string          `json:"error,omitempty"`
	Mocked    bool            `json:"mocked,omitempty"` // the mock answered in place of an undefined name
}

// Metadata is additional information about the session.
type Metadata struct {
	ElapsedMS      int64        `json:"elapsed_ms"`
	TimeoutSeconds float64      `json:"timeout_seconds"` // of the chain; 0 for none
	Run            engine.RunID `json:"run_id"`
	Because        string       `json:"because,omitempty"` // why it stopped
}

func (w *Watch) begin() {
	if w != nil {
		w.began, w.steps = time.Now(), map[string]*stepSeen{}
	}
}

// change calls f to record something about a top-level step.
func (w *Watch) change(t *turn, f func(s *stepSeen)) {
	if w == nil || t.frame.owner != nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.steps[t.step.Name]
	if s == nil {
		s = &stepSeen{began: time.Now()}
		w.steps[t.step.Name] = s
	}
	s.took = time.Since(s.began)
	f(s)
}

func (w *Watch) started(t *turn) {
	w.change(t, func(*stepSeen) {})
	w.note(t, func(*Traced) {})
}

// succeeded records the output of a step.
func (w *Watch) succeeded(t *turn, out value.Value) {
	w.change(t, func(s *stepSeen) {
		s.hasOutput = true
		if !t.step.Hides() {
			s.output = t.shown(out)
		}
	})
	w.note(t, func(s *Traced) {
		if !t.step.Hides() {
			s.Output = t.shown(t.withArguments(out))
		}
	})
}

// failed records why a step failed, whether or not the session continues.
func (w *Watch) failed(t *turn, err error) {
	w.change(t, func(s *stepSeen) { s.err = firstLine(err) })
	w.note(t, func(s *Traced) {
		s.Error = firstLine(err)
		if t.frame.tool && !t.step.Hides() {
			s.Output = t.shown(t.withArguments(value.Missing))
		}
	})
}

// shown returns a value as JSON without the values of the session's cookies, or null if it cannot be encoded.
func (t *turn) shown(v value.Value) json.RawMessage {
	text, err := value.AppendJSON(nil, v)
	if err != nil {
		return nil
	}
	return redact.Cookies(text, t.x.cookies.Values())
}

// Hides reports whether the step's output is private, or derived from private outputs.
func (s *Step) Hides() (hides bool) {
	each := func(inner *Step) { hides = hides || inner.private }
	look := func(_ string, inner *Step) {
		each(inner)
		if sub, ok := inner.action.(*subchain); ok {
			sub.chain.everywhere(each)
		}
	}
	look("", s)
	if nest, ok := s.action.(nest); ok {
		for _, b := range nest.blocks() {
			b.walk("", look)
		}
	}
	return hides
}

// end builds the report when the session's row is complete.
func (w *Watch) end(x *execution, c *Chain, err error) {
	if w == nil {
		return
	}
	row := x.s.Row
	w.Report = Report{
		Status: status(row), Steps: w.reports(c, row),
		Metadata: Metadata{
			ElapsedMS: time.Since(w.began).Milliseconds(), TimeoutSeconds: x.time.limit.Seconds(), Run: x.s.Run().ID, Because: row.Because,
		},
		Agent: x.s.Agent,
	}
	if err != nil && !row.Outcome.Commits() {
		text := problem(c, err)
		w.Report.Error = &text
	}
	if row.Outcome.Commits() {
		w.Report.Result = w.result()
	}
}

// result returns the output of the last successful step.
func (w *Watch) result() (out json.RawMessage) {
	for _, s := range w.Report.Steps {
		if seen := w.steps[s.Name]; s.Status == engine.StepOK.String() && seen != nil && seen.hasOutput {
			out = seen.output
		}
	}
	return out
}

// status returns how the session ended, in the words of a report.
func status(row *engine.SessionRow) string {
	if row.Outcome == engine.OK {
		for i := range row.Steps {
			if s := row.Steps[i].Status; s == engine.StepFailed || s == engine.StepTimedOut {
				return "partial"
			}
		}
	}
	return row.Outcome.String()
}

// problem returns why the session failed, on one line.
func problem(c *Chain, err error) string {
	var over *engine.TimeoutError
	if errors.As(err, &over) && over.What != "step" {
		if over.What != "chain" {
			return fmt.Sprintf("The %s of chain '%s' timed out after %v seconds", over.What, c.Name, over.Limit.Seconds())
		}
		return fmt.Sprintf("Chain '%s' execution timed out after %v seconds", c.Name, over.Limit.Seconds())
	}
	return firstLine(err)
}

// reports returns the chain's own steps up to the last one reached.
func (w *Watch) reports(c *Chain, row *engine.SessionRow) []StepReport {
	records := make(map[string]*engine.StepRecord, len(row.Steps))
	for i := range row.Steps {
		records[row.Steps[i].Path] = &row.Steps[i]
	}
	all := []StepReport{}
	for _, s := range c.Body.Steps {
		record, ok := records[s.Name]
		if !ok {
			continue
		}
		ran := record.Status != engine.StepSkipped && record.Status != engine.StepCanceled
		r := StepReport{Name: s.Name, Kind: s.Kind, Status: record.Status.String(), Mocked: s.Mocked && ran}
		if seen := w.steps[s.Name]; seen != nil && ran {
			r.Output, r.Error, r.ElapsedMS = seen.output, seen.err, seen.took.Milliseconds()
		}
		all = append(all, r)
	}
	return all
}
