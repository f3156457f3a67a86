package chart

import (
	"image"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"
)

// entries returns the names of a menu's items, with disabled ones in brackets.
func entries(items []*fyne.MenuItem) string {
	var names []string
	for _, item := range items {
		switch {
		case item.IsSeparator:
			continue
		case item.Disabled:
			names = append(names, "("+item.Label+")")
		case item.Checked:
			names = append(names, item.Label+" ✓")
		default:
			names = append(names, item.Label)
		}
	}
	return strings.Join(names, ", ")
}

// do chooses an item of a menu.
func do(t *testing.T, items []*fyne.MenuItem, label string) {
	t.Helper()
	for _, item := range items {
		if item.Label == label {
			item.Action()
			return
		}
	}
	t.Fatalf("no %q among %s", label, entries(items))
}

func TestMenuOfAChart(t *testing.T) {
	var copied, saved string
	var picture image.Image
	var from fyne.CanvasObject
	c := New(Config{Title: "Requests", Series: named("shop", "model"), Keep: Keep{
		Copy: func(title string, img image.Image) { copied, picture = title, img },
		Save: func(o fyne.CanvasObject, title string, _ image.Image) { saved, from = title, o },
	}})
	w := show(t, c, 590, 330)
	c.Set(rising())
	c.Toggle(1)
	if got, want := entries(c.menuItems()), "Show shop ✓, Show model, Logarithmic axis, Maximize, Copy values, Copy picture, Save picture…"; got != want {
		t.Errorf("the menu has %s, want %s", got, want)
	}
	do(t, c.menuItems(), "Show model")
	if c.hidden(1) {
		t.Error("the menu does not show a series")
	}
	do(t, c.menuItems(), "Copy picture")
	do(t, c.menuItems(), "Save picture…")
	if copied != "Requests" || saved != "Requests" || from != c {
		t.Errorf("copied %q, saved %q", copied, saved)
	}
	if got, want := picture.Bounds().Size(), image.Pt(2*(pictureWidth+2*pictureEdge), 2*(pictureHeight+2*pictureEdge)); got != want {
		t.Errorf("the picture is %v, want %v", got, want)
	}
	for name, open := range map[string]func(){
		"the right button on the drawing": func() { c.pad.TappedSecondary(&fyne.PointEvent{AbsolutePosition: fyne.NewPos(100, 100)}) },
		"the right button next to it":     func() { test.TapSecondary(c) },
		"m":                               func() { c.TypedRune('m') },
		"the menu key":                    func() { c.TypedKey(key("Menu")) },
	} {
		open()
		top := w.Canvas().Overlays().Top()
		if top == nil {
			t.Errorf("%s shows no menu", name)
			continue
		}
		w.Canvas().Overlays().Remove(top)
	}
	g := NewGroup(func() {})
	g.Add(c)
	if got := entries(c.menuItems()); !strings.Contains(got, "(Zoom back)") {
		t.Errorf("a chart that is not zoomed offers %s", got)
	}
	g.zoom(noon.Add(-time.Minute), noon)
	do(t, c.menuItems(), "Zoom back")
	if g.Zoomed() {
		t.Error("it is still zoomed")
	}
}

// TestPictureShowsWhatTheChartShows compares the colored pixels of two pictures.
func TestPictureShowsWhatTheChartShows(t *testing.T) {
	c := New(Config{Title: "Requests", Series: named("shop", "model")})
	show(t, c, 590, 330)
	c.Set(rising())
	inked := func() (n [2]int) {
		pix := c.Picture().(*image.NRGBA).Pix
		for i := 0; i < len(pix); i += 4 {
			for s, want := range c.plot.inks.series {
				if pix[i] == want.R && pix[i+1] == want.G && pix[i+2] == want.B {
					n[s]++
				}
			}
		}
		return n
	}
	if n := inked(); n[0] < 500 || n[1] < 500 {
		t.Errorf("a series is not in the picture: %v", n)
	}
	c.Toggle(1)
	if n := inked(); n[0] < 500 || n[1] > 0 {
		t.Errorf("the picture shows a hidden series: %v", n)
	}
}

func TestCopiedValues(t *testing.T) {
	test.NewTempApp(t)
	c := New(Config{Title: "Latency", Unit: Duration, Series: named("p50", "p95")})
	show(t, c, 400, 200)
	c.Set(Data{
		Times:  []float64{Seconds(noon) - 2, Seconds(noon) - 1, Seconds(noon)},
		Values: [][]float64{{0.1, nan, 0.25}, {1, 2, 3.5}}, From: noon.Add(-time.Second), To: noon,
	})
	do(t, c.menuItems(), "Copy values")
	want := "time\tp50 (s)\tp95 (s)\n2026-03-04 11:59:59\t\t2\n2026-03-04 12:00:00\t0.25\t3.5\n"
	if got := fyne.CurrentApp().Clipboard().Content(); got != want {
		t.Errorf("copied %q, want %q", got, want)
	}
	counted := New(Config{Series: named("A"), Numbers: true})
	show(t, counted, 400, 200)
	counted.Set(Data{Times: []float64{3, 4}, Values: [][]float64{{7, 8}}})
	if got, want := string(counted.Table()), "cycle\tA\n3\t7\n4\t8\n"; got != want {
		t.Errorf("the table of cycles is %q, want %q", got, want)
	}
	if got := string(New(Config{}).Table()); got != "time\n" {
		t.Errorf("an empty chart has %q", got)
	}
}
