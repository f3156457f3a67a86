package view

import (
	"fmt"
	"strings"

	"github.com/throng-sim/throng/engine"
)

// Tone is how a text is meant.
type Tone string

// The tones.
const (
	Plain Tone = "plain"
	Good  Tone = "good"
	Warn  Tone = "warn"
	Bad   Tone = "bad"
)

// Mark is a text with its tone.
type Mark struct {
	Tone Tone
	Text string
}

// Unstopped is why a run is interrupted.
const Unstopped = "the program ended without stopping the run, by a crash or a kill; every session done until then is kept"

// Why returns why a run ended unless it simply finished. A run that finished with only failed sessions has a reason too.
func Why(r *engine.RunRecord) string {
	switch {
	case r.InProgress || r.Queued != "" || r.Ending == engine.EndFinished && (r.Reason == engine.AllDone || r.Reason == engine.NoAgents):
		return ""
	case r.Ending == engine.NotEnded && r.Damage == "" && r.Fetched == nil:
		return Unstopped
	}
	return r.Reason
}

// Verdict says in one sentence whether a run succeeded: its success criteria, failed sessions, and exactness.
func Verdict(r *engine.RunRecord, t *engine.Totals) Mark {
	switch {
	case r.InProgress:
		return Mark{Plain, "In progress. Success criteria are evaluated at the end."}
	case r.Queued != "":
		return Mark{Plain, "Waiting to start. Success criteria are evaluated at the end."}
	case r.Ending == engine.NotEnded:
		return Mark{Plain, "Interrupted. Resume the run to evaluate its success criteria."}
	}
	m := criteria(r)
	parts := []string{m.Text}
	switch r.Ending {
	case engine.EndFinished:
	case engine.EndFailed, engine.EndHopeless, engine.EndOutOfBudget:
		m.Tone = Bad
		parts[0] = upper(r.State()) + ": " + lower(m.Text)
	case engine.EndStopped: // sessions that a step stopped are another matter
		m.Tone = worse(m.Tone, Warn)
		parts[0] = "The run was stopped: " + lower(m.Text)
	default:
		m.Tone = worse(m.Tone, Warn)
		parts[0] = upper(r.State()) + ": " + lower(m.Text)
	}
	if bad := t.Bad(); bad > 0 {
		parts = append(parts, fmt.Sprintf("%s of %s failed or timed out", engine.FormatCount(bad), sessions(t.Ended())))
	} else {
		parts = append(parts, "no session failed")
	}
	if inexact(r, t) == nil {
		parts = append(parts, "the result is exact")
	} else {
		parts = append(parts, "the result is inexact")
	}
	return Mark{m.Tone, strings.Join(parts, "; ") + "."}
}

// criteria counts the success criteria that a run met, and names the first that it missed.
func criteria(r *engine.RunRecord) Mark {
	var missed, unknown []*engine.Judgment
	for i := range r.Verdict {
		switch j := &r.Verdict[i]; {
		case j.Unknown:
			unknown = append(unknown, j)
		case !j.Passed:
			missed = append(missed, j)
		}
	}
	all := fmt.Sprintf("%d criteria", len(r.Verdict))
	if len(r.Verdict) == 1 {
		all = "1 criterion"
	}
	note := ""
	if len(unknown) > 0 {
		note = fmt.Sprintf(", %d unknown", len(unknown))
	}
	switch {
	case len(r.Verdict) == 0:
		return Mark{Plain, "No success criteria"}
	case len(missed) > 0:
		j := missed[0]
		return Mark{Bad, fmt.Sprintf("%d of %s missed%s (%s was %s, wanted %s)", len(missed), all, note, j.Criterion.Name(), j.Shown, wanted(j))}
	case len(unknown) > 0:
		return Mark{Warn, fmt.Sprintf("%d of %s met%s", len(r.Verdict)-len(unknown), all, note)}
	case len(r.Verdict) == 1:
		return Mark{Good, "The success criterion is met"}
	case len(r.Verdict) == 2:
		return Mark{Good, "Both criteria met"}
	default:
		return Mark{Good, "All " + all + " met"}
	}
}

// wanted returns the bound of a criterion, without the metric if its text repeats it.
func wanted(j *engine.Judgment) string {
	return strings.TrimSpace(strings.TrimPrefix(j.Criterion.Text, j.Criterion.Metric))
}

// CriteriaMet reports whether a run has success criteria and met them all.
func CriteriaMet(r *engine.RunRecord) bool { return len(r.Verdict) > 0 && criteria(r).Tone == Good }

// Exactness describes whether a run's result is exact, and otherwise since when and why not.
func Exactness(r *engine.RunRecord, t *engine.Totals) Mark {
	switch since := inexact(r, t); {
	case since != nil:
		return Mark{Warn, "The result is " + since.String() + "."}
	case r.InProgress || r.Ending == engine.NotEnded:
		return Mark{Good, "The result is exact so far."}
	default:
		return Mark{Good, "The result is exact: the same seed produces the same bytes at any concurrency."}
	}
}

func inexact(r *engine.RunRecord, t *engine.Totals) *engine.Inexact {
	if r.Inexact != nil {
		return r.Inexact
	}
	return t.Inexact
}

func worse(a, b Tone) Tone {
	if a == Bad {
		return a
	}
	return b
}

func sessions(n int64) string {
	if n == 1 {
		return "1 session"
	}
	return engine.FormatCount(n) + " sessions"
}

func upper(text string) string {
	if text == "" {
		return text
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

func lower(text string) string {
	if text == "" {
		return text
	}
	return strings.ToLower(text[:1]) + text[1:]
}

// OutcomeText returns an outcome of sessions for people. The name of a session that a stop step ended could be mistaken for a run that a
// person stopped.
func OutcomeText(o engine.Outcome) string {
	if o == engine.Stopped {
		return "stopped by a step"
	}
	if o == engine.TimedOut {
		return "timed out"
	}
	return o.String()
}
