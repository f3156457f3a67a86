// Package notice tells people who look elsewhere what happens to a run: by a web hook, as JSON, to Slack or to ntfy.
package notice

import (
	"strconv"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/run"
	"github.com/throng-sim/throng/engine/view"
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
	Again    int              `json:"again,omitempty"`
	Progress *view.Progress   `json:"progress,omitempty"`
	Passed   *bool            `json:"passed,omitempty"` // at the end: that it finished and met all criteria
	Criteria []view.Judgement `json:"criteria,omitempty"`

	urgent bool
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
	p := view.NewProgress(s)
	return &Message{
		Event: string(n.Occasion), Run: string(s.Run), Scenario: scenario, When: p.At, Title: n.Title, Text: n.Text, urgent: engine.KindOf(n.Occasion).Urgent,
		Progress: &p,
	}
}

// judge adds what a run that ended came to.
func (m *Message) judge(r *run.Result) {
	passed := r.Passed()
	m.Passed, m.Criteria = &passed, view.NewJudgements(r.Verdict)
	missed := 0
	for _, j := range r.Verdict {
		if !j.Passed && !j.Unknown {
			missed++
		}
	}
	if missed > 0 {
		m.urgent = true
		m.Text += " Criteria missed: " + strconv.Itoa(missed) + " of " + strconv.Itoa(len(r.Verdict)) + "."
	}
}
