package live

import (
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/software"
	"fyne.io/fyne/v2/theme"

	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/internal/words"
)

// Of the picture of the charts, in device-independent pixels; it is drawn at twice the size.
const (
	pictureWidth  = 1200
	pictureHeight = 900
	pictureScale  = 2
)

const saveOrder = "Saving the charts"

// picture draws the charts as they are now, with a heading, in the colours of the theme.
func (c *charts) picture(heading, caption string) image.Image {
	all := newCurves(c.remote)
	grid := container.NewGridWithColumns(2, panels(all)...)
	back := canvas.NewRectangle(theme.Color(theme.ColorNameBackground))
	head := container.NewVBox(widgets.NewHeading(heading), widgets.NewCaption(caption))
	page := container.NewStack(back, container.NewPadded(container.NewBorder(container.NewPadded(head), nil, nil, nil, grid)))
	paper := software.NewCanvas()
	paper.SetScale(pictureScale)
	paper.SetPadded(false)
	paper.SetContent(page)
	paper.Resize(fyne.NewSize(pictureWidth, pictureHeight))
	if c.feed != nil {
		c.set(all, c.feed)
	}
	return paper.Capture()
}

// saveCharts writes the charts as a picture into a folder that a person picks.
func (o *orders) saveCharts() {
	s, job := o.screen, o.job
	if job == nil {
		return
	}
	s.pickPicture(func(dir string) {
		caption := fmt.Sprintf("run %s  ·  until %s", job.ID(), words.Stamp(s.feed.snap.At))
		img := s.charts.picture(job.Title, caption)
		path := filepath.Join(dir, "throng-"+string(job.ID())+"-charts.png")
		o.order(saveOrder, func(Run) error { return writePNG(path, img) }, func() { o.tell("Saved "+path, widgets.Good) })
	})
}

func writePNG(path string, img image.Image) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := png.Encode(f, img); err != nil {
		_ = f.Close() // the first error says more
		return err
	}
	return f.Close()
}
