package chart

import (
	"image/color"
	"math"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/theme"
)

// luminance follows WCAG 2.
func luminance(c color.Color) float64 {
	n := color.NRGBAModel.Convert(c).(color.NRGBA)
	linear := func(v uint8) float64 {
		s := float64(v) / 255
		if s <= 0.04045 {
			return s / 12.92
		}
		return math.Pow((s+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(n.R) + 0.7152*linear(n.G) + 0.0722*linear(n.B)
}

func TestLinesHaveContrast(t *testing.T) {
	backgrounds := map[fyne.ThemeVariant]color.Color{
		theme.VariantLight: color.NRGBA{0xf5, 0xf5, 0xf5, 0xff}, // a card's: harder than white
		theme.VariantDark:  color.NRGBA{0x28, 0x29, 0x2e, 0xff},
	}
	for variant, background := range backgrounds {
		for _, name := range append(seriesColors[:], ColorLimit) {
			c, ok := Palette(name, variant)
			if !ok {
				t.Fatalf("%s has no colour", name)
			}
			light, dark := luminance(c), luminance(background)
			if light < dark {
				light, dark = dark, light
			}
			if got := (light + 0.05) / (dark + 0.05); got < 3 {
				t.Errorf("%s has a contrast of %.2f in variant %d", name, got, variant)
			}
		}
	}
}

func TestPaletteKnowsItsNamesOnly(t *testing.T) {
	if _, ok := Palette(ColorGrid, theme.VariantDark); !ok {
		t.Error("the grid has no colour")
	}
	if _, ok := Palette(theme.ColorNameError, theme.VariantDark); ok {
		t.Error("it knows a colour that is not a chart's")
	}
}

func TestThemeComesFirst(t *testing.T) {
	test.NewTempApp(t)
	fallback, _ := Palette(ColorSeries1, theme.VariantLight)
	own := color.NRGBA{1, 2, 3, 255}
	for _, tt := range []struct {
		name string
		th   fyne.Theme
		want color.Color
	}{
		{"unknown", theme.DefaultTheme(), fallback},
		{"known", oneColor{theme.DefaultTheme(), own}, own},
		{"nil", oneColor{theme.DefaultTheme(), nil}, fallback},
	} {
		want := color.RGBAModel.Convert(tt.want)
		if got := colorOf(tt.th, ColorSeries1, theme.VariantLight); got != want {
			t.Errorf("%s: got %v, want %v", tt.name, got, want)
		}
	}
}

type oneColor struct {
	fyne.Theme
	color color.Color
}

func (o oneColor) Color(fyne.ThemeColorName, fyne.ThemeVariant) color.Color { return o.color }
