package results

import (
	"testing"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/uitest"
)

// TestTranscript reads what was said in the chosen run, and its events.
func TestTranscript(t *testing.T) {
	q, s := start(t, &fakeDesk{runs: []engine.RunRecord{record("r", engine.EndFinished)}})
	q.Until("a run is shown", func() bool { return s.chosen != "" && !s.loading })
	s.talk.choice.Pick(transcriptTab)
	q.Until("the conversation is shown", func() bool { return uitest.Shows(s.content, "The harbor first.") })
	if !uitest.Shows(s.content, "pair-3") || s.scroll.Visible() {
		t.Errorf("got %q", uitest.Texts(s.content))
	}
	s.talk.choice.Pick(eventsTab)
	q.Until("the events are shown", func() bool { return uitest.Shows(s.content, "41.5") })
	for _, want := range []string{"total", "coupon", "SPRING", "7", "pair-4"} {
		if !uitest.Shows(s.content, want) {
			t.Errorf("the events do not show %q: %q", want, uitest.Texts(s.content))
		}
	}
	if uitest.Shows(s.content, "The harbor first.") {
		t.Error("the transcript is shown as well")
	}
	s.talk.choice.Pick(summaryTab)
	if !s.scroll.Visible() || s.talk.content.Visible() {
		t.Error("the summary does not come back")
	}
}
