package live

import (
	"fmt"
	"image"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/software"
	"fyne.io/fyne/v2/theme"

	"github.com/throng-sim/throng/ui/internal/chart"
	"github.com/throng-sim/throng/ui/internal/picture"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/internal/words"
)

// Size of the picture of the charts in device-independent pixels, and its scale.
const (
	pictureWidth  = 1200
	pictureHeight = 900
	pictureScale  = 2
)

const saveOrder = "Saving the charts"

// picture draws the current charts in the colors of the theme, with a heading and a caption.
func (c *charts) picture(heading, caption string) image.Image {
	all := newCurves(c.remote, chart.Keep{})
	grid := container.NewGridWithColumns(2, boxed(all)...)
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

// saveCharts saves a picture of the charts in a folder that the user picks.
func (o *orders) saveCharts() {
	s, job := o.screen, o.job
	if job == nil {
		return
	}
	s.pickPath("Save the charts as a picture in this folder", "Save here", func(dir string) {
		caption := fmt.Sprintf("run %s  ·  until %s", job.ID(), words.Stamp(s.seen().snap.At))
		img := s.charts.picture(job.Title, caption)
		var path string
		o.order(saveOrder, func(Run) (err error) {
			path, err = picture.Save(dir, picture.Name(string(job.ID()), "charts"), img)
			return err
		}, func() { o.report("Saved "+path, widgets.Good) })
	})
}

// keepPictures returns how to save the picture of a single chart.
func (s *Screen) keepPictures() chart.Keep {
	return picture.Keep(func() string { return string(s.job.ID()) }, func(text string, tone widgets.Tone) { s.orders.report(text, tone) })
}

// boxed returns charts in panels.
func boxed(all []curves) (objects []fyne.CanvasObject) {
	for _, one := range all {
		objects = append(objects, widgets.NewPanel("", one.Chart))
	}
	return objects
}
