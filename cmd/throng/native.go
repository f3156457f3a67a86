package main

import (
	"fyne.io/fyne/v2"
	"github.com/go-gl/glfw/v3.4/glfw"

	"github.com/throng-sim/throng/ui"
)

// native is a window as the library below the toolkit knows it. The toolkit has no word for a window's place, and gives
// keys to what has the focus only.
type native struct{ win *glfw.Window }

var _ ui.Native = native{}

// attach finds the window that is being painted; keys hears of those that are not typed text before what has the focus.
func attach(keys func(fyne.KeyName) bool) ui.Native {
	win := glfw.GetCurrentContext()
	if win == nil {
		return nil
	}
	var toolkit glfw.KeyCallback
	swallowed := false // until the key is released
	toolkit = win.SetKeyCallback(func(w *glfw.Window, key glfw.Key, scancode int, action glfw.Action, mods glfw.ModifierKey) {
		name, known := special[key]
		if known && action == glfw.Press {
			swallowed = mods&^(glfw.ModCapsLock|glfw.ModNumLock) == 0 && keys(name)
		}
		if known && swallowed && action != glfw.Release {
			return
		}
		if toolkit != nil {
			toolkit(w, key, scancode, action, mods)
		}
	})
	return native{win}
}

// blind reports whether a panic says that there is no screen: the library could not begin.
func blind(panicked any) bool {
	err, ok := panicked.(*glfw.Error)
	return ok && err.Code.String() == "NotInitialized"
}

// special are the keys that mean something wherever the focus is.
var special = map[glfw.Key]fyne.KeyName{
	glfw.KeyEscape: fyne.KeyEscape, glfw.KeyEnter: fyne.KeyReturn, glfw.KeyKPEnter: fyne.KeyEnter,
	glfw.KeyF1: fyne.KeyF1, glfw.KeyF2: fyne.KeyF2, glfw.KeyF3: fyne.KeyF3, glfw.KeyF4: fyne.KeyF4,
	glfw.KeyF5: fyne.KeyF5, glfw.KeyF6: fyne.KeyF6, glfw.KeyF7: fyne.KeyF7, glfw.KeyF8: fyne.KeyF8,
}

// Place is part of [ui.Native].
func (n native) Place() (x, y int) { return n.win.GetPos() }

// Move is part of [ui.Native]. A place of which no screen shows the title bar is left out: that screen may be gone.
func (n native) Move(x, y int) {
	for _, m := range glfw.GetMonitors() {
		left, top, width, height := m.GetWorkarea()
		if x >= left && x < left+width-grip && y >= top && y < top+height-grip {
			n.win.SetPos(x, y)
			return
		}
	}
}

// grip is how many pixels of a window must be on a screen for it to be taken hold of.
const grip = 60

// Focused is part of [ui.Native].
func (n native) Focused() bool { return n.win.GetAttrib(glfw.Focused) == glfw.True }
