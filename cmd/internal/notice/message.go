// Package notice tells people who look elsewhere what happens to a run: by a web hook, as JSON, to Slack or to ntfy.
package notice

import (
	"strconv"
	"time"

	"github.com/throng-sim/throng/engine"
)

// Message is a notice as the kind json sends it. The guide documents it: a field that is there stays.
type Message struct {
	Event    string    `json:"event"` // one of engine.NoticeKinds, or test
	Run      string    `json:"run,omitempty"`
	Scenario string    `json:"scenario,omitempty"`
	When     time.Time `json:"when"`
	Title    string    `json:"title"`
	Text     string    `json:"text"`
	// Again is how often the same happened since it was told last, and was not told.
	Again   int         `json:"again,omitempty"`
	Figures *Figures    `json:"figures,omitempty"`
	Passed  *bool       `json:"passed,omitempty"` // at the end: that it finished and met all criteria
	Verdict []Criterion `json:"verdict,omitempty"`

	urgent bool
}

// Figures are how a run does at the moment of a notice.
type Figures struct {
	Phase      string  `json:"phase"`
	Cycle      int     `json:"cycle"`  // of the open one, from 0
	Cycles     int     `json:"cycles"` // 0 where the run ends by the clock
	Sessions   int64   `json:"sessions"`
	Total      int64   `json:"total"` // 0 where it is not known
	Failed     int64   `json:"failed"`
	Limit      int     `json:"limit"`
	InFlight   int     `json:"in_flight"`
	Requests   int64   `json:"requests"`
	Refused    int64   `json:"refused"` // 429s
	Dollars    float64 `json:"dollars"`
	Seconds    float64 `json:"seconds"`     // of all processes that worked on it
	P95Seconds float64 `json:"p95_seconds"` // of sessions
}

// Criterion is one of the scenario's, judged at the end.
type Criterion struct {
	Metric string `json:"metric"`
	Wanted string `json:"wanted"`
	Was    string `json:"was"`
	Passed bool   `json:"passed"`
}

// headline is the title for people.
func (m *Message) headline() string {
	title := m.Title
	if m.Scenario != "" {
		title = m.Scenario + ": " + title
	}
	return title
}

// Test is a notice that a person asks for, to see whether it arrives.
func Test(now time.Time) *Message {
	return &Message{Event: "test", When: now.UTC(), Title: "Throng can be heard here", Text: "This is a test. Notices of runs come here from now on."}
}

// messageOf is what is sent of a notice.
func messageOf(n engine.Notice, s *engine.Snapshot, scenario string) *Message {
	return &Message{
		Event: string(n.Occasion), Run: string(s.Run), Scenario: scenario, When: s.At.UTC(), Title: n.Title, Text: n.Text, urgent: engine.KindOf(n.Occasion).Urgent,
		Figures: &Figures{
			Phase: s.Phase.String(), Cycle: s.Cycle, Cycles: s.Cycles, Sessions: s.Ended, Total: s.Total,
			Failed: s.Outcomes[engine.Failed] + s.Outcomes[engine.TimedOut], Limit: s.Limit, InFlight: s.InFlight,
			Requests: s.Requests, Refused: s.RateLimited, Dollars: float64(s.Budget.Spent.Cost) / 1e9,
			Seconds: s.Elapsed.Seconds(), P95Seconds: s.Latency.P95.Seconds(),
		},
	}
}

// judge adds what a run that ended came to.
func (m *Message) judge(r *engine.Result) {
	passed := r.Passed()
	m.Passed = &passed
	missed := 0
	for _, j := range r.Verdict {
		m.Verdict = append(m.Verdict, Criterion{j.Criterion.Metric, j.Criterion.Text, j.Shown, j.Passed})
		if !j.Passed && !j.Unknown {
			missed++
		}
	}
	if missed > 0 {
		m.urgent = true
		m.Text += " Criteria missed: " + strconv.Itoa(missed) + " of " + strconv.Itoa(len(r.Verdict)) + "."
	}
}
