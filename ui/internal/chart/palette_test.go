package chart

import (
	"image/color"
	"math"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/theme"
)

// luminance implements the relative luminance of WCAG 2.
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
				t.Fatalf("%s has no color", name)
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
		t.Error("the grid has no color")
	}
	if _, ok := Palette(theme.ColorNameError, theme.VariantDark); ok {
		t.Error("it defines a color of another widget")
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

// seen simulates how a color looks to people who lack one kind of cones, in linear light, after Viénot, Brettel and
// Mollon, Digital video colormaps for checking the legibility of displays by dichromats, 1999.
func seen(c color.Color, deutan bool) [3]float64 {
	n := color.NRGBAModel.Convert(c).(color.NRGBA)
	linear := func(v uint8) float64 { return math.Pow(float64(v)/255, 2.2) }
	r, g, b := linear(n.R), linear(n.G), linear(n.B)
	if deutan {
		mixed := 0.29275*r + 0.70725*g
		return [3]float64{mixed, mixed, -0.02234*r + 0.02234*g + b}
	}
	mixed := 0.11238*r + 0.88762*g
	return [3]float64{mixed, mixed, 0.00401*r - 0.00401*g + b}
}

// lab converts linear light to CIE L*a*b*.
func lab(c [3]float64) [3]float64 {
	f := func(v float64) float64 {
		if v > 0.008856 {
			return math.Cbrt(v)
		}
		return 7.787*v + 16./116
	}
	x := f((0.4124*c[0] + 0.3576*c[1] + 0.1805*c[2]) / 0.9505)
	y := f(0.2126*c[0] + 0.7152*c[1] + 0.0722*c[2])
	z := f((0.0193*c[0] + 0.1192*c[1] + 0.9505*c[2]) / 1.089)
	return [3]float64{116*y - 16, 500 * (x - y), 200 * (y - z)}
}

// TestLinesDifferWithoutColor checks that people with red-green color blindness can distinguish any two lines of a
// chart, by color or by dashes.
func TestLinesDifferWithoutColor(t *testing.T) {
	const enough = 20 // of Delta E 1976: far above what can just be reported apart
	for _, variant := range []fyne.ThemeVariant{theme.VariantLight, theme.VariantDark} {
		for _, deutan := range []bool{true, false} {
			for i, a := range seriesColors {
				for k, b := range seriesColors[:i] {
					ca, _ := Palette(a, variant)
					cb, _ := Palette(b, variant)
					la, lb := lab(seen(ca, deutan)), lab(seen(cb, deutan))
					apart := math.Sqrt((la[0]-lb[0])*(la[0]-lb[0]) + (la[1]-lb[1])*(la[1]-lb[1]) + (la[2]-lb[2])*(la[2]-lb[2]))
					if apart < enough && patternOf(i) == patternOf(k) {
						t.Errorf("%s and %s differ by %.0f in variant %d, deutan %v, and have the same dashes", b, a, apart, variant, deutan)
					}
				}
			}
		}
	}
}
