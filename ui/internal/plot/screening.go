package plot

import (
	"math"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"

	"github.com/throng-sim/throng/engine/experiment/findings"
	"github.com/throng-sim/throng/ui/internal/chart"
)

// Screening is a plot of the importance of factors, µ*, against σ: whether their effect is nonlinear or depends on others. A place is a factor.
type Screening struct {
	sheet
	data  *findings.Sensitivity
	field field
	dots  []fyne.Position
}

// The figures of [findings.Screening].
const (
	figureStar  = 0 // µ*
	figureSigma = 2 // σ
)

// NewScreening returns a plot without factors.
func NewScreening() *Screening {
	s := &Screening{data: &findings.Sensitivity{}}
	s.extend(s, "factors", fyne.NewSize(280, 200))
	return s
}

// Set shows an analysis by [findings.Screening].
func (s *Screening) Set(data *findings.Sensitivity) {
	s.data = data
	s.update()
}

// arrange implements face.
func (s *Screening) arrange(size fyne.Size) {
	xs, ys := newExtent(), newExtent()
	xs.add(0)
	ys.add(0)
	for _, f := range s.data.Factors {
		xs.add(f.Figures[figureStar].Value, f.Figures[figureStar].Interval.High)
		ys.add(f.Figures[figureSigma].Value)
	}
	s.field.x, s.field.y = newAxis(xs, 0.05, false, brief(s.data.Unit)), newAxis(ys, 0.05, false, brief(s.data.Unit))
	s.field.title, s.field.side = "importance (µ*)", "nonlinear or with interactions (σ)"
	s.field.arrange(&s.sheet, 0, size.Width, size.Height)
	s.dots = s.dots[:0]
	for _, f := range s.data.Factors {
		s.dots = append(s.dots, fyne.NewPos(s.field.x.at(f.Figures[figureStar].Value), s.field.y.at(f.Figures[figureSigma].Value)))
	}
	s.name()
}

// box is the area that a name or a dot covers.
type box struct{ left, top, right, bottom float32 }

func (a box) meets(b box) bool {
	return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom
}

// name writes the names next to their dots, most important first, and leaves out those that have no free place; a tip has them.
func (s *Screening) name() {
	var taken []box
	half := dotWidth * em() / 2
	for i, d := range s.dots {
		own := box{d.X - half, d.Y - half, d.X + half, d.Y + half}
		if over := s.data.Factors[i].Figures[figureStar].Interval; over.Known() {
			taken = append(taken, box{s.field.x.at(max(over.Low, 0)), d.Y - 1, s.field.x.at(over.High), d.Y + 1})
		}
		taken = append(taken, own)
	}
	field := box{s.field.left, s.field.top - half, s.Size().Width, s.field.bottom}
	line := lineHeight()
	for i, f := range s.data.Factors {
		name := fit(findings.Brief(f.Name), s.Size().Width*mostLabel)
		width, d := widthOf(name).Width, s.dots[i]
		for _, at := range [...]fyne.Position{
			{X: d.X + half + dotGap, Y: d.Y - line/2},
			{X: d.X - half - dotGap - width, Y: d.Y - line/2},
			{X: d.X - width/2, Y: d.Y - half - line},
			{X: d.X - width/2, Y: d.Y + half},
		} {
			own := box{at.X, at.Y, at.X + width, at.Y + line}
			if own.left < field.left || own.right > field.right || own.top < field.top || own.bottom > field.bottom {
				continue
			}
			free := true
			for _, other := range taken {
				free = free && !own.meets(other)
			}
			if free {
				s.write(name, at.X, at.Y, 0, theme.ColorNameForeground)
				taken = append(taken, own)
				break
			}
		}
	}
}

// paint implements face.
func (s *Screening) paint(b *brush) {
	if len(s.dots) == 0 {
		return
	}
	s.field.paint(b)
	for i, d := range s.dots {
		f := s.data.Factors[i].Figures[figureStar]
		if f.Interval.Known() {
			interval(b, s.field.x.at(max(f.Interval.Low, 0)), s.field.x.at(f.Interval.High), d.Y, chart.Ink(chart.ColorSeries1), false)
		}
		looks[0].draw(b, d.X, d.Y, dotWidth*em())
	}
}

// places implements face.
func (s *Screening) places() int { return len(s.data.Factors) }

// find implements face.
func (s *Screening) find(at fyne.Position) int {
	best, least := none, float32(reach)*em()
	for i, d := range s.dots {
		if far := float32(math.Hypot(float64(d.X-at.X), float64(d.Y-at.Y))); far < least {
			best, least = i, far
		}
	}
	return best
}

// spot implements face.
func (s *Screening) spot(place int) (fyne.Position, string) {
	f := &s.data.Factors[place]
	lines := []string{findings.Brief(f.Name)}
	for i, figure := range f.Figures {
		lines = append(lines, s.data.Figures[i]+": "+findings.InUnit(figure.Value, s.data.Unit))
	}
	text := strings.Join(lines, "\n")
	if place >= len(s.dots) {
		return fyne.Position{}, text
	}
	return s.dots[place], text
}
