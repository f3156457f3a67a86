package ui

import (
	"math"
	"strings"

	"fyne.io/fyne/v2"

	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/settings"
)

// Names of the preferences, which hold the state of the window.
const (
	themeKey  = "theme"
	scaleKey  = "textScale"
	notifyKey = "notify" // set to false by older versions of Throng if notifications are off
	silentKey = "notify.off"
	widthKey  = "width"
	heightKey = "height"
	leftKey   = "left"
	topKey    = "top"
)

// The smallest and largest text scale, and the step of the shortcuts.
const (
	smallest = 0.8
	largest  = 2.0
	zoomStep = 0.1
)

var (
	firstSize = fyne.NewSize(1280, 800)
	leastSize = fyne.NewSize(640, 400)
)

// nowhere is the position of a window that was not placed yet.
const nowhere = math.MinInt32

// choices are the user's choices for the windows, and the last position and spot of the first one.
type choices struct {
	theme     string // system, light or dark
	scale     float64
	silent    map[view.Occasion]bool // occasions without a desktop notification
	size      fyne.Size
	left, top int
	spot      spot
}

func remembered(p fyne.Preferences) choices {
	c := choices{
		theme: p.StringWithFallback(themeKey, "system"), scale: inRange(p.FloatWithFallback(scaleKey, 1)),
		left: p.IntWithFallback(leftKey, nowhere), top: p.IntWithFallback(topKey, nowhere),
	}
	c.silent = map[view.Occasion]bool{}
	for o := range strings.SplitSeq(p.String(silentKey), ",") {
		c.silent[view.Occasion(o)] = true
	}
	for _, k := range view.NotificationKinds {
		c.silent[k.Occasion] = c.silent[k.Occasion] || !p.BoolWithFallback(notifyKey, true)
	}
	c.size = fyne.NewSize(float32(p.FloatWithFallback(widthKey, float64(firstSize.Width))), float32(p.FloatWithFallback(heightKey, float64(firstSize.Height))))
	if !(c.size.Width >= leastSize.Width && c.size.Height >= leastSize.Height) { // also for NaN
		c.size = firstSize
	}
	return c
}

// inRange rounds a text scale to whole steps in the allowed range.
func inRange(scale float64) float64 {
	if math.IsNaN(scale) {
		return 1
	}
	return math.Round(min(max(scale, smallest), largest)*20) / 20 // steps of 0.05
}

func (c *choices) look() *Look { return NewLook(c.theme).Scaled(float32(c.scale)) }

// appearance returns the choices for Settings.
func (a *App) appearance() settings.Appearance {
	return settings.Appearance{
		Theme: a.choices.theme, SetTheme: a.setTheme,
		Scale: a.choices.scale, Smallest: smallest, Largest: largest, SetScale: a.setScale,
		Silent: a.choices.silent, SetNotify: a.setNotify,
	}
}

func (a *App) setTheme(choice string) {
	a.choices.theme = choice
	a.app.Preferences().SetString(themeKey, choice)
	a.paint()
}

// setScale sets the scale of the text and of everything that depends on it.
func (a *App) setScale(scale float64) {
	if scale = inRange(scale); scale == a.choices.scale {
		return
	}
	a.choices.scale = scale
	a.app.Preferences().SetFloat(scaleKey, scale)
	widgets.Resized(a.paint)
}

// setNotify switches the desktop notifications of an occasion on or off.
func (a *App) setNotify(o view.Occasion, on bool) {
	a.choices.silent[o] = !on
	var silent []string
	for _, k := range view.NotificationKinds {
		if a.choices.silent[k.Occasion] {
			silent = append(silent, string(k.Occasion))
		}
	}
	p := a.app.Preferences()
	p.RemoveValue(notifyKey)
	p.SetString(silentKey, strings.Join(silent, ","))
}

// zoom changes the text scale by a number of steps; 0 resets it.
func (a *App) zoom(steps int) {
	scale := 1.0
	if steps != 0 {
		scale = a.choices.scale + float64(steps)*zoomStep
	}
	a.setScale(scale)
	a.settings.Scaled(a.choices.scale)
}

// paint applies the choices.
func (a *App) paint() { a.restyle(a.choices.look()) }

func (a *App) look() looks {
	s := a.app.Settings()
	return looks{s.Theme(), s.ThemeVariant()}
}

// place moves the first window to its last position, once the system knows the window.
func (a *App) place(f *frame) {
	if f == a.frame && f.native != nil && a.choices.left != nowhere && a.choices.top != nowhere {
		f.native.Move(a.choices.left, a.choices.top)
	}
}

// remember stores what the window shows, and its position and size when they are stable, because a signal ends the program without asking.
func (a *App) remember() {
	p, c := a.app.Preferences(), &a.choices
	c.spot.keep(a)
	if size := a.win.Canvas().Size(); size == a.seenSize && size != c.size && !a.win.FullScreen() {
		c.size = size
		p.SetFloat(widthKey, float64(size.Width))
		p.SetFloat(heightKey, float64(size.Height))
	} else {
		a.seenSize = size
	}
	if a.native == nil || a.win.FullScreen() {
		return
	}
	left, top := a.native.Place()
	if place := [2]int{left, top}; place == a.seenPlace && (left != c.left || top != c.top) {
		c.left, c.top = left, top
		p.SetInt(leftKey, left)
		p.SetInt(topKey, top)
	} else {
		a.seenPlace = place
	}
}
