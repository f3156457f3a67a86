package results

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// spent shows where the time of a run went, and what kept it from being faster.
type spent struct {
	panel  *widgets.Panel
	shares *widgets.Shares
	limit  *widgets.Notice
	lines  *widgets.Sheet
}

func newSpent() *spent {
	s := &spent{shares: widgets.NewShares(), limit: widgets.NewNotice()}
	s.lines = widgets.NewSheet([]widgets.Column{
		{Title: "Time went to", Sample: "mmjournal's writer"},
		{Title: "Share", Sample: "under 0.1 %", Align: fyne.TextAlignTrailing},
		{Title: "What it is", Sample: "until intents were durable", Weight: 1},
	}, "", nil)
	gap := theme.Padding()
	s.panel = widgets.NewPanel("Where the time went", form.NewStack(container.New(layout.NewCustomPaddedLayout(gap, gap, 0, 0), s.shares), s.limit, s.lines))
	return s
}

// purposeMarks are how the parts of the time are told apart.
var purposeMarks = map[engine.Purpose]struct {
	tone widgets.Tone
	icon fyne.Resource
}{
	engine.ForServices: {widgets.Accent, theme.ComputerIcon()},
	engine.ForRefusals: {widgets.Bad, theme.ErrorIcon()},
	engine.ForScripts:  {widgets.Good, theme.DocumentIcon()},
	engine.ForThinking: {widgets.Quiet, theme.HistoryIcon()},
	engine.ForPacing:   {widgets.Neutral, theme.MediaPauseIcon()},
	engine.ForJournal:  {widgets.Warning, theme.StorageIcon()},
	engine.ForEngine:   {widgets.Warning, theme.SettingsIcon()},
}

func (s *spent) show(r *engine.RunRecord, t *engine.Totals) {
	o := &t.Peaks.Overhead
	s.panel.Hidden = o.Span <= 0
	var parts []widgets.Share
	for _, p := range engine.Purposes() {
		mark := purposeMarks[p]
		parts = append(parts, widgets.Share{Name: p.String(), Count: int64(o.Times[p]), Text: engine.FormatDuration(o.Times[p]), Tone: mark.tone, Icon: mark.icon})
	}
	s.shares.Set(parts)
	text, tone := "", widgets.Quiet
	if b := o.Bottleneck(r.Limit, ""); b.Kind != engine.Unbound {
		text = b.String() + "  ·  " + b.Advice
		if b.Kind.IsHere() {
			tone = widgets.Warning
		}
	}
	s.limit.Say(text, tone)
	var rows []widgets.Row
	for _, line := range o.Lines(t.Peaks.Late) {
		rows = append(rows, widgets.Row{Key: line.Name, Cells: []widgets.Cell{{Text: line.Name}, {Text: line.Value}, {Text: line.About, Tone: widgets.Quiet}}})
	}
	s.lines.SetRows(rows)
}
