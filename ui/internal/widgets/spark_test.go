package widgets

import (
	"math"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/theme"
)

// inked returns how much of a column of pixels a line covers, and its topmost pixel; -1 if there is none.
func (f *sparkFace) inked(x int) (sum, first int) {
	first = -1
	for y := range f.img.Rect.Dy() {
		if a := int(f.img.RGBAAt(x, y).A); a > 2*sparkTint {
			sum += a
			if first < 0 {
				first = y
			}
		}
	}
	return sum, first
}

func TestSparksFollowTheirValues(t *testing.T) {
	test.NewTempApp(t).Settings().SetTheme(theme.DefaultTheme())
	f := newSparkFace()
	f.show(&Spark{Values: []float64{0, 0, 10, 10, math.NaN(), math.NaN(), 5}}, Neutral)
	for _, scale := range []int{1, 2} {
		f.draw(66*scale, 20*scale, 66)
		low, high := 3+5, 3+25 // in the middle of the first and the third part
		_, bottom := f.inked(low * scale)
		_, top := f.inked(high * scale)
		if bottom < 15*scale || top > 5*scale {
			t.Errorf("scale %d: 0 is at %d and 10 at %d of %d", scale, bottom, top, 20*scale)
		}
		if sum, _ := f.inked(45 * scale); sum > 0 {
			t.Errorf("scale %d: a line where there are no values", scale)
		}
		if _, end := f.inked(63 * scale); end < 0 {
			t.Errorf("scale %d: the newest value has no dot", scale)
		}
	}
	f.show(&Spark{Values: []float64{1, 1, 1}, Least: 10}, Neutral)
	f.draw(66, 20, 66)
	if _, top := f.inked(30); top < 12 {
		t.Errorf("1 of 10 is at %d of 20", top)
	}
	if n := testing.AllocsPerRun(20, func() { f.draw(66, 20, 66) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
	for _, values := range [][]float64{nil, {1}, {math.NaN()}} {
		f.show(&Spark{Values: values}, Bad)
		f.draw(3, 2, 3)
	}
}

func TestCellsShowSparks(t *testing.T) {
	test.NewTempApp(t).Settings().SetTheme(theme.DefaultTheme())
	s := NewSheet([]Column{{Title: "Service"}, {Title: "Last minute", Sample: "mmmmmmmm"}}, "", nil)
	w := test.NewTempWindow(t, s)
	row := func(spark *Spark) []Row { return []Row{{Key: "a", Cells: []Cell{{Text: "shop"}, {Spark: spark}}}} }
	s.SetRows(row(&Spark{Values: []float64{1, 2, 3}}))
	w.Resize(fyne.NewSize(300, 80))
	w.Canvas().Capture()
	cell := s.lines[0].cells[1]
	face := cell.face.spark
	if face == nil || !face.raster.Visible() || face.img == nil || face.img.Rect.Dx() < 20 {
		t.Fatal("no spark is drawn")
	}
	before := string(face.img.Pix)
	s.SetRows(row(&Spark{Values: []float64{3, 2, 1}}))
	w.Canvas().Capture()
	if string(face.img.Pix) == before {
		t.Error("another spark looks the same")
	}
	s.SetRows(row(nil))
	if face.raster.Visible() {
		t.Error("a cell without one shows it")
	}
}
