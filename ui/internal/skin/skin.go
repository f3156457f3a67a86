// Package skin is the theme of the windows: colors and sizes.
package skin

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"

	"github.com/throng-sim/throng/ui/internal/chart"
	"github.com/throng-sim/throng/ui/internal/crowd"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// Look is Throng's theme, the visual language of package ui, on Fyne's own for what that does not name.
type Look struct {
	fyne.Theme
	forced *fyne.ThemeVariant // nil follows the system
	scale  float32            // of all that follows the text; 0 is 1
}

// New returns the theme for a choice of the settings: "light", "dark", or the system's.
func New(choice string) *Look {
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

// Scaled returns the look with text, and all that is laid out by it, so many times as large.
func (l *Look) Scaled(scale float32) *Look {
	scaled := *l
	scaled.scale = scale
	return &scaled
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
	theme.ColorNameFocus:               {color.NRGBA{0x8f, 0xa8, 0xe8, 0x99}, color.NRGBA{0xff, 0xff, 0xff, 0x60}}, // seen on gray and on the accent
	theme.ColorNameHover:               {color.NRGBA{0x10, 0x16, 0x26, 0x10}, color.NRGBA{0xff, 0xff, 0xff, 0x12}},
	theme.ColorNamePressed:             {color.NRGBA{0x10, 0x16, 0x26, 0x28}, color.NRGBA{0xff, 0xff, 0xff, 0x30}},
	theme.ColorNameSelection:           {color.NRGBA{0x2f, 0x5b, 0xd8, 0x30}, color.NRGBA{0x7d, 0xa0, 0xff, 0x48}},
	theme.ColorNameScrollBar:           {color.NRGBA{0x10, 0x16, 0x26, 0x70}, color.NRGBA{0xff, 0xff, 0xff, 0x70}},
	theme.ColorNameForegroundOnError:   {gray(0xff, 0xff, 0xff), gray(0x26, 0x10, 0x10)},
	theme.ColorNameForegroundOnSuccess: {gray(0xff, 0xff, 0xff), gray(0x10, 0x26, 0x16)},
	theme.ColorNameForegroundOnWarning: {gray(0xff, 0xff, 0xff), gray(0x26, 0x1c, 0x08)},
	theme.ColorNameShadow:              {color.NRGBA{0, 0, 0, 0x33}, color.NRGBA{0, 0, 0, 0x66}},
	theme.ColorNameSuccess:             {gray(0x00, 0x78, 0x6e), gray(0x45, 0xc8, 0xc0)},
	theme.ColorNameWarning:             {gray(0x9c, 0x5f, 0x00), gray(0xff, 0xc8, 0x57)},
	theme.ColorNameError:               {gray(0xb0, 0x00, 0x3a), gray(0xff, 0x6b, 0x78)},
}

func gray(r, g, b uint8) color.NRGBA { return color.NRGBA{r, g, b, 0xff} }

// Color implements [fyne.Theme].
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
	for _, palette := range []func(fyne.ThemeColorName, fyne.ThemeVariant) (color.Color, bool){widgets.Palette, chart.Palette, crowd.Palette} {
		if c, ok := palette(name, variant); ok {
			return c
		}
	}
	return l.Theme.Color(name, variant)
}

// sizes are the scales of type and of spacing, where they are not Fyne's own.
var sizes = map[fyne.ThemeSizeName]float32{
	theme.SizeNameCaptionText: 11, theme.SizeNameText: 13, theme.SizeNameSubHeadingText: 16, theme.SizeNameHeadingText: 22,
	theme.SizeNameInlineIcon: 18,
	theme.SizeNamePadding:    4, theme.SizeNameInnerPadding: 6,
	theme.SizeNameInputRadius: 6, theme.SizeNameButtonRadius: 6, theme.SizeNameSelectionRadius: 4, theme.SizeNameDialogRadius: 10, theme.SizeNamePopupRadius: 6,
	theme.SizeNameModalBlurRadius: 0, // the picture below a question stays still, and costs nothing to draw
}

// fixed are the sizes that do not follow the text: lines, and what is round.
var fixed = map[fyne.ThemeSizeName]bool{
	theme.SizeNameSeparatorThickness: true, theme.SizeNameInputBorder: true, theme.SizeNameInputRadius: true,
	theme.SizeNameSelectionRadius: true, theme.SizeNameModalBlurRadius: true, theme.SizeNameScrollBarRadius: true,
	theme.SizeNameButtonRadius: true, theme.SizeNameCardRadius: true, theme.SizeNameDialogRadius: true, theme.SizeNamePopupRadius: true,
}

// Size implements [fyne.Theme].
func (l *Look) Size(name fyne.ThemeSizeName) float32 {
	size, own := sizes[name]
	if !own {
		size = l.Theme.Size(name)
	}
	if l.scale == 0 || fixed[name] {
		return size
	}
	return size * l.scale
}

// Icon implements [fyne.Theme]. Folders have the accent color: black ones look like errors of the theme.
func (l *Look) Icon(name fyne.ThemeIconName) fyne.Resource {
	icon := l.Theme.Icon(name)
	if name == theme.IconNameFolder {
		return theme.NewPrimaryThemedResource(icon)
	}
	return icon
}
