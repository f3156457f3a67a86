package calibrate

import (
	"fyne.io/fyne/v2"

	"github.com/throng-sim/throng/ui/internal/action"
)

// Actions returns the actions on a calibration, for the menus and shortcuts.
func (s *Screen) Actions() []action.Action {
	const shift = action.Command | fyne.KeyModifierShift
	return []action.Action{
		action.Press(s.plan.start, action.Action{Name: "Calibrate", Menu: "Run", Sub: "Calibration", Key: fyne.KeyM, Modifier: shift}),
		action.Press(s.plan.stop, action.Action{Name: "Cancel calibration", Menu: "Run", Sub: "Calibration", Key: fyne.KeyG, Modifier: shift}),
		action.Press(s.result.apply, action.Action{Name: "Apply recommended limit", Menu: "Run", Sub: "Calibration", Key: fyne.KeyL, Modifier: shift}),
	}
}
