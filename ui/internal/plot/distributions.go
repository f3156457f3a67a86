package plot

import (
	"fmt"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"

	"github.com/throng-sim/throng/ui/internal/chart"
	"github.com/throng-sim/throng/ui/internal/pen"
)

// Bin is a category, or the numbers from Low to High, with its share on two sides in percent.
type Bin struct {
	Label     string
	Low, High float64 // of numbers
	Shares    [2]float64
}

// Distributions is a plot of two distributions over common bins, with a bar of each next to the other. A place is one of the bins.
type Distributions struct {
	sheet
	sides   [2]string
	bins    []Bin
	numbers bool
	legend  legend
	field   field
}

// sideLooks are the looks of the two sides.
var sideLooks = [2]look{{shapes[1], chart.ColorSeries2, false}, {shapes[1], chart.ColorSeries1, false}}

// NewDistributions returns a plot without bins; sides are the names of the two distributions.
func NewDistributions(sides [2]string) *Distributions {
	d := &Distributions{sides: sides}
	d.extend(d, "distributions", fyne.NewSize(260, 190))
	for i, name := range sides {
		d.legend = append(d.legend, entry{look: sideLooks[i], name: name})
	}
	return d
}

// Set shows bins below the name of what they are of. The bins of numbers have the width of Low to High, and others are categories.
func (d *Distributions) Set(of string, bins []Bin, numbers bool) {
	d.field.title, d.title, d.bins, d.numbers = of, "distributions of "+of, bins, numbers
	d.update()
}

// arrange implements face.
func (d *Distributions) arrange(size fyne.Size) {
	xs, ys := newExtent(), newExtent()
	ys.add(0)
	d.field.names = nil
	if !d.numbers {
		d.field.names = []string{}
	}
	for i := range d.bins {
		b := &d.bins[i]
		ys.add(b.Shares[0], b.Shares[1])
		if d.numbers {
			xs.add(b.Low, b.High)
		} else {
			xs.add(float64(i)-0.5, float64(i)+0.5)
			d.field.names = append(d.field.names, b.Label)
		}
	}
	d.field.x, d.field.y = newAxis(xs, 0, false, ""), newAxis(ys, 0.04, false, "%")
	d.field.y.low = 0
	top := d.legend.place(&d.sheet, 0, 0, size.Width)
	d.field.arrange(&d.sheet, top, size.Width, size.Height)
}

// edges returns where one of the bins begins and ends.
func (d *Distributions) edges(i int) (left, right float32) {
	if d.numbers {
		return d.field.x.at(d.bins[i].Low), d.field.x.at(d.bins[i].High)
	}
	return d.field.x.at(float64(i) - 0.5), d.field.x.at(float64(i) + 0.5)
}

// Shares of the width of bins: the gap on both sides, and each bar.
const (
	binGap   = 0.08
	binShare = 0.42
)

// paint implements face.
func (d *Distributions) paint(b *brush) {
	if len(d.bins) == 0 {
		return
	}
	d.legend.paint(b)
	d.field.paint(b)
	for i := range d.bins {
		left, right := d.edges(i)
		width := right - left
		if i == d.at {
			b.rect(left, d.field.top, right, d.field.bottom, pen.Faint(chart.Ink(theme.ColorNameForeground), shadeStrength))
		}
		for k, share := range d.bins[i].Shares {
			if share == 0 {
				continue
			}
			from := left + width*(binGap+float32(k)*binShare)
			b.rect(from, d.field.y.at(share), from+width*binShare, d.field.bottom, sideLooks[k].color())
		}
	}
}

// shadeStrength is how much the selected bin is shaded, out of 255.
const shadeStrength = 28

// places implements face.
func (d *Distributions) places() int { return len(d.bins) }

// find implements face.
func (d *Distributions) find(at fyne.Position) int {
	for i := range d.bins {
		if left, right := d.edges(i); at.X >= left && at.X < right {
			return i
		}
	}
	return none
}

// spot implements face.
func (d *Distributions) spot(place int) (fyne.Position, string) {
	b := &d.bins[place]
	left, right := d.edges(place)
	text := fmt.Sprintf("%s\n%s: %.1f%%\n%s: %.1f%%", b.Label, d.sides[0], b.Shares[0], d.sides[1], b.Shares[1])
	return fyne.NewPos((left+right)/2, d.field.y.at(max(b.Shares[0], b.Shares[1]))), text
}
