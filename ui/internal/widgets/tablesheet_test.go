package widgets

import (
	"slices"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"github.com/throng-sim/throng/ui/uitest"
)

func shownSheet(t *testing.T, columns []Column, tapped func(string)) *Sheet {
	t.Helper()
	themedApp(t)
	s := NewSheet(columns, "nothing here", tapped)
	test.NewTempWindow(t, s).Resize(fyne.NewSize(600, 300))
	return s
}

func TestSheetIsAsHighAsItsRows(t *testing.T) {
	s := shownSheet(t, twoColumns, nil)
	if got := uitest.Texts(s); !slices.Equal(got, []string{"nothing here"}) {
		t.Errorf("an empty sheet shows %q", got)
	}
	s.SetRows(numbered(3, 1))
	if got, want := uitest.Texts(s), []string{"Run", "Title", "run 3", "title", "run 2", "title", "run 1", "title"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	three := s.MinSize().Height
	s.SetRows(numbered(2, 1))
	if two := s.MinSize().Height; two >= three || two <= rowHeight()*2 {
		t.Errorf("two rows take %v, three %v", two, three)
	}
	if got := uitest.Texts(s); slices.Contains(got, "run 3") {
		t.Errorf("a removed row is still shown: %q", got)
	}
	s.SetRows(numbered(30, 1))
	last := s.lines[29]
	if bottom := last.Position().Y + last.Size().Height; bottom > s.MinSize().Height {
		t.Errorf("the last row ends at %v, below the sheet's end at %v", bottom, s.MinSize().Height)
	}
}

func TestSheetWithoutTitles(t *testing.T) {
	s := shownSheet(t, []Column{{Sample: "name"}, {Weight: 1}}, nil)
	s.SetRows([]Row{{Key: "1", Cells: []Cell{{Text: "Seed"}, {Text: "7"}}}})
	if got, want := uitest.Texts(s), []string{"Seed", "7"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if y := s.lines[0].Position().Y; y > rowHeight() {
		t.Errorf("the first row is at %v, as if titles were above it", y)
	}
}

func TestSheetIsTapped(t *testing.T) {
	var heard []string
	s := shownSheet(t, twoColumns, func(key string) { heard = append(heard, key) })
	s.SetRows(numbered(3, 1))
	test.Tap(s.lines[1])
	if !slices.Equal(heard, []string{"key 2"}) {
		t.Errorf("received %q, want key 2", heard)
	}
	s.lines[1].MouseIn(nil)
	if !s.lines[1].mark.hovered {
		t.Error("a row under the pointer does not show that it can be tapped")
	}
	s.lines[1].MouseOut()
	if s.lines[1].mark.hovered {
		t.Error("a row shows a pointer that has left")
	}

	quiet := shownSheet(t, twoColumns, nil)
	quiet.SetRows(numbered(1, 1))
	quiet.lines[0].MouseIn(nil)
	test.Tap(quiet.lines[0])
	if quiet.lines[0].mark.hovered {
		t.Error("a row that cannot be tapped looks as if it could")
	}
}

// TestRowThatHasGone checks that pointer and focus events of a removed row are ignored, as when lists of a run become
// shorter.
func TestRowThatHasGone(t *testing.T) {
	var heard []string
	s := shownSheet(t, twoColumns, func(key string) { heard = append(heard, key) })
	s.SetRows(numbered(3, 1))
	last := s.lines[2]
	last.MouseIn(nil)
	last.FocusGained()
	s.SetRows(numbered(1, 1))
	last.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
	test.Tap(last)
	last.FocusLost()
	last.MouseOut()
	last.MouseIn(nil)
	if len(heard) > 0 {
		t.Errorf("a removed row was chosen: %q", heard)
	}
}

// TestColumnsAreLeftOut checks that without room for all columns the optional ones are hidden, and nothing overlaps.
func TestColumnsAreLeftOut(t *testing.T) {
	themedApp(t)
	s := NewSheet([]Column{
		{Title: "Started", Sample: "2026-12-28 00:00:00"},
		{Title: "Title", Sample: "Shoppers of a day", Weight: 1},
		{Title: "Size", Sample: "1 MB", Drop: 1},
		{Title: "Run", Sample: "20261228-000000-mmmm", Drop: 2},
	}, "", nil)
	s.SetRows([]Row{{Key: "1", Cells: []Cell{{Text: "2026-01-02 15:04:05"}, {Text: "Shoppers"}, {Text: "12 kB"}, {Text: "20260102-150405-abcd"}}}})
	win := test.NewTempWindow(t, s)
	win.SetPadded(false)
	for _, c := range []struct {
		width float32
		want  []string
	}{
		{900, []string{"Started", "Title", "Size", "Run", "2026-01-02 15:04:05", "Shoppers", "12 kB", "20260102-150405-abcd"}},
		{450, []string{"Started", "Title", "Size", "2026-01-02 15:04:05", "Shoppers", "12 kB"}},
		{s.MinSize().Width, []string{"Started", "Title", "2026-01-02 15:04:05", "Shoppers"}},
		{900, []string{"Started", "Title", "Size", "Run", "2026-01-02 15:04:05", "Shoppers", "12 kB", "20260102-150405-abcd"}},
	} {
		win.Resize(fyne.NewSize(c.width, 100))
		if got := uitest.Texts(s); !slices.Equal(got, c.want) {
			t.Errorf("in %v are %q, want %q", c.width, got, c.want)
		}
	}
}
