package report

import (
	"fmt"
	"html/template"
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine"
)

// Heights of charts and of the text below them, in pixels. Widths are those of the page: lines stretch, texts do not.
const (
	plotHeight = 150
	textHeight = 22
)

// picture is the content of a chart.
type picture struct {
	title string
	unit  unit
	lines []*line
	most  float64
	axis  *axis
	marks []markView
}

// draw returns a chart as SVG.
func draw(p *picture) template.HTML {
	top, ticks := scale(p.most, p.unit.steps)
	s := &svg{}
	s.open(p.title+" over time", plotHeight+textHeight)
	for _, v := range ticks {
		y := plotHeight * (1 - v/top)
		s.put(`<line class="grid" x1="0" x2="100%%" y1="%.1f" y2="%.1f"/><text class="end" x="-6" y="%.1f">%s</text>`, y, y, y+4, esc(p.unit.text(v)))
	}
	for _, t := range p.axis.ticks() {
		s.put(`<text class="mid" x="%.2f%%" y="%d">%s</text>`, 100*t.At, plotHeight+16, esc(t.Text))
	}
	for _, c := range p.axis.cuts {
		s.rule("cut", 100*p.axis.share(c.at), "interrupted for "+engine.FormatDuration(c.missing))
	}
	for _, m := range p.marks {
		class := "mark"
		if m.Faint {
			class = "move"
		}
		s.rule(class, m.X, m.Text)
		if m.Number != "" {
			s.put(`<text class="mid number" x="%.2f%%" y="-4">%s</text>`, m.X, m.Number)
		}
	}
	s.put(`<svg viewBox="0 0 1000 1000" preserveAspectRatio="none" width="100%%" height="%d">`, plotHeight)
	for _, l := range slices.Backward(p.lines) { // the first one on top
		for _, piece := range l.pieces() {
			s.line(l, piece, top)
		}
	}
	s.put(`</svg></svg>`)
	return s.done()
}

// svg builds an SVG image.
type svg struct{ text strings.Builder }

func (s *svg) put(format string, values ...any) { fmt.Fprintf(&s.text, format, values...) }

// done returns the image. All texts in it are escaped.
func (s *svg) done() template.HTML { return template.HTML(s.text.String()) } //nolint:gosec // see above

func (s *svg) open(title string, height int) {
	s.put(`<svg class="plot" role="img" height="%d"><title>%s</title>`, height, esc(title))
}

func esc(text string) string { return template.HTMLEscapeString(text) }

// rule draws a vertical line with a tooltip.
func (s *svg) rule(class string, x float64, text string) {
	s.put(`<line class="%s" x1="%.2f%%" x2="%.2f%%" y1="0" y2="%d"><title>%s</title></line>`, class, x, x, plotHeight, esc(text))
}

// line draws a piece of a line, or a dot for a single point.
func (s *svg) line(l *line, piece []point, top float64) {
	x := func(p point) float64 { return 1000 * l.axis.share(p.at) }
	y := func(p point) float64 { return 1000 * (1 - p.v/top) }
	first, last := piece[0], piece[len(piece)-1]
	var path strings.Builder
	fmt.Fprintf(&path, "%.1f %.1f", x(first), y(first))
	for _, p := range piece[1:] {
		fmt.Fprintf(&path, "L%.1f %.1f", x(p), y(p))
	}
	if len(piece) == 1 {
		path.WriteString("h0")
	}
	look, area := strings.CutSuffix(l.look, " area")
	if area && len(piece) > 1 {
		s.put(`<path class="%s fill" d="M%sL%.1f 1000L%.1f 1000Z"/>`, look, path.String(), x(last), x(first))
	}
	s.put(`<path class="%s" d="M%s"/>`, look, path.String())
}
