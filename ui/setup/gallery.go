package setup

import (
	"image/color"
	"path/filepath"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// gallery is the list of scenarios: the built-ins, then files.
type gallery struct {
	panel   fyne.CanvasObject
	items   *fyne.Container
	choices []Choice
	chosen  string
	pick    func(name string)
	again   func() // lists the scenarios again
}

func newGallery(pick func(name string), open, again func()) *gallery {
	g := &gallery{pick: pick, again: again, items: form.NewStack()}
	button := widget.NewButtonWithIcon("Open file…", theme.FolderOpenIcon(), open)
	hint := form.NewNote("or drop a scenario on the window")
	width := canvas.NewRectangle(color.Transparent)
	width.SetMinSize(fyne.NewSize(18*theme.TextSize(), 0))
	body := container.NewBorder(width, form.NewStack(button, hint), nil, nil, container.NewVScroll(g.items))
	g.panel = widgets.NewPanel("Scenarios", body)
	return g
}

// set shows what there is to choose from.
func (g *gallery) set(choices []Choice, err error) {
	if err != nil {
		note := form.NewNote("")
		note.SetProblem("The scenarios cannot be listed: " + err.Error())
		g.items.Objects = []fyne.CanvasObject{note, widget.NewButton("Try again", g.again)}
		g.items.Refresh()
		return
	}
	added := slices.DeleteFunc(slices.Clone(g.choices), func(c Choice) bool {
		return c.BuiltIn || c.Name != g.chosen || slices.ContainsFunc(choices, func(o Choice) bool { return o.Name == c.Name })
	})
	g.choices = append(slices.Clone(choices), added...)
	g.show()
}

// choose marks a scenario as the chosen one, and adds a file that is not there.
func (g *gallery) choose(name string) {
	g.chosen = name
	if g.find(name) == nil {
		g.choices = append(g.choices, Choice{Name: name, Title: filepath.Base(name)})
	}
	g.show()
}

// name gives a file that was read its title.
func (g *gallery) name(name string, sc *Scenario) {
	if c := g.find(name); c != nil && !c.BuiltIn && (c.Title != sc.Title || c.About != sc.About) {
		c.Title, c.About = sc.Title, sc.About
		g.show()
	}
}

func (g *gallery) builtIn(name string) bool {
	c := g.find(name)
	return c != nil && c.BuiltIn
}

func (g *gallery) find(name string) *Choice {
	if i := slices.IndexFunc(g.choices, func(c Choice) bool { return c.Name == name }); i >= 0 {
		return &g.choices[i]
	}
	return nil
}

func (g *gallery) show() {
	g.items.Objects = nil
	for _, part := range []struct {
		title   string
		builtIn bool
	}{{"Built in", true}, {"Files", false}} {
		titled := false
		for _, c := range g.choices {
			if c.BuiltIn != part.builtIn {
				continue
			}
			if !titled {
				g.items.Add(widgets.NewCaption(part.title))
				titled = true
			}
			g.items.Add(newCard(c, c.Name == g.chosen, g.pick))
		}
	}
	g.items.Refresh()
}

// card is a scenario in the gallery.
type card struct {
	widget.BaseWidget
	choice           Choice
	chosen           bool
	hovered, focused bool
	pick             func(name string)
}

var (
	_ fyne.Tappable     = (*card)(nil)
	_ fyne.Focusable    = (*card)(nil)
	_ desktop.Hoverable = (*card)(nil)
)

func newCard(c Choice, chosen bool, pick func(name string)) *card {
	k := &card{choice: c, chosen: chosen, pick: pick}
	k.ExtendBaseWidget(k)
	return k
}

// Tapped is part of [fyne.Tappable].
func (k *card) Tapped(*fyne.PointEvent) { k.pick(k.choice.Name) }

// TypedKey is part of [fyne.Focusable].
func (k *card) TypedKey(e *fyne.KeyEvent) {
	if e.Name == fyne.KeySpace || e.Name == fyne.KeyReturn || e.Name == fyne.KeyEnter {
		k.pick(k.choice.Name)
	}
}

// TypedRune is part of [fyne.Focusable].
func (k *card) TypedRune(rune) {}

// FocusGained is part of [fyne.Focusable].
func (k *card) FocusGained() { k.set(&k.focused, true) }

// FocusLost is part of [fyne.Focusable].
func (k *card) FocusLost() { k.set(&k.focused, false) }

// MouseIn is part of [desktop.Hoverable].
func (k *card) MouseIn(*desktop.MouseEvent) { k.set(&k.hovered, true) }

// MouseMoved is part of [desktop.Hoverable].
func (k *card) MouseMoved(*desktop.MouseEvent) {}

// MouseOut is part of [desktop.Hoverable].
func (k *card) MouseOut() { k.set(&k.hovered, false) }

func (k *card) set(flag *bool, value bool) {
	*flag = value
	k.Refresh()
}

// CreateRenderer is part of [fyne.Widget].
func (k *card) CreateRenderer() fyne.WidgetRenderer {
	r := &cardRenderer{card: k, back: canvas.NewRectangle(color.Transparent), title: form.NewNote(k.choice.Title), about: form.NewNote(k.about())}
	r.title.TextSize, r.title.Lines, r.about.Lines = theme.SizeNameText, 2, 1
	r.WidgetRenderer = widget.NewSimpleRenderer(container.NewStack(r.back, container.NewPadded(form.NewStack(r.title, r.about))))
	r.paint()
	return r
}

// Parts is what the card shows.
func (k *card) Parts() []fyne.CanvasObject {
	return []fyne.CanvasObject{widgets.NewText(k.choice.Title), widgets.NewText(k.about())}
}

// about is the line below the title; of a file without one, where it lies.
func (k *card) about() string {
	if k.choice.About == "" && !k.choice.BuiltIn {
		return k.choice.Name
	}
	return k.choice.About
}

type cardRenderer struct {
	fyne.WidgetRenderer
	card         *card
	back         *canvas.Rectangle
	title, about *form.Note
}

func (r *cardRenderer) paint() {
	r.back.CornerRadius = theme.InputRadiusSize()
	r.back.FillColor, r.back.StrokeWidth = color.Transparent, 0
	title, about := theme.ColorNameForeground, widgets.ColorMuted
	switch {
	case r.card.chosen:
		r.back.FillColor = theme.Color(theme.ColorNamePrimary)
		title, about = theme.ColorNameForegroundOnPrimary, theme.ColorNameForegroundOnPrimary
	case r.card.hovered:
		r.back.FillColor = theme.Color(theme.ColorNameHover)
	}
	if r.card.focused {
		r.back.StrokeColor, r.back.StrokeWidth = theme.Color(theme.ColorNameFocus), theme.InputBorderSize()*2
	}
	r.title.SetColor(title)
	r.about.SetColor(about)
}

// Refresh follows the state and the theme.
func (r *cardRenderer) Refresh() {
	r.paint()
	r.WidgetRenderer.Refresh()
}
