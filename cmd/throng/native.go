package main

import (
	"fyne.io/fyne/v2"
	"github.com/go-gl/glfw/v3.4/glfw"

	"github.com/throng-sim/throng/ui"
)

// native is a window of the library below the toolkit. The toolkit does not know a window's position, and sends keys only to the focused
// widget.
type native struct{ win *glfw.Window }

var _ ui.Native = native{}

// attach returns the window that is being painted; keys is called for keys that are not text, before the focused widget.
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

// special are the keys with the same meaning everywhere.
var special = map[glfw.Key]fyne.KeyName{
	glfw.KeyEscape: fyne.KeyEscape, glfw.KeyEnter: fyne.KeyReturn, glfw.KeyKPEnter: fyne.KeyEnter,
	glfw.KeyF1: fyne.KeyF1, glfw.KeyF2: fyne.KeyF2, glfw.KeyF3: fyne.KeyF3, glfw.KeyF4: fyne.KeyF4,
	glfw.KeyF5: fyne.KeyF5, glfw.KeyF6: fyne.KeyF6, glfw.KeyF7: fyne.KeyF7, glfw.KeyF8: fyne.KeyF8,
}

// Place implements [ui.Native].
func (n native) Place() (x, y int) { return n.win.GetPos() }

// Move implements [ui.Native]. It ignores a position where no screen would show the title bar, because that screen may be gone.
func (n native) Move(x, y int) {
	for _, m := range glfw.GetMonitors() {
		left, top, width, height := m.GetWorkarea()
		if x >= left && x < left+width-grip && y >= top && y < top+height-grip {
			n.win.SetPos(x, y)
			return
		}
	}
}

// grip is how many pixels of a window must be on a screen to drag the window.
const grip = 60

// Focused is part of [ui.Native].
func (n native) Focused() bool { return n.win.GetAttrib(glfw.Focused) == glfw.True }
