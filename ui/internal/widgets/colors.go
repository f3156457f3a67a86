// Package widgets holds widgets for the screens in addition to Fyne's. They take values and call back.
package widgets

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"
)

// Colors of the app's theme in addition to Fyne's names.
const (
	ColorSurface fyne.ThemeColorName = "throng.surface" // of panels
	ColorMuted   fyne.ThemeColorName = "throng.muted"   // captions
	ColorRing    fyne.ThemeColorName = "throng.ring"    // around the focused widget
)

// RingWidth is the width of the focus ring.
const RingWidth = 2

// Color returns a color of the current theme, even if the theme does not know the names of this package.
func Color(name fyne.ThemeColorName) color.Color {
	c := theme.Color(name)
	if _, _, _, alpha := c.RGBA(); alpha == 0 {
		if own, ok := Palette(name, fyne.CurrentApp().Settings().ThemeVariant()); ok {
			return own
		}
	}
	return c
}

// Palette returns the color of a name of this package; ok is false for other names.
func Palette(name fyne.ThemeColorName, variant fyne.ThemeVariant) (color.Color, bool) {
	light := variant == theme.VariantLight
	switch {
	case name == ColorSurface && light:
		return color.NRGBA{0xff, 0xff, 0xff, 0xff}, true
	case name == ColorSurface:
		return color.NRGBA{0x20, 0x25, 0x2d, 0xff}, true
	case name == ColorMuted && light:
		return color.NRGBA{0x5b, 0x66, 0x75, 0xff}, true
	case name == ColorMuted:
		return color.NRGBA{0x9a, 0xa5, 0xb4, 0xff}, true
	case name == ColorRing && light:
		return color.NRGBA{0x1a, 0x1f, 0x27, 0xff}, true
	case name == ColorRing:
		return color.NRGBA{0xff, 0xff, 0xff, 0xff}, true
	}
	return nil, false
}
