package chart

import (
	"image"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/ui/internal/widgets"
)

// Bar is a row of [Bars]: a name, an amount and its text.
type Bar struct {
	Key    string // unique
	Label  string
	Value  string
	Amount float64 // at least 0
	Color  fyne.ThemeColorName
}

// Bars is a widget that lists amounts: a name, a bar, the amount and its share of the total. It shows the first [MostBars] and the number
// of the others. It belongs to the UI goroutine.
type Bars struct {
	widget.BaseWidget
	sight
	// OnChosen, if set, is called with the key of a bar that the user taps, or chooses with Return.
	OnChosen func(key string)
	// Rates is set if the amounts are percentages, not parts of a total.
	Rates bool

	heading string
	keep    Keep
	bars    []Bar
	total   float64
	most    float64
	lines   []barLine
	empty   *label
	more    *label
	back    *canvas.Rectangle // of the selected bar
	row     float32           // height of a row
}

// MostBars is the maximum number of visible bars.
const MostBars = 12

// Sizes of the list in device-independent pixels or shares of the width.
const (
	labelMost = 0.42
	barLeast  = 2
	linePad   = 5
	columnGap = 12
)

type barLine struct {
	label, value, share *label
	track, bar          *canvas.Rectangle
}

var (
	_ fyne.Widget            = (*Bars)(nil)
	_ fyne.Focusable         = (*Bars)(nil)
	_ fyne.SecondaryTappable = (*Bars)(nil)
)

// NewBars returns an empty list. title is the title of its pictures; empty is shown without bars.
func NewBars(title, empty string, keep Keep) *Bars {
	c := &Bars{
		heading: title, keep: keep, back: &canvas.Rectangle{},
		empty: newLabel(empty, colorQuiet, theme.SizeNameCaptionText),
		more:  newHidden(colorQuiet),
	}
	c.sight = newSight(c)
	c.places = func() int { return min(len(c.bars), MostBars) }
	c.changed = c.tell
	c.chosen = c.choose
	c.ask = func() { OfferBelow(c) }
	c.pad.hover = func(at fyne.Position) { c.point(c.find(at.Y)) }
	c.pad.leave = c.unpoint
	c.pad.menu = func(at fyne.Position) { Offer(c, at) }
	c.pad.tap = func(at fyne.Position) {
		if i := c.find(at.Y); i >= 0 {
			c.choose(i)
		}
	}
	c.back.Hidden = true
	for range MostBars {
		line := barLine{
			newHidden(theme.ColorNameForeground), newHidden(theme.ColorNameForeground), newHidden(colorQuiet),
			&canvas.Rectangle{CornerRadius: 2}, &canvas.Rectangle{CornerRadius: 2},
		}
		line.track.Hidden, line.bar.Hidden = true, true
		c.lines = append(c.lines, line)
	}
	c.ExtendBaseWidget(c)
	return c
}

// Set shows bars in their order. The caller must not change them afterwards.
func (c *Bars) Set(bars []Bar) {
	c.bars, c.total, c.most = bars, 0, 0
	for _, b := range bars {
		c.total, c.most = c.total+b.Amount, max(c.most, b.Amount)
	}
	if c.Rates {
		c.most = 100
	}
	if c.at >= c.places() {
		c.at = -1
	}
	c.Refresh()
}

func (c *Bars) choose(i int) {
	if c.OnChosen != nil {
		c.OnChosen(c.bars[i].Key)
	}
}

// find returns the index of the bar at a height, or -1.
func (c *Bars) find(y float32) int {
	if i := int(y / max(c.row, 1)); y >= 0 && i < c.places() {
		return i
	}
	return -1
}

// TappedSecondary shows the menu.
func (c *Bars) TappedSecondary(e *fyne.PointEvent) { c.pad.TappedSecondary(e) }

// Keeps implements [Kept].
func (c *Bars) Keeps() (title string, k Keep) { return c.heading, c.keep }

// Picture draws the list at twice the size.
func (c *Bars) Picture() image.Image {
	twin := NewBars(c.heading, c.empty.text.Text, Keep{})
	twin.Set(c.bars)
	return Paint(twin, c.Size())
}

// Table implements [Kept].
func (c *Bars) Table() (b []byte) {
	for _, bar := range c.bars {
		b = append(append(append(append(b, bar.Label...), '\t'), bar.Value...), '\t')
		b = append(appendShare(b, bar.Amount, c.total), '\n')
	}
	return b
}

// tell highlights the selected bar.
func (c *Bars) tell() {
	if c.at < 0 {
		c.back.Hide()
		return
	}
	c.back.Move(fyne.NewPos(-linePad, float32(c.at)*c.row))
	c.back.Resize(fyne.NewSize(c.Size().Width+2*linePad, c.row))
	c.back.Show()
	canvas.Refresh(c.back)
}

// arrange updates the rows for the bars and the size.
func (c *Bars) arrange() {
	size := c.Size()
	if size.IsZero() {
		return
	}
	var labels, values, shares float32
	for i := range c.places() {
		b, l := &c.bars[i], &c.lines[i]
		l.label.set([]byte(widgets.Fit(b.Label, size.Width*labelMost, l.label.text.TextSize, l.label.text.TextStyle)))
		l.value.set([]byte(b.Value))
		if l.share.set(nil); !c.Rates {
			l.share.set(appendShare(nil, b.Amount, c.total))
		}
		labels, values, shares = max(labels, l.label.size.Width), max(values, l.value.size.Width), max(shares, l.share.size.Width)
	}
	right := size.Width - shares - columnGap
	room := max(right-values-columnGap-labels-columnGap, 0)
	for i := range c.lines {
		l := &c.lines[i]
		if i >= c.places() {
			l.hide()
			continue
		}
		y := float32(i) * c.row
		inset := (c.row - l.label.size.Height) / 2
		l.label.place(0, y+inset)
		l.value.place(right-l.value.size.Width, y+inset)
		l.share.place(size.Width-l.share.size.Width, y+inset)
		thick := round(c.row * 0.45)
		at := fyne.NewPos(labels+columnGap, y+round((c.row-thick)/2))
		share := float32(0)
		if c.most > 0 {
			share = float32(c.bars[i].Amount / c.most)
		}
		l.track.Move(at)
		l.track.Resize(fyne.NewSize(room, thick))
		l.bar.Move(at)
		l.bar.Resize(fyne.NewSize(min(max(room*share, barLeast), room), thick))
		l.track.Show()
		l.bar.Show()
	}
	c.placeRest(size)
	c.tell()
}

// placeRest shows that there are no bars, or how many are hidden.
func (c *Bars) placeRest(size fyne.Size) {
	c.pad.Resize(size)
	placeFrame(c.frame, size)
	if len(c.bars) > 0 {
		c.empty.hide()
	} else {
		c.empty.place(0, 0)
	}
	if rest := len(c.bars) - MostBars; rest > 0 {
		c.more.set(append(appendCount([]byte("and "), float64(rest)), " more"...))
		c.more.place(0, MostBars*c.row)
	} else {
		c.more.hide()
	}
}

func (l *barLine) hide() {
	for _, text := range []*label{l.label, l.value, l.share} {
		text.hide()
	}
	l.track.Hide()
	l.bar.Hide()
}

// MinSize returns the size of all rows.
func (c *Bars) MinSize() fyne.Size {
	least := leastSize(c.Theme(), fyne.NewSize(240, 0))
	rows := float32(max(c.places(), 1))
	if len(c.bars) > MostBars {
		rows++
	}
	return fyne.NewSize(least.Width, rows*lineHeight(c.Theme()))
}

func lineHeight(th fyne.Theme) float32 {
	return round(fyne.MeasureText("M", th.Size(theme.SizeNameCaptionText), fyne.TextStyle{}).Height + linePad)
}

// CreateRenderer implements [fyne.Widget].
func (c *Bars) CreateRenderer() fyne.WidgetRenderer {
	c.dress()
	all := []fyne.CanvasObject{c.back, c.empty.text, c.more.text}
	for i := range c.lines {
		l := &c.lines[i]
		all = append(all, l.track, l.bar, l.label.text, l.value.text, l.share.text)
	}
	return &barsRenderer{c, append(all, c.frame, c.pad)}
}

// dress takes colors and sizes from the theme.
func (c *Bars) dress() {
	th, variant := c.Theme(), fyne.CurrentApp().Settings().ThemeVariant()
	c.row = lineHeight(th)
	c.empty.dress(th, variant)
	c.more.dress(th, variant)
	for i := range c.lines {
		l := &c.lines[i]
		for _, text := range []*label{l.label, l.value, l.share} {
			text.dress(th, variant)
		}
		name := ColorSeries1
		if i < len(c.bars) && c.bars[i].Color != "" {
			name = c.bars[i].Color
		}
		l.track.FillColor, l.bar.FillColor = colorOf(th, ColorGrid, variant), colorOf(th, name, variant)
	}
	c.back.FillColor = colorOf(th, theme.ColorNameHover, variant)
	c.back.CornerRadius = th.Size(theme.SizeNameSelectionRadius)
	dressFrame(c.frame, th, variant)
}

type barsRenderer struct {
	bars *Bars
	all  []fyne.CanvasObject
}

// Layout lays out the widget after a change of the size.
func (r *barsRenderer) Layout(fyne.Size) { r.bars.arrange() }

// Refresh updates the widget for its bars and the theme.
func (r *barsRenderer) Refresh() {
	r.bars.dress()
	r.bars.arrange()
	canvas.Refresh(r.bars)
}

func (r *barsRenderer) MinSize() fyne.Size           { return r.bars.MinSize() }
func (r *barsRenderer) Objects() []fyne.CanvasObject { return r.all }
func (r *barsRenderer) Destroy()                     {}
