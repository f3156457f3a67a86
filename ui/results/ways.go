package results

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// Ways are where a person goes from here; what is nil is not offered.
type Ways struct {
	Setup    func()
	Settings func()
	Clean    func() // to where old runs and checkpoints are deleted
	Replay   func(engine.RunID)
	Compare  func(engine.RunID) // with others
}

// Lead says where a person can go from here. Before, nothing of that is offered.
func (s *Screen) Lead(to Ways) {
	s.to = to
	s.bar.Offer(s.replay, to.Replay != nil)
	s.bar.Offer(s.compare, to.Compare != nil)
	s.empty.launch.Hidden = to.Setup == nil
}

// empty says what to do where there is no run.
type empty struct {
	content *fyne.Container
	launch  *widget.Button
}

func newEmpty(s *Screen) *empty {
	e := &empty{launch: &widget.Button{Text: "Open Setup", Icon: theme.MediaPlayIcon(), Importance: widget.HighImportance, OnTapped: func() { s.to.Setup() }}}
	e.launch.Hide()
	title := widget.NewLabelWithStyle("No run yet", fyne.TextAlignCenter, fyne.TextStyle{Bold: true})
	title.SizeName = theme.SizeNameSubHeadingText
	text := widget.NewLabel("Choose a scenario in Setup and launch it. How it went is shown here: its criteria, its figures, what went wrong, and what to do about it.")
	text.Alignment, text.Wrapping = fyne.TextAlignCenter, fyne.TextWrapWord
	e.content = container.NewVBox(layout.NewSpacer(), title, text, container.NewCenter(e.launch), layout.NewSpacer())
	e.content.Hide()
	return e
}

// mend does what the button of a check says.
func (s *Screen) mend(c engine.Check) {
	way, _ := c.Way()
	switch way {
	case engine.MendAgain:
		s.checkAgain()
	case engine.MendExport:
		s.askExport()
	case engine.MendSend:
		s.send()
	case engine.MendFree:
		s.to.Clean()
	case engine.MendSettings:
		s.to.Settings()
	}
}

// mendable leaves only the buttons that can be pressed here.
func (s *Screen) mendable(all []engine.Check) []engine.Check {
	out := make([]engine.Check, len(all))
	for i, c := range all {
		switch way, _ := c.Way(); way {
		case engine.MendAgain, engine.MendExport, engine.MendSend:
		case engine.MendFree:
			c.Mend = keepIf(s.to.Clean != nil, c.Mend)
		case engine.MendSettings:
			c.Mend = keepIf(s.to.Settings != nil, c.Mend)
		default:
			c.Mend = ""
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

// outcomes are the parts of all sessions.
func outcomes(t *engine.Totals) []widgets.Share {
	all := t.Ended()
	parts := []widgets.Share{
		{Name: "ok", Count: t.Outcomes[engine.OK], Tone: widgets.Good, Icon: theme.ConfirmIcon()},
		{Name: "stopped", Count: t.Outcomes[engine.Stopped], Tone: widgets.Quiet, Icon: theme.MediaStopIcon()},
		{Name: "failed", Count: t.Outcomes[engine.Failed], Tone: widgets.Bad, Icon: theme.CancelIcon()},
		{Name: "timed out", Count: t.Outcomes[engine.TimedOut], Tone: widgets.Warning, Icon: theme.HistoryIcon()},
		{Name: "cancelled", Count: t.Outcomes[engine.Cancelled], Tone: widgets.Neutral, Icon: theme.ContentRemoveIcon()},
	}
	for i := range parts {
		parts[i].Text = shareText(parts[i].Count, all)
	}
	return parts
}
