package chart

import (
	"testing"

	"fyne.io/fyne/v2/theme"
)

func TestBandsAreTinted(t *testing.T) {
	p := square(nil, nil)
	p.strips = []strip{{60, 80, red}, {80, 1e9, blue}}
	p.drawSquare()
	for _, tt := range []struct {
		y    int
		want string
	}{{50, "none"}, {30, "red"}, {10, "blue"}, {0, "blue"}} {
		c := p.at(50, tt.y)
		got := "none"
		switch {
		case c.R > 0 && c.B == 0:
			got = "red"
		case c.B > 0 && c.R == 0:
			got = "blue"
		case c != none:
			got = "both"
		}
		if got != tt.want || c.A > 60 {
			t.Errorf("row %d is %s, %v, want %s", tt.y, got, c, tt.want)
		}
	}
	if line := max(p.at(50, 39).A, p.at(50, 40).A); line < 2*p.at(50, 30).A {
		t.Errorf("the band's lower end has alpha %d, as faint as the band", line)
	}
	p.bottom, p.top = 90, 95 // inside the upper one
	p.drawSquare()
	if c := p.at(50, 50); c.B == 0 || c.R > 0 {
		t.Errorf("inside a band it is %v", c)
	}
	p.bottom, p.top = 0, 50 // below both
	p.drawSquare()
	if c := p.at(50, 5); c != none {
		t.Errorf("below the bands it is %v", c)
	}
}

// TestBandsHaveNoWords checks that no text lies on the plot, and that bands can be replaced and removed.
func TestBandsHaveNoWords(t *testing.T) {
	bands := []Band{{From: 50, To: 80, Level: theme.ColorNameWarning}, {From: 80, Level: theme.ColorNameError}}
	c := New(Config{Title: "Requests", Series: seriesNamed(1), Bands: bands})
	show(t, c, 590, 330)
	c.Set(minutes(1, level(99)))
	if len(c.plot.strips) != 2 {
		t.Errorf("%d bands are drawn", len(c.plot.strips))
	}
	plot := c.raster.Position().Y + c.plot.crown
	for _, l := range c.labels() {
		if at := l.text.Position(); !l.text.Hidden && at.X > c.gutter && at.Y > plot && at.Y+l.size.Height < c.at(c.axis.bottom) {
			t.Errorf("%q lies on the plot", l.text.Text)
		}
	}
	c.SetBands()
	c.Set(minutes(1, level(20)))
	if len(c.plot.strips) > 0 {
		t.Error("no bands are still shown")
	}
}

// TestDashesKeepPeaks checks that a dashed line is faint between the dashes but never disappears.
func TestDashesKeepPeaks(t *testing.T) {
	p := square([]float64{0, 100}, []float64{nan, nan}, []float64{nan, nan}, []float64{50, 50}, []float64{20, 20})
	p.inks.series = append(p.inks.series, red, red)
	p.drawSquare()
	for _, c := range []struct {
		row  int
		want pattern
	}{{50, patterns[2]}, {80, patterns[3]}} {
		strong, faint := 0, 0
		for x := 5; x < 5+3*(c.want.on+c.want.off); x++ {
			switch a := p.at(x, c.row).A; {
			case a > 150:
				strong++
			case a > 20:
				faint++
			default:
				t.Fatalf("row %d is away at %d", c.row, x)
			}
		}
		if strong != 3*c.want.on || faint != 3*c.want.off {
			t.Errorf("row %d: %d strong and %d faint, want %+v", c.row, strong, faint, c.want)
		}
	}
}
