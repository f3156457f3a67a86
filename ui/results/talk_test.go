package results

import (
	"context"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/agreement"
	"github.com/throng-sim/throng/engine/validation"
	"github.com/throng-sim/throng/engine/voices"
	"github.com/throng-sim/throng/ui/study"
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

// studies is a desk for runs without answers of models and without surveys.
type studies struct{ study.Desk }

func (studies) Voices(context.Context, engine.RunID) (*voices.Crowd, error) {
	return &voices.Crowd{}, nil
}

func (studies) Agreement(context.Context, engine.RunID) (*agreement.Result, error) {
	return &agreement.Result{}, nil
}

func (studies) Surveys(context.Context, engine.RunID) ([]engine.RunRecord, error) { return nil, nil }

func (studies) RealData(context.Context, engine.RunID, string, []string) (*validation.Result, error) {
	return nil, nil //nolint:nilnil // the scenario names no file
}

// TestStudies shows the tabs for studies, and a survey that was just asked.
func TestStudies(t *testing.T) {
	q := uitest.Start(t)
	desk := &fakeDesk{runs: []engine.RunRecord{record("new", engine.EndFinished), record("old", engine.EndFinished)}}
	s := New(desk, studies{}, test.NewTempWindow(t, nil))
	s.content.Resize(fyne.NewSize(1100, 700))
	asked := engine.RunID("")
	s.Lead(Ways{Ask: func(run engine.RunID) { asked = run }})
	s.Show()
	wait(q, s)
	for tab, want := range map[int]string{realDataTab: "No real data to compare with.", voicesTab: "No answers of models were kept.", rulesTab: "No step of this run asked both a model and a rule.", surveysTab: "No surveys among these agents yet."} {
		s.talk.choice.Pick(tab)
		q.Until(want, func() bool { return uitest.Shows(s.content, want) })
	}
	s.talk.choice.Pick(summaryTab)
	s.ShowSurvey("old")
	wait(q, s)
	q.Until("the survey is shown", func() bool { return s.chosen == "old" && s.talk.choice.Chosen() == surveysTab && !s.scroll.Visible() })
	if s.ask.OnTapped(); asked != "old" {
		t.Errorf("the agents of %q are asked", asked)
	}
	if alone := New(desk, nil, test.NewTempWindow(t, nil)); len(alone.talk.choice.Options()) != 3 {
		t.Errorf("without studies there are the tabs %q", alone.talk.choice.Options())
	}
}
