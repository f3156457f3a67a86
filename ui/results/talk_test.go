package results

import (
	"testing"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/uitest"
)

// TestTranscript reads what was said in the chosen run.
func TestTranscript(t *testing.T) {
	q, s := start(t, &fakeDesk{runs: []engine.RunRecord{record("r", engine.EndFinished)}})
	q.Until("a run is shown", func() bool { return s.chosen != "" && !s.loading })
	s.talk.choice.Pick(transcriptTab)
	q.Until("the conversation is shown", func() bool { return uitest.Shows(s.content, "The harbor first.") })
	if !uitest.Shows(s.content, "pair-3") || s.scroll.Visible() {
		t.Errorf("got %q", uitest.Texts(s.content))
	}
	s.talk.choice.Pick(summaryTab)
	if !s.scroll.Visible() || s.talk.content.Visible() {
		t.Error("the summary does not come back")
	}
}
