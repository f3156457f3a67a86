package widgets

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/test"
)

// marking returns a shown table of five rows, a to e, that lets the user mark several.
func marking(t *testing.T) (table *Table, selected *[]string) {
	t.Helper()
	test.NewTempApp(t)
	table = NewTable([]Column{{Title: "Key", Sample: "mm"}, {Title: "Text", Sample: "short", Weight: 1}}, "", 5)
	selected = &[]string{}
	table.OnSelected = func(key string) { *selected = append(*selected, key) }
	table.OnMarked = func() {}
	var rows []Row
	for _, key := range []string{"a", "b", "c", "d", "e"} {
		rows = append(rows, Row{Key: key, Cells: []Cell{{Text: key}, {Text: strings.Repeat(key+" ", 200)}}})
	}
	table.SetRows(rows)
	w := test.NewTempWindow(t, table)
	w.Resize(fyne.NewSize(300, 400))
	return table, selected
}

// rowOf returns the created row of a key.
func rowOf(t *Table, key string) *tableRow {
	for row, i := range t.shown {
		if t.rows[i].Key == key {
			return row
		}
	}
	return nil
}

func click(table *Table, key string, held fyne.KeyModifier) {
	row := rowOf(table, key)
	row.MouseDown(&desktop.MouseEvent{Modifier: held})
	row.Tapped(&fyne.PointEvent{Position: fyne.NewPos(5, 5)})
}

func TestSeveralRowsAreMarked(t *testing.T) {
	table, selected := marking(t)
	for _, c := range []struct {
		key      string
		held     fyne.KeyModifier
		marked   string
		selected string
	}{
		{"b", 0, "b", "b"},
		{"d", fyne.KeyModifierShift, "bcd", "d"},
		{"a", fyne.KeyModifierControl, "abcd", "a"},
		{"c", fyne.KeyModifierSuper, "abd", "a"},
		{"a", fyne.KeyModifierControl, "bd", "b"},
		{"e", fyne.KeyModifierShift, "bcde", "e"},
		{"a", fyne.KeyModifierShift, "ab", "a"},
		{"c", 0, "c", "c"},
		{"c", fyne.KeyModifierControl, "c", "c"}, // one stays
	} {
		click(table, c.key, c.held)
		if got := strings.Join(table.Marked(), ""); got != c.marked || table.Selected() != c.selected {
			t.Errorf("after %s with %v: marked %q, selected %q, want %q, %q", c.key, c.held, got, table.Selected(), c.marked, c.selected)
		}
	}
	if want := []string{"b", "d", "a", "b", "e", "a", "c"}; !slices.Equal(*selected, want) {
		t.Errorf("selected were %q, want %q", *selected, want)
	}
	table.list.TypedShortcut(&fyne.ShortcutSelectAll{})
	if got := table.Marked(); len(got) != 5 || table.Selected() != "c" {
		t.Errorf("all: marked %q, selected %q", got, table.Selected())
	}
	table.SetRows(table.rows[1:4])
	if got := strings.Join(table.Marked(), ""); got != "bcd" {
		t.Errorf("after rows are gone: marked %q", got)
	}
	click(table, "c", 0)
	if got := strings.Join(table.Marked(), ""); got != "c" {
		t.Errorf("a click on the selected row leaves %q", got)
	}
}

func TestTitlesSort(t *testing.T) {
	table, _ := marking(t)
	var sorted []string
	table.OnSort = func(column int) { sorted = append(sorted, fmt.Sprint(column)) }
	for _, x := range []float32{5, 250} {
		table.head.Tapped(&fyne.PointEvent{Position: fyne.NewPos(x, 5)})
	}
	table.head.FocusGained()
	for _, key := range []fyne.KeyName{fyne.KeyRight, fyne.KeySpace, fyne.KeyLeft, fyne.KeyLeft, fyne.KeyReturn} {
		table.head.TypedKey(&fyne.KeyEvent{Name: key})
	}
	if got := strings.Join(sorted, " "); got != "0 1 1 0" {
		t.Errorf("sorted by %q", got)
	}
	table.head.FocusLost()
	table.SetSort(1, true)
	r := test.WidgetRenderer(table.head).(*headRenderer)
	if r.mark.Hidden || r.mark.Position().X < r.titles[1].Position().X {
		t.Errorf("the mark is at %v, hidden %v", r.mark.Position(), r.mark.Hidden)
	}
}

func TestCutTextsAreExplained(t *testing.T) {
	table, _ := marking(t)
	row := rowOf(table, "b")
	row.MouseMoved(&desktop.MouseEvent{PointEvent: fyne.PointEvent{Position: fyne.NewPos(200, 5)}})
	if got := table.tip.Text(); !strings.HasPrefix(got, "b b b b") || table.tip.back.Hidden {
		t.Errorf("the tip is %.20q", got)
	}
	back := table.tip.back
	if right := back.Position().X + back.Size().Width; right > table.Size().Width+1 && back.Position().X > 0 {
		t.Errorf("the tip ends at %v, outside of the table", right)
	}
	row.MouseMoved(&desktop.MouseEvent{PointEvent: fyne.PointEvent{Position: fyne.NewPos(5, 5)}})
	if got := table.tip.Text(); got != "" || !back.Hidden {
		t.Errorf("a text that fits is explained with %q", got)
	}
	rows := slices.Clone(table.rows)
	rows[1].Cells = []Cell{{Text: "b", Tip: "the second"}, {Text: "x"}}
	table.SetRows(rows)
	row.MouseMoved(&desktop.MouseEvent{PointEvent: fyne.PointEvent{Position: fyne.NewPos(5, 5)}})
	if got := table.tip.Text(); got != "the second" {
		t.Errorf("the tip is %q", got)
	}
	row.MouseOut()
	if table.tip.Text() != "" {
		t.Error("the tip stays when the pointer leaves")
	}
}

func TestCellsAreClicked(t *testing.T) {
	table, selected := marking(t)
	var got []string
	table.OnCell = func(key string, column int) bool {
		got = append(got, fmt.Sprint(key, column))
		return column == 0
	}
	click(table, "b", 0)
	rowOf(table, "c").Tapped(&fyne.PointEvent{Position: fyne.NewPos(200, 5)})
	if strings.Join(got, " ") != "b0 c1" || !slices.Equal(*selected, []string{"c"}) {
		t.Errorf("clicked %q, selected %q", got, *selected)
	}
}

// TestDoubleClicks checks that two quick clicks on a row, and Return, open it, and that clicks on two rows do not.
func TestDoubleClicks(t *testing.T) {
	table, _ := marking(t)
	var opened []string
	table.OnDoubled = func(key string) { opened = append(opened, key) }
	click := func(i int) {
		for row, at := range table.shown {
			if at == i {
				row.Tapped(&fyne.PointEvent{Position: fyne.NewPos(5, 5)})
				return
			}
		}
		t.Fatalf("row %d is not shown", i)
	}
	click(0)
	click(1)
	if len(opened) > 0 {
		t.Errorf("clicks on two rows opened %q", opened)
	}
	click(1)
	want := []string{table.rows[1].Key}
	if !slices.Equal(opened, want) {
		t.Errorf("a double click opened %q, want %q", opened, want)
	}
	table.clicked = time.Now().Add(-time.Second)
	click(1)
	if !slices.Equal(opened, want) {
		t.Errorf("a slow second click opened %q", opened)
	}
	table.list.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
	if len(opened) != 2 {
		t.Errorf("Return opened %q", opened)
	}
}
