package skin

import (
	"image/color"
	"math"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"

	"github.com/throng-sim/throng/ui/internal/widgets"
)

// seen simulates color vision without one kind of cones, as matrices for linear light. Source: Machado, Oliveira and
// Fernandes, A Physiologically-based Model for Simulation of Color Vision Deficiency, 2009.
var seen = map[string][3][3]float64{
	"all cones": {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	"no red":    {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
	"no green":  {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
	"no blue":   {{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}},
}

// apart is the minimum CIELAB distance of two colors that must be distinguishable; 2.3 is just noticeable.
const apart = 18

// TestStatesAreToldApart checks that the colors of states are distinguishable for people with each kind of color
// vision.
func TestStatesAreToldApart(t *testing.T) {
	states := []fyne.ThemeColorName{theme.ColorNameSuccess, theme.ColorNameWarning, theme.ColorNameError}
	for _, choice := range []string{"light", "dark"} {
		look := New(choice)
		for who, eye := range seen {
			for i, a := range states {
				for _, b := range states[i+1:] {
					if d := distance(lab(linear(look.Color(a, 0)), eye), lab(linear(look.Color(b, 0)), eye)); d < apart {
						t.Errorf("%s, %s: %s and %s are %.0f apart", choice, who, a, b, d)
					}
				}
			}
		}
	}
}

// TestWordsStandOut checks that text has the contrast that WCAG requires, 4.5, on panels and on the background.
func TestWordsStandOut(t *testing.T) {
	for _, choice := range []string{"light", "dark"} {
		look := New(choice)
		for _, name := range []fyne.ThemeColorName{
			theme.ColorNameForeground, theme.ColorNameSuccess, theme.ColorNameWarning, theme.ColorNameError, theme.ColorNamePrimary, widgets.ColorMuted,
		} {
			for _, ground := range []fyne.ThemeColorName{widgets.ColorSurface, theme.ColorNameBackground} {
				a, b := light(look.Color(name, 0)), light(look.Color(ground, 0))
				if c := (max(a, b) + 0.05) / (min(a, b) + 0.05); c < 4.5 {
					t.Errorf("%s: %s on %s has a contrast of %.1f", choice, name, ground, c)
				}
			}
		}
	}
}

// TestScaledFollowsTheText checks that a larger text size scales paddings and icons, while lines stay thin.
func TestScaledFollowsTheText(t *testing.T) {
	look := New("dark")
	for name, times := range map[fyne.ThemeSizeName]float32{theme.SizeNameText: 2, theme.SizeNamePadding: 2, theme.SizeNameInlineIcon: 2, theme.SizeNameSeparatorThickness: 1, theme.SizeNameInputBorder: 1} {
		if got, want := look.Scaled(2).Size(name), times*look.Size(name); got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
}

// linear converts a color to linear light.
func linear(c color.Color) (rgb [3]float64) {
	n := color.NRGBAModel.Convert(c).(color.NRGBA)
	for i, v := range []uint8{n.R, n.G, n.B} {
		s := float64(v) / 255
		if s <= 0.04045 {
			rgb[i] = s / 12.92
		} else {
			rgb[i] = math.Pow((s+0.055)/1.055, 2.4)
		}
	}
	return rgb
}

func light(c color.Color) float64 {
	l := linear(c)
	return 0.2126*l[0] + 0.7152*l[1] + 0.0722*l[2]
}

// lab converts light to CIELAB under D65, as a person with the given color vision sees it.
func lab(rgb [3]float64, eye [3][3]float64) (point [3]float64) {
	var v [3]float64
	for i, row := range eye {
		v[i] = min(max(row[0]*rgb[0]+row[1]*rgb[1]+row[2]*rgb[2], 0), 1)
	}
	f := func(t float64) float64 {
		if t > 0.008856 {
			return math.Cbrt(t)
		}
		return 7.787*t + 16.0/116
	}
	x := f((0.4124*v[0] + 0.3576*v[1] + 0.1805*v[2]) / 0.9505)
	y := f(0.2126*v[0] + 0.7152*v[1] + 0.0722*v[2])
	z := f((0.0193*v[0] + 0.1192*v[1] + 0.9505*v[2]) / 1.089)
	return [3]float64{116*y - 16, 500 * (x - y), 200 * (y - z)}
}

func distance(a, b [3]float64) float64 {
	return math.Sqrt((a[0]-b[0])*(a[0]-b[0]) + (a[1]-b[1])*(a[1]-b[1]) + (a[2]-b[2])*(a[2]-b[2]))
}
