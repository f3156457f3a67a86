package wizard

import (
	"fmt"
	"testing"
	"time"

	"fyne.io/fyne/v2"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/uitest"
)

func TestRecord(t *testing.T) {
	f := &fake{recorded: true}
	st := newStage(t, f)
	st.source.address.SetText("http://127.0.0.1:8000")
	st.tap("Record…")
	if st.record.target.Text != "http://127.0.0.1:8000" || !uitest.Button(st.top(), "Stop and use").Disabled() {
		t.Errorf("shown: %q", uitest.Texts(st.top()))
	}
	st.key(fyne.KeyReturn)
	st.until("Use http://127.0.0.1:8899 in place of http://127.0.0.1:8000")
	if f.order != (Recording{Listen: "127.0.0.1:8899", Target: "http://127.0.0.1:8000"}) {
		t.Errorf("recorded %+v", f.order)
	}
	f.each(Exchange{Request: "POST /login", Status: 200, Took: 12 * time.Millisecond})
	f.each(Exchange{Request: "GET /logo.png", Status: 404})
	f.each(Exchange{Request: "GET /gone"})
	st.Tick()
	for _, text := range []string{"3 requests recorded.", "POST /login", "12 ms", "404", "none"} {
		if !st.shows(text) {
			t.Errorf("%q is not shown: %q", text, uitest.Texts(st.top()))
		}
	}
	st.tap("Stop and use")
	st.until("Step 2 of 3")
	if got := f.reads[0]; string(got.Text) != "recorded" || got.Second != nil || f.stops != 1 {
		t.Errorf("read %+v, stopped %d times", got, f.stops)
	}
	st.steps.toggle("GET /health")
	st.tap("Add a second recording…")
	if st.shows("API description") || !st.shows("Values that differ between the two") {
		t.Errorf("shown: %q", uitest.Texts(st.top()))
	}
	st.tap("Record…")
	st.tap("Start")
	st.until("Use http://127.0.0.1:8899")
	f.each(Exchange{Request: "POST /login", Status: 200})
	st.Tick()
	st.tap("Stop and use")
	st.q.Until("both are read", func() bool { f.mu.Lock(); defer f.mu.Unlock(); return len(f.reads) == 2 })
	st.until("Step 2 of 3")
	if got := f.reads[1]; string(got.Text) != "recorded" || got.Second == nil || string(got.Second.Text) != "recorded" {
		t.Errorf("read %+v", got)
	}
	if uitest.Button(st.top(), "Add a second recording…") != nil {
		t.Error("a third recording is offered")
	}
}

func TestRecordingThatIsAbandoned(t *testing.T) {
	f := &fake{}
	st := newStage(t, f)
	st.tap("Record…")
	st.record.target.SetText("localhost:3000")
	st.tap("Start")
	st.until("in place of http://localhost:3000")
	f.each(Exchange{Request: "GET /", Status: 200})
	st.Tick()
	st.tap("Back")
	st.until("1 request recorded so far.")
	st.tap("Continue")
	st.tap("Back")
	st.tap("Discard")
	st.q.Until("stopped", func() bool { f.mu.Lock(); defer f.mu.Unlock(); return f.stops == 1 })
	if st.shown != st.source || st.record.count() != 0 {
		t.Error("the recording continues")
	}
	f.each(Exchange{Request: "GET /late", Status: 200}) // it was in flight
	if st.record.count() != 0 {
		t.Error("an abandoned recording is continued")
	}
	st.tap("Record…")
	st.tap("Start")
	st.until("in place of")
	st.key(fyne.KeyEscape)
	st.tap("Discard")
	st.q.Until("stopped", func() bool { f.mu.Lock(); defer f.mu.Unlock(); return f.stops == 2 })
	if st.IsOpen() {
		t.Error("the dialog is open")
	}
}

func TestRecorderThatDoesNotStart(t *testing.T) {
	f := &fake{startErr: &engine.FieldError{Field: "listen", Problem: "another program uses port 8899", Hint: "choose another port"}}
	st := newStage(t, f)
	st.tap("Record…")
	st.record.target.SetText("http://localhost:3000")
	st.tap("Start")
	st.until("another program uses port 8899 (choose another port)")
	if uitest.Button(st.top(), "Start").Disabled() {
		t.Error("it cannot be started again")
	}
	st.record.listen.SetText("127.0.0.1:8900")
	if st.shows("another program") {
		t.Error("the problem stays after a change")
	}
}

func TestLongRecordingsKeepTheNewest(t *testing.T) {
	f := &fake{}
	st := newStage(t, f)
	st.tap("Record…")
	st.record.target.SetText("http://localhost:3000")
	st.tap("Start")
	st.until("in place of")
	for i := range 3*mostRecorded + 1 {
		f.each(Exchange{Request: fmt.Sprintf("GET /%d", i), Status: 200})
	}
	st.Tick()
	if !st.shows(fmt.Sprintf("GET /%d", 3*mostRecorded)) || st.record.count() != 3*mostRecorded+1 || len(st.record.came) > 2*mostRecorded {
		t.Errorf("shown: %q", uitest.Texts(st.top())[:20])
	}
}

// TestRecordingOfABackendThatIsDown checks that the page says why there is no answer, and stops saying so when there is one.
func TestRecordingOfABackendThatIsDown(t *testing.T) {
	const down = "127.0.0.1:4999 did not answer: connection refused"
	f := &fake{trouble: down}
	st := newStage(t, f)
	st.tap("Record…")
	st.record.target.SetText("http://127.0.0.1:4999/api")
	st.tap("Start")
	st.until(down + ". Start the backend; the recorder is ready at http://127.0.0.1:8899.")
	f.each(Exchange{Request: "GET /", Failure: "connection reset"})
	st.Tick()
	if !st.shows("127.0.0.1:4999 did not answer: connection reset. Start the backend") || !st.shows("1 request recorded.") {
		t.Errorf("shown: %q", uitest.Texts(st.top()))
	}
	f.each(Exchange{Request: "GET /", Status: 200})
	st.Tick()
	if st.shows("did not answer") || !st.shows("2 requests recorded.") {
		t.Errorf("shown: %q", uitest.Texts(st.top()))
	}
}
