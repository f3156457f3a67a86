package calibrate

import (
	"fmt"
	"image/color"
	"strconv"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/chart"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/picture"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// chartEms is the height of the chart, in text heights.
const chartEms = 26

// result shows a calibration: a description, a chart and a table.
type result struct {
	panel, table *widgets.Panel

	title *widgets.Text
	about *form.Note
	words *form.Note
	law   *form.Note
	chart *chart.Levels
	sheet *widgets.Sheet
	apply *widget.Button
	level int // the limit for Apply
}

func newResult(apply func(level int)) *result {
	said := widgets.NewNotice()
	r := &result{
		title: widgets.NewHeading("Recommended limit"), about: form.NewNote(""), words: form.NewNote(""), law: form.NewNote(""),
		chart: chart.NewLevels("Throughput", "sessions per second · line: fitted curve · band: interval", "Latency", "95th percentile of sessions",
			picture.Keep(func() string { return "calibration" }, said.Say)),
	}
	r.words.TextSize = theme.SizeNameText
	r.words.Say("Measures one limit after another, fits a curve to the throughput, and recommends the lowest limit with 95% of the best throughput. The requests are real.")
	r.apply = widget.NewButtonWithIcon("Apply", theme.ConfirmIcon(), func() { apply(r.level) })
	r.apply.Importance = widget.HighImportance
	r.apply.Hide()
	end := fyne.TextAlignTrailing
	r.sheet = widgets.NewSheet([]widgets.Column{
		{Title: "Limit", Sample: "1,000", Align: end},
		{Title: "Sessions/s", Sample: "10,000 ± 999", Align: end},
		{Title: "p95", Sample: "1 min 30 s", Align: end},
		{Title: "CPU", Sample: "100%", Align: end},
		{Title: "Memory", Sample: "100%", Align: end},
		{Title: "Errors", Sample: "10.0%", Align: end},
		{Title: "", Sample: "memory over 85%", Weight: 1},
	}, "No measurements yet.", nil)
	height := canvas.NewRectangle(color.Transparent)
	height.SetMinSize(fyne.NewSize(0, chartEms*theme.TextSize()))
	head := container.NewBorder(nil, nil, nil, container.NewVBox(r.apply), form.NewStack(r.title, r.about))
	r.panel = widgets.NewPanel("", form.NewStack(head, r.words, container.NewStack(height, r.chart), said, r.law))
	r.table = widgets.NewPanel("Measurements", r.sheet)
	return r
}

// show shows a result. There is no Apply button during a calibration or without a recommendation.
func (r *result) show(f *Found, running bool) {
	r.title.SetText(titleOf(f))
	r.about.SetText(f.About)
	r.words.Say(f.Words)
	r.law.SetText(f.Law)
	if r.level = f.Level; r.level > 0 && !running {
		r.apply.Show()
	} else {
		r.apply.Hide()
	}
	r.chart.Set(drawn(f))
	r.sheet.SetRows(rows(f))
}

// drawn returns the data of the chart.
func drawn(f *Found) chart.LevelsData {
	d := chart.LevelsData{Mark: f.Level, Low: f.Low, High: f.High}
	for _, l := range f.Levels {
		if len(l.Samples) > 0 {
			d.Points = append(d.Points, chart.LevelsPoint{At: float64(l.Level), PerSecond: l.PerSecond, Spread: l.Spread, Latency: l.P95.Seconds(), Over: l.Over != ""})
		}
	}
	for _, p := range f.Curve {
		d.Curve = append(d.Curve, chart.LevelsCurve(p))
	}
	return d
}

// rows returns the rows of the table.
func rows(f *Found) (all []widgets.Row) {
	for _, l := range f.Levels {
		tone := widgets.Neutral
		if l.Over != "" {
			tone = widgets.Warning
		}
		row := widgets.Row{Key: strconv.Itoa(l.Level), Cells: []widgets.Cell{
			{Text: engine.FormatCount(int64(l.Level))}, {Text: "–"}, {Text: "–"}, {Text: "–"}, {Text: "–"}, {Text: "–"}, {Text: l.Note, Tone: tone},
		}}
		if len(l.Samples) > 0 {
			row.Cells[1].Text = perSecond(l.PerSecond, l.Spread)
			if row.Cells[2].Text = "?"; l.P95 > 0 {
				row.Cells[2].Text = engine.FormatDuration(l.P95)
			}
			row.Cells[3].Text, row.Cells[4].Text = percent(l.CPU), percent(100*l.Memory)
			row.Cells[5].Text = fmt.Sprintf("%.1f%%", 100*l.Errors)
		} else {
			row.Cells[0].Tone, row.Cells[6].Tone = widgets.Quiet, widgets.Quiet
		}
		all = append(all, row)
	}
	return all
}

func perSecond(v, spread float64) string {
	switch {
	case v <= 0:
		return "–"
	case spread == 0: // measured once
		return figure(v)
	}
	return figure(v) + " ± " + figure(spread)
}

// figure formats a number with three significant digits, but no fewer than its integer part has.
func figure(v float64) string {
	if v < 1000 {
		return fmt.Sprintf("%.3g", v)
	}
	return engine.FormatCount(int64(v))
}

func percent(v float64) string {
	if v < 0 {
		return "?"
	}
	return fmt.Sprintf("%.0f%%", v)
}
