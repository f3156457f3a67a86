package widgets

import (
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/theme"
)

func TestLineIsCutToItsWidth(t *testing.T) {
	test.NewTempApp(t).Settings().SetTheme(theme.DefaultTheme())
	l := NewLine(theme.SizeNameText, Neutral)
	w := test.NewTempWindow(t, container.NewStack(l))
	w.SetPadded(false)
	w.Resize(fyne.NewSize(120, 20))
	l.Set("short", Neutral)
	if l.text.Text != "short" {
		t.Errorf("the screen shows %q", l.text.Text)
	}
	long := "a text that is much longer than the line"
	l.Set(long, Bad)
	if got := l.text.Text; got == long || !strings.HasPrefix(got, "a text") || !strings.HasSuffix(got, "…") || l.Text() != long {
		t.Errorf("it shows %q of %q", got, l.Text())
	}
	if l.text.Color != Color(Bad.Color()) {
		t.Error("the tone does not show")
	}
	w.Resize(fyne.NewSize(l.Natural()+1, 20))
	if l.text.Text != long {
		t.Errorf("with enough room it shows %q", l.text.Text)
	}
	if least := l.MinSize().Width; least > 20 {
		t.Errorf("it asks for %v", least)
	}
}

func TestTile(t *testing.T) {
	test.NewTempApp(t).Settings().SetTheme(theme.DefaultTheme())
	tile := NewTile("Failed")
	w := test.NewTempWindow(t, container.NewHBox(tile))
	w.Resize(fyne.NewSize(200, 100))
	tile.Set("12", "healthy, 0.2%", Good)
	before := tile.MinSize()
	tile.Set("1,234,567", "critical", Bad)
	if tile.Value() != "1,234,567" || tile.Note() != "critical" || tile.note.tone != Bad {
		t.Errorf("it shows %q, %q", tile.Value(), tile.Note())
	}
	if tile.MinSize() != before {
		t.Errorf("its size follows its text: %v, then %v", before, tile.MinSize())
	}
	fact := NewFact("Elapsed")
	fact.SetValue("10 s behind", Warning)
	if fact.Value() != "10 s behind" || fact.value.tone != Warning || fact.MinSize().Height >= before.Height {
		t.Errorf("a fact shows %q and is %v high", fact.Value(), fact.MinSize().Height)
	}
}

func TestProgress(t *testing.T) {
	test.NewTempApp(t).Settings().SetTheme(theme.DefaultTheme())
	p := NewProgress()
	w := test.NewTempWindow(t, container.NewStack(p))
	w.SetPadded(false)
	w.Resize(fyne.NewSize(200, 30))
	for _, c := range []struct {
		share float64
		want  float32
	}{{0, 0}, {0.001, p.track.Size().Height}, {0.5, 100}, {0.5001, 100}, {1, 200}, {1.5, 200}} {
		p.Set("3 of 6 sessions", "50%", c.share)
		if got := p.bar.Size().Width; got != c.want {
			t.Errorf("%v done is a bar of %v, want %v", c.share, got, c.want)
		}
	}
	w.Resize(fyne.NewSize(300, 30))
	if got := p.bar.Size().Width; got != 300 || p.left.Text() != "3 of 6 sessions" || p.right.Text() != "50%" {
		t.Errorf("in more room it is a bar of %v, %q, %q", got, p.left.Text(), p.right.Text())
	}
}
