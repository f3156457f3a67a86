package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/widget"
)

// asked are the open dialogs by the object on top, and how the keyboard answers them. The UI goroutine owns it.
var asked = map[fyne.CanvasObject]answers{}

type answers struct {
	dismiss, confirm func()
	anew             func() (show func()) // hides a dialog that must be rebuilt when the text size changes, and returns how to show it again
}

// Ask shows a dialog that the keyboard can answer: Escape dismisses it, and Return confirms it if confirm is not nil and no button is
// focused; otherwise Return presses the focused button.
func Ask(win fyne.Window, d dialog.Dialog, confirm func()) {
	d.Show()
	on := win.Canvas().Overlays().Top()
	frame(on)
	asked[on] = answers{dismiss: d.Dismiss, confirm: confirm}
	d.SetOnClosed(func() { delete(asked, on) })
}

// Closed calls a function when an open dialog is closed.
func Closed(win fyne.Window, d dialog.Dialog, then func()) {
	on := win.Canvas().Overlays().Top()
	d.SetOnClosed(func() {
		delete(asked, on)
		then()
	})
}

// Forget drops the dialogs and tips of a closed window.
func Forget(win fyne.Window) {
	delete(tips, win.Canvas())
	for _, on := range win.Canvas().Overlays().List() {
		delete(asked, on)
	}
}

// Pressing returns a confirm function that presses a button if it is enabled.
func Pressing(b *widget.Button) (confirm func()) { return func() { press(b) } }

// Tell shows a message until the user closes it.
func Tell(win fyne.Window, title string, content fyne.CanvasObject) {
	d := dialog.NewCustom(title, "OK", content, win)
	Ask(win, d, d.Dismiss)
}

// Complain shows an error as text that can be selected and copied.
func Complain(win fyne.Window, err error) {
	text := widget.NewLabel(err.Error())
	text.Selectable = true
	if most := win.Canvas().Size().Width * 0.6; text.MinSize().Width > most {
		text.Wrapping = fyne.TextWrapWord
		text.Resize(fyne.NewSize(most, 0))
		size := text.MinSize()
		Tell(win, "Error", sized(fyne.NewSize(most, size.Height), text))
		return
	}
	Tell(win, "Error", text)
}

// sized returns an object with a fixed size.
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

// Key passes a key to the top of a window: Escape and Return to a dialog, Return to the focused button. It reports whether it handled the
// key; otherwise the key is for the focused widget.
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

// keepsReturn reports whether the focused widget uses Return itself, for a new line or a choice.
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
