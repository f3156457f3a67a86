package settings

import (
	"fmt"
	"strings"

	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// Appearance is the look of the windows and their notifications, with the functions that change them.
type Appearance struct {
	Theme             string // system, light or dark
	SetTheme          func(choice string)
	Scale             float64 // of the text; 1 is the default
	Smallest, Largest float64
	SetScale          func(scale float64)
	// Silent are the occasions without a desktop notification.
	Silent    map[view.Occasion]bool
	SetNotify func(o view.Occasion, on bool)
}

// appearance is the panel of the look.
type appearance struct {
	panel *widgets.Panel
	scale *widget.Slider
	says  *widgets.Text
}

var appearanceItems = []item{
	{"Theme", "look of the windows: system, light or dark; appearance, color"}, {"Text size", "scale, zoom, font"},
}

// scaleStep is the step of the slider.
const scaleStep = 0.05

func newAppearance(now Appearance) *appearance {
	choice := widget.NewRadioGroup([]string{"System", "Light", "Dark"}, nil)
	choice.Horizontal, choice.Required = true, true
	for _, option := range choice.Options {
		if strings.EqualFold(option, now.Theme) {
			choice.SetSelected(option)
		}
	}
	choice.OnChanged = func(option string) { now.SetTheme(strings.ToLower(option)) }

	p := &appearance{scale: widget.NewSlider(now.Smallest, now.Largest), says: widgets.NewText("")}
	p.scale.Step = scaleStep
	p.scale.Value = now.Scale
	p.scale.OnChanged = func(scale float64) { p.says.SetText(percent(scale)) }
	p.scale.OnChangeEnded = func(scale float64) { now.SetScale(scale) } // otherwise the slider would scale under the pointer
	p.says.SetText(percent(now.Scale))
	size := form.NewRow("Text size", container.NewBorder(nil, nil, nil, p.says, form.NewRail(p.scale)))
	size.SetHelp("To change it anywhere, press Ctrl (Cmd on a Mac) with plus, minus or 0.")

	p.panel = widgets.NewPanel(General, form.NewStack(form.NewRow("Theme", choice), size))
	return p
}

// scaled shows a scale that was chosen elsewhere.
func (p *appearance) scaled(scale float64) {
	p.scale.Value = scale
	p.scale.Refresh()
	p.says.SetText(percent(scale))
}

func percent(scale float64) string { return fmt.Sprintf("%.0f%%", 100*scale) }
