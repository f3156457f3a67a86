package live

import (
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// draw updates the row.
func (l *history) draw() {
	if l.job == nil || l.job.Past == nil {
		return
	}
	spans := l.spans()
	l.scrubber.SetSpans(spans, l.marks)
	at := l.at
	if !l.active() {
		at = l.end()
	}
	l.scrubber.Set(at)
	text, importance := "History", widget.MediumImportance
	switch {
	case l.active() && l.screen.feed.snap.Phase == engine.Ended:
		text, importance = "To the end", widget.HighImportance
	case l.active():
		text, importance = "Live", widget.HighImportance
	case l.screen.elsewhere():
		text, importance = "To the newest run", widget.HighImportance
	}
	if l.leave.Text != text || l.leave.Importance != importance {
		l.leave.Importance = importance
		l.leave.SetText(text)
		l.content.Refresh()
	}
	icon := theme.MediaPlayIcon()
	if l.playing {
		icon = theme.MediaPauseIcon()
	}
	if l.play.Icon.Name() != icon.Name() {
		l.play.SetIcon(icon)
	}
	for _, b := range []*widget.Button{l.leave, l.earlier, l.play} {
		enable(b, len(spans) > 0 || b == l.leave && l.screen.elsewhere())
	}
	enable(l.later, l.active())
	l.say()
}

// say describes what is shown, or the moment under the pointer.
func (l *history) say() {
	switch {
	case l.hover != "":
		l.says.Set(l.hover, widgets.Neutral)
	case l.trouble != "":
		l.says.Set(l.trouble, widgets.Bad)
	case l.timeline == nil:
		l.says.Set("Loading the history", widgets.Quiet)
	case l.feed != nil:
		l.says.Set(crowdText(l.feed), widgets.Neutral)
	case l.active():
		l.says.Set("Loading that moment", widgets.Quiet)
	default:
		l.says.Set("Drag to open the history", widgets.Quiet)
	}
}

// crowdText counts the agents by state at a moment, the unusual states first.
func crowdText(f *feed) string {
	if f.idle {
		return "Throng was not running"
	}
	counts := f.crowd.Counts()
	var parts []string
	for _, s := range []engine.AgentState{
		engine.AgentInFlight, engine.AgentFailed, engine.AgentTimedOut, engine.AgentCanceled, engine.AgentOK, engine.AgentStopped,
		engine.AgentWaiting, engine.AgentResting, engine.AgentRetired,
	} {
		if counts[s] > 0 {
			parts = append(parts, engine.FormatCount(int64(counts[s]))+" "+s.String())
		}
	}
	return strings.Join(parts, ", ")
}

// scrubRow lays out buttons, the scrubber and the text: in one line, or the scrubber below the others.
type scrubRow struct{ stacked bool }

// MinSize implements [fyne.Layout].
func (r *scrubRow) MinSize(objects []fyne.CanvasObject) fyne.Size {
	hands, scrubber := objects[0].MinSize(), objects[1].MinSize()
	if r.stacked {
		return fyne.NewSize(hands.Width, hands.Height+scrubber.Height)
	}
	return fyne.NewSize(hands.Width, max(hands.Height, scrubber.Height))
}

// Layout implements [fyne.Layout].
func (r *scrubRow) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	hands, scrubber, says := objects[0], objects[1], objects[2]
	gap := 2 * theme.InnerPadding()
	em := theme.TextSize()
	least, words := hands.MinSize(), min(max(size.Width*0.22, 13*em), 19*em)
	line := says.MinSize().Height
	r.stacked = size.Width < least.Width+words+2*gap+16*em
	place(hands, 0, 0, least.Width, least.Height)
	if r.stacked {
		place(says, least.Width+gap, (least.Height-line)/2, max(size.Width-least.Width-gap, 0), line)
		place(scrubber, 0, least.Height, size.Width, scrubber.MinSize().Height)
		return
	}
	hands.Move(fyne.NewPos(0, (size.Height-least.Height)/2))
	place(scrubber, least.Width+gap, 0, max(size.Width-least.Width-words-2*gap, 0), size.Height)
	place(says, size.Width-words, (size.Height-line)/2, words, line)
}
