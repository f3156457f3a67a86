package runs

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
)

// mark is a field for the name or the tags of a run. It stores its text with Return and when it loses the focus; Escape restores it.
type mark struct {
	widget.Entry
	store func(run engine.RunID, text string)
	run   engine.RunID
	told  string // the text in the store
}

func newMark(placeholder string, store func(run engine.RunID, text string)) *mark {
	m := &mark{store: store}
	m.SetPlaceHolder(placeholder)
	m.Scroll = fyne.ScrollHorizontalOnly
	m.Wrapping = fyne.TextWrapOff
	m.ExtendBaseWidget(m)
	m.OnSubmitted = func(string) { m.keep() }
	return m
}

// show shows the text of a run, unless the user is changing it.
func (m *mark) show(run engine.RunID, text string) {
	switch {
	case run != m.run:
		m.keep()
		m.run, m.told = run, text
		m.SetText(text)
	case text != m.told:
		if m.Text == m.told {
			m.SetText(text)
		}
		m.told = text
	}
}

// keep stores a changed text.
func (m *mark) keep() {
	if m.run != "" && m.Text != m.told {
		m.told = m.Text
		m.store(m.run, m.Text)
	}
}

// FocusLost implements [fyne.Focusable].
func (m *mark) FocusLost() {
	m.Entry.FocusLost()
	m.keep()
}

// TypedKey implements [fyne.Focusable].
func (m *mark) TypedKey(e *fyne.KeyEvent) {
	if e.Name == fyne.KeyEscape {
		m.SetText(m.told)
		return
	}
	m.Entry.TypedKey(e)
}

// focusName lets the user change the name of the chosen run.
func (d *detail) focusName() {
	if d.screen.run() != nil {
		d.screen.win.Canvas().Focus(d.name)
	}
}

// steady is the layout of a button that is at least as wide as with another text, so that its neighbors stay.
type steady struct{ least string }

// MinSize implements [fyne.Layout].
func (l *steady) MinSize(objects []fyne.CanvasObject) fyne.Size {
	size := objects[0].MinSize()
	text := fyne.MeasureText(l.least, theme.TextSize(), fyne.TextStyle{Bold: true}).Width
	size.Width = max(size.Width, text+theme.IconInlineSize()+4*theme.InnerPadding())
	return size
}

// Layout implements [fyne.Layout].
func (l *steady) Layout(objects []fyne.CanvasObject, size fyne.Size) { objects[0].Resize(size) }

// shares is the layout of objects that share the width.
type shares []float32

// MinSize implements [fyne.Layout].
func (l *shares) MinSize(objects []fyne.CanvasObject) fyne.Size {
	size := fyne.Size{}
	for _, o := range objects {
		size = size.AddWidthHeight(o.MinSize().Width+theme.Padding(), 0)
		size.Height = max(size.Height, o.MinSize().Height)
	}
	return size
}

// Layout implements [fyne.Layout].
func (l *shares) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	var all float32
	for _, s := range *l {
		all += s
	}
	room := size.Width - float32(len(objects)-1)*theme.Padding()
	x := float32(0)
	for i, o := range objects {
		w := room * (*l)[i] / all
		o.Move(fyne.NewPos(x, 0))
		o.Resize(fyne.NewSize(w, size.Height))
		x += w + theme.Padding()
	}
}
