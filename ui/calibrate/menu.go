package calibrate

import (
	"fyne.io/fyne/v2"

	"github.com/throng-sim/throng/ui/internal/action"
)

// Actions is what can be done with a calibration, for the menus and the shortcuts.
func (s *Screen) Actions() []action.Action {
	const shift = action.Command | fyne.KeyModifierShift
	return []action.Action{
		action.Press(s.plan.start, action.Action{Name: "Measure", Menu: "Run", Key: fyne.KeyM, Modifier: shift}),
		action.Press(s.plan.stop, action.Action{Name: "Give up measuring", Menu: "Run", Key: fyne.KeyG, Modifier: shift}),
		action.Press(s.result.apply, action.Action{Name: "Apply the recommended level", Menu: "Run", Key: fyne.KeyL, Modifier: shift}),
	}
}
