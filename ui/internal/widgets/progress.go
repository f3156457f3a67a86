package widgets

import (
	"math"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// Progress is a thin bar below two texts, one at its left end and one at its right. Without progress and texts it keeps its room, but
// shows nothing.
type Progress struct {
	widget.BaseWidget
	left, right *Line
	track, bar  *canvas.Rectangle
	share       float64
}

// NewProgress returns an empty bar.
func NewProgress() *Progress {
	p := &Progress{
		left:  NewLine(theme.SizeNameCaptionText, Neutral),
		right: NewLine(theme.SizeNameCaptionText, Neutral).Align(fyne.TextAlignTrailing),
		track: &canvas.Rectangle{}, bar: &canvas.Rectangle{},
	}
	p.track.Hidden, p.bar.Hidden = true, true
	p.ExtendBaseWidget(p)
	return p
}

// Set sets the texts and the completed share from 0 to 1.
func (p *Progress) Set(left, right string, share float64) {
	p.left.Set(left, Neutral)
	p.right.Set(right, Neutral)
	if idle := left == "" && right == "" && share == 0; idle != p.track.Hidden {
		p.track.Hidden, p.bar.Hidden = idle, idle
		canvas.Refresh(p)
	}
	if p.share != share {
		p.share = share
		p.fill()
	}
}

// Share returns the completed share.
func (p *Progress) Share() float64 { return p.share }

// fill sets the bar's length in whole pixels, so that it is seldom drawn again.
func (p *Progress) fill() {
	full := p.track.Size()
	share := min(max(p.share, 0), 1)
	length := float32(math.Round(float64(full.Width) * share))
	if share > 0 {
		length = max(length, min(full.Height, full.Width))
	}
	p.bar.Resize(fyne.NewSize(length, full.Height))
}

// Parts returns the parts of the widget.
func (p *Progress) Parts() []fyne.CanvasObject { return []fyne.CanvasObject{p.left, p.right} }

// CreateRenderer implements [fyne.Widget].
func (p *Progress) CreateRenderer() fyne.WidgetRenderer {
	r := &progressRenderer{progress: p}
	r.paint()
	return r
}

type progressRenderer struct{ progress *Progress }

func (r *progressRenderer) Destroy() {}

func (r *progressRenderer) Objects() []fyne.CanvasObject {
	p := r.progress
	return []fyne.CanvasObject{p.left, p.right, p.track, p.bar}
}

func (r *progressRenderer) MinSize() fyne.Size {
	text := r.progress.left.MinSize()
	return fyne.NewSize(2*text.Width+theme.InnerPadding(), text.Height+barGap()+barHeight())
}

func barHeight() float32 { return theme.Padding() + 1 }
func barGap() float32    { return theme.Padding() / 2 }

// Layout divides the width between the texts.
func (r *progressRenderer) Layout(size fyne.Size) {
	p := r.progress
	height := p.left.MinSize().Height
	half := (size.Width - theme.InnerPadding()) / 2
	p.left.Resize(fyne.NewSize(half, height))
	p.right.Move(fyne.NewPos(size.Width-half, 0))
	p.right.Resize(fyne.NewSize(half, height))
	for _, bar := range []*canvas.Rectangle{p.track, p.bar} {
		bar.CornerRadius = barHeight() / 2
		bar.Move(fyne.NewPos(0, height+barGap()))
	}
	p.track.Resize(fyne.NewSize(size.Width, barHeight()))
	p.fill()
}

func (r *progressRenderer) paint() {
	r.progress.track.FillColor = theme.Color(theme.ColorNameButton)
	r.progress.bar.FillColor = theme.Color(theme.ColorNamePrimary)
}

// Refresh updates the bar for the theme; the texts refresh themselves.
func (r *progressRenderer) Refresh() {
	r.paint()
	r.progress.track.Refresh()
	r.progress.bar.Refresh()
}
