package setup

import (
	"maps"

	"fyne.io/fyne/v2"
)

// TourScenario is the scenario of the tour.
const TourScenario = "shopping"

// TourParameters are the parameters of the tour's run. In each of 24 cycles, shoppers think for up to 8 seconds of wall time. So the run takes at
// least two minutes on any machine and at any limit: 2m45s with all shoppers in flight, 4m with the default limit.
var TourParameters = map[string]string{"eagerness": "3", "think_seconds": "4"}

// tourSays describes TourParameters.
const tourSays = "Set for the tour: eagerness 3 and think time 4 s. The run takes at least two minutes, so that you have time to steer it. Your own values return after the tour."

// touring is the setup of the tour's run, and what it replaced.
type touring struct {
	before  subject
	given   map[string]string
	written typed
	taking  selection
}

// Button returns the button that launches.
func (s *Screen) Button() fyne.CanvasObject { return s.bar.launch }

// Tour sets up the run of the tour.
func (s *Screen) Tour() {
	x := subject{scenario: TourScenario}
	s.tour = &touring{s.subject, s.kept[x], s.written[x], s.chosen[x]}
	s.set(x, maps.Clone(TourParameters), nil, selection{})
}

// ShowsTour reports whether the scenario of the tour is selected.
func (s *Screen) ShowsTour() bool { return s.subject == (subject{scenario: TourScenario}) }

// tourHint describes the setup of the tour's run, while that is shown.
func (s *Screen) tourHint() string {
	if s.tour == nil || !s.ShowsTour() {
		return ""
	}
	return tourSays
}

// TourOver returns to what was set up before the tour, unless the user has changed the tour's run.
func (s *Screen) TourOver() {
	t, x := s.tour, subject{scenario: TourScenario}
	if t == nil {
		return
	}
	s.tour = nil
	s.head.hint(s.tourHint())
	if s.launching || s.subject != x || !maps.Equal(s.kept[x], TourParameters) || len(s.written[x]) > 0 {
		s.changed() // remembers them
		return
	}
	s.set(x, t.given, t.written, t.taking)
	if t.before != x && t.before != (subject{}) {
		s.choose(t.before)
	}
}

// set sets up a scenario with other values.
func (s *Screen) set(x subject, given map[string]string, written typed, taking selection) {
	s.kept[x], s.written[x], s.chosen[x] = given, written, taking
	s.scenario = nil // everything is filled again
	s.choose(x)
}
