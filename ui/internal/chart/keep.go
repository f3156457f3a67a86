package chart

import (
	"image"
	"math"
	"strconv"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/software"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/ui/internal/widgets"
)

// Keep copies and saves pictures of charts. Functions may be nil; their actions are then hidden.
type Keep struct {
	Copy func(title string, picture image.Image) // to the clipboard
	// Save asks for a folder and saves a picture; from is the drawing, which determines the window.
	Save func(from fyne.CanvasObject, title string, picture image.Image)
}

// Kept is a drawing with a menu, for example a chart or histogram.
type Kept interface {
	fyne.CanvasObject
	// Picture draws the content at twice the size.
	Picture() image.Image
	// Table returns the content as text: a header and tab-separated columns.
	Table() []byte
	// Keeps returns the title of pictures, and how to copy and save them.
	Keeps() (title string, k Keep)
}

// Minimum size of pictures in device-independent pixels, and their scale.
const (
	pictureWidth  = 640
	pictureHeight = 360
	pictureScale  = 2
	pictureEdge   = 12
)

// Paint draws an object as a picture of the size of another, or of the minimum size.
func Paint(o fyne.CanvasObject, as fyne.Size) image.Image {
	size := as.Max(fyne.NewSize(pictureWidth, pictureHeight)).Max(o.MinSize())
	back := canvas.NewRectangle(widgets.Color(widgets.ColorSurface))
	paper := software.NewCanvas()
	paper.SetScale(pictureScale)
	paper.SetPadded(false)
	paper.SetContent(container.NewStack(back, container.New(layout.NewCustomPaddedLayout(pictureEdge, pictureEdge, pictureEdge, pictureEdge), o)))
	paper.Resize(size.AddWidthHeight(2*pictureEdge, 2*pictureEdge))
	return paper.Capture()
}

// way is an action that copies or saves the content.
type way struct {
	name string
	do   func()
}

// ways returns the actions of a drawing.
func ways(o Kept) []way {
	title, k := o.Keeps()
	all := []way{{"Copy values", func() { fyne.CurrentApp().Clipboard().SetContent(string(o.Table())) }}}
	if k.Copy != nil {
		all = append(all, way{"Copy picture", func() { k.Copy(title, o.Picture()) }})
	}
	if k.Save != nil {
		all = append(all, way{"Save picture…", func() { k.Save(o, title, o.Picture()) }})
	}
	return all
}

// keepItems returns the menu items of these actions.
func keepItems(o Kept) (items []*fyne.MenuItem) {
	for _, w := range ways(o) {
		items = append(items, fyne.NewMenuItem(w.name, w.do))
	}
	return items
}

// Offer shows the menu of a drawing at a position of the window.
func Offer(o Kept, at fyne.Position) { showMenu(o, at, keepItems(o)) }

// OfferBelow shows the menu of a drawing for the keyboard.
func OfferBelow(o Kept) { Offer(o, below(o)) }

// showMenu shows a menu at a position of the window.
func showMenu(o fyne.CanvasObject, at fyne.Position, items []*fyne.MenuItem) {
	if c := fyne.CurrentApp().Driver().CanvasForObject(o); c != nil {
		widget.ShowPopUpMenuAtPosition(fyne.NewMenu("", items...), c, at)
	}
}

// below returns the position for a menu that the keyboard opens.
func below(o fyne.CanvasObject) fyne.Position {
	return fyne.CurrentApp().Driver().AbsolutePositionForObject(o).AddXY(readAway, readAway)
}

func (c *Chart) showMenu(at fyne.Position) { showMenu(c, at, c.menuItems()) }
func (c *Chart) showMenuBelow()            { showMenu(c, below(c), c.menuItems()) }

// menuItems returns the chart's menu: its series, zoom and values.
func (c *Chart) menuItems() (items []*fyne.MenuItem) {
	for i, s := range c.config.Series {
		if len(c.config.Series) == 1 {
			break
		}
		item := fyne.NewMenuItem("Show "+s.Name, func() { c.Toggle(i) })
		item.Checked = !c.hidden(i)
		items = append(items, item)
	}
	if len(items) > 0 {
		items = append(items, fyne.NewMenuItemSeparator())
	}
	if c.config.OnZoom != nil {
		back := fyne.NewMenuItem("Zoom back", c.back)
		back.Disabled = !c.zoomed()
		items = append(items, back)
	}
	log := fyne.NewMenuItem("Logarithmic axis", func() { c.SetLog(!c.Log()) })
	log.Checked, log.Disabled = c.Log(), c.config.Stack
	size := fyne.NewMenuItem("Maximize", c.Maximize)
	if c.restore != nil {
		size = fyne.NewMenuItem("Restore", c.restore)
	}
	return append(append(items, log, size, fyne.NewMenuItemSeparator()), keepItems(c)...)
}

// Picture draws the chart at twice the size.
func (c *Chart) Picture() image.Image {
	config := c.config
	config.Bands = c.bands
	twin := New(config)
	twin.axis.log = c.axis.log
	for i := range c.plot.hidden {
		twin.plot.hidden[i], twin.legend.entries[i].off = c.plot.hidden[i], c.plot.hidden[i]
	}
	d := Data{Times: c.plot.times, Values: c.plot.values, Markers: c.markers, Limit: c.limit, LimitName: c.limitName}
	if c.clock.zone != nil {
		d.From, d.To = moments(c.clock.from).In(c.clock.zone), moments(c.clock.to).In(c.clock.zone)
	}
	twin.Set(d)
	return Paint(twin, c.Size())
}

// Keeps implements [Kept].
func (c *Chart) Keeps() (title string, k Keep) { return c.config.Title, c.config.Keep }

// Table returns the rows in view in their base units.
func (c *Chart) Table() []byte {
	b := []byte("time")
	if c.config.Numbers {
		b = []byte("cycle")
	}
	if c.config.Elapsed {
		b = []byte("elapsed (s)")
	}
	for _, s := range c.config.Series {
		b = append(b, '\t')
		b = append(b, s.Name...)
		if base := units[c.config.Unit].base; base != "" {
			b = append(append(append(b, " ("...), base...), ')')
		}
	}
	for i, t := range c.plot.times {
		if t < c.clock.from || t > c.clock.to {
			continue
		}
		b = append(b, '\n')
		if c.config.Numbers {
			b = strconv.AppendInt(b, int64(math.Round(t)), 10)
		} else if c.config.Elapsed {
			b = strconv.AppendFloat(b, t, 'f', 1, 64)
		} else {
			b = moments(t).In(c.clock.zone).AppendFormat(b, time.DateTime)
		}
		for _, values := range c.plot.values {
			b = append(b, '\t')
			if v := values[i]; !math.IsNaN(v) {
				b = strconv.AppendFloat(b, v, 'g', -1, 64)
			}
		}
	}
	return append(b, '\n')
}
