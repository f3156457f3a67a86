package widgets

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// Tone is the meaning of a color next to a word.
type Tone uint8

// The tones, from neutral to bad.
const (
	Neutral Tone = iota
	Quiet
	Accent
	Good
	Warning
	Bad
)

var toneColors = [...]fyne.ThemeColorName{
	Neutral: theme.ColorNameForeground,
	Quiet:   ColorMuted,
	Accent:  theme.ColorNamePrimary,
	Good:    theme.ColorNameSuccess,
	Warning: theme.ColorNameWarning,
	Bad:     theme.ColorNameError,
}

// Color returns the theme's name of the tone's color.
func (t Tone) Color() fyne.ThemeColorName { return toneColors[t] }

// tint is the alpha of a badge's background, out of 255.
const tint = 36

// Badge is a word on a tinted background that shows a state.
type Badge struct {
	widget.BaseWidget
	text string
	tone Tone
}

// NewBadge returns a badge; one without a text has no size.
func NewBadge(text string, tone Tone) *Badge {
	b := &Badge{text: text, tone: tone}
	b.ExtendBaseWidget(b)
	return b
}

// Set sets the word and the tone if they differ.
func (b *Badge) Set(text string, tone Tone) {
	if b.text == text && b.tone == tone {
		return
	}
	b.text, b.tone = text, tone
	b.Refresh()
}

// Text returns the word.
func (b *Badge) Text() string { return b.text }

// CreateRenderer implements [fyne.Widget].
func (b *Badge) CreateRenderer() fyne.WidgetRenderer {
	r := &badgeRenderer{badge: b, face: newBadgeFace()}
	r.Refresh()
	return r
}

type badgeRenderer struct {
	badge *Badge
	face  badgeFace
}

func (r *badgeRenderer) Destroy() {}

func (r *badgeRenderer) Objects() []fyne.CanvasObject {
	return []fyne.CanvasObject{r.face.back, r.face.text}
}

func (r *badgeRenderer) MinSize() fyne.Size { return badgeSize(r.face.text.Text) }

// Layout keeps the badge as small as its word.
func (r *badgeRenderer) Layout(size fyne.Size) {
	own := badgeSize(r.face.text.Text)
	r.face.place(fyne.NewPos(0, (size.Height-own.Height)/2), own)
}

// Refresh updates the badge for its state and the theme.
func (r *badgeRenderer) Refresh() {
	r.face.show(r.badge.text, r.badge.tone)
	r.Layout(r.badge.Size())
	canvas.Refresh(r.badge)
}

// badgeFace draws a badge, alone or in a cell.
type badgeFace struct {
	back *canvas.Rectangle
	text *canvas.Text
}

func newBadgeFace() badgeFace {
	return badgeFace{back: canvas.NewRectangle(color.Transparent), text: canvas.NewText("", color.Transparent)}
}

func (f *badgeFace) show(text string, tone Tone) {
	c := Color(tone.Color())
	f.back.FillColor = color.Transparent
	if text != "" {
		r, g, b, _ := c.RGBA()
		f.back.FillColor = color.NRGBA{uint8(r >> 8), uint8(g >> 8), uint8(b >> 8), tint}
	}
	f.text.Text, f.text.Color = text, c
	f.text.TextSize = theme.CaptionTextSize()
	f.text.TextStyle.Bold = true
	f.text.Alignment = fyne.TextAlignCenter
}

func (f *badgeFace) place(at fyne.Position, size fyne.Size) {
	f.back.CornerRadius = size.Height / 2
	f.back.Move(at)
	f.back.Resize(size)
	f.text.Move(at)
	f.text.Resize(size)
}

// badgeSize returns the size of a badge with a text.
func badgeSize(text string) fyne.Size {
	if text == "" {
		return fyne.Size{}
	}
	size := fyne.MeasureText(text, theme.CaptionTextSize(), fyne.TextStyle{Bold: true})
	return fyne.NewSize(size.Width+2*theme.InnerPadding(), size.Height+theme.Padding())
}
