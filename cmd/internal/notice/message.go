// Package notice sends notifications about a run: to a webhook as JSON, to Slack, ntfy, Discord, Microsoft Teams or Telegram.
package notice

import (
	"strconv"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/run"
	"github.com/throng-sim/throng/engine/view"
)

// Message is a notification as the kind json sends it. The guide documents its fields.
type Message struct {
	Event    string    `json:"event"` // one of view.NotificationKinds, or test
	Run      string    `json:"run,omitempty"`
	Scenario string    `json:"scenario,omitempty"`
	When     time.Time `json:"when"`
	Title    string    `json:"title"`
	Text     string    `json:"text"`
	// Again is how many more events of this kind occurred since the last notification.
	Again    int             `json:"again,omitempty"`
	Progress *view.Progress  `json:"progress,omitempty"`
	Passed   *bool           `json:"passed,omitempty"` // at the end: whether the run finished and met all criteria
	Criteria []view.Judgment `json:"criteria,omitempty"`

	urgent bool
}

// headline returns the title shown to people.
func (m *Message) headline() string {
	title := m.Title
	if m.Scenario != "" {
		title = m.Scenario + ": " + title
	}
	return title
}

// Test returns a test notification.
func Test(now time.Time) *Message {
	return &Message{Event: "test", When: now.UTC(), Title: "Test notification", Text: "Notifications about runs will arrive here."}
}

// messageOf returns the message for an event of a run.
func messageOf(n view.Notification, s *engine.Snapshot, scenario string) *Message {
	p := view.NewProgress(s)
	return &Message{
		Event: string(n.Occasion), Run: string(s.Run), Scenario: scenario, When: p.At, Title: n.Title, Text: n.Text, urgent: view.KindOf(n.Occasion).Urgent,
		Progress: &p,
	}
}

// judge adds the verdict of a run that has ended.
func (m *Message) judge(r *run.Result) {
	passed := r.Passed()
	m.Passed, m.Criteria = &passed, view.NewJudgments(r.Verdict)
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
