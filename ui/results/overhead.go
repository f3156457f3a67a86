package results

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/health"
	"github.com/throng-sim/throng/ui/internal/chart"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/internal/words"
)

// spent shows how the time of a run was spent, and what limited its throughput.
type spent struct {
	panel  *widgets.Panel
	shares *widgets.Shares
	limit  *widgets.Notice
	lines  *widgets.Sheet
}

func newSpent() *spent {
	s := &spent{shares: widgets.NewShares(), limit: widgets.NewNotice()}
	s.lines = widgets.NewSheet(words.OverheadColumns("Activity"), "", nil)
	gap := theme.Padding()
	s.panel = widgets.NewPanel("Time spent", form.NewStack(container.New(layout.NewCustomPaddedLayout(gap, gap, 0, 0), s.shares), s.limit, s.lines))
	return s
}

// purposeMarks are the colors and signs of the activities. The colors remain distinct for people with color blindness; requested waiting is
// gray.
var purposeMarks = map[engine.Purpose]struct {
	color fyne.ThemeColorName
	icon  func() fyne.Resource // the icon needs a running application
}{
	engine.ForServices: {chart.ColorSeries1, theme.ComputerIcon},
	engine.ForRefusals: {chart.ColorLimit, theme.ErrorIcon},
	engine.ForScripts:  {chart.ColorSeries3, theme.DocumentIcon},
	engine.ForThinking: {widgets.ColorMuted, theme.HistoryIcon},
	engine.ForPacing:   {theme.ColorNameForeground, theme.MediaPauseIcon},
	engine.ForJournal:  {chart.ColorSeries2, theme.StorageIcon},
	engine.ForEngine:   {chart.ColorSeries4, theme.SettingsIcon},
}

func (s *spent) show(r *engine.RunRecord, t *engine.Totals) {
	o := &t.Peaks.Overhead
	s.panel.Hidden = o.Span <= 0
	var parts []widgets.Share
	for _, p := range engine.Purposes() {
		mark := purposeMarks[p]
		parts = append(parts, widgets.Share{Name: p.String(), Count: int64(o.Times[p]), Text: engine.FormatDuration(o.Times[p]), Color: mark.color, Icon: mark.icon()})
	}
	s.shares.Set(parts)
	text, tone := "", widgets.Quiet
	if b := health.FindBottleneck(o, r.Limit, ""); b.Kind != health.Unbound {
		text = b.String() + "  ·  " + b.Advice
		if b.Kind.IsHere() {
			tone = widgets.Warning
		}
	}
	s.limit.Say(text, tone)
	s.lines.SetRows(words.OverheadRows(o, t.Peaks.Late))
}
