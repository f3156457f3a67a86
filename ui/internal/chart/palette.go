package chart

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"

	"github.com/throng-sim/throng/ui/internal/widgets"
)

// colorQuiet is the color of axes and names.
const colorQuiet = widgets.ColorMuted

// The colors of charts. A theme may return those of Palette, or its own.
const (
	ColorSeries1 fyne.ThemeColorName = "chartSeries1"
	ColorSeries2 fyne.ThemeColorName = "chartSeries2"
	ColorSeries3 fyne.ThemeColorName = "chartSeries3"
	ColorSeries4 fyne.ThemeColorName = "chartSeries4"
	ColorLimit   fyne.ThemeColorName = "chartLimit"
	ColorGrid    fyne.ThemeColorName = "chartGrid"
)

// palette follows Okabe and Ito's colors for all kinds of vision (https://jfly.uni-koeln.de/color/), darker on light and lighter on dark,
// so that each line has a contrast of at least 3 to 1 against the background.
var palette = map[fyne.ThemeColorName]struct{ light, dark color.NRGBA }{
	ColorSeries1: {color.NRGBA{0x00, 0x72, 0xb2, 0xff}, color.NRGBA{0x56, 0xb4, 0xe9, 0xff}},
	ColorSeries2: {color.NRGBA{0xc4, 0x74, 0x00, 0xff}, color.NRGBA{0xf0, 0xa8, 0x30, 0xff}},
	ColorSeries3: {color.NRGBA{0x00, 0x8a, 0x64, 0xff}, color.NRGBA{0x2f, 0xbf, 0x8f, 0xff}},
	ColorSeries4: {color.NRGBA{0xad, 0x4f, 0x8b, 0xff}, color.NRGBA{0xdb, 0x90, 0xbd, 0xff}},
	ColorLimit:   {color.NRGBA{0xc9, 0x24, 0x2e, 0xff}, color.NRGBA{0xff, 0x6f, 0x61, 0xff}},
	ColorGrid:    {color.NRGBA{0x00, 0x00, 0x00, 0x16}, color.NRGBA{0xff, 0xff, 0xff, 0x1a}},
}

// Palette returns a color of this package by name; ok is false for other names.
func Palette(name fyne.ThemeColorName, variant fyne.ThemeVariant) (color.Color, bool) {
	c, ok := palette[name]
	if variant == theme.VariantLight {
		return c.light, ok
	}
	return c.dark, ok
}

// colorOf returns a theme's color, or that of Palette if the theme does not have it.
func colorOf(th fyne.Theme, name fyne.ThemeColorName, variant fyne.ThemeVariant) color.RGBA {
	if c := th.Color(name, variant); c != nil {
		if rgba := color.RGBAModel.Convert(c).(color.RGBA); rgba.A > 0 {
			return rgba
		}
	}
	c, ok := Palette(name, variant)
	if !ok {
		if c, ok = widgets.Palette(name, variant); !ok {
			return color.RGBA{}
		}
	}
	return color.RGBAModel.Convert(c).(color.RGBA)
}

// Ink returns a color of the current theme for a drawing, also one of this package or of package widgets.
func Ink(name fyne.ThemeColorName) color.RGBA {
	settings := fyne.CurrentApp().Settings()
	return colorOf(settings.Theme(), name, settings.ThemeVariant())
}
