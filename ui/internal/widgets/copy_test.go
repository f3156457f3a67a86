package widgets

import (
	"fmt"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/theme"

	"github.com/throng-sim/throng/ui/uitest"
)

// TestWhatIsShownCanBeCopied copies cells, rows and lines, by mouse and by keyboard.
func TestWhatIsShownCanBeCopied(t *testing.T) {
	uitest.Start(t)
	rows := []Row{{Key: "a", Cells: []Cell{{Text: "20260102-150405-abcd"}, {Text: "finished"}}}}
	columns := []Column{{Title: "Run", Sample: "20260102-150405-abcd"}, {Title: "State", Sample: "finished"}}
	sheet, table := NewSheet(columns, "", func(string) {}), NewTable(columns, "", 1)
	sheet.SetRows(rows)
	table.SetRows(rows)
	table.Select("a")
	line := NewLine(theme.SizeNameText, Neutral)
	line.Set(strings.Repeat("a long path/", 9), Neutral)
	w := test.NewTempWindow(t, container.NewVBox(sheet, table, line))
	w.Resize(fyne.NewSize(400, 300))
	clipboard := fyne.CurrentApp().Clipboard()
	pick := func(n int) {
		t.Helper()
		var items []fyne.Tappable
		uitest.Walk(w.Canvas().Overlays().Top(), func(o fyne.CanvasObject) bool {
			if item, ok := o.(fyne.Tappable); ok && fmt.Sprintf("%T", o) == "*widget.menuItem" {
				items = append(items, item)
			}
			return true
		})
		if n >= len(items) {
			t.Fatalf("the menu has %d entries", len(items))
		}
		items[n].Tapped(nil)
	}
	row := sheet.lines[0]
	whole := "20260102-150405-abcd\tfinished"
	test.TapSecondaryAt(row, row.cells[1].Position().AddXY(2, 2))
	if pick(0); clipboard.Content() != "finished" {
		t.Errorf("of a cell %q is copied", clipboard.Content())
	}
	test.TapSecondaryAt(row, row.cells[1].Position().AddXY(2, 2))
	if pick(1); clipboard.Content() != whole {
		t.Errorf("of a row %q is copied", clipboard.Content())
	}
	test.TapSecondaryAt(line, fyne.NewPos(2, 2))
	if pick(0); clipboard.Content() != line.full {
		t.Errorf("a cut line is copied as %q", clipboard.Content())
	}
	for name, o := range map[string]fyne.Shortcutable{"a sheet": row, "a table": table.list} {
		clipboard.SetContent("")
		o.TypedShortcut(&fyne.ShortcutCopy{Clipboard: clipboard})
		if clipboard.Content() != whole {
			t.Errorf("of %s %q is copied", name, clipboard.Content())
		}
	}
}
