package ui

import (
	"strings"
	"testing"

	"fyne.io/fyne/v2/test"

	"github.com/throng-sim/throng/ui/experiments"
	"github.com/throng-sim/throng/ui/uitest"
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

// TestClosingSaysWhatStops checks the question before the window closes.
func TestClosingSaysWhatStops(t *testing.T) {
	prices := []experiments.Work{{Title: "Prices"}}
	for _, c := range []struct {
		of    unfinished
		title string
		texts []string
	}{
		{unfinished{}, "", nil},
		{unfinished{run: true}, "A run is in progress", []string{"You can resume it in Runs."}},
		{unfinished{calibration: true}, "A calibration is in progress", []string{"results are discarded"}},
		{unfinished{experiments: prices}, "An experiment is in progress", []string{"The experiment “Prices” stops. It continues later with Experiments > Continue."}},
		{unfinished{experiments: []experiments.Work{{Title: "Prices", Queued: true}}}, "An experiment is queued", []string{"“Prices” leaves the queue."}},
		{unfinished{launch: true}, "A launch is queued", []string{"will be lost"}},
		{unfinished{experiments: prices, launch: true}, "An experiment is in progress", []string{"“Prices” stops", "The launch that is queued in Setup will be lost."}},
		{unfinished{run: true, experiments: prices}, "A run is in progress", []string{"resume it in Runs", "“Prices” stops"}},
	} {
		title, text := c.of.question()
		if lines := strings.Split(text, "\n\n"); title != c.title || text != "" && len(lines) != len(c.texts) {
			t.Errorf("%+v: asked %q: %q", c.of, title, text)
		}
		for _, want := range c.texts {
			if !strings.Contains(text, want) {
				t.Errorf("%+v: asked %q, want %q", c.of, text, want)
			}
		}
	}
}

// TestCloseWhileAnExperimentIsInProgress checks that closing the window asks, and that there is no run to wait for.
func TestCloseWhileAnExperimentIsInProgress(t *testing.T) {
	d := &desk{working: []experiments.Work{{Path: "/mine/prices.experiment.yaml", Title: "Does eagerness pay?"}}}
	q, a, fake := start(t, d)
	a.close()
	if a.overlay() == nil || !uitest.Shows(a.overlay(), "Does eagerness pay?") || uitest.Shows(a.overlay(), "checkpoint") {
		t.Fatalf("asked %q", uitest.Texts(a.overlay()))
	}
	q.Tap(a.overlay(), "Keep running")
	if fake.quit != 0 || a.overlay() != nil {
		t.Error("the experiment was not kept running")
	}
	a.showLive()
	q.Tap(a.current.Content(), "Open Experiments")
	q.Until("it is shown", func() bool { return a.current.title == experimentsTitle && a.experiments.Chosen() == d.working[0].Path })
	a.close()
	q.Tap(a.overlay(), "Stop and close")
	if fake.quit != 1 || d.was("stop, cut false") != 0 {
		t.Errorf("quit %d times, and stopped a run %d times", fake.quit, d.was("stop, cut false"))
	}
}
