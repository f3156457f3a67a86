package crowd

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// The colors of states, which a theme may return from Palette or choose itself.
const (
	ColorWaiting   fyne.ThemeColorName = "crowdWaiting"
	ColorResting   fyne.ThemeColorName = "crowdResting"
	ColorRetired   fyne.ThemeColorName = "crowdRetired"
	ColorInFlight  fyne.ThemeColorName = "crowdInFlight"
	ColorThrottled fyne.ThemeColorName = "crowdHeld"
	ColorOK        fyne.ThemeColorName = "crowdOK"
	ColorStopped   fyne.ThemeColorName = "crowdStopped"
	ColorFailed    fyne.ThemeColorName = "crowdFailed"
	ColorTimedOut  fyne.ThemeColorName = "crowdTimedOut"
	ColorCanceled  fyne.ThemeColorName = "crowdCanceled"
)

// palette starts from Okabe and Ito's colors for all kinds of vision (https://jfly.uni-koeln.de/color/), moved apart until
// those that matter differ in every one of them, and darker on light and lighter on dark for a contrast of 3 to 1.
var palette = map[fyne.ThemeColorName]struct{ light, dark color.NRGBA }{
	ColorWaiting:   {opaque(0x82, 0x92, 0x97), opaque(0x6c, 0x76, 0x82)},
	ColorResting:   {opaque(0x82, 0x92, 0x97), opaque(0x6c, 0x76, 0x82)},
	ColorRetired:   {opaque(0x5b, 0x66, 0x75), opaque(0x8a, 0x95, 0xa4)},
	ColorInFlight:  {opaque(0x10, 0x3f, 0x89), opaque(0x79, 0xcd, 0xfe)},
	ColorThrottled: {opaque(0xc5, 0x84, 0x0d), opaque(0xf0, 0xdc, 0x4a)},
	ColorOK:        {opaque(0x0b, 0x78, 0x62), opaque(0x45, 0xab, 0x94)},
	ColorStopped:   {opaque(0x6b, 0x62, 0x3c), opaque(0xb5, 0xa8, 0x7c)},
	ColorFailed:    {opaque(0x99, 0x10, 0x10), opaque(0xff, 0x70, 0x38)},
	ColorTimedOut:  {opaque(0x89, 0x53, 0xba), opaque(0xbe, 0x78, 0xf0)},
	ColorCanceled:  {opaque(0x4d, 0x57, 0x66), opaque(0xa4, 0xae, 0xbc)},
}

func opaque(r, g, b uint8) color.NRGBA { return color.NRGBA{r, g, b, 0xff} }

// Palette returns the color of a name of this package; false for any other name.
func Palette(name fyne.ThemeColorName, variant fyne.ThemeVariant) (color.Color, bool) {
	c, ok := palette[name]
	if variant == theme.VariantLight {
		return c.light, ok
	}
	return c.dark, ok
}

// look is how a state is drawn.
type look struct {
	color fyne.ThemeColorName
	glyph glyph
	solid bool    // the whole cell has the color; else it is tinted
	tint  float64 // of a cell that is not solid
	grave bool    // it is seen in a density map however few they are
}

// looks is the one table of how states are drawn.
var looks = [engine.NumAgentStates]look{
	engine.AgentWaiting:   {color: ColorWaiting, glyph: dot, tint: 0.10},
	engine.AgentResting:   {color: ColorResting, glyph: dash, tint: 0.06},
	engine.AgentRetired:   {color: ColorRetired, glyph: slash, tint: 0.06},
	engine.AgentInFlight:  {color: ColorInFlight, glyph: triangle, solid: true},
	engine.AgentThrottled: {color: ColorThrottled, glyph: bars, solid: true},
	engine.AgentOK:        {color: ColorOK, glyph: tick, tint: 0.24},
	engine.AgentStopped:   {color: ColorStopped, glyph: square, tint: 0.16},
	engine.AgentFailed:    {color: ColorFailed, glyph: cross, solid: true, grave: true},
	engine.AgentTimedOut:  {color: ColorTimedOut, glyph: clock, solid: true, grave: true},
	engine.AgentCanceled:  {color: ColorCanceled, glyph: ring, tint: 0.20},
}

// weight is the order in which states fill a cell that stands for many agents, from its foot: trouble first.
var weight = [...]engine.AgentState{
	engine.AgentFailed, engine.AgentTimedOut, engine.AgentThrottled, engine.AgentInFlight, engine.AgentCanceled, engine.AgentStopped,
	engine.AgentOK, engine.AgentWaiting, engine.AgentResting, engine.AgentRetired,
}

// inkOf returns a theme's color, or the one of Palette where the theme does not know it.
func inkOf(name fyne.ThemeColorName) color.RGBA {
	c := widgets.Color(name)
	if _, _, _, alpha := c.RGBA(); alpha == 0 {
		if own, ok := Palette(name, fyne.CurrentApp().Settings().ThemeVariant()); ok {
			c = own
		}
	}
	n := color.NRGBAModel.Convert(c).(color.NRGBA)
	return color.RGBA{n.R, n.G, n.B, 0xff}
}

// mix is a color with a share of another.
func mix(a, b color.RGBA, share float64) color.RGBA {
	part := func(x, y uint8) uint8 { return uint8(float64(x) + (float64(y)-float64(x))*share + 0.5) }
	return color.RGBA{part(a.R, b.R), part(a.G, b.G), part(a.B, b.B), 0xff}
}
