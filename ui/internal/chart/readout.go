package chart

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/theme"

	"github.com/throng-sim/throng/ui/internal/widgets"
)

// Distances in a readout, in device-independent pixels.
const (
	readPad  = 7
	readGap  = 10 // between names and values
	readAway = 12 // from the described position
	barWide  = 4  // width of the color next to a name
)

// readout is a small box with the values at a position. Call begin and add lines, then place it.
type readout struct {
	back  *canvas.Rectangle
	head  *label
	lines []readLine
	notes []*label
	used  int // lines
	noted int
	most  float32 // maximum width of a note
}

type readLine struct {
	swatch      *canvas.Rectangle
	name, value *label
}

// newReadout returns a hidden box for a number of lines and notes.
func newReadout(lines, notes int) *readout {
	r := &readout{back: &canvas.Rectangle{StrokeWidth: 1}, head: newHidden(theme.ColorNameForeground)}
	r.head.text.TextStyle.Bold = true
	r.back.Hidden = true
	for range lines {
		l := readLine{&canvas.Rectangle{CornerRadius: barWide / 2}, newHidden(colorQuiet), newHidden(theme.ColorNameForeground)}
		l.swatch.Hidden = true
		r.lines = append(r.lines, l)
	}
	for range notes {
		r.notes = append(r.notes, newHidden(theme.ColorNameForeground))
	}
	return r
}

// newHidden returns a hidden label.
func newHidden(name fyne.ThemeColorName) *label {
	l := newLabel("", name, theme.SizeNameCaptionText)
	l.text.Hidden = true
	return l
}

func (r *readout) labels() []*label {
	all := append([]*label{r.head}, r.notes...)
	for _, l := range r.lines {
		all = append(all, l.name, l.value)
	}
	return all
}

// objects returns the box and its texts, from bottom to top.
func (r *readout) objects() []fyne.CanvasObject {
	all := []fyne.CanvasObject{r.back}
	for _, l := range r.lines {
		all = append(all, l.swatch)
	}
	for _, l := range r.labels() {
		all = append(all, l.text)
	}
	return all
}

func (r *readout) dress(th fyne.Theme, variant fyne.ThemeVariant) {
	for _, l := range r.labels() {
		l.dress(th, variant)
	}
	r.back.FillColor = th.Color(theme.ColorNameOverlayBackground, variant)
	r.back.StrokeColor = th.Color(theme.ColorNameSeparator, variant)
	r.back.CornerRadius = th.Size(theme.SizeNameInputRadius)
}

// begin clears the box and sets its first line; most is the maximum width of a note.
func (r *readout) begin(head []byte, most float32) {
	r.used, r.noted, r.most = 0, 0, most
	r.head.set(head)
}

// line adds a value and its name; a transparent color shows none.
func (r *readout) line(ink color.RGBA, name string, value []byte) {
	if r.used == len(r.lines) {
		return
	}
	l := &r.lines[r.used]
	l.swatch.FillColor = ink
	if l.name.text.Text != name {
		l.name.set([]byte(name))
	}
	l.value.set(value)
	r.used++
}

// note adds a sentence below the values, clipped to the maximum width.
func (r *readout) note(text string) {
	if r.noted == len(r.notes) {
		return
	}
	l := r.notes[r.noted]
	l.set([]byte(widgets.Fit(text, r.most, l.text.TextSize, l.text.TextStyle)))
	r.noted++
}

// size returns the box's size and the largest width of a name.
func (r *readout) size() (size fyne.Size, names float32) {
	var values float32
	for _, l := range r.lines[:r.used] {
		names, values = max(names, l.name.size.Width), max(values, l.value.size.Width)
	}
	width := r.head.size.Width
	if r.used > 0 {
		width = max(width, barWide+swatchGap+names+readGap+values)
	}
	for _, l := range r.notes[:r.noted] {
		width = max(width, l.size.Width)
	}
	return fyne.NewSize(width+2*readPad, r.heightOf(r.used+r.noted)), names
}

// heightOf returns the height of a box with a number of rows below the first line.
func (r *readout) heightOf(rows int) float32 {
	return float32(1+rows)*r.head.size.Height + 2*readPad
}

// place shows the box next to a position, inside an area.
func (r *readout) place(at fyne.Position, area fyne.Size) {
	size, names := r.size()
	x := at.X + readAway
	if x+size.Width > area.Width {
		x = at.X - readAway - size.Width
	}
	x = round(max(min(x, area.Width-size.Width), 0))
	y := round(max(min(at.Y, area.Height-size.Height), 0))
	r.back.Move(fyne.NewPos(x, y))
	r.back.Resize(size)
	r.back.Show()
	x, y = x+readPad, y+readPad
	r.head.place(x, y)
	for i, l := range r.lines {
		if i >= r.used {
			l.name.hide()
			l.value.hide()
			l.swatch.Hide()
			continue
		}
		y += r.head.size.Height
		l.swatch.Move(fyne.NewPos(x, y+2))
		l.swatch.Resize(fyne.NewSize(barWide, max(r.head.size.Height-4, 1)))
		l.swatch.Show()
		l.name.place(x+barWide+swatchGap, y)
		l.value.place(x+barWide+swatchGap+max(names, 0)+readGap, y)
	}
	for i, l := range r.notes {
		if i >= r.noted {
			l.hide()
			continue
		}
		y += r.head.size.Height
		l.place(x, y)
	}
	canvas.Refresh(r.back)
}

func (r *readout) hide() {
	if r.back.Hidden {
		return
	}
	r.back.Hide()
	for _, l := range r.labels() {
		l.hide()
	}
	for _, l := range r.lines {
		l.swatch.Hide()
	}
}
