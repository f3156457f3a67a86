package setup

import (
	"path/filepath"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/internal/words"
)

// gallery is the list of scenarios: favorites, built-ins, then files.
type gallery struct {
	panel   fyne.CanvasObject
	items   *fyne.Container
	scroll  *container.Scroll // of the items
	fresh   *widget.Button    // asks what a new scenario begins with
	open    *widget.Button
	hint    *form.Note
	foot    *fyne.Container // the buttons and the hint
	short   bool
	choices []Choice
	chosen  string
	drawn   []Choice // as shown, with drawnAs chosen
	drawnAs string
	pick    func(name string)
	edit    func(name string) // opens the editor
	favor   func(name string, star bool)
	again   func() // lists the scenarios again
}

func newGallery(pick func(name string), favor func(name string, star bool), open, again func()) *gallery {
	g := &gallery{pick: pick, favor: favor, again: again, items: form.NewStack()}
	g.open = widget.NewButtonWithIcon("Open file…", theme.FolderOpenIcon(), open)
	g.fresh = widget.NewButtonWithIcon("New scenario…", theme.ContentAddIcon(), nil)
	g.fresh.Hide()
	g.hint = form.NewNote("or drop a file on the window")
	g.foot = container.NewStack(form.NewStack(g.fresh, g.open, g.hint))
	g.scroll = container.NewVScroll(g.items)
	body := container.NewBorder(nil, g.foot, nil, nil, g.scroll)
	g.panel = widgets.NewPanel("Scenarios", body)
	return g
}

// press chooses a scenario, or opens a new one in the editor.
func (g *gallery) press(name string) {
	if c := g.find(name); c != nil && c.New && g.edit != nil {
		g.edit(name)
		return
	}
	g.pick(name)
}

// create shows the button for a new scenario; nil hides it.
func (g *gallery) create(do func()) {
	g.fresh.Hidden, g.fresh.OnTapped = do == nil, do
	g.panel.Refresh()
}

// set shows the scenarios.
func (g *gallery) set(choices []Choice, err error) {
	if err != nil {
		g.drawn = nil
		note := form.NewNote("")
		note.SetProblem("Cannot list the scenarios. " + words.Trouble(err))
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

// choose marks the chosen scenario. It adds a file that is not in the list. A fork is not in the list.
func (g *gallery) choose(name string) {
	g.chosen = name
	if name != "" && g.find(name) == nil {
		g.choices = append(g.choices, Choice{Name: name, Title: filepath.Base(name), BuiltIn: g.builtIn(name)})
	}
	g.show()
}

// name sets the title of a file after it was read.
func (g *gallery) name(name string, sc *Scenario) {
	if c := g.find(name); c != nil && !c.BuiltIn && (c.Title != sc.Title || c.About != sc.About) {
		c.Title, c.About = sc.Title, sc.About
		g.show()
	}
}

// builtIn reports whether a scenario is in the program. Others have the path of their file as name.
func (g *gallery) builtIn(name string) bool { return name != "" && !filepath.IsAbs(name) }

func (g *gallery) find(name string) *Choice {
	if i := slices.IndexFunc(g.choices, func(c Choice) bool { return c.Name == name }); i >= 0 {
		return &g.choices[i]
	}
	return nil
}

// sections are the sections of the list. A scenario is in the first section that takes it.
var sections = []struct {
	title string
	takes func(c Choice) bool
}{
	{"Not saved", func(c Choice) bool { return c.New }},
	{"Favorites", func(c Choice) bool { return c.Favorite }},
	{"Built in", func(c Choice) bool { return c.BuiltIn }},
	{"Files", func(Choice) bool { return true }},
}

// show draws what has changed: a click on a card that is replaced between press and release would be lost.
func (g *gallery) show() {
	if g.drawnAs == g.chosen && slices.Equal(g.drawn, g.choices) {
		return
	}
	moved := g.drawnAs != g.chosen
	g.drawn, g.drawnAs = slices.Clone(g.choices), g.chosen
	name, star := g.focused()
	g.items.Objects = nil
	rest := slices.Clone(g.choices)
	for _, part := range sections {
		titled := false
		rest = slices.DeleteFunc(rest, func(c Choice) bool {
			if !part.takes(c) {
				return false
			}
			if !titled {
				g.items.Add(widgets.NewCaption(part.title))
				titled = true
			}
			g.items.Add(newCard(c, c.Name == g.chosen, g.press, g.star))
			return true
		})
	}
	g.items.Refresh()
	g.focus(name, star)
	if moved {
		g.reveal()
	}
}

// reveal scrolls to the chosen scenario if it is out of sight.
func (g *gallery) reveal() {
	for _, o := range g.items.Objects {
		k, ok := o.(*card)
		if !ok || k.choice.Name != g.chosen {
			continue
		}
		top, end, room := k.Position().Y, k.Position().Y+k.Size().Height, g.scroll.Size().Height
		switch {
		case room == 0: // it was not drawn yet
		case top < g.scroll.Offset.Y:
			g.scroll.ScrollToOffset(fyne.NewPos(0, top))
		case end > g.scroll.Offset.Y+room:
			g.scroll.ScrollToOffset(fyne.NewPos(0, end-room))
		}
		return
	}
}

// star adds a scenario to the favorites or removes it.
func (g *gallery) star(name string) {
	c := g.find(name)
	if c == nil {
		return
	}
	c.Favorite = !c.Favorite
	g.favor(name, c.Favorite)
	g.show()
}

// focused returns the scenario whose card or star is focused; "" if none.
func (g *gallery) focused() (name string, star bool) {
	c := fyne.CurrentApp().Driver().CanvasForObject(g.items)
	if c == nil {
		return "", false
	}
	switch o := c.Focused().(type) {
	case *card:
		return o.choice.Name, false
	case *favoriteStar:
		return o.card.choice.Name, true
	}
	return "", false
}

// focus focuses the card or the star of a scenario.
func (g *gallery) focus(name string, star bool) {
	c := fyne.CurrentApp().Driver().CanvasForObject(g.items)
	for _, o := range g.items.Objects {
		k, ok := o.(*card)
		switch {
		case !ok || c == nil || name == "" || k.choice.Name != name:
		case star:
			c.Focus(k.mark)
		default:
			c.Focus(k)
		}
	}
}

// shorten puts the buttons next to each other, without the hint, where the list would be left with too little room.
func (g *gallery) shorten(on bool) {
	if g.short == on {
		return
	}
	g.short = on
	fresh, open := "New scenario…", "Open file…"
	g.foot.Objects = []fyne.CanvasObject{form.NewStack(g.fresh, g.open, g.hint)}
	if on {
		fresh, open = "New…", "Open…"
		g.foot.Objects = []fyne.CanvasObject{container.NewGridWithColumns(2, g.fresh, g.open)}
	}
	g.fresh.SetText(fresh)
	g.open.SetText(open)
	g.panel.Refresh()
}
