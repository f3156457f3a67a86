package crowd

import (
	"image/color"
	"math"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"

	"github.com/throng-sim/throng/engine"
)

type linear [3]float64

func toLinear(c color.Color) (out linear) {
	n := color.NRGBAModel.Convert(c).(color.NRGBA)
	for i, v := range [...]uint8{n.R, n.G, n.B} {
		if s := float64(v) / 255; s <= 0.04045 {
			out[i] = s / 12.92
		} else {
			out[i] = math.Pow((s+0.055)/1.055, 2.4)
		}
	}
	return out
}

// luminance implements the relative luminance of WCAG 2.
func (l linear) luminance() float64 { return 0.2126*l[0] + 0.7152*l[1] + 0.0722*l[2] }

func contrast(a, b color.Color) float64 {
	x, y := toLinear(a).luminance(), toLinear(b).luminance()
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// visions are the kinds of color vision, by Machado, Oliveira and Fernandes, "A Physiologically-based Model for Simulation
// of Color Vision Deficiency", 2009, at full severity.
var visions = map[string][3][3]float64{
	"usual":        {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	"protanopia":   {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
	"deuteranopia": {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
	"tritanopia":   {{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}},
}

// seen converts a color to Oklab as a person with the given color vision sees it (Ottosson, 2020). Distances in Oklab
// correspond to perceived differences.
func seen(c color.Color, vision [3][3]float64) (lab [3]float64) {
	l := toLinear(c)
	var s linear
	for i, row := range vision {
		s[i] = min(max(row[0]*l[0]+row[1]*l[1]+row[2]*l[2], 0), 1)
	}
	x := math.Cbrt(0.4122214708*s[0] + 0.5363325363*s[1] + 0.0514459929*s[2])
	y := math.Cbrt(0.2119034982*s[0] + 0.6806995451*s[1] + 0.1073969566*s[2])
	z := math.Cbrt(0.0883024619*s[0] + 0.2817188376*s[1] + 0.6299787005*s[2])
	return [3]float64{
		0.2104542553*x + 0.7936177850*y - 0.0040720468*z,
		1.9779984951*x - 2.4285922050*y + 0.4505937099*z,
		0.0259040371*x + 0.7827717662*y - 0.8086757660*z,
	}
}

// surfaces are the backgrounds of the cells.
var surfaces = map[fyne.ThemeVariant]color.NRGBA{
	theme.VariantLight: {0xff, 0xff, 0xff, 0xff},
	theme.VariantDark:  {0x20, 0x25, 0x2d, 0xff},
}

func TestStatesStandOut(t *testing.T) {
	for variant, surface := range surfaces {
		for s := range engine.NumAgentStates {
			c, ok := Palette(looks[s].color, variant)
			if !ok {
				t.Fatalf("%v has no color", s)
			}
			n := color.NRGBAModel.Convert(c).(color.NRGBA)
			full, back := color.RGBA(n), color.RGBA(surface)
			if got := contrast(full, back); got < 3 {
				t.Errorf("%v has a contrast of %.2f to the panel in variant %d", s, got, variant)
			}
			ground, mark := mix(back, full, looks[s].tint), full
			if looks[s].solid {
				ground, mark = full, back
			}
			if got := contrast(ground, mark); got < 2.9 {
				t.Errorf("the mark of %v has a contrast of %.2f to its cell in variant %d", s, got, variant)
			}
		}
	}
}

// TestStatesDifferForAllEyes checks that people with any color vision can distinguish the important states in cells
// that are too small for a mark.
func TestStatesDifferForAllEyes(t *testing.T) {
	matter := []engine.AgentState{engine.AgentInFlight, engine.AgentThrottled, engine.AgentOK, engine.AgentFailed, engine.AgentTimedOut, engine.AgentWaiting}
	for variant := range surfaces {
		for name, vision := range visions {
			for i, a := range matter {
				for _, b := range matter[:i] {
					x, _ := Palette(looks[a].color, variant)
					y, _ := Palette(looks[b].color, variant)
					p, q := seen(x, vision), seen(y, vision)
					if d := math.Hypot(math.Hypot(p[0]-q[0], p[1]-q[1]), p[2]-q[2]); d < 0.1 {
						t.Errorf("%v and %v are %.3f apart for %s in variant %d", a, b, d, name, variant)
					}
				}
			}
		}
	}
}

func TestEveryStateHasItsOwnMark(t *testing.T) {
	marks := map[glyph]engine.AgentState{}
	for s := range engine.NumAgentStates {
		if other, ok := marks[looks[s].glyph]; ok {
			t.Errorf("%v and %v have the same mark", s, other)
		}
		marks[looks[s].glyph] = s
	}
	for _, order := range [][]engine.AgentState{weight[:], shownOrder[:]} {
		if Of(order...) != 1<<engine.NumAgentStates-1 {
			t.Errorf("the order %v misses a state", order)
		}
	}
}

func TestPaletteKnowsItsNamesOnly(t *testing.T) {
	if _, ok := Palette(theme.ColorNameError, theme.VariantDark); ok {
		t.Error("it defines a color of another widget")
	}
}
