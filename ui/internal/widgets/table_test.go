package widgets

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/ui/uitest"
)

// numbered returns rows from one number down to another, newest first.
func numbered(from, to int) []Row {
	var rows []Row
	for i := from; i >= to; i-- {
		rows = append(rows, Row{Key: fmt.Sprint("key ", i), Cells: []Cell{{Text: fmt.Sprint("run ", i)}, {Text: "title"}}})
	}
	return rows
}

var twoColumns = []Column{{Title: "Run", Sample: "run 1000"}, {Title: "Title", Sample: "title", Weight: 1}}

// themedApp starts an app whose theme, unlike the driver's, accepts unknown names.
func themedApp(t testing.TB) {
	t.Helper()
	test.NewTempApp(t).Settings().SetTheme(theme.DefaultTheme())
}

// shownTable returns a table in a window, about ten rows high.
func shownTable(t testing.TB, columns []Column) (*Table, fyne.Window) {
	t.Helper()
	themedApp(t)
	table := NewTable(columns, "nothing here", 3)
	win := test.NewTempWindow(t, table)
	win.SetPadded(false)
	win.Resize(fyne.NewSize(600, 300))
	return table, win
}

// inView returns the first cells of the rows in view, from the top.
func inView(table *Table) []string {
	type line struct {
		y    float32
		text string
	}
	var lines []line
	for row := range table.shown {
		at := fyne.CurrentApp().Driver().AbsolutePositionForObject(row)
		text := uitest.Texts(row)
		if at.Y+row.Size().Height > table.head.Size().Height+theme.Padding() && at.Y < table.Size().Height && len(text) > 0 {
			lines = append(lines, line{at.Y, text[0]})
		}
	}
	slices.SortFunc(lines, func(a, b line) int { return int(a.y - b.y) })
	var texts []string
	for _, l := range lines {
		texts = append(texts, l.text)
	}
	return texts
}

func TestTableMakesOnlyWhatIsInView(t *testing.T) {
	table, _ := shownTable(t, twoColumns)
	table.SetRows(numbered(1000, 1))
	if n := len(table.shown); n < 5 || n > 20 {
		t.Errorf("%d rows were made for 1,000 where about ten are in view", n)
	}
	if got := inView(table); len(got) == 0 || got[0] != "run 1000" {
		t.Errorf("in view are %q, want run 1000 first", got)
	}
	for i := range 50 {
		table.Select(fmt.Sprint("key ", 1+19*i))
		table.SetRows(numbered(1001+i, 1))
	}
	if n := len(table.shown); n > 50 {
		t.Errorf("%d rows are kept after 50 changes all over the table", n)
	}
	if !uitest.Shows(table, "Run\nTitle") {
		t.Errorf("the titles are missing in %q", uitest.Texts(table))
	}
}

func TestTableKeepsSelectionAndView(t *testing.T) {
	table, _ := shownTable(t, twoColumns)
	table.SetRows(numbered(1000, 1))
	table.Select("key 500")
	before := inView(table)
	if !slices.Contains(before, "run 500") {
		t.Fatalf("the selected row is not in view, but %q", before)
	}
	table.SetRows(numbered(1003, 1)) // three came on top
	if got := inView(table); !slices.Equal(got, before) {
		t.Errorf("after three rows came on top, in view are %q, want still %q", got, before)
	}
	if got := table.Selected(); got != "key 500" {
		t.Errorf("selected is %q", got)
	}
	for row, i := range table.shown {
		if want := i < len(table.rows) && table.rows[i].Key == "key 500"; row.mark.selected != want {
			t.Errorf("row %d is marked %v, want %v", i, row.mark.selected, want)
		}
	}
}

func TestTableAtItsTopShowsWhatIsNew(t *testing.T) {
	table, _ := shownTable(t, twoColumns)
	table.SetRows(numbered(1000, 1))
	table.SetRows(numbered(1001, 1))
	if got := inView(table); got[0] != "run 1001" {
		t.Errorf("first in view is %q, want the new one", got[0])
	}
}

func TestTableShrinksUnderItsView(t *testing.T) {
	table, _ := shownTable(t, twoColumns)
	table.SetRows(numbered(1000, 1))
	table.Select("key 1")
	table.SetRows(numbered(1000, 997))
	if got, want := inView(table), []string{"run 1000", "run 999", "run 998", "run 997"}; !slices.Equal(got, want) {
		t.Errorf("of four rows, in view are %q", got)
	}
	if got := table.Selected(); got != "" {
		t.Errorf("the removed row %q is still selected", got)
	}
	table.SetRows(nil)
	if !uitest.Shows(table, "nothing here") {
		t.Errorf("an empty table shows %q", uitest.Texts(table))
	}
}

func TestTableDrawsOnlyWhatChanged(t *testing.T) {
	table, _ := shownTable(t, twoColumns)
	table.SetRows(numbered(1000, 1))
	made := 0
	create := table.list.CreateItem
	table.list.CreateItem = func() fyne.CanvasObject {
		made++
		return create()
	}
	rows := numbered(1000, 1)
	rows[2].Cells[1] = Cell{Text: "another title", Tone: Warning, Badge: true}
	table.SetRows(rows)
	if made > 0 {
		t.Errorf("%d rows were made again", made)
	}
	if !uitest.Shows(table, "another title") {
		t.Errorf("the change is not shown in %q", uitest.Texts(table))
	}
}

func TestTableIsSelectedByAPerson(t *testing.T) {
	table, win := shownTable(t, twoColumns)
	table.SetRows(numbered(100, 1))
	var heard []string
	table.OnSelected = func(key string) { heard = append(heard, key) }

	table.Select("key 99")
	if len(heard) > 0 {
		t.Errorf("Select was reported to the listener: %q", heard)
	}
	pitch := rowHeight() + theme.Padding()
	test.TapCanvas(win.Canvas(), fyne.NewPos(50, table.head.Size().Height+theme.Padding()+3.5*pitch))
	if got := table.Selected(); got != "key 97" {
		t.Errorf("a tap on the fourth row selected %q", got)
	}
	keys := func(names ...fyne.KeyName) {
		for _, name := range names {
			table.list.TypedKey(&fyne.KeyEvent{Name: name})
		}
	}
	keys(fyne.KeyDown, fyne.KeyDown, fyne.KeyUp)
	if got := table.Selected(); got != "key 96" {
		t.Errorf("down, down and up selected %q", got)
	}
	keys(fyne.KeyEnd, fyne.KeyDown)
	if got, view := table.Selected(), inView(table); got != "key 1" || !slices.Contains(view, "run 1") {
		t.Errorf("the end key selected %q with %q in view", got, view)
	}
	keys(fyne.KeyPageUp)
	if got := table.Selected(); got == "key 1" || !slices.Contains(inView(table), "run 1") {
		t.Errorf("a page up from the end selected %q", got)
	}
	keys(fyne.KeyHome, fyne.KeyUp, fyne.KeySpace)
	if got := table.Selected(); got != "key 100" {
		t.Errorf("the home key selected %q", got)
	}
	if want := []string{"key 97", "key 96", "key 95", "key 96", "key 1"}; !slices.Equal(heard[:5], want) || heard[len(heard)-1] != "key 100" {
		t.Errorf("received %q", heard)
	}
}

// TestTableIsClicked checks that no inner object of a row takes clicks from the row, because the window's driver asks
// only the innermost clickable object.
func TestTableIsClicked(t *testing.T) {
	table, win := shownTable(t, twoColumns)
	table.SetRows(numbered(3, 1))
	var chosen []string
	table.OnSelected = func(key string) { chosen = append(chosen, key) }
	for row, i := range table.shown {
		if i != 1 {
			continue
		}
		for _, part := range row.Parts() {
			switch part.(type) {
			case fyne.SecondaryTappable, fyne.DoubleTappable, fyne.Focusable, fyne.Tappable:
				t.Errorf("a %T in a row takes the clicks", part)
			}
		}
		test.Tap(row)
	}
	if !slices.Equal(chosen, []string{"key 2"}) || win.Canvas().Focused() != fyne.Focusable(table.list) {
		t.Errorf("a click chose %q, and %T has the focus", chosen, win.Canvas().Focused())
	}
}

func TestTableShowsItsFocus(t *testing.T) {
	table, win := shownTable(t, twoColumns)
	table.SetRows(numbered(5, 1))
	table.Select("key 4")
	marked := func() int {
		n := 0
		for row := range table.shown {
			if row.mark.focused {
				n++
			}
		}
		return n
	}
	win.Canvas().Focus(table.list)
	if n := marked(); n != 1 {
		t.Errorf("%d rows show the focus, want the selected one", n)
	}
	win.Canvas().Unfocus()
	if n := marked(); n != 0 {
		t.Errorf("%d rows show a focus that is elsewhere", n)
	}
}

func TestColumnsShareTheWidth(t *testing.T) {
	themedApp(t)
	c := newColumns([]Column{{Title: "A", Sample: "12345"}, {Title: "B", Weight: 1}, {Title: "A long title", Sample: "x", Weight: 2}})
	least := c.minWidth()
	widths := func(total float32) []float32 {
		var all []float32
		x := float32(0)
		c.place(fyne.NewSize(total, 20), func(_ int, at fyne.Position, size fyne.Size) {
			if at.X < x {
				t.Errorf("at a width of %v a column begins at %v, inside the one before", total, at.X)
			}
			all, x = append(all, size.Width), at.X+size.Width
		})
		if x > total+0.1 && total >= least {
			t.Errorf("at a width of %v the columns end at %v", total, x)
		}
		return all
	}
	tight, wide := widths(least), widths(least+300)
	want := fyne.MeasureText("12345", theme.TextSize(), fyne.TextStyle{}).Width
	if tight[0] < want || wide[0] != tight[0] {
		t.Errorf("the fixed column is %v and %v wide, its sample %v", tight[0], wide[0], want)
	}
	if b, c := wide[1]-tight[1], wide[2]-tight[2]; b < 99 || b > 101 || c < 199 || c > 201 {
		t.Errorf("of 300 more, the columns of weight 1 and 2 took %v and %v", b, c)
	}
	if narrow := widths(least - 5); narrow[0] != tight[0] || narrow[2] >= tight[2] {
		t.Errorf("in a narrow table the columns are %v wide, in a wide one %v", narrow, tight)
	}
}

// TestFitMiddle checks that a long text keeps its beginning and its end.
func TestFitMiddle(t *testing.T) {
	test.NewTempApp(t)
	text := "372 shoppers, two weeks in March, with the new recommendations"
	size := theme.TextSize()
	width := fyne.MeasureText(text, size, fyne.TextStyle{}).Width
	if got := FitMiddle(text, width, size, fyne.TextStyle{}); got != text {
		t.Errorf("with enough room: %q", got)
	}
	got := FitMiddle(text, width/2, size, fyne.TextStyle{})
	if !strings.HasPrefix(got, "372 shop") || !strings.HasSuffix(got, "dations") || strings.Count(got, "…") != 1 || fyne.MeasureText(got, size, fyne.TextStyle{}).Width > width/2+0.5 {
		t.Errorf("with half the room: %q", got)
	}
}

func TestFit(t *testing.T) {
	themedApp(t)
	size := theme.TextSize()
	width := func(s string) float32 { return fyne.MeasureText(s, size, fyne.TextStyle{}).Width }
	for _, c := range []struct {
		text  string
		width float32
		want  string
	}{
		{"short", 500, "short"},
		{"", 500, ""},
		{"exactly", width("exactly"), "exactly"},
		{"the first line\nand more", 500, "the first line…"},
		{"a word and more", width("a word…"), "a word…"},
		{"a word and more", width("a word …"), "a word…"},
		{"ÄÖÜäöü", width("ÄÖÜ…"), "ÄÖÜ…"},
		{"no room", 1, "…"},
		{"none at all", 0, ""},
	} {
		if got := Fit(c.text, c.width, size, fyne.TextStyle{}); got != c.want {
			t.Errorf("%q in %v is %q, want %q", c.text, c.width, got, c.want)
		}
	}
	long := Fit(string(make([]rune, 1_000_000))+"x", 5000, size, fyne.TextStyle{})
	if n := len([]rune(long)); n > mostRunes+1 {
		t.Errorf("%d letters are shown of a million", n)
	}
}

func TestLongTextsAreCutInTheirColumn(t *testing.T) {
	table, _ := shownTable(t, []Column{{Title: "Message", Sample: "a message", Weight: 1}, {Title: "Size", Sample: "1 MB", Align: fyne.TextAlignTrailing}})
	table.SetRows([]Row{{Key: "1", Cells: []Cell{{Text: fmt.Sprintf("%0200d", 0), Icon: theme.ErrorIcon(), Tone: Bad}, {Text: "12 kB"}}}})
	for row := range table.shown {
		for i, cell := range row.cells {
			face := test.WidgetRenderer(cell).(*cellRenderer).face.text
			if got, room := face.MinSize().Width, cell.Size().Width; got > room {
				t.Errorf("the text in column %d is %v wide, the column %v", i, got, room)
			}
		}
	}
	if len(table.shown) == 0 {
		t.Error("no row was made")
	}
}

func BenchmarkTableChange(b *testing.B) {
	table, _ := shownTable(b, twoColumns)
	rows := [][]Row{numbered(1000, 1), numbered(1000, 1)}
	rows[1][3].Cells[1].Text = "another"
	table.SetRows(rows[0])
	i := 0
	for b.Loop() {
		i++
		table.SetRows(rows[i%2])
	}
}

func BenchmarkTableScroll(b *testing.B) {
	table, _ := shownTable(b, twoColumns)
	table.SetRows(numbered(1000, 1))
	i := 0
	for b.Loop() {
		i += 7
		table.list.ScrollTo(widget.ListItemID(i % 1000))
	}
}
