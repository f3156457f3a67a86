package timeline

import (
	"math"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/theme"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// Shares of the width, and of the drawing.
const (
	mostName   = 0.34
	mostValue  = 0.3
	mostQueue  = 0.2 // maximum share of the queued time
	indent     = 10
	tickRoom   = 5 // width of a tick's label with a gap, in characters
	leastWidth = 40
)

// scale maps times to positions.
type scale struct {
	left, right float32 // ends of the drawing
	zero        float32 // start of the session
	cut         bool    // the queued time is longer than its space
	total       time.Duration
	step        time.Duration // of the axis
}

// x returns the x coordinate of a time since the start of the session.
func (s *scale) x(d time.Duration) float32 {
	if s.total <= 0 {
		return s.zero
	}
	return s.zero + (s.right-s.zero)*float32(float64(d)/float64(s.total))
}

// lay calculates the scale between two edges. The queued time takes at most a fifth.
func (s *Session) lay(left, right float32) scale {
	out := scale{left: left, right: right, zero: left, total: s.Total}
	for i := range s.Bars {
		out.total = max(out.total, s.Bars[i].end())
	}
	out.total = max(out.total, time.Microsecond)
	if s.Queue > 0 {
		share := float64(s.Queue) / float64(s.Queue+out.total)
		out.cut = share > mostQueue
		out.zero += (right - left) * float32(max(min(share, mostQueue), 0.02))
	}
	return out
}

// roundStep returns the smallest of 1, 2, 5, 10, 20 and so on units that is at least least; above a minute it uses the steps of clocks.
func roundStep(least time.Duration) time.Duration {
	for unit := time.Microsecond; unit <= 10*time.Second; unit *= 10 {
		for _, n := range [...]time.Duration{1, 2, 5} {
			if n*unit >= least && n*unit < time.Minute {
				return n * unit
			}
		}
	}
	for _, step := range [...]time.Duration{time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 30 * time.Minute, time.Hour} {
		if step >= least {
			return step
		}
	}
	return time.Duration(math.Ceil(float64(least)/float64(time.Hour))) * time.Hour
}

// arrange places the texts.
func (t *Timeline) arrange() {
	size := t.Size()
	if size.Width <= 0 {
		return
	}
	gap, row, head := theme.Padding()*2, t.row(), t.head()
	names, values := t.widths(size.Width)
	edge := size.Width - gap // a scroll bar may be there
	left, right := names+gap, max(edge-values-gap, names+gap+leastWidth)
	t.scale = t.session.lay(left, right)
	for i := range t.session.Bars {
		b := &t.session.Bars[i]
		y := head + float32(i)*row + theme.Padding()/2
		in := float32(min(b.Depth, 4) * indent)
		place(t.names[i], widgets.Fit(b.Name, names-in, t.names[i].TextSize, t.names[i].TextStyle), in, y, names-in)
		place(t.values[i], t.values[i].Text, edge-values, y, values)
	}
	t.ticks(head)
	place(t.queue, widgets.Fit(t.queue.Text, names, t.queue.TextSize, t.queue.TextStyle), 0, 0, names)
	t.collect()
	t.raster.Resize(fyne.NewSize(size.Width, head+float32(len(t.session.Bars))*row))
	t.raster.Refresh()
}

// widths returns the widths of the columns of names and values.
func (t *Timeline) widths(width float32) (names, values float32) {
	for i := range t.session.Bars {
		style := fyne.TextStyle{Bold: t.session.Bars[i].Block}
		in := float32(min(t.session.Bars[i].Depth, 4) * indent)
		names = max(names, in+fyne.MeasureText(t.session.Bars[i].Name, theme.CaptionTextSize(), style).Width)
		values = max(values, t.values[i].MinSize().Width)
	}
	if t.session.Queue > 0 {
		names = max(names, t.queue.MinSize().Width)
	}
	return min(names, mostName*width), min(values, mostValue*width)
}

// ticks places the labels of the axis.
func (t *Timeline) ticks(head float32) {
	s := &t.scale
	room := tickRoom * theme.CaptionTextSize()
	most := max((s.right-s.zero)/room, 1)
	s.step = roundStep(time.Duration(float64(s.total) / float64(most)))
	t.used = 0
	for at := time.Duration(0); at <= s.total && len(t.session.Bars) > 0; at += s.step {
		if s.x(at)+room > t.Size().Width && at > 0 {
			break // the text would be clipped
		}
		if t.used == len(t.moments) {
			t.moments = append(t.moments, canvas.NewText("", nil))
		}
		m := t.moments[t.used]
		t.used++
		m.Color, m.TextSize = widgets.Color(widgets.ColorMuted), theme.CaptionTextSize()
		says := engine.FormatDuration(at)
		if at == 0 {
			says = "0"
		}
		place(m, says, s.x(at)+2, 0, room)
	}
}

// place shows a text at a position.
func place(t *canvas.Text, says string, x, y, width float32) {
	if t.Text != says {
		t.Text = says
	}
	t.Move(fyne.NewPos(float32(math.Round(float64(x))), float32(math.Round(float64(y)))))
	t.Resize(fyne.NewSize(width, t.MinSize().Height))
	t.Refresh()
}
