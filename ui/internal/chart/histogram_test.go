package chart

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/theme"
)

// hump has a bar for each tenth of a power of ten from 10 ms to 10 s, and marks.
func hump() HistogramData {
	d := HistogramData{Marks: []Mark{{0.3, "p50"}, {0.95, "p95"}, {1.2, "p99"}}}
	for i := range 30 {
		d.Bins = append(d.Bins, Bucket{
			From: math.Pow(10, -2+float64(i)/10), To: math.Pow(10, -2+float64(i+1)/10),
			Count: max(1, math.Round(1000*math.Exp(-math.Pow(float64(i)-15, 2)/20))),
		})
	}
	return d
}

// put shows a widget in a window of the given size, in the light theme.
func put(t testing.TB, o fyne.CanvasObject, width, height float32) window {
	t.Helper()
	test.NewTempApp(t).Settings().SetTheme(variantTheme{theme.DefaultTheme(), theme.VariantLight}) // that of pictures
	themed := container.NewThemeOverride(o, variantTheme{theme.DefaultTheme(), theme.VariantLight})
	w := test.NewTempWindow(t, themed)
	w.SetPadded(false)
	w.Resize(fyne.NewSize(width, height))
	return window{w, themed}
}

// visible returns the visible texts of a widget.
func visible(o fyne.Widget) (all []*canvas.Text) {
	for _, o := range test.WidgetRenderer(o).Objects() {
		if text, ok := o.(*canvas.Text); ok && o.Visible() && text.Text != "" {
			all = append(all, text)
		}
	}
	return all
}

func says(o fyne.Widget, want string) bool {
	return slices.ContainsFunc(visible(o), func(t *canvas.Text) bool { return t.Text == want })
}

func TestHistogramShowsAxesAndMarks(t *testing.T) {
	c := NewHistogram("Latency", "of sessions", "sessions", Keep{})
	put(t, c, 590, 300)
	if !says(c, "nothing measured yet") {
		t.Error("without data there is no message")
	}
	c.Set(hump())
	for _, want := range []string{"Latency", "of sessions", "10 ms", "100 ms", "1 s", "10 s", "0", "1 k", "p50 300 ms", "p95 950 ms", "p99 1.2 s"} {
		if !says(c, want) {
			t.Errorf("nowhere %q", want)
		}
	}
	if says(c, "nothing measured yet") {
		t.Error("it reports that there is no data")
	}
	c.Set(HistogramData{})
	if !says(c, "nothing measured yet") || says(c, "p50 300 ms") {
		t.Error("it still shows the previous data")
	}
}

func TestHistogramIsDrawn(t *testing.T) {
	c := NewHistogram("Latency", "", "sessions", Keep{})
	put(t, c, 590, 300)
	c.Set(hump())
	for _, scale := range []int{1, 2} {
		w, h := int(c.raster.Size().Width), int(c.raster.Size().Height)
		img := c.plot.draw(w*scale, h*scale, float32(w))
		top := func(bin int) int {
			b := &c.data.Bins[bin]
			x := int((c.across(b.From) + c.across(b.To)) / 2 * float32(scale))
			for y := range h * scale {
				if img.RGBAAt(x, y).A > 150 && img.RGBAAt(x+1, y).A > 150 { // marks are narrower at 1
					return y
				}
			}
			return -1
		}
		if high, side, low := top(15), top(12), top(29); high > 4*scale || side < high+20 || low < 0 || low < h*scale-6*scale {
			t.Errorf("scale %d: the bars begin at %d, %d and %d of %d", scale, high, side, low, h*scale)
		}
	}
	c.plot.bins = []Bucket{{0.1, 0.2, 0}}
	img := c.plot.draw(400, 200, 400)
	if a := img.RGBAAt(int(c.plot.x(math.Log10(0.15))), 197).A; a > 60 {
		t.Error("an empty bar is drawn")
	}
}

func TestPointingAtABar(t *testing.T) {
	c := NewHistogram("Latency", "", "sessions", Keep{})
	w := put(t, c, 590, 300)
	c.Set(HistogramData{Bins: []Bucket{{0.1, 0.2, 60}, {0.2, 0.4, 30}, {0.4, 0.8, 10}}})
	still := w.pixels()
	x := (c.across(0.2) + c.across(0.4)) / 2
	c.pad.MouseMoved(&desktop.MouseEvent{PointEvent: fyne.PointEvent{Position: fyne.NewPos(x, 20)}})
	for _, want := range []string{"200 ms to 400 ms", "30", "30%", "90%"} {
		if !says(c, want) {
			t.Errorf("nowhere %q", want)
		}
	}
	if bytes.Equal(still, w.pixels()) {
		t.Error("the bar does not stand out")
	}
	c.pad.MouseOut()
	if says(c, "200 ms to 400 ms") || !bytes.Equal(still, w.pixels()) {
		t.Error("it differs from the original")
	}
	w.Canvas().Focus(c)
	if !says(c, "100 ms to 200 ms") || !c.frame.Visible() {
		t.Error("with the keyboard it shows no bar")
	}
	c.TypedKey(key(fyne.KeyRight))
	c.TypedKey(key(fyne.KeyRight))
	c.TypedKey(key(fyne.KeyRight))
	if !says(c, "400 ms to 800 ms") || !says(c, "100%") {
		t.Error("the arrows do not reach the last bar")
	}
	c.TypedRune('m')
	if w.Canvas().Overlays().Top() == nil {
		t.Error("m shows no menu")
	}
	if got, want := string(c.Table()), "from (s)\tto (s)\tsessions\n0.1\t0.2\t60\n0.2\t0.4\t30\n0.4\t0.8\t10\n"; got != want {
		t.Errorf("copied %q, want %q", got, want)
	}
}

func TestHistogramFits(t *testing.T) {
	near := hump()
	near.Marks = []Mark{{0.30, "p50"}, {0.31, "p95"}, {0.32, "p99"}, {0.33, "max"}}
	alike := HistogramData{Bins: []Bucket{{0.1, 0.1259, 1e6}}, Marks: []Mark{{0.11, "p50"}, {0.11, "p99"}}}
	for _, size := range []fyne.Size{{Width: 240, Height: 150}, {Width: 590, Height: 300}, {Width: 1200, Height: 400}} {
		for i, d := range []HistogramData{{}, hump(), near, alike} {
			t.Run(fmt.Sprint(size.Width, " ", i), func(t *testing.T) {
				c := NewHistogram("How long sessions took", "service time and waiting, all takes", "sessions", Keep{})
				put(t, c, size.Width, size.Height)
				c.Set(d)
				all := visible(c)
				for i, a := range all {
					end := a.Position().Add(a.Size())
					if a.Position().X < -1 || a.Position().Y < -1 || end.X > size.Width+1 || end.Y > size.Height+1 {
						t.Errorf("%q at %v leaves %v", a.Text, a.Position(), size)
					}
					for _, b := range all[i+1:] {
						if overlap(a, b) {
							t.Errorf("%q covers %q", a.Text, b.Text)
						}
					}
				}
				if i == 1 && size.Width == 240 && c.Picture().Bounds().Dx() != pictureScale*(pictureWidth+2*pictureEdge) {
					t.Error("its picture has another width")
				}
			})
		}
	}
}
