package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
)

// marks are the rows that the user marked, by key, and the row from which a range extends.
type marks struct {
	all  map[string]bool
	from string
}

// only marks one row, or none.
func (m *marks) only(key string) {
	m.from = key
	if key == "" {
		m.all = nil
		return
	}
	m.all = map[string]bool{key: true}
}

// Marked returns the keys of the marked rows, from the top. The selected row is one of them.
func (t *Table) Marked() (keys []string) {
	for i := range t.rows {
		if t.marks.all[t.rows[i].Key] {
			keys = append(keys, t.rows[i].Key)
		}
	}
	return keys
}

// Toggle marks a row in addition to others, or unmarks it. The last row stays.
func (t *Table) Toggle(key string) {
	if t.index(key) < 0 {
		return
	}
	if t.marks.all[key] && len(t.marks.all) == 1 {
		return
	}
	if !t.marks.all[key] {
		t.add(key)
		t.lead(key)
		return
	}
	delete(t.marks.all, key)
	if key == t.selected {
		key = t.Marked()[0]
	} else {
		key = t.selected
	}
	t.lead(key)
}

// Extend marks the rows from the last one that was marked alone to another.
func (t *Table) Extend(key string) {
	from, to := max(t.index(t.marks.from), 0), t.index(key)
	if to < 0 {
		return
	}
	start := t.rows[from].Key
	t.marks.only(start)
	for i := min(from, to); i <= max(from, to); i++ {
		t.add(t.rows[i].Key)
	}
	t.lead(key)
	t.marks.from = start
}

// MarkAll marks all rows.
func (t *Table) MarkAll() {
	for i := range t.rows {
		t.add(t.rows[i].Key)
	}
	t.update()
	t.marked()
}

func (t *Table) add(key string) {
	if t.marks.all == nil {
		t.marks.all = map[string]bool{}
	}
	t.marks.all[key] = true
}

// lead selects a marked row and keeps the marks.
func (t *Table) lead(key string) {
	changed := t.selected != key
	t.selected, t.marks.from = key, key
	t.update()
	t.list.ScrollTo(t.index(key))
	t.marked()
	if changed && t.OnSelected != nil {
		t.OnSelected(key)
	}
}

// keepMarks drops the marks of rows that are gone.
func (t *Table) keepMarks() {
	for key := range t.marks.all {
		if t.index(key) < 0 {
			delete(t.marks.all, key)
		}
	}
	if t.selected != "" {
		t.add(t.selected)
	}
}

func (t *Table) marked() {
	if t.OnMarked != nil {
		t.OnMarked()
	}
}

// press handles a click with keys held, and returns whether it did.
func (t *Table) press(i int, held fyne.KeyModifier) bool {
	switch {
	case held&fyne.KeyModifierShift != 0:
		t.Extend(t.rows[i].Key)
	case held&(fyne.KeyModifierControl|fyne.KeyModifierSuper) != 0:
		t.Toggle(t.rows[i].Key)
	default:
		return false
	}
	return true
}

// heldKeys returns the modifier keys that are held now.
func heldKeys() fyne.KeyModifier {
	if d, ok := fyne.CurrentApp().Driver().(desktop.Driver); ok {
		return d.CurrentKeyModifiers()
	}
	return 0
}

// explain shows the tip of a cell at a position of a row.
func (t *Table) explain(row *tableRow, at fyne.Position, cell int) {
	text := ""
	if cell >= 0 && cell < len(row.cells) {
		text = row.cells[cell].tip()
	}
	driver := fyne.CurrentApp().Driver()
	origin := driver.AbsolutePositionForObject(row).Subtract(driver.AbsolutePositionForObject(t))
	t.tip.Say(text, origin.Add(at), t.Size())
}
