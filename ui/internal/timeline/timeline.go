// Package timeline draws a session in one raster: a bar for each step over the time since the session began.
package timeline

import (
	"image"
	"math"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/pen"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// none is the index of no bar.
const none = -1

// Most is the maximum number of bars, which limits the size of the picture.
const Most = 120

// Bar is a step.
type Bar struct {
	Name      string
	Depth     int           // number of blocks around it
	From      time.Duration // since the session began
	Throttled time.Duration // throttled time at its start
	Service   time.Duration // after that
	Retries   int
	Status    engine.StepStatus
	Block     bool // a block of the bars below it: Service is their total
}

func (b *Bar) end() time.Duration { return b.From + b.Throttled + b.Service }

// bad reports whether the step failed.
func (b *Bar) bad() bool { return b.Status == engine.StepFailed || b.Status == engine.StepTimedOut }

// Session is what a timeline shows.
type Session struct {
	Queue time.Duration // queued before it began
	Total time.Duration
	Bars  []Bar
}

// Timeline is a widget that shows a session. The user can select a bar. It belongs to the UI goroutine.
type Timeline struct {
	widget.BaseWidget
	// OnSelected, if set, is called with the bar that the user selects.
	OnSelected func(bar int)
	// OnHovered, if set, is called with the bar under the pointer; -1 if none.
	OnHovered func(bar int)
	// OnEscape, if set, is called for the Escape key.
	OnEscape func()
	// OnReveal, if set, is called to scroll a range of heights into view.
	OnReveal func(top, bottom float32)

	session           Session
	hovered, selected int
	focused           bool
	scale             scale

	raster        *canvas.Raster
	names, values []*canvas.Text // by bar
	moments       []*canvas.Text // of the axis
	queue         *canvas.Text
	texts         []fyne.CanvasObject
	used          int // of moments
	inks          inks
	img           *image.RGBA
	mask          pen.Mask
	factor        float32 // device pixels per device-independent pixel
}

// New returns an empty timeline.
func New() *Timeline {
	t := &Timeline{hovered: none, selected: none, queue: canvas.NewText("", nil)}
	t.raster = canvas.NewRaster(t.draw)
	t.raster.ScaleMode = canvas.ImageScalePixels
	t.queue.Alignment = fyne.TextAlignTrailing
	t.ExtendBaseWidget(t)
	return t
}

// Set shows a session. It keeps the selection if the bars are the same.
func (t *Timeline) Set(s Session) {
	if len(s.Bars) > Most {
		s.Bars = s.Bars[:Most]
	}
	if len(s.Bars) != len(t.session.Bars) {
		t.hovered, t.selected = none, none
	}
	t.session = s
	t.Refresh()
}

// Select selects a bar; -1 selects none.
func (t *Timeline) Select(bar int) {
	if bar >= len(t.session.Bars) {
		bar = none
	}
	if t.selected == bar {
		return
	}
	t.selected = bar
	t.raster.Refresh()
	if bar != none && t.OnReveal != nil {
		top := t.head() + float32(bar)*t.row()
		t.OnReveal(top, top+t.row())
	}
}

// Selected returns the selected bar; -1 if none.
func (t *Timeline) Selected() int { return t.selected }

// row returns the height of a row.
func (t *Timeline) row() float32 {
	return float32(math.Ceil(float64(fyne.MeasureText("M", theme.CaptionTextSize(), fyne.TextStyle{}).Height + theme.Padding())))
}

// head returns the height of the axis.
func (t *Timeline) head() float32 { return t.row() }

// at returns the bar at a height, or none.
func (t *Timeline) at(y float32) int {
	if y < t.head() {
		return none
	}
	if i := int((y - t.head()) / t.row()); i < len(t.session.Bars) {
		return i
	}
	return none
}

// MinSize returns the size of all bars.
func (t *Timeline) MinSize() fyne.Size {
	return fyne.NewSize(20*theme.CaptionTextSize(), t.head()+float32(max(len(t.session.Bars), 1))*t.row())
}

// CreateRenderer implements [fyne.Widget].
func (t *Timeline) CreateRenderer() fyne.WidgetRenderer {
	r := &renderer{t}
	r.Refresh()
	return r
}

type renderer struct{ timeline *Timeline }

func (r *renderer) Layout(fyne.Size)   { r.timeline.arrange() }
func (r *renderer) MinSize() fyne.Size { return r.timeline.MinSize() }
func (r *renderer) Destroy()           {}

// Objects returns the parts from bottom to top.
func (r *renderer) Objects() []fyne.CanvasObject { return r.timeline.texts }

// Refresh updates the timeline for its session and the theme.
func (r *renderer) Refresh() {
	t := r.timeline
	t.inks = takeInks()
	t.write()
	t.arrange()
	canvas.Refresh(t)
}

// write sets the texts. Unchanged texts are not drawn again.
func (t *Timeline) write() {
	size, muted, plain := theme.CaptionTextSize(), widgets.Color(widgets.ColorMuted), widgets.Color(theme.ColorNameForeground)
	for len(t.names) < len(t.session.Bars) {
		value := canvas.NewText("", nil)
		value.Alignment = fyne.TextAlignTrailing
		t.names, t.values = append(t.names, canvas.NewText("", nil)), append(t.values, value)
	}
	t.names, t.values = t.names[:len(t.session.Bars)], t.values[:len(t.session.Bars)]
	for i := range t.session.Bars {
		b := &t.session.Bars[i]
		says, ink := engine.FormatDuration(b.Throttled+b.Service), plain
		switch {
		case b.bad():
			says, ink = b.Status.String()+" "+says, widgets.Color(theme.ColorNameError)
		case b.Status != engine.StepOK:
			says, ink = b.Status.String(), muted
		}
		t.values[i].Text, t.values[i].Color, t.values[i].TextSize = says, ink, size
		t.names[i].Color, t.names[i].TextSize = plain, size
		t.names[i].TextStyle.Bold = b.Block
	}
	t.queue.Color, t.queue.TextSize = muted, size
	t.queue.Text = ""
	if t.session.Queue > 0 {
		t.queue.Text = "queued " + engine.FormatDuration(t.session.Queue)
	}
}

// collect collects the objects to draw.
func (t *Timeline) collect() {
	t.texts = append(t.texts[:0], t.raster, t.queue)
	for i := range t.names {
		t.texts = append(t.texts, t.names[i], t.values[i])
	}
	for _, m := range t.moments[:t.used] {
		t.texts = append(t.texts, m)
	}
}
