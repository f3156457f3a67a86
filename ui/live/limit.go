package live

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// mostLimit is the slider's maximum, even if the ceiling is higher.
const mostLimit = 10_000

// limitPanel is the slider of the limit with its figures, and the choice of the governor. The slider sets the limit in a run without a
// governor; otherwise it sets the ceiling, and a mark shows the limit.
type limitPanel struct {
	content                  fyne.CanvasObject
	limit, inFlight, ceiling *widgets.Tile
	tiles                    *fyne.Container
	slider                   *widgets.LimitSlider
	less, more               *widget.Button
	governor                 *widget.Select
	adjust                   *widget.Button
	why                      *widgets.Line
	steer                    *steer
	orders                   *orders
	governed                 bool
}

func newLimitPanel(o *orders) *limitPanel {
	p := &limitPanel{
		limit: widgets.NewFigure("Limit"), inFlight: widgets.NewFigure("In flight"), ceiling: widgets.NewFigure("Ceiling"),
		slider: widgets.NewLimitSlider(1, 1), why: widgets.NewLine(theme.SizeNameCaptionText, widgets.Quiet),
		steer: &steer{orders: o}, orders: o,
	}
	p.less = widget.NewButtonWithIcon("", theme.ContentRemoveIcon(), func() { p.slider.Step(-1) })
	p.more = widget.NewButtonWithIcon("", theme.ContentAddIcon(), func() { p.slider.Step(1) })
	p.slider.OnChanged = func(n int) {
		p.show(n)
		p.steer.want(n)
	}
	p.slider.OnChangeEnded = func(int) { p.steer.flush() }
	var titles []string
	for _, g := range engine.Governors {
		titles = append(titles, g.Title)
	}
	p.governor = widget.NewSelect(titles, p.govern)
	p.adjust = widget.NewButtonWithIcon("Adjust…", theme.SettingsIcon(), o.adjustSettings)
	p.tiles = container.NewHBox(p.limit, p.inFlight, p.ceiling)
	p.ceiling.Hide()
	hands := container.NewVBox(form.NewCompact(form.NewFrame(p.governor)), form.NewCompact(p.adjust))
	right := container.NewHBox(container.NewCenter(container.NewHBox(p.less, p.more)), container.NewCenter(hands))
	p.content = widgets.NewPanel("", container.NewBorder(nil, p.why, nil, nil, container.New(&between{}, p.tiles, right, p.slider)))
	return p
}

func (p *limitPanel) begin(job *Job) {
	p.steer.begin(job)
	s := &job.Settings
	p.slider.SetRange(s.Floor, min(max(job.Agents, s.Ceiling, s.Limit), mostLimit))
}

// draw shows the current limit, except while the user drags the slider.
func (p *limitPanel) draw(s *engine.Snapshot) {
	p.inFlight.SetValue(engine.FormatCount(int64(s.InFlight)), widgets.Neutral)
	p.slider.SetUsed(s.InFlight)
	p.drawGovernor(s)
	if !p.slider.Dragging() && p.steer.settled() {
		n := s.Limit
		if p.governed {
			n = s.Ceiling
		}
		p.slider.Set(n)
		p.show(n)
	}
	if p.governed {
		p.slider.SetMark(s.Limit)
		p.limit.SetValue(engine.FormatCount(int64(s.Limit)), widgets.Accent)
	} else {
		p.slider.SetMark(0)
	}
	open := s.Phase != engine.Draining && p.orders.open()
	for _, b := range []*widget.Button{p.less, p.more} {
		enable(b, open)
	}
	enable(p.adjust, open && !p.orders.waiting[adjustOrder])
	able(p.slider, open)
	able(p.governor, open && !p.orders.waiting[governorOrder])
}

// able enables or disables a widget, if its state differs.
func able(w fyne.Disableable, on bool) {
	switch {
	case w.Disabled() == !on:
	case on:
		w.Enable()
	default:
		w.Disable()
	}
}

// drawGovernor shows the governor and the reason for the current limit.
func (p *limitPanel) drawGovernor(s *engine.Snapshot) {
	if governed := governed(s); governed != p.governed {
		p.governed = governed
		p.ceiling.Hidden = !governed
		p.tiles.Refresh()
		p.orders.screen.page.again()
	}
	if title := governing(s).Title; p.governor.Selected != title && !p.orders.waiting[governorOrder] {
		p.governor.Selected = title // without an order to the run
		p.governor.Refresh()
	}
	p.why.Set(steering(s), widgets.Quiet)
}

// govern changes the governor.
func (p *limitPanel) govern(title string) {
	for _, g := range engine.Governors {
		if g.Title == title && p.orders.job != nil && governing(p.orders.job.Snapshot()).Name != g.Name {
			p.orders.order(governorOrder, func(r Run) error {
				_, err := r.Apply([]engine.Assignment{{Name: engine.GovernorSetting, Value: g.Name}}, user, byHand)
				return err
			}, nil)
		}
	}
}

// show shows the slider's value.
func (p *limitPanel) show(n int) {
	tile, tone := p.limit, widgets.Accent
	if p.governed {
		tile, tone = p.ceiling, widgets.Neutral
	}
	tile.SetValue(engine.FormatCount(int64(n)), tone)
}
