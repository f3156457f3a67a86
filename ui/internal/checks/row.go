package checks

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// row is a row of the list.
type row struct {
	content    *fyne.Container
	icon       *widget.Icon
	word       *widgets.Text
	name       *form.Note
	text, hint *form.Note
	mend       *widget.Button
	of         engine.Check
	grade      engine.Grade // of the icon
}

func newRow() *row {
	r := &row{icon: widget.NewIcon(nil), word: widgets.NewText(""), name: form.NewNote(""), text: form.NewNote(""), hint: form.NewNote(""), mend: widget.NewButton("", nil)}
	r.name.TextSize, r.text.TextSize = theme.SizeNameText, theme.SizeNameText
	r.mend.Hide()
	said := form.NewStack(r.text, r.hint)
	r.content = container.New(&line{}, r.icon, r.word, r.name, said, r.mend)
	r.setIcon(engine.GradeAwaited)
	return r
}

// show shows a check; mend is called with it, and may be nil.
func (r *row) show(c engine.Check, mend func(engine.Check)) {
	r.of = c
	if r.grade != c.Grade {
		r.setIcon(c.Grade)
	}
	r.word.SetText(c.Grade.String())
	r.word.SetColor(looks[c.Grade].tone.Color())
	r.name.Say(c.Name)
	r.text.Say(c.Text)
	r.hint.SetText(c.Hint)
	r.hint.Hidden = c.Hint == ""
	label := c.Button()
	if r.mend.Hidden = label == "" || mend == nil; !r.mend.Hidden && r.mend.Text != label {
		r.mend.SetText(label)
	}
	r.mend.OnTapped = func() { mend(r.of) }
}

func (r *row) setIcon(g engine.Grade) {
	r.grade = g
	r.icon.SetResource(theme.NewColoredResource(theme.Icon(looks[g].icon), looks[g].tone.Color()))
}

// line lays out a row: icon, word, name, finding and button. In a narrow list the finding is below the name, and the button below the
// finding. The columns of all rows have equal widths.
type line struct{ narrow bool }

// Widths of columns in text sizes, and the maximum width of a narrow row.
const (
	wordEms, nameEms = 6, 12
	narrowEms        = 50
)

// Layout implements [fyne.Layout].
func (l *line) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	icon, word, name, said, mend := objects[0], objects[1], objects[2], objects[3], objects[4]
	em, gap := theme.TextSize(), 2*theme.Padding()
	l.narrow = size.Width < narrowEms*em
	high := word.MinSize().Height
	indent := high + gap/2
	icon.Resize(fyne.NewSquareSize(high))
	icon.Move(fyne.NewPos(0, 0))
	word.Move(fyne.NewPos(indent, 0))
	word.Resize(fyne.NewSize(wordEms*em, high))
	left, right := indent+wordEms*em, size.Width
	least := mend.MinSize()
	mend.Resize(least)
	if l.narrow {
		place(name, fyne.NewPos(left, 0), right-left)
		high = name.MinSize().Height
		place(said, fyne.NewPos(indent, high), size.Width-indent)
		mend.Move(fyne.NewPos(indent, high+said.MinSize().Height+gap/2))
		return
	}
	place(name, fyne.NewPos(left, 0), nameEms*em-gap)
	left += nameEms * em
	if mend.Visible() {
		mend.Move(fyne.NewPos(size.Width-least.Width, 0))
		right -= least.Width + gap
	}
	place(said, fyne.NewPos(left, 0), right-left)
}

// place sets the width of an object, and then its height for that width.
func place(o fyne.CanvasObject, at fyne.Position, width float32) {
	o.Move(at)
	form.Fit(o, max(width, 0))
}

// MinSize implements [fyne.Layout]. The height is for the width of the last layout.
func (l *line) MinSize(objects []fyne.CanvasObject) fyne.Size {
	name, said, mend := objects[2].MinSize(), objects[3].MinSize(), objects[4]
	wide, high := 12*theme.TextSize(), max(name.Height, said.Height)
	if l.narrow {
		high = name.Height + said.Height
	}
	if mend.Visible() {
		least := mend.MinSize()
		wide = max(wide, least.Width+2*theme.TextSize())
		if high = max(high, least.Height); l.narrow {
			high = name.Height + said.Height + theme.Padding() + least.Height
		}
	}
	return fyne.NewSize(wide, high)
}
