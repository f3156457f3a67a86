package chart

import (
	"errors"
	"flag"
	"image"
	"image/draw"
	"image/png"
	"os"
	"path/filepath"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"
)

var update = flag.Bool("update", false, "rewrite the golden pictures")

// The tolerance for golden pictures, because machines round differently: the difference of a channel, and the fraction
// of pixels that may differ by more.
const (
	goldenChannel = 24
	goldenShare   = 0.002
)

// golden compares a window with a golden picture.
func golden(t *testing.T, w window, name string) {
	t.Helper()
	img := w.Canvas().Capture()
	path := filepath.Join("testdata", name+".png")
	if *update {
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(png.Encode(f, img), f.Close()); err != nil {
			t.Fatal(err)
		}
		return
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	want, err := png.Decode(f)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	if img.Bounds() != want.Bounds() {
		t.Fatalf("%s is %v, want %v", name, img.Bounds(), want.Bounds())
	}
	if share := differing(img, want); share > goldenShare {
		t.Errorf("%s differs in %.2f%% of its pixels; if it is meant to, look at it and run the test with -update", name, 100*share)
	}
}

// differing returns the fraction of pixels that differ by more than rounding.
func differing(a, b image.Image) float64 {
	first, second, n := opaque(a), opaque(b), 0
	for i := 0; i < len(first); i += 4 {
		if apart(first[i], second[i]) || apart(first[i+1], second[i+1]) || apart(first[i+2], second[i+2]) {
			n++
		}
	}
	return float64(n) / float64(len(first)/4)
}

// opaque returns the pixels of a picture, four bytes each.
func opaque(img image.Image) []uint8 {
	out := image.NewRGBA(img.Bounds())
	draw.Draw(out, out.Rect, img, img.Bounds().Min, draw.Src)
	return out.Pix
}

func apart(a, b uint8) bool { return max(a, b)-min(a, b) > goldenChannel }

// goldenChart is a chart with everything that charts can show.
func goldenChart() *Chart {
	return New(Config{
		Title: "Connections", Limit: true, Series: named("Throng", "all clients", "in use", "waiting"),
		Bands: []Band{{From: 50, To: 55, Level: theme.ColorNameWarning}, {From: 55, Level: theme.ColorNameError}},
	})
}

func goldenData() Data {
	d := noise(4, 600)
	for i := 200; i < 240; i++ {
		for s := range d.Values {
			d.Values[s][i] = nan
		}
	}
	for s := range d.Values {
		for i := range d.Values[s] {
			d.Values[s][i] *= 0.6
		}
	}
	d.From, d.To, d.Limit, d.LimitName = noon.Add(-10*time.Minute), noon, 60, "max"
	for kind := range numKinds {
		d.Markers = append(d.Markers, Marker{At: noon.Add(-time.Duration(kind)*55*time.Second - 30*time.Second), Kind: kind, Text: "a change"})
	}
	return d
}

// TestGoldens compares each kind of chart with a golden picture, in both themes, with and without a pointer.
func TestGoldens(t *testing.T) {
	for _, variant := range []struct {
		name string
		fyne.ThemeVariant
	}{{"light", theme.VariantLight}, {"dark", theme.VariantDark}} {
		chart := goldenChart()
		w := put(t, chart, 460, 240)
		w.setVariant(variant.ThemeVariant)
		chart.Set(goldenData())
		golden(t, w, "chart-"+variant.name)
		chart.hoverAt(330)
		chart.Toggle(2)
		golden(t, w, "chart-pointed-"+variant.name)

		histogram := NewHistogram("How long sessions took", "service time and waiting", "sessions", Keep{})
		w = put(t, histogram, 460, 220)
		w.setVariant(variant.ThemeVariant)
		histogram.Set(hump())
		histogram.point(17)
		golden(t, w, "histogram-"+variant.name)

		bars := NewBars("Errors", "", Keep{})
		w = put(t, bars, 320, 80)
		w.setVariant(variant.ThemeVariant)
		bars.Set(threeBars())
		bars.point(1)
		golden(t, w, "bars-"+variant.name)

		levels, w := showLevels(t, 460, 300)
		w.setVariant(variant.ThemeVariant)
		levels.Set(measuredLevels())
		levels.point(3)
		golden(t, w, "levels-"+variant.name)
	}
}

// TestGoldensTellPicturesApart checks that the comparison fails if a visible element is missing.
func TestGoldensTellPicturesApart(t *testing.T) {
	chart := goldenChart()
	w := put(t, chart, 460, 240)
	d := goldenData()
	chart.Set(d)
	before := w.Canvas().Capture()
	for name, change := range map[string]func(){
		"a band":    func() { chart.SetBands(chart.bands[:1]...) },
		"markers":   func() { d.Markers = nil },
		"the limit": func() { d.Limit = 0 },
		"a series":  func() { chart.Toggle(1) },
	} {
		change()
		chart.Set(d)
		if share := differing(before, w.Canvas().Capture()); share <= goldenShare {
			t.Errorf("without %s only %.3f%% of the pixels differ", name, 100*share)
		}
	}
}
