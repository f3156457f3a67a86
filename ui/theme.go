package ui

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"

	"github.com/throng-sim/throng/ui/internal/chart"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// Look is Throng's theme: Fyne's own, a little denser, on quiet greys with one blue accent. Panels lie on the
// background in a lighter tone; green, amber and red are kept for states and always stand beside a word.
type Look struct {
	fyne.Theme
	forced *fyne.ThemeVariant // nil follows the system
}

// NewLook returns the theme for a choice of the settings: "light", "dark", or the system's.
func NewLook(choice string) *Look {
	l := &Look{Theme: theme.DefaultTheme()}
	variant := theme.VariantLight
	switch choice {
	case "dark":
		variant = theme.VariantDark
		fallthrough
	case "light":
		l.forced = &variant
	}
	return l
}

type pair struct{ light, dark color.NRGBA }

var colors = map[fyne.ThemeColorName]pair{
	theme.ColorNameBackground:          {gray(0xf3, 0xf4, 0xf7), gray(0x16, 0x19, 0x1f)},
	theme.ColorNameForeground:          {gray(0x1a, 0x1f, 0x27), gray(0xe4, 0xe8, 0xee)},
	theme.ColorNamePrimary:             {gray(0x2f, 0x5b, 0xd8), gray(0x7d, 0xa0, 0xff)},
	theme.ColorNameHyperlink:           {gray(0x2f, 0x5b, 0xd8), gray(0x7d, 0xa0, 0xff)},
	theme.ColorNameForegroundOnPrimary: {gray(0xff, 0xff, 0xff), gray(0x10, 0x16, 0x26)},
	theme.ColorNameButton:              {gray(0xe3, 0xe7, 0xee), gray(0x2c, 0x33, 0x3e)},
	theme.ColorNameDisabledButton:      {gray(0xe9, 0xec, 0xf1), gray(0x22, 0x27, 0x2f)},
	theme.ColorNameDisabled:            {gray(0x9a, 0xa3, 0xb0), gray(0x63, 0x6d, 0x7b)},
	theme.ColorNamePlaceHolder:         {gray(0x8a, 0x93, 0xa1), gray(0x77, 0x81, 0x90)},
	theme.ColorNameInputBackground:     {gray(0xff, 0xff, 0xff), gray(0x1a, 0x1e, 0x25)},
	theme.ColorNameInputBorder:         {gray(0xcf, 0xd5, 0xde), gray(0x3a, 0x42, 0x4f)},
	theme.ColorNameSeparator:           {gray(0xdd, 0xe1, 0xe8), gray(0x30, 0x37, 0x42)},
	theme.ColorNameMenuBackground:      {gray(0xff, 0xff, 0xff), gray(0x20, 0x25, 0x2d)},
	theme.ColorNameOverlayBackground:   {gray(0xff, 0xff, 0xff), gray(0x20, 0x25, 0x2d)},
	theme.ColorNameHeaderBackground:    {gray(0xec, 0xee, 0xf3), gray(0x1b, 0x1f, 0x26)},
	theme.ColorNameShadow:              {color.NRGBA{0, 0, 0, 0x33}, color.NRGBA{0, 0, 0, 0x66}},
	theme.ColorNameSuccess:             {gray(0x1f, 0x7a, 0x3f), gray(0x5b, 0xc8, 0x82)},
	theme.ColorNameWarning:             {gray(0xa8, 0x5d, 0x00), gray(0xf0, 0xb2, 0x4b)},
	theme.ColorNameError:               {gray(0xb9, 0x26, 0x26), gray(0xff, 0x7b, 0x72)},
}

func gray(r, g, b uint8) color.NRGBA { return color.NRGBA{r, g, b, 0xff} }

// Color is part of [fyne.Theme].
func (l *Look) Color(name fyne.ThemeColorName, variant fyne.ThemeVariant) color.Color {
	if l.forced != nil {
		variant = *l.forced
	}
	if p, ok := colors[name]; ok {
		if variant == theme.VariantLight {
			return p.light
		}
		return p.dark
	}
	for _, palette := range []func(fyne.ThemeColorName, fyne.ThemeVariant) (color.Color, bool){widgets.Palette, chart.Palette} {
		if c, ok := palette(name, variant); ok {
			return c
		}
	}
	return l.Theme.Color(name, variant)
}

// Size is part of [fyne.Theme].
func (l *Look) Size(name fyne.ThemeSizeName) float32 {
	switch name {
	case theme.SizeNameText:
		return 13
	case theme.SizeNameCaptionText:
		return 11
	case theme.SizeNameSubHeadingText:
		return 16
	case theme.SizeNameHeadingText:
		return 22
	case theme.SizeNameInnerPadding:
		return 7
	case theme.SizeNameInputRadius, theme.SizeNameSelectionRadius:
		return 6
	}
	return l.Theme.Size(name)
}
