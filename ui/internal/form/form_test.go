package form

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
	"pgregory.net/rapid"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/uitest"
)

// start begins a test with a theme that accepts unknown names.
func start(t *testing.T) {
	uitest.Start(t)
}

func mistake(field, problem string) error { return &engine.FieldError{Field: field, Problem: problem} }

func TestMistakesStandBesideTheirRows(t *testing.T) {
	start(t)
	var f Form
	length, seed := f.Add(NewRow("Length", NewNumber()), "cycles", "hours"), f.Add(NewRow("Seed", NewEntry()), "seed")

	rest := f.Tell(fmt.Errorf("launch: %w", errors.Join(mistake("hours", "too many"), mistake("disk", "full"), errors.Join(mistake("seed", "odd")))))
	if got, want := length.Problem(), "too many"; got != want {
		t.Errorf("length: %q, want %q", got, want)
	}
	if got, want := seed.Problem(), "odd"; got != want {
		t.Errorf("seed: %q, want %q", got, want)
	}
	if rest == nil || rest.Error() != "disk: full" {
		t.Errorf("the rest is %v, want disk: full", rest)
	}
	if !uitest.Shows(length, "too many") {
		t.Errorf("the row shows %q", uitest.Texts(length))
	}

	length.Changed()
	if got := f.Mistakes(); len(got) != 1 || got[0] != seed {
		t.Errorf("after a change of the length %d rows are wrong, want the seed", len(got))
	}
	if rest := f.Check(mistake("seed", "missing")); rest != nil {
		t.Errorf("the rest is %v, want none", rest)
	}
	if got, want := seed.Problem(), "missing"; got != want {
		t.Errorf("the value's error must replace the report: %q, want %q", got, want)
	}
	if rest := f.Check(nil); rest != nil || seed.Problem() != "odd" {
		t.Errorf("the report must stay until the value changes, got %q", seed.Problem())
	}
	if rest := f.Tell(nil); rest != nil || len(f.Mistakes()) != 0 || uitest.Shows(seed, "odd") {
		t.Errorf("%d mistakes are left, the seed shows %q", len(f.Mistakes()), uitest.Texts(seed))
	}
}

func TestErrorsWithoutMistakesStayWhole(t *testing.T) {
	both := fmt.Errorf("open %w: %w", errors.New("a"), errors.New("b"))
	if got := Split(both); len(got) != 1 || got[0].Error() != both.Error() {
		t.Errorf("got %v, want the error itself", got)
	}
}

func TestNumber(t *testing.T) {
	start(t)
	for _, c := range []struct {
		text    string
		whole   bool
		value   float64
		problem string
	}{
		{text: "7", value: 7},
		{text: " 2.5 ", value: 2.5},
		{text: "", value: 3}, // the placeholder
		{text: "3", whole: true, value: 3},
		{text: "2.5", whole: true, problem: `"2.5" is not a whole number`},
		{text: "1e3", whole: true, problem: `"1e3" is not a whole number`},
		{text: "x", problem: `"x" is not a number`},
		{text: "NaN", problem: `"NaN" is not a number`},
		{text: "1e999", problem: `"1e999" is not a number`},
		{text: "1,000", problem: `"1,000" is not a number`},
		{text: "-1", problem: "-1 is out of range: 0 to 1,000"},
		{text: "1001", whole: true, problem: "1001 is out of range: 0 to 1,000"},
	} {
		n := NewNumber()
		n.Whole, n.Min, n.Max = c.whole, 0, 1000
		n.SetPlaceHolder("3")
		n.SetText(c.text)
		got, err := n.Value()
		problem := ""
		if err != nil {
			problem = err.Error()
		}
		if problem != c.problem || err == nil && got != c.value {
			t.Errorf("%q: %v, %q, want %v, %q", c.text, got, problem, c.value, c.problem)
		}
	}
	n := NewNumber()
	if _, err := n.Value(); err == nil {
		t.Error("an empty entry without a placeholder has a value")
	}
	for want, bounds := range map[string][2]float64{
		"": {math.Inf(-1), math.Inf(1)}, "at least 0.5": {0.5, math.Inf(1)}, "at most 1,000,000": {math.Inf(-1), 1e6},
	} {
		n.Min, n.Max = bounds[0], bounds[1]
		if got := n.Range(); got != want {
			t.Errorf("the range is %q, want %q", got, want)
		}
	}
}

func TestProposalsGiveWayToWhatIsTyped(t *testing.T) {
	start(t)
	e := NewEntry()
	e.Propose("100")
	e.Propose("200")
	if e.Text != "200" {
		t.Errorf("the entry holds %q, want the newer proposal", e.Text)
	}
	e.SetText("7")
	e.Propose("300")
	if e.Text != "7" || e.Proposed() {
		t.Errorf("the entry holds %q, want what was typed", e.Text)
	}
	e.Put("400")
	e.Propose("500")
	if e.Text != "500" {
		t.Errorf("the entry holds %q, want the proposal after a fresh start", e.Text)
	}
}

func TestAWrongEntryIsMarked(t *testing.T) {
	start(t)
	n := NewNumber()
	r := NewRow("Seed", n)
	w := test.NewTempWindow(t, r)
	w.Resize(fyne.NewSize(300, 200))
	n.OnChanged = func(string) { r.set("wrong", "") }
	test.Type(n, "x")
	n.FocusLost()
	if n.Validate() == nil {
		t.Error("the entry is not marked as invalid")
	}
	if r.set("", ""); n.Validate() != nil || n.Validator != nil {
		t.Error("the entry is still marked as invalid")
	}
}

func TestWrapKeepsTheWords(t *testing.T) {
	measure := func(s string) float32 { return float32(len([]rune(s))) }
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`([a-zé]{1,12}[ \n]{1,2}){0,12}`).Draw(t, "text")
		width := float32(rapid.IntRange(1, 20).Draw(t, "width"))
		lines := wrap(text, width, measure)
		for _, line := range lines {
			if measure(line) > width {
				t.Fatalf("%q is wider than %v", line, width)
			}
		}
		letters := func(s string) string { return strings.Join(strings.Fields(s), "") }
		if got, want := letters(strings.Join(lines, "\n")), letters(text); got != want {
			t.Fatalf("the letters are %q, want %q", got, want)
		}
	})
}

func TestANoteIsAsHighAsItsLines(t *testing.T) {
	start(t)
	n := NewNote(strings.Repeat("word ", 40))
	n.Resize(fyne.NewSize(2000, 10))
	one := n.MinSize().Height
	n.Resize(fyne.NewSize(100, 10))
	if got := n.MinSize().Height; got < 5*one {
		t.Errorf("in a narrow column it is %v high, want many times %v", got, one)
	}
	n.Lines = 2
	n.Refresh()
	texts := uitest.Texts(n)
	if len(texts) != 2 || !strings.HasSuffix(texts[1], "…") {
		t.Errorf("got %q, want two lines and an ellipsis", texts)
	}
	n.SetProblem("broken")
	if got := uitest.Texts(n); len(got) != 1 || got[0] != "broken" {
		t.Errorf("got %q, want the error", got)
	}
}

func TestColumnsFollowTheWidth(t *testing.T) {
	start(t)
	var objects []fyne.CanvasObject
	for range 4 {
		objects = append(objects, NewNote(strings.Repeat("word ", 10)))
	}
	c := NewColumns(10, objects...)
	column := 10 * theme.TextSize()
	for columns, width := range map[int]float32{1: 1.5 * column, 2: 2.5 * column, 4: 20 * column} {
		c.Resize(fyne.NewSize(width, 1000))
		first := 0
		for _, o := range objects {
			if o.Position().Y == 0 {
				first++
			}
		}
		if first != columns {
			t.Errorf("%v wide: %d columns, want %d", width, first, columns)
		}
		last := objects[3]
		if got, want := c.MinSize().Height, last.Position().Y+last.Size().Height; got != want {
			t.Errorf("%v wide: %v high, but the last object ends at %v", width, got, want)
		}
	}
}

// asked is a widget that counts the requests for its size.
type asked struct {
	widget.BaseWidget
	times int
}

func (a *asked) CreateRenderer() fyne.WidgetRenderer {
	return widget.NewSimpleRenderer(container.NewStack())
}

func (a *asked) MinSize() fyne.Size {
	a.times++
	return fyne.NewSize(theme.TextSize(), theme.TextSize())
}

// TestNestingCostsNoMoreThanItsDepth counts the calls to objects nested in ever more columns. If the number doubled
// with each level, changing a page would take seconds.
func TestNestingCostsNoMoreThanItsDepth(t *testing.T) {
	start(t)
	for name, nest := range map[string]func(o fyne.CanvasObject) fyne.CanvasObject{
		"stack":  func(o fyne.CanvasObject) fyne.CanvasObject { return NewStack(o, NewStack()) },
		"packed": func(o fyne.CanvasObject) fyne.CanvasObject { return NewPacked(10, o) },
	} {
		const levels = 16
		leaf := &asked{}
		leaf.ExtendBaseWidget(leaf)
		var o fyne.CanvasObject = leaf
		for range levels {
			o = nest(o)
		}
		o.Resize(fyne.NewSize(400, 400))
		leaf.times = 0
		o.MinSize()
		if leaf.times != 1 {
			t.Errorf("%s: asked %d times for one size", name, leaf.times)
		}
		leaf.times = 0
		o.Resize(fyne.NewSize(400, 500))
		if leaf.times > 2*levels {
			t.Errorf("%s: asked %d times by a layout in %d levels", name, leaf.times, levels)
		}
		leaf.times = 0
		o.Resize(fyne.NewSize(500, 500))
		if leaf.times > levels*levels {
			t.Errorf("%s: asked %d times by a layout of another width in %d levels", name, leaf.times, levels)
		}
	}
}

func TestRevealScrollsNoFartherThanNeeded(t *testing.T) {
	start(t)
	var rows []fyne.CanvasObject
	for i := range 30 {
		rows = append(rows, widget.NewLabel(fmt.Sprint(i)))
	}
	scroll := container.NewVScroll(NewStack(rows...))
	w := test.NewTempWindow(t, scroll)
	w.Resize(fyne.NewSize(200, 200))
	Reveal(scroll, rows[0])
	if scroll.Offset.Y != 0 {
		t.Errorf("scrolled to %v for a visible range", scroll.Offset.Y)
	}
	Reveal(scroll, rows[20])
	low, high := rows[20].Position().Y-scroll.Offset.Y, rows[20].Position().Y+rows[20].Size().Height-scroll.Offset.Y
	if low < 0 || high > scroll.Size().Height {
		t.Errorf("row 20 is at %v to %v of %v", low, high, scroll.Size().Height)
	}
	Reveal(scroll, rows[2])
	if low := rows[2].Position().Y - scroll.Offset.Y; low < 0 || low > scroll.Size().Height {
		t.Errorf("row 2 is at %v", low)
	}
}
