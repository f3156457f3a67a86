package plot

import (
	"fyne.io/fyne/v2/theme"

	"github.com/throng-sim/throng/ui/internal/widgets"
)

// field is an area with an upright and a horizontal axis.
type field struct {
	x, y                     axis
	names                    []string  // of the places 0, 1, … of the horizontal axis, in place of ticks; nil for numbers
	levels                   []float64 // numbers that are better ticks than round ones, if there is room
	texts                    []string  // of levels
	title                    string    // of the horizontal axis
	side                     string    // title of the upright axis, above it; "" for none
	left, top, right, bottom float32
}

// arrange places the axes with their texts below a height.
func (f *field) arrange(s *sheet, top, width, height float32) {
	line := lineHeight()
	f.top, f.right = top+line/2, width-dotWidth*em()
	if f.side != "" {
		s.write(fit(f.side, width), 0, top, 0, widgets.ColorMuted)
		f.top += line
	}
	f.x.limit = width
	if n := len(f.texts); f.names == nil && n > 0 {
		f.right -= max(min(widthOf(f.texts[n-1]).Width/2, mostReserved*em())-dotWidth*em(), 0)
	}
	f.bottom = height - 2*line - 2*axisGap
	f.left = f.y.upright(f.bottom, f.top) + columnGap*em()/2
	s.leftOf(&f.y, f.left-columnGap*em()/2)
	inner := f.left + dotWidth*em()
	if f.names != nil {
		f.x.from, f.x.to = inner, f.right
		f.name(s)
	} else {
		if !f.x.mark(inner, f.right, f.levels, f.texts) {
			f.x.level(inner, f.right)
		}
		s.under(&f.x, f.bottom+axisGap)
	}
	s.write(fit(f.title, f.right-f.left), (f.left+f.right)/2, f.bottom+axisGap+line, 0.5, theme.ColorNameForeground)
}

// name writes the names below the axis: shortened to their places, and only some of them if the places are too narrow.
func (f *field) name(s *sheet) {
	f.x.ticks = f.x.ticks[:0]
	slot, every := f.x.at(1)-f.x.at(0), 1
	for slot*float32(every) < leastName*em() && every < len(f.names) {
		every++
	}
	for i := 0; i < len(f.names); i += every {
		x := f.x.at(float64(i))
		room := min(slot*float32(every)-textGap*em()/2, 2*min(x, s.Size().Width-x))
		s.write(fit(f.names[i], room), x, f.bottom+axisGap, 0.5, widgets.ColorMuted)
		f.x.ticks = append(f.x.ticks, float64(i))
	}
}

// mostReserved is the largest width right of the axis for the end of its last text.
const mostReserved = 40

// leastName is the smallest width of a name below the axis.
const leastName = 34

func (f *field) paint(b *brush) {
	b.gridY(&f.y, f.left, f.right)
	if f.names == nil {
		b.gridX(&f.x, f.top, f.bottom)
	}
}
