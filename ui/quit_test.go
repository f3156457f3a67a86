package ui

import (
	"testing"

	"fyne.io/fyne/v2/test"
)

// TestStopEventIsNotQueued checks that the toolkit has no event to queue when it ends, and that what it does then is not lost.
func TestStopEventIsNotQueued(t *testing.T) {
	app := test.NewTempApp(t)
	l, ok := app.Lifecycle().(interface {
		OnStopped() func()
		SetOnStoppedHookExecuted(f func())
	})
	if !ok {
		t.Fatal("the toolkit has changed: see whether it still queues an event at its end")
	}
	var done []string
	l.SetOnStoppedHookExecuted(func() { done = append(done, "preferences") })
	app.Lifecycle().SetOnStopped(func() { done = append(done, "stopped") })
	stopped := WithoutStopEvent(app)
	if l.OnStopped() != nil {
		t.Error("an event is left")
	}
	if stopped(); len(done) != 2 {
		t.Errorf("done is %q", done)
	}
}
