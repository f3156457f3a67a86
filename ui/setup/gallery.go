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

// gallery is the list of scenarios: the built-ins, then files.
type gallery struct {
	panel   fyne.CanvasObject
	items   *fyne.Container
	choices []Choice
	chosen  string
	pick    func(name string)
	favour  func(name string, favourite bool)
	again   func() // lists the scenarios again
}

func newGallery(pick func(name string), favour func(name string, favourite bool), open, again func()) *gallery {
	g := &gallery{pick: pick, favour: favour, again: again, items: form.NewStack()}
	button := widget.NewButtonWithIcon("Open file…", theme.FolderOpenIcon(), open)
	hint := form.NewNote("or drop a scenario on the window")
	body := container.NewBorder(nil, form.NewStack(button, hint), nil, nil, container.NewVScroll(g.items))
	g.panel = widgets.NewPanel("Scenarios", body)
	return g
}

// set shows what there is to choose from.
func (g *gallery) set(choices []Choice, err error) {
	if err != nil {
		note := form.NewNote("")
		note.SetProblem("The scenarios cannot be listed; nothing was changed. " + words.Trouble(err))
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

// choose selects a scenario, and adds a file that is not in the list; "" selects none.
func (g *gallery) choose(name string) {
	g.chosen = name
	if name != "" && g.find(name) == nil {
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

// sections are the parts of the list in their order: a scenario stands in the first that takes it.
var sections = []struct {
	title string
	takes func(c Choice) bool
}{
	{"Favourites", func(c Choice) bool { return c.Favourite }},
	{"Built in", func(c Choice) bool { return c.BuiltIn }},
	{"Files", func(Choice) bool { return true }},
}

func (g *gallery) show() {
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
			g.items.Add(newCard(c, c.Name == g.chosen, g.pick, g.star))
			return true
		})
	}
	g.items.Refresh()
	g.focus(name, star)
}

// star makes a scenario a favourite, or no more.
func (g *gallery) star(name string) {
	c := g.find(name)
	if c == nil {
		return
	}
	c.Favourite = !c.Favourite
	g.favour(name, c.Favourite)
	g.show()
}

// focused is the scenario that has the keyboard, or whose star has; "" is none.
func (g *gallery) focused() (name string, star bool) {
	c := fyne.CurrentApp().Driver().CanvasForObject(g.items)
	if c == nil {
		return "", false
	}
	switch o := c.Focused().(type) {
	case *card:
		return o.choice.Name, false
	case *favourite:
		return o.card.choice.Name, true
	}
	return "", false
}

// focus gives the keyboard to a scenario that is listed, or to its star.
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
