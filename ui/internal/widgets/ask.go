package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/widget"
)

// asked are the dialogs that are shown, by what they lie on, and how the keyboard answers them. The UI goroutine owns it.
var asked = map[fyne.CanvasObject]answers{}

type answers struct {
	dismiss, confirm func()
	anew             func() (show func()) // hides what has to be made anew when the size of text changes
}

// Ask shows a dialog that the keyboard can answer: Escape dismisses it, and Return confirms, if confirm is not nil and no
// button has the focus, which it would press.
func Ask(win fyne.Window, d dialog.Dialog, confirm func()) {
	d.Show()
	on := win.Canvas().Overlays().Top()
	asked[on] = answers{dismiss: d.Dismiss, confirm: confirm}
	d.SetOnClosed(func() { delete(asked, on) })
}

// Closed calls a function when a dialog that was asked last is closed.
func Closed(win fyne.Window, d dialog.Dialog, then func()) {
	on := win.Canvas().Overlays().Top()
	d.SetOnClosed(func() {
		delete(asked, on)
		then()
	})
}

// Forget drops the dialogs of a window that is closed: none of them will be.
func Forget(win fyne.Window) {
	for _, on := range win.Canvas().Overlays().List() {
		delete(asked, on)
	}
}

// Pressing confirms a dialog by a button of its own, if that is enabled.
func Pressing(b *widget.Button) (confirm func()) { return func() { press(b) } }

// Tell shows something until a person has read it.
func Tell(win fyne.Window, title string, content fyne.CanvasObject) {
	d := dialog.NewCustom(title, "OK", content, win)
	Ask(win, d, d.Dismiss)
}

// Complain shows what went wrong, as text that can be selected and copied.
func Complain(win fyne.Window, err error) {
	text := widget.NewLabel(err.Error())
	text.Selectable = true
	if most := win.Canvas().Size().Width * 0.6; text.MinSize().Width > most {
		text.Wrapping = fyne.TextWrapWord
		text.Resize(fyne.NewSize(most, 0))
		size := text.MinSize()
		Tell(win, "That did not work", sized(fyne.NewSize(most, size.Height), text))
		return
	}
	Tell(win, "That did not work", text)
}

// sized gives an object a size of its own.
func sized(size fyne.Size, o fyne.CanvasObject) fyne.CanvasObject {
	return &fyne.Container{Layout: fixed(size), Objects: []fyne.CanvasObject{o}}
}

type fixed fyne.Size

// MinSize implements [fyne.Layout].
func (f fixed) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.Size(f) }

// Layout implements [fyne.Layout].
func (f fixed) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	for _, o := range objects {
		o.Resize(size)
	}
}

// Key gives a key to what lies on top of a window: Escape and Return to a dialog, Return to the button that has the
// focus. It reports whether the key was of use; else it is for what has the focus.
func Key(c fyne.Canvas, key fyne.KeyName) bool {
	top := c.Overlays().Top()
	a, dialog := asked[top]
	switch key {
	case fyne.KeyEscape:
		if dialog {
			a.dismiss()
		}
		return dialog
	case fyne.KeyReturn, fyne.KeyEnter:
		if b, ok := c.Focused().(*widget.Button); ok {
			press(b)
			return true
		}
		if !dialog || a.confirm == nil || keepsReturn(c.Focused()) {
			return false
		}
		a.confirm()
		return true
	default:
		return false
	}
}

// keepsReturn reports whether Return means something else to what has the focus: a line's end, or a choice.
func keepsReturn(o fyne.Focusable) bool {
	switch o := o.(type) {
	case nil:
		return false
	case interface{ TakesReturn() bool }:
		return o.TakesReturn()
	case *widget.Entry:
		return o.MultiLine
	}
	return false
}

func press(b *widget.Button) {
	if !b.Disabled() && b.Visible() && b.OnTapped != nil {
		b.OnTapped()
	}
}
