package ui

import (
	"math"
	"strings"

	"fyne.io/fyne/v2"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/settings"
)

// The names of what is remembered of the window. Preferences are small state of the window only.
const (
	themeKey  = "theme"
	scaleKey  = "textScale"
	notifyKey = "notify" // false: what an older Throng kept of somebody who wants no notices
	silentKey = "notify.off"
	widthKey  = "width"
	heightKey = "height"
	leftKey   = "left"
	topKey    = "top"
)

// The text can be this much smaller or larger, and Ctrl with plus and minus goes so far at a time.
const (
	smallest = 0.8
	largest  = 2.0
	zoomStep = 0.1
)

var (
	firstSize = fyne.NewSize(1280, 800)
	leastSize = fyne.NewSize(640, 400)
)

// nowhere is the place of a window that was never placed.
const nowhere = math.MinInt32

// choices are how a person wants the windows, and where the first stood last.
type choices struct {
	theme     string // system, light or dark
	scale     float64
	silent    map[engine.Occasion]bool // what a person does not want to be told of here
	size      fyne.Size
	left, top int
}

func remembered(p fyne.Preferences) choices {
	c := choices{
		theme: p.StringWithFallback(themeKey, "system"), scale: inRange(p.FloatWithFallback(scaleKey, 1)),
		left: p.IntWithFallback(leftKey, nowhere), top: p.IntWithFallback(topKey, nowhere),
	}
	c.silent = map[engine.Occasion]bool{}
	for o := range strings.SplitSeq(p.String(silentKey), ",") {
		c.silent[engine.Occasion(o)] = true
	}
	for _, k := range engine.NoticeKinds {
		c.silent[k.Occasion] = c.silent[k.Occasion] || !p.BoolWithFallback(notifyKey, true)
	}
	c.size = fyne.NewSize(float32(p.FloatWithFallback(widthKey, float64(firstSize.Width))), float32(p.FloatWithFallback(heightKey, float64(firstSize.Height))))
	if !(c.size.Width >= leastSize.Width && c.size.Height >= leastSize.Height) { // NaN too
		c.size = firstSize
	}
	return c
}

// inRange is a scale of text that can be, in whole steps.
func inRange(scale float64) float64 {
	if math.IsNaN(scale) {
		return 1
	}
	return math.Round(min(max(scale, smallest), largest)*20) / 20 // in steps of 0.05
}

func (c *choices) look() *Look { return NewLook(c.theme).Scaled(float32(c.scale)) }

// appearance is what Settings shows of the choices, and can change.
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

// setScale makes the text larger or smaller, and what is laid out by it.
func (a *App) setScale(scale float64) {
	if scale = inRange(scale); scale == a.choices.scale {
		return
	}
	a.choices.scale = scale
	a.app.Preferences().SetFloat(scaleKey, scale)
	widgets.Resized(a.paint)
}

// setNotify has the system tell of an occasion, or not.
func (a *App) setNotify(o engine.Occasion, on bool) {
	a.choices.silent[o] = !on
	var silent []string
	for _, k := range engine.NoticeKinds {
		if a.choices.silent[k.Occasion] {
			silent = append(silent, string(k.Occasion))
		}
	}
	p := a.app.Preferences()
	p.RemoveValue(notifyKey)
	p.SetString(silentKey, strings.Join(silent, ","))
}

// zoom makes the text larger or smaller by a step; 0 is as it was made.
func (a *App) zoom(steps int) {
	scale := 1.0
	if steps != 0 {
		scale = a.choices.scale + float64(steps)*zoomStep
	}
	a.setScale(scale)
	a.settings.Scaled(a.choices.scale)
}

// paint has all that is visible follow the choices; the toolkit brings a new look only to what is visible then.
func (a *App) paint() {
	a.app.Settings().SetTheme(a.choices.look())
	for _, f := range append([]*frame{a.frame}, a.others...) {
		f.current.look = a.look()
	}
}

func (a *App) look() looks {
	s := a.app.Settings()
	return looks{s.Theme(), s.ThemeVariant()}
}

// place puts the first window where it stood last, as soon as the system knows it.
func (a *App) place(f *frame) {
	if f == a.frame && f.native != nil && a.choices.left != nowhere && a.choices.top != nowhere {
		f.native.Move(a.choices.left, a.choices.top)
	}
}

// remember keeps where the window is and how large, as soon as it stays so: a signal ends the program without asking.
func (a *App) remember() {
	p, c := a.app.Preferences(), &a.choices
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
