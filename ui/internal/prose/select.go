package prose

import (
	"strings"
	"unicode/utf8"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/widget"
)

// place is between two letters of the sheet.
type place struct{ piece, offset int }

func (p place) before(q place) bool {
	return p.piece < q.piece || p.piece == q.piece && p.offset < q.offset
}

var (
	_ desktop.Mouseable      = (*View)(nil)
	_ desktop.Cursorable     = (*View)(nil)
	_ fyne.Draggable         = (*View)(nil)
	_ fyne.DoubleTappable    = (*View)(nil)
	_ fyne.SecondaryTappable = (*View)(nil)
)

// Copy copies what is selected; false is that nothing is.
func (v *View) Copy() bool {
	text := v.Selected()
	if text == "" {
		return false
	}
	fyne.CurrentApp().Clipboard().SetContent(text)
	return true
}

// Selected is the text that is selected.
func (v *View) Selected() string {
	from, to := v.selection()
	return v.text(from, to)
}

// SelectAll selects all of the text.
func (v *View) SelectAll() {
	v.from, v.to = place{}, v.end()
	v.reselect()
}

func (v *View) end() place {
	n := len(v.sheet.pieces)
	if n == 0 {
		return place{}
	}
	return place{n - 1, len(v.sheet.pieces[n-1].text)}
}

// selection is what is selected, from its beginning on.
func (v *View) selection() (from, to place) {
	if v.to.before(v.from) {
		return v.to, v.from
	}
	return v.from, v.to
}

func (v *View) text(from, to place) string {
	var text strings.Builder
	for i := from.piece; i <= to.piece && i < len(v.sheet.pieces); i++ {
		p := &v.sheet.pieces[i]
		begin, end := 0, len(p.text)
		if i == from.piece {
			begin = from.offset
		}
		if i == to.piece {
			end = to.offset
		}
		text.WriteString(p.text[begin:end])
		if i < to.piece {
			text.WriteString(p.after)
		}
	}
	return text.String()
}

func (v *View) reselect() {
	v.paint()
	v.under.Refresh()
}

// at is the place that a point is nearest to.
func (v *View) at(point fyne.Position) place {
	best, distance := -1, float32(0)
	for i := range v.sheet.pieces {
		p := &v.sheet.pieces[i]
		if point.Y < p.y || point.Y >= p.y+p.h {
			continue
		}
		if d := max(p.x-point.X, point.X-p.x-p.w, 0); best < 0 || d < distance {
			best, distance = i, d
		}
	}
	if best < 0 { // between lines: the end of what is above
		for i := range v.sheet.pieces {
			if v.sheet.pieces[i].y <= point.Y {
				best = i
			}
		}
		if best < 0 {
			return place{}
		}
		return place{best, len(v.sheet.pieces[best].text)}
	}
	p := &v.sheet.pieces[best]
	offset, x := 0, float32(0)
	for i, r := range p.text {
		next := i + utf8.RuneLen(r)
		right := measure(p.text[:next], p.size, p.style).Width
		if p.x+(x+right)/2 > point.X {
			break
		}
		offset, x = next, right
	}
	return place{best, offset}
}

// Cursor implements [desktop.Cursorable].
func (v *View) Cursor() desktop.Cursor { return desktop.TextCursor }

// MouseDown implements [desktop.Mouseable]: a selection begins, or ends there with Shift.
func (v *View) MouseDown(e *desktop.MouseEvent) {
	if e.Button != desktop.MouseButtonPrimary {
		return
	}
	if c := fyne.CurrentApp().Driver().CanvasForObject(v); c != nil {
		c.Unfocus() // what copies and scrolls is this text now
	}
	v.to = v.at(e.Position)
	if e.Modifier&fyne.KeyModifierShift == 0 {
		v.from = v.to
	}
	v.reselect()
}

// MouseUp implements [desktop.Mouseable].
func (v *View) MouseUp(*desktop.MouseEvent) {}

// Dragged implements [fyne.Draggable].
func (v *View) Dragged(e *fyne.DragEvent) {
	if to := v.at(e.Position); to != v.to {
		v.to = to
		v.reselect()
	}
}

// DragEnd implements [fyne.Draggable].
func (v *View) DragEnd() {}

// DoubleTapped implements [fyne.DoubleTappable]: it selects a word.
func (v *View) DoubleTapped(e *fyne.PointEvent) {
	at := v.at(e.Position)
	if at.piece >= len(v.sheet.pieces) {
		return
	}
	text := v.sheet.pieces[at.piece].text
	begin := strings.LastIndexByte(text[:at.offset], ' ') + 1
	end := len(text)
	if i := strings.IndexByte(text[at.offset:], ' '); i >= 0 {
		end = at.offset + i
	}
	v.from, v.to = place{at.piece, begin}, place{at.piece, end}
	v.reselect()
}

// TappedSecondary implements [fyne.SecondaryTappable]: a menu copies what is selected, or all.
func (v *View) TappedSecondary(e *fyne.PointEvent) {
	c := fyne.CurrentApp().Driver().CanvasForObject(v)
	if c == nil {
		return
	}
	copies := fyne.NewMenuItem("Copy", func() { v.Copy() })
	copies.Disabled = v.Selected() == ""
	widget.ShowPopUpMenuAtPosition(fyne.NewMenu("", copies, fyne.NewMenuItem("Select all", v.SelectAll)), c, e.AbsolutePosition)
}

// found is where some words in lower case are in a text: from where to where.
func found(text string, words []string) (all [][2]int) {
	lower := strings.ToLower(text)
	if len(lower) != len(text) { // a letter whose small form is of another length
		return nil
	}
	for _, word := range words {
		for from := 0; word != ""; {
			i := strings.Index(lower[from:], word)
			if i < 0 {
				break
			}
			all = append(all, [2]int{from + i, from + i + len(word)})
			from += i + len(word)
		}
	}
	return all
}
