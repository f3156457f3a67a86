package chart

import (
	"fmt"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/test"
)

func threeBars() []Bar {
	return []Bar{{Key: "a", Label: "server_error", Value: "120", Amount: 120}, {Key: "b", Label: "timeout", Value: "60", Amount: 60}, {Key: "c", Label: "bad_answer", Value: "20", Amount: 20, Color: ColorLimit}}
}

func TestBarsShowAmountsAndShares(t *testing.T) {
	c := NewBars("Errors", "No session failed.", Keep{})
	w := put(t, c, 400, 200)
	if !says(c, "No session failed.") {
		t.Error("without bars it does not say so")
	}
	c.Set(threeBars())
	for _, want := range []string{"server_error", "120", "60%", "timeout", "30%", "bad_answer", "20", "10%"} {
		if !says(c, want) {
			t.Errorf("nowhere %q", want)
		}
	}
	first, last := c.lines[0], c.lines[2]
	if full, sixth := first.bar.Size().Width, last.bar.Size().Width; full != first.track.Size().Width || sixth < full/7 || sixth > full/5 {
		t.Errorf("bars of 120 and 20 are %v and %v wide", full, sixth)
	}
	if limit := colorOf(c.Theme(), ColorLimit, fyne.CurrentApp().Settings().ThemeVariant()); last.bar.FillColor != limit {
		t.Errorf("the bar is %v, want %v", last.bar.FillColor, limit)
	}
	var chosen []string
	c.OnChosen = func(key string) { chosen = append(chosen, key) }
	test.TapAt(c.pad, fyne.NewPos(50, c.row*1.5))
	if w.Canvas().Focused() != fyne.Focusable(c) {
		t.Error("a tap does not give it the keyboard")
	}
	c.TypedKey(key(fyne.KeyEnd))
	c.TypedKey(key(fyne.KeyReturn))
	test.TapAt(c.pad, fyne.NewPos(50, c.row*4)) // below all
	if got := strings.Join(chosen, " "); got != "b c" {
		t.Errorf("chosen were %q", got)
	}
	c.pad.MouseMoved(&desktop.MouseEvent{PointEvent: fyne.PointEvent{Position: fyne.NewPos(9, c.row/2)}})
	if !c.back.Visible() || c.back.Position().Y != 0 {
		t.Error("the bar at the pointer is not marked")
	}
	if got, want := string(c.Table()), "server_error\t120\t60%\ntimeout\t60\t30%\nbad_answer\t20\t10%\n"; got != want {
		t.Errorf("copied %q, want %q", got, want)
	}
	c.Set(nil)
	if says(c, "timeout") || first.bar.Visible() {
		t.Error("it still shows the previous data")
	}
}

func TestManyBars(t *testing.T) {
	var many []Bar
	for i := range 40 {
		many = append(many, Bar{Key: fmt.Sprint(i), Label: strings.Repeat("long.name.of.a.step.", 9), Value: "1h2m3s", Amount: float64(40 - i)})
	}
	for _, size := range []fyne.Size{{Width: 240, Height: 300}, {Width: 900, Height: 300}} {
		c := NewBars("Steps", "", Keep{})
		put(t, c, size.Width, size.Height)
		c.Set(many)
		if !says(c, "and 28 more") {
			t.Errorf("the number of hidden bars is not shown")
		}
		all := visible(c)
		for i, a := range all {
			if end := a.Position().Add(a.Size()); end.X > size.Width+1 || end.Y > c.MinSize().Height+1 {
				t.Errorf("%q at %v leaves %v", a.Text, a.Position(), size)
			}
			for _, b := range all[i+1:] {
				if overlap(a, b) {
					t.Errorf("%q covers %q", a.Text, b.Text)
				}
			}
		}
		for i := range c.lines {
			l := &c.lines[i]
			end := l.track.Position().X + l.track.Size().Width
			if l.label.text.Position().X+l.label.size.Width > l.track.Position().X || end > l.value.text.Position().X {
				t.Fatalf("line %d: the bar from %v to %v covers a text", i, l.track.Position().X, end)
			}
		}
	}
}

func TestShares(t *testing.T) {
	for _, c := range []struct {
		part, whole float64
		want        string
	}{{1, 2, "50%"}, {1, 30, "3.3%"}, {0, 5, "0%"}, {1, 1e6, "under 0.1%"}, {999, 1000, "99.9%"}, {5, 5, "100%"}, {0, 0, "–"}} {
		if got := string(appendShare(nil, c.part, c.whole)); got != c.want {
			t.Errorf("%v of %v is %s, want %s", c.part, c.whole, got, c.want)
		}
	}
	for n, want := range map[float64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567"} {
		if got := string(appendCount(nil, n)); got != want {
			t.Errorf("%v is %s, want %s", n, got, want)
		}
	}
}
