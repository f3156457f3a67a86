package ui

import "fyne.io/fyne/v2"

// WithoutStopEvent has the toolkit end without its last event, and returns what that would do, for the caller to run afterward. The
// toolkit (2.8.1) queues the event for another goroutine and closes its queue at the same time: if that goroutine is late, it panics
// with "send on closed channel", or the program waits for the event forever.
func WithoutStopEvent(app fyne.App) (stopped func()) {
	l, ok := app.Lifecycle().(interface {
		OnStopped() func()
		SetOnStoppedHookExecuted(f func())
	})
	if !ok {
		return func() {}
	}
	stopped = l.OnStopped()
	l.SetOnStoppedHookExecuted(nil)
	app.Lifecycle().SetOnStopped(nil)
	if stopped == nil {
		return func() {}
	}
	return stopped
}
