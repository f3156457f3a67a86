package prose

import (
	"slices"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/ui/uitest"
)

const sample = "# The top\n\nText with *stress*, **weight** and `code --flag`, and [a link](02-other.md#there).\n" +
	"It continues from 1 → 2 here.\n\n## A heading, of two\n\n- one\n- two\n  continues\n\n1. first\n2. second\n\n" +
	"```sh\nthrongctl run   # spaces  stay\n\nthrongctl runs\n```\n\n| Key | What |\n|---|---|\n| `a` | the first letter |\n| `b` | the second |\n\n![a picture](p.png)\n\nThe end.\n"

// shown shows a text in a window of the given width.
func shown(t *testing.T, text string, width float32, ways Ways) (*View, fyne.Window) {
	t.Helper()
	uitest.Start(t)
	v := NewView(ways)
	v.SetWidth(width)
	v.Set(Parse(text), nil)
	w := test.NewTempWindow(t, v)
	w.SetPadded(false)
	w.Resize(fyne.NewSize(width, v.MinSize().Height))
	return v, w
}

func TestParse(t *testing.T) {
	d := Parse(sample)
	if got, want := d.Headings(), []Heading{{"The top", 1, "the-top"}, {"A heading, of two", 2, "a-heading-of-two"}}; !slices.Equal(got, want) {
		t.Errorf("headings %+v", got)
	}
	if got := d.Links(); !slices.Equal(got, []string{"02-other.md#there"}) {
		t.Errorf("links %q", got)
	}
	if got := d.Pictures(); !slices.Equal(got, []string{"p.png"}) {
		t.Errorf("pictures %q", got)
	}
	lines := strings.Split(sample, "\n")
	for _, b := range d.blocks {
		first := ""
		switch {
		case b.kind == code:
			first = "```"
		case b.kind == table:
			first = "| Key"
		case len(b.spans) > 0:
			first = strings.TrimSpace(b.spans[0].text)
		}
		if !strings.Contains(lines[b.line], first) {
			t.Errorf("%q is reported in line %d, %q", first, b.line, lines[b.line])
		}
	}
	d.Lead(func(link string) string { return "elsewhere:" + link })
	if got := d.Links(); !slices.Equal(got, []string{"elsewhere:02-other.md#there"}) {
		t.Errorf("after Lead %q", got)
	}
}

// TestAllIsShown checks that at any width every word is shown in order, and nothing extends beyond the column or
// overlaps.
func TestAllIsShown(t *testing.T) {
	for _, width := range []float32{900, 400, 160} {
		v, _ := shown(t, sample, width, Ways{})
		v.SelectAll()
		got := strings.Join(strings.Fields(v.Selected()), " ")
		want := "The top Text with stress, weight and code --flag, and a link. It continues from 1 → 2 here. A heading, of two " +
			"• one • two continues 1. first 2. second throngctl run # spaces stay throngctl runs Key What a the first letter b the second a picture The end."
		if got != want {
			t.Errorf("%v wide:\n%s\nwant\n%s", width, got, want)
		}
		for i, p := range v.sheet.pieces {
			if p.x < 0 || p.x+p.w > width+1 || p.y+p.h > v.sheet.height+p.h/2 {
				t.Errorf("%v wide: %q is at %v, %v and %v wide", width, p.text, p.x, p.y, p.w)
			}
			for _, q := range v.sheet.pieces[:i] {
				if q.x < p.x+p.w-1 && p.x < q.x+q.w-1 && q.y < p.y+p.size*0.8 && p.y < q.y+q.size*0.8 {
					t.Errorf("%v wide: %q lies on %q", width, p.text, q.text)
				}
			}
		}
	}
}

// TestArrowsStandAlone checks that an arrow is drawn without the space after it, which the toolkit would draw as a box.
func TestArrowsStandAlone(t *testing.T) {
	v, _ := shown(t, sample, 900, Ways{})
	if !slices.ContainsFunc(v.sheet.pieces, func(p piece) bool { return strings.HasSuffix(p.text, "→") }) {
		t.Error("no piece ends with an arrow")
	}
	for _, p := range v.sheet.pieces {
		if strings.Contains(p.text, "→ ") {
			t.Errorf("%q is one piece", p.text)
		}
	}
}

func TestCodeIsCopiedAsItIs(t *testing.T) {
	v, w := shown(t, sample, 200, Ways{})
	n := 0
	uitest.Walk(w.Content(), func(o fyne.CanvasObject) bool {
		if b, ok := o.(*widget.Button); ok {
			n++
			test.Tap(b)
		}
		return true
	})
	if got := fyne.CurrentApp().Clipboard().Content(); n != 1 || got != "throngctl run   # spaces  stay\n\nthrongctl runs" {
		t.Errorf("%d buttons, copied %q of %d pieces", n, got, len(v.sheet.pieces))
	}
}

func TestLinksAreFollowed(t *testing.T) {
	var followed []string
	var scrolled []fyne.KeyName
	_, w := shown(t, sample, 600, Ways{Follow: func(to string) { followed = append(followed, to) }, Scroll: func(k fyne.KeyName) { scrolled = append(scrolled, k) }})
	w.Canvas().FocusNext()
	for w.Canvas().Focused() != nil {
		if l, ok := w.Canvas().Focused().(*link); ok {
			l.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
			l.TypedKey(&fyne.KeyEvent{Name: fyne.KeyPageDown})
			test.Tap(l)
			break
		}
		w.Canvas().FocusNext()
	}
	if want := []string{"02-other.md#there", "02-other.md#there"}; !slices.Equal(followed, want) || len(scrolled) != 1 {
		t.Errorf("followed %q, scrolled by %q", followed, scrolled)
	}
}

// TestSelecting selects text by dragging, and a word by a double tap.
func TestSelecting(t *testing.T) {
	v, _ := shown(t, "Alpha beta gamma.\n\nDelta epsilon.\n", 600, Ways{})
	at := func(word string, end bool) fyne.Position {
		for _, p := range v.sheet.pieces {
			if i := strings.Index(p.text, word); i >= 0 {
				x := p.x + measure(p.text[:i], p.size, p.style).Width + 1
				if end {
					x += measure(word, p.size, p.style).Width
				}
				return fyne.NewPos(x, p.y+p.h/2)
			}
		}
		t.Fatalf("no %q", word)
		return fyne.Position{}
	}
	press := func(p fyne.Position, m fyne.KeyModifier) {
		v.MouseDown(&desktop.MouseEvent{PointEvent: fyne.PointEvent{Position: p}, Button: desktop.MouseButtonPrimary, Modifier: m})
	}
	for _, c := range []struct{ from, to, want string }{
		{"beta", "beta", "beta"}, {"beta", "Delta", "beta gamma.\n\nDelta"}, {"Alpha", "epsilon", "Alpha beta gamma.\n\nDelta epsilon"},
	} {
		press(at(c.from, false), 0)
		v.Dragged(&fyne.DragEvent{PointEvent: fyne.PointEvent{Position: at(c.to, true)}})
		if got := v.Selected(); got != c.want {
			t.Errorf("from %s to %s: %q", c.from, c.to, got)
		}
		press(at(c.to, true), 0) // and from behind
		press(at(c.from, false), fyne.KeyModifierShift)
		if got := v.Selected(); got != c.want || !v.Copy() || fyne.CurrentApp().Clipboard().Content() != c.want {
			t.Errorf("backwards from %s to %s: %q", c.from, c.to, got)
		}
	}
	v.DoubleTapped(&fyne.PointEvent{Position: at("epsilon", false)})
	if got := v.Selected(); got != "epsilon." {
		t.Errorf("a double tap selects %q", got)
	}
	press(at("Alpha", false), 0)
	if v.Copy() {
		t.Error("an empty selection was copied")
	}
}

// TestMarks checks that each occurrence of each marked word has a highlight behind it.
func TestMarks(t *testing.T) {
	v, _ := shown(t, "Full disk, disk **full**.\n", 600, Ways{})
	if n := len(v.under.Objects); n != 0 {
		t.Errorf("%d bands without a mark", n)
	}
	v.Mark([]string{"full", "disk"})
	if n := len(v.under.Objects); n != 4 {
		t.Errorf("%d bands", n)
	}
	for _, o := range v.under.Objects {
		if r := o.(*canvas.Rectangle); r.Size().Width < 10 || r.Size().Height < 10 {
			t.Errorf("a band of %v", r.Size())
		}
	}
}

// TestPlaces checks that headings, lines and table rows are reported at their drawn positions.
func TestPlaces(t *testing.T) {
	v, _ := shown(t, sample, 600, Ways{})
	y := func(text string) float32 {
		for _, p := range v.sheet.pieces {
			if strings.Contains(p.text, text) {
				return p.y
			}
		}
		t.Fatalf("no %q", text)
		return 0
	}
	for i, line := range strings.Split(sample, "\n") {
		for _, text := range []string{"The top", "A heading", "the second", "The end"} {
			if strings.Contains(line, text) && (v.Line(i) > y(text) || y(text)-v.Line(i) > 15) {
				t.Errorf("%q is drawn at %v, its line %d is at %v", text, y(text), i, v.Line(i))
			}
		}
	}
	if at, ok := v.Anchor("a-heading-of-two"); !ok || at > y("A heading") || y("A heading")-at > 15 {
		t.Errorf("the heading is at %v, drawn at %v", at, y("A heading"))
	}
	if _, ok := v.Anchor("none"); ok {
		t.Error("there is a heading that is not there")
	}
}

func FuzzParse(f *testing.F) {
	f.Add(sample)
	f.Fuzz(func(t *testing.T, text string) {
		d := Parse(text)
		lines := strings.Count(text, "\n")
		for _, b := range d.blocks {
			if b.line < 0 || b.line > lines {
				t.Errorf("a block is in line %d of %d", b.line, lines)
			}
		}
		d.Headings()
		d.Links()
	})
}

// TestRefreshIsCheap checks that unchanged texts are not created again, and that a new theme applies.
func TestRefreshIsCheap(t *testing.T) {
	v, _ := shown(t, sample, 600, Ways{})
	text := func() fyne.CanvasObject { return v.over.Objects[0] }
	before := text()
	if v.Refresh(); text() != before {
		t.Error("the text is drawn again in the same theme")
	}
	fyne.CurrentApp().Settings().SetTheme(test.NewTheme())
	if v.Refresh(); text() == before {
		t.Error("the text is not drawn again in another theme")
	}
}
