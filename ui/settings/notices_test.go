package settings

import (
	"errors"
	"testing"

	"fyne.io/fyne/v2/test"

	"github.com/throng-sim/throng/engine"
)

// TestNotices tests, saves and removes a webhook.
func TestNotices(t *testing.T) {
	s := shown(t, &fakeDesk{})
	n := s.screen.notices
	s.until("Not set.")
	if !n.test.Disabled() || !n.save.Disabled() || !n.forget.Disabled() {
		t.Error("a button is enabled without an address")
	}
	test.Type(n.url, "https://hooks.slack.com/x")
	s.tap("Send test")
	s.until("The server answered 200 OK")
	s.asks("test hook  https://hooks.slack.com/x")
	n.kind.SetSelected("JSON")
	test.Tap(n.save)
	s.asks("save hook json https://hooks.slack.com/x")
	s.until("Sent to hooks.slack.com (Slack).")
	s.until("Applies to new runs")
	if n.url.Text != "" || n.forget.Disabled() {
		t.Errorf("the address stays: %q", n.url.Text)
	}
	n.kind.SetSelected(byHost)
	test.Tap(n.test)
	s.asks("test hook  ") // the one that is kept
	s.until("The server answered")

	s.desk.set(func() { s.desk.err = &engine.FieldError{Field: "notify", Problem: "is not the address of a web hook"} })
	test.Type(n.url, "x")
	test.Tap(n.save)
	s.until("is not the address of a web hook")
	s.desk.set(func() { s.desk.err = errors.New("hooks.slack.com: it answered 403 Forbidden") })
	test.Tap(n.test)
	s.until("it answered 403 Forbidden")
	s.desk.set(func() { s.desk.err = nil })
	test.Tap(n.forget)
	s.until("Forgotten")
	s.until("Not set.")

	s.desk.set(func() { s.desk.hook = Hook{Kind: "ntfy", Host: "ntfy.sh", From: "THRONG_NOTIFY_URL"} })
	n.load()
	s.until("environment variable THRONG_NOTIFY_URL")
	s.desk.set(func() { s.desk.hook = Hook{Kind: "ntfy", Host: "ntfy.sh", From: "saved", Asks: true} })
	n.load()
	s.until("kept only until the program ended")
}
