package settings

import (
	"errors"
	"testing"

	"fyne.io/fyne/v2/test"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/uitest"
)

// TestNotices tests, saves and removes a webhook.
func TestNotices(t *testing.T) {
	s := shown(t, Notifications, &fakeDesk{})
	n := s.screen.notices
	s.until("Not set.")
	for _, button := range []string{"Send test", "Save"} {
		s.tap(button)
		if !s.shows("missing address") || s.desk.count() != 0 {
			t.Errorf("%s without an address: %q, %q", button, s.desk.asked, uitest.Texts(n.panel))
		}
		n.url.OnChanged("")
	}
	if uitest.Button(n.panel, "Forget") != nil {
		t.Error("there is something to forget")
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
	if n.url.Text != "" || uitest.Button(n.panel, "Forget") == nil {
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
