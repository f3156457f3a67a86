package widgets

import (
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// Share is a part of a whole.
type Share struct {
	Name  string
	Count int64
	Text  string // the count as text
	Tone  Tone
	Color fyne.ThemeColorName // of the theme, instead of the tone's
	Icon  fyne.Resource       // before the name, to distinguish parts without color
}

// Shares shows the parts of a whole as a bar, with names and counts in lines below. Parts without a count are hidden; every other part is
// visible.
type Shares struct {
	widget.BaseWidget
	shares []Share
	lines  int // of names, at the last width
}

// NewShares returns a bar without parts, which has no size.
func NewShares() *Shares {
	s := &Shares{lines: 1}
	s.ExtendBaseWidget(s)
	return s
}

// Set sets the parts. Nothing is drawn if they are the same.
func (s *Shares) Set(all []Share) {
	all = slices.DeleteFunc(slices.Clone(all), func(p Share) bool { return p.Count <= 0 })
	if !slices.Equal(s.shares, all) {
		s.shares = all
		s.Refresh()
	}
}

// CreateRenderer implements [fyne.Widget].
func (s *Shares) CreateRenderer() fyne.WidgetRenderer {
	r := &sharesRenderer{of: s}
	r.collect()
	return r
}

type sharesRenderer struct {
	of      *Shares
	parts   []sharePart
	objects []fyne.CanvasObject
}

type sharePart struct {
	bar   *canvas.Rectangle
	icon  *canvas.Image
	text  *canvas.Text
	count int64
}

func (r *sharesRenderer) collect() {
	r.parts, r.objects = nil, nil
	for _, s := range r.of.shares {
		name := s.Color
		if name == "" {
			name = s.Tone.Color()
		}
		p := sharePart{bar: canvas.NewRectangle(Color(name)), text: canvas.NewText(s.Name+" "+s.Text, Color(theme.ColorNameForeground)), count: s.Count}
		p.text.TextSize = theme.TextSize()
		p.icon = canvas.NewImageFromResource(theme.NewColoredResource(s.Icon, name))
		p.icon.FillMode = canvas.ImageFillContain
		p.bar.CornerRadius = theme.Padding() / 2
		r.parts = append(r.parts, p)
		r.objects = append(r.objects, p.bar, p.icon, p.text)
	}
}

func (r *sharesRenderer) Destroy()                     {}
func (r *sharesRenderer) Objects() []fyne.CanvasObject { return r.objects }

// lineHeight is the height of a line of names, and thick that of the bar.
func lineHeight() float32 {
	return fyne.MeasureText("M", theme.TextSize(), fyne.TextStyle{}).Height + theme.Padding()/2
}
func thick() float32 { return theme.TextSize() }

func (r *sharesRenderer) MinSize() fyne.Size {
	if len(r.parts) == 0 {
		return fyne.Size{}
	}
	var wide float32
	for _, p := range r.parts {
		wide = max(wide, p.width())
	}
	return fyne.NewSize(wide, thick()+theme.Padding()+float32(r.of.lines)*lineHeight())
}

// width returns the width of the icon and the name.
func (p *sharePart) width() float32 {
	return theme.TextSize() + theme.Padding() + p.text.MinSize().Width
}

func (r *sharesRenderer) Layout(size fyne.Size) {
	if len(r.parts) == 0 {
		return
	}
	r.bars(size.Width)
	x, y, gap, lines := float32(0), thick()+theme.Padding(), columnGap(), 1
	for i := range r.parts {
		p := &r.parts[i]
		if x > 0 && x+p.width() > size.Width {
			x, y, lines = 0, y+lineHeight(), lines+1
		}
		side := theme.TextSize()
		p.icon.Move(fyne.NewPos(x, y+(lineHeight()-side)/2))
		p.icon.Resize(fyne.NewSquareSize(side))
		p.text.Move(fyne.NewPos(x+side+theme.Padding(), y))
		p.text.Resize(fyne.NewSize(p.text.MinSize().Width, lineHeight()))
		x += p.width() + gap
	}
	r.of.lines = lines
}

// bars divides a width among the parts, with a visible minimum for small ones.
func (r *sharesRenderer) bars(width float32) {
	const gap = 2
	least := theme.Padding()
	var sum int64
	for _, p := range r.parts {
		sum += p.count
	}
	free := width - gap*float32(len(r.parts)-1) - least*float32(len(r.parts))
	x := float32(0)
	for _, p := range r.parts {
		w := least + max(free, 0)*float32(float64(p.count)/float64(sum))
		p.bar.Move(fyne.NewPos(x, 0))
		p.bar.Resize(fyne.NewSize(w, thick()))
		x += w + gap
	}
}

// Refresh updates the bar for its parts and the theme.
func (r *sharesRenderer) Refresh() {
	r.collect()
	r.Layout(r.of.Size())
	canvas.Refresh(r.of)
}
