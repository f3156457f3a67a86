package ui

import (
	"fmt"
	"slices"

	"fyne.io/fyne/v2/theme"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/compare"
	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/live"
	"github.com/throng-sim/throng/ui/results"
)

// further is the size of additional windows relative to the first.
const further = 0.85

// open opens an additional window with the same run and store. Closing it does not ask; closing the first window closes all.
func (a *App) open() {
	n := 2
	for _, other := range a.others {
		if !other.single {
			n++
		}
	}
	f := newFrame(a, fmt.Sprintf("Throng %d", n))
	shown := results.New(a.desk.Results, a.desk.Study, f.win)
	watch := &page{title: "Live", icon: theme.MediaPlayIcon(), help: a.pages[1].help}
	read := &page{title: "Results", icon: theme.ListIcon(), help: a.pages[3].help, screen: shown}
	shows := live.New(a.desk.Live, f.win, func(run engine.RunID) {
		shown.Select(run)
		f.show(read)
	})
	shows.ToResume, watch.screen = a.resume, shows
	f.run, f.pages = watch, []*page{watch, read, {title: "Compare", icon: theme.GridIcon(), help: a.pages[4].help, screen: compare.New(a.desk.Compare)}}
	f.build()
	size := a.win.Canvas().Size()
	size.Width, size.Height = size.Width*further, size.Height*further
	f.win.Resize(size)
	f.win.SetOnClosed(func() {
		f.current.Hide()
		widgets.Forget(f.win)
		async.Work(func() (struct{}, error) { return struct{}{}, shown.Close() }, func(_ struct{}, err error) {
			if err == nil { // otherwise close tries again
				a.closers = slices.DeleteFunc(a.closers, func(one closer) bool { return one == shown })
			}
		})
		a.others = slices.DeleteFunc(a.others, func(one *frame) bool { return one == f })
	})
	a.others, a.closers = append(a.others, f), append(a.closers, shown)
	begin := read
	for _, p := range f.pages {
		if p.title == a.current.title {
			begin = p
		}
	}
	f.show(begin)
	f.win.Show()
}

// close closes the window; the first window asks and ends the program.
func (f *frame) close() {
	if f == f.of.frame {
		f.of.close()
		return
	}
	f.win.Close()
}
