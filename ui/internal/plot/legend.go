package plot

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"

	"github.com/throng-sim/throng/ui/internal/chart"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// look is how a line, or one kind of marks, is drawn.
type look struct {
	shape  shape
	ink    fyne.ThemeColorName
	hollow bool
}

// color returns the color in the current theme.
func (l look) color() color.RGBA { return chart.Ink(l.ink) }

// looks are those of several lines; from the fifth on they are hollow.
var looks = func() (all []look) {
	inks := [...]fyne.ThemeColorName{chart.ColorSeries1, chart.ColorSeries2, chart.ColorSeries3, chart.ColorSeries4}
	for _, hollow := range []bool{false, true} {
		for i, ink := range inks {
			all = append(all, look{shapes[i], ink, hollow})
		}
	}
	return all
}()

// accent and quiet are the looks of what is significant, and of what is not.
var (
	accent = look{shape: shapes[0], ink: theme.ColorNamePrimary}
	quiet  = look{shape: shapes[0], ink: widgets.ColorMuted, hollow: true}
)

// draw draws a dot of this look.
func (l look) draw(b *brush, x, y, width float32) {
	b.dot(l.shape, x, y, width, l.color(), l.hollow, chart.Ink(widgets.ColorSurface))
}

// dotWidth is the width of a dot, for text of the usual size.
const dotWidth = 9

// entry is a look with its name.
type entry struct {
	look
	name string
	at   fyne.Position // of the dot's middle
}

// legend is a row of entries above a plot, in several lines if the width is too small.
type legend []entry

// place writes the names from a position on, and returns the height.
func (l legend) place(s *sheet, left, top, width float32) (height float32) {
	if len(l) == 0 {
		return 0
	}
	line, dot := lineHeight(), dotWidth*em()
	x, y := left, top
	for i := range l {
		name := fit(l[i].name, min(width*mostName, width-dot-dotGap))
		need := dot + dotGap + widthOf(name).Width
		if x > left && x+need > left+width {
			x, y = left, y+line
		}
		l[i].at = fyne.NewPos(x+dot/2, y+line/2)
		s.write(name, x+dot+dotGap, y, 0, theme.ColorNameForeground)
		x += need + textGap*em()
	}
	return y + line - top + dotGap
}

func (l legend) paint(b *brush) {
	for _, e := range l {
		e.draw(b, e.at.X, e.at.Y, dotWidth*em())
	}
}

const (
	mostName = 0.45 // of the width, for a name
	dotGap   = 4
)
