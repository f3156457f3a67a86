// Package words formats what several screens show of a run.
package words

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// State returns what a run does, or how it ended, and the tone.
func State(r *engine.RunRecord) (word string, tone widgets.Tone) {
	tone = widgets.Bad
	switch {
	case r.Damage != "":
	case r.InProgress:
		tone = widgets.Accent
	case r.Queued != "":
		tone = widgets.Quiet
	case r.Ending == engine.NotEnded, r.Ending == engine.EndOutOfBudget:
		tone = widgets.Warning
	case r.Ending == engine.EndFinished && !allFailed(r):
		tone = widgets.Good
	case r.Ending == engine.EndStopped:
		tone = widgets.Quiet
	}
	return r.State(), tone
}

// allFailed reports whether no session of a run ended well.
func allFailed(r *engine.RunRecord) bool { return r.Tally.Failed > 0 && r.Tally.Failed >= r.Done }

// Glyph returns the icon next to the word of [State], which distinguishes states without color.
func Glyph(r *engine.RunRecord) fyne.Resource {
	switch {
	case r.Damage != "":
		return theme.ErrorIcon()
	case r.InProgress:
		return theme.MediaPlayIcon()
	case r.Queued != "":
		return theme.HistoryIcon()
	case r.Fetched != nil && r.Ending == engine.NotEnded:
		return theme.ComputerIcon()
	case r.Ending == engine.NotEnded:
		return theme.WarningIcon()
	case r.Ending == engine.EndFinished && !allFailed(r):
		return theme.ConfirmIcon()
	case r.Ending == engine.EndStopped:
		return theme.MediaStopIcon()
	case r.Ending == engine.EndOutOfBudget:
		return theme.MediaPauseIcon()
	}
	return theme.CancelIcon()
}

// Stamp formats a moment of wall time.
func Stamp(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05") }

// Drawn returns a text of the engine without characters that the window's font lacks.
func Drawn(text string) string { return strings.ReplaceAll(text, " → ", " to ") }

// OfAgent reports whether a change concerns the agent in its Old; its New is for the engine.
func OfAgent(what string) bool { return what == engine.RetireChange || what == engine.RequeueChange }

// NewParagraph returns the text of a dialog, wrapped to the window.
func NewParagraph(win fyne.Window, text string) fyne.CanvasObject {
	label := widget.NewLabel(text)
	label.Selectable = true
	most := win.Canvas().Size().Width * 0.8
	if label.MinSize().Width <= most {
		return label
	}
	label.Wrapping = fyne.TextWrapWord
	label.Refresh()
	label.Resize(fyne.NewSize(most, 0))
	return container.NewGridWrap(fyne.NewSize(most, label.MinSize().Height), label)
}

// ShowErrors shows a class's latest errors in full, newest first, what helps, and buttons that close the dialog.
func ShowErrors(win fyne.Window, notes []engine.ErrorNote, do ...*widget.Button) {
	last := &notes[0]
	title := fmt.Sprintf("%s: %s", last.Class, engine.FormatCount(last.Count))
	var parts []fyne.CanvasObject
	for i := range notes {
		n := &notes[i]
		text := widget.NewLabel(n.Message)
		text.Wrapping, text.Selectable = fyne.TextWrapWord, true
		where := fmt.Sprintf("Cycle %d, agent %s, step %s", n.Cycle, n.AgentName(), n.Path)
		switch {
		case i > 0:
			where += ", before that"
		case last.Count > 1:
			where = fmt.Sprintf("The last of %s: cycle %d, agent %s, step %s", engine.FormatCount(n.Count), n.Cycle, n.AgentName(), n.Path)
		}
		parts = append(parts, widgets.NewCaption(where), text)
	}
	help := widget.NewLabel(remedies[last.Class])
	help.Wrapping = fyne.TextWrapWord
	show := dialog.NewCustomWithoutButtons(title, container.NewBorder(nil, help, nil, nil, container.NewVScroll(container.NewVBox(parts...))), win)
	buttons := []fyne.CanvasObject{widget.NewButton("Close", show.Hide)}
	for _, b := range do {
		then := b.OnTapped
		b.OnTapped = func() {
			show.Hide()
			then()
		}
		buttons = append(buttons, b)
	}
	show.SetButtons(buttons)
	size := win.Canvas().Size()
	show.Resize(fyne.NewSize(size.Width*0.6, size.Height*0.5))
	widgets.Ask(win, show, show.Dismiss)
}

// Brief rounds a number to five digits. Exports have all digits.
func Brief(value string) string {
	if v, err := strconv.ParseFloat(value, 64); err == nil && strings.Contains(value, ".") && len(value) > 8 {
		return strconv.FormatFloat(v, 'g', 5, 64)
	}
	return value
}
