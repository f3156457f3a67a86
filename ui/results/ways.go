package results

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// Ways open other screens. Functions may be nil; their buttons are then hidden.
type Ways struct {
	Setup    func()
	Settings func()
	Clean    func() // opens the deletion of old runs and checkpoints
	Replay   func(engine.RunID)
	Compare  func(engine.RunID) // compares the run with others
	Ask      func(engine.RunID) // asks the agents of the run questions
}

// Lead sets the ways to other screens.
func (s *Screen) Lead(to Ways) {
	s.to = to
	s.bar.Offer(s.replay, to.Replay != nil)
	s.bar.Offer(s.compare, to.Compare != nil)
	s.bar.Offer(s.ask, to.Ask != nil)
	s.empty.launch.Hidden = to.Setup == nil
}

// empty is shown if there are no runs.
type empty struct {
	content *fyne.Container
	launch  *widget.Button
}

func newEmpty(s *Screen) *empty {
	e := &empty{launch: &widget.Button{Text: "Open Setup", Icon: theme.MediaPlayIcon(), Importance: widget.HighImportance, OnTapped: func() { s.to.Setup() }}}
	e.launch.Hide()
	title := widget.NewLabelWithStyle("No runs yet", fyne.TextAlignCenter, fyne.TextStyle{Bold: true})
	title.SizeName = theme.SizeNameSubHeadingText
	text := widget.NewLabel("Launch a scenario in Setup. Its results appear here: criteria, figures, errors and advice.")
	text.Alignment, text.Wrapping = fyne.TextAlignCenter, fyne.TextWrapWord
	e.content = container.NewVBox(layout.NewSpacer(), title, text, container.NewCenter(e.launch), layout.NewSpacer())
	e.content.Hide()
	return e
}

// mend does what a check's button offers.
func (s *Screen) mend(c engine.Check) {
	way, _ := c.FixAction()
	switch way {
	case engine.FixAgain:
		s.checkAgain()
	case engine.FixExport:
		s.askExport()
	case engine.FixSend:
		s.send()
	case engine.FixFree:
		s.to.Clean()
	case engine.FixSettings:
		s.to.Settings()
	}
}

// mendable removes the buttons that are not possible here.
func (s *Screen) mendable(all []engine.Check) []engine.Check {
	out := make([]engine.Check, len(all))
	for i, c := range all {
		switch way, _ := c.FixAction(); way {
		case engine.FixAgain, engine.FixExport, engine.FixSend:
		case engine.FixFree:
			c.Fix = keepIf(s.to.Clean != nil, c.Fix)
		case engine.FixSettings:
			c.Fix = keepIf(s.to.Settings != nil, c.Fix)
		default:
			c.Fix = ""
		}
		out[i] = c
	}
	return out
}

func keepIf(is bool, text string) string {
	if is {
		return text
	}
	return ""
}

// outcomeShares returns the shares of the sessions' outcomes.
func outcomeShares(t *engine.Totals) []widgets.Share {
	all := t.Ended()
	parts := []widgets.Share{
		{Name: "ok", Count: t.Outcomes[engine.OK], Tone: widgets.Good, Icon: theme.ConfirmIcon()},
		{Name: view.OutcomeText(engine.Stopped), Count: t.Outcomes[engine.Stopped], Tone: widgets.Quiet, Icon: theme.MediaStopIcon()},
		{Name: "failed", Count: t.Outcomes[engine.Failed], Tone: widgets.Bad, Icon: theme.CancelIcon()},
		{Name: "timed out", Count: t.Outcomes[engine.TimedOut], Tone: widgets.Warning, Icon: theme.HistoryIcon()},
		{Name: "canceled", Count: t.Outcomes[engine.Canceled], Tone: widgets.Neutral, Icon: theme.ContentRemoveIcon()},
	}
	for i := range parts {
		parts[i].Text = shareText(parts[i].Count, all)
	}
	return parts
}
