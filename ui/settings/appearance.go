package settings

import (
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/ui/internal/widgets"
)

// newAppearance makes the panel on which the look is chosen.
func newAppearance(theme string, setTheme func(choice string)) fyne.CanvasObject {
	choice := widget.NewRadioGroup([]string{"System", "Light", "Dark"}, nil)
	choice.Horizontal, choice.Required = true, true
	for _, option := range choice.Options {
		if strings.EqualFold(option, theme) {
			choice.SetSelected(option)
		}
	}
	choice.OnChanged = func(option string) { setTheme(strings.ToLower(option)) }
	return widgets.NewPanel("Appearance", choice)
}
