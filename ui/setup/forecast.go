package setup

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// forecast shows the forecast of a run. It is requested after a pause in typing; only the newest result counts.
type forecast struct {
	screen  *Screen
	panel   *widgets.Panel
	figures []*forecastCell
	grid    *fyne.Container
	more    *widget.Button // also shows the figures that few need
	all     bool
	last    *engine.Forecast // the shown one; nil before the first
	binds   *form.Note
	advice  *fyne.Container // one warning per line
	content *form.Note      // why the run keeps no transcript
	from    *form.Note

	of     forecastInput
	asked  int // number of the newest request; results of older ones are dropped
	cancel context.CancelFunc
	timer  *time.Timer // until the next request; nil if none is scheduled
}

// forecastInput is what a forecast depends on.
type forecastInput struct {
	scenario *Scenario
	order    Order
}

// forecastCell is a figure below its name.
type forecastCell struct {
	content     *fyne.Container
	name, value *widgets.Text
}

func newForecast(s *Screen) *forecast {
	f := &forecast{
		screen: s, grid: form.NewStack(), binds: form.NewNote(""), advice: form.NewStack(), from: form.NewNote(""), content: form.NewNote(""), cancel: func() {},
	}
	f.more = widget.NewButton("Details", f.toggle)
	f.more.Importance = widget.LowImportance
	title := container.NewBorder(nil, nil, widgets.NewHeading("Forecast"), form.NewCompact(f.more))
	f.panel = widgets.NewPanel("", form.NewStack(title, f.grid, f.advice, f.content, f.binds, f.from))
	f.from.SetText("Calculating…")
	return f
}

// follow requests a forecast if its input has changed and has no mistakes.
func (f *forecast) follow(o Order, mistakes bool) {
	now := forecastInput{f.screen.scenario, o}
	if mistakes || reflect.DeepEqual(now, f.of) {
		return
	}
	another := now.scenario != f.of.scenario
	if was := f.of.scenario; was != nil && now.scenario != nil && was.Name != now.scenario.Name { // its figures are those of another scenario
		f.show(&engine.Forecast{})
		f.from.SetText("Calculating…")
	}
	f.of = now
	f.asked++
	f.cancel()
	if f.timer != nil {
		f.timer.Stop()
		f.timer = nil
	}
	this := f.asked
	if another {
		f.ask(this, o)
		return
	}
	f.timer = time.AfterFunc(pause, func() { async.Do(func() { f.ask(this, o) }) })
}

// toggle shows all figures, or the main ones.
func (f *forecast) toggle() {
	f.all = !f.all
	text := "Details"
	if f.all {
		text = "Less"
	}
	f.more.SetText(text)
	if f.last != nil {
		f.show(f.last)
	}
	f.screen.aside.Content.Refresh()
}

// again requests the forecast again: a new run may have been measured.
func (f *forecast) again() { f.of = forecastInput{} }

func (f *forecast) ask(this int, o Order) {
	if this != f.asked {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	f.cancel = cancel
	async.Work(func() (engine.Forecast, error) { return f.screen.desk.Forecast(ctx, o) }, func(found engine.Forecast, err error) {
		cancel()
		if this != f.asked {
			return
		}
		if err != nil {
			f.show(&engine.Forecast{})
			f.from.SetText("No forecast: " + err.Error())
			return
		}
		f.show(&found)
	})
}

// show shows a forecast. Unchanged figures are not drawn again.
func (f *forecast) show(found *engine.Forecast) {
	f.last = found
	lines := view.ForecastLines(found)
	if found.Binds == "" {
		lines = nil
	}
	lines = slices.DeleteFunc(lines, func(l view.ForecastLine) bool { return !l.Main && !f.all })
	for len(f.figures) < len(lines) {
		c := &forecastCell{name: widgets.NewCaption(""), value: widgets.NewText("")}
		c.content = container.NewBorder(nil, nil, c.name, nil, c.value.Align(fyne.TextAlignTrailing))
		f.figures = append(f.figures, c)
		f.grid.Add(c.content)
	}
	for i, c := range f.figures {
		if i >= len(lines) {
			c.content.Hide()
			continue
		}
		c.name.SetText(capital(lines[i].Name))
		c.value.SetText(lines[i].Text)
		c.content.Show()
	}
	binds := ""
	if found.Binds != "" && f.all {
		binds = "Cycle time limited by " + found.Binds + "."
	}
	say(f.binds, binds)
	say(f.content, found.Content.Missing)
	for i, text := range found.Advice {
		if i == len(f.advice.Objects) {
			f.advice.Add(form.NewNote(""))
		}
		f.advice.Objects[i].(*form.Note).SetWarning(text)
		f.advice.Objects[i].Show()
	}
	for _, o := range f.advice.Objects[len(found.Advice):] {
		o.Hide()
	}
	f.from.SetText("Basis: " + view.ForecastBasis(found) + ".")
	f.panel.Refresh()
	f.screen.aside.Content.Refresh()
	f.screen.concurrency.measured(found.Run != "")
}

// capital returns a name with a capital letter.
func capital(name string) string { return strings.ToUpper(name[:1]) + name[1:] }
