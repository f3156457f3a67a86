package ui

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/assets"
	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/internal/words"
)

// Program provides information on the program.
type Program interface {
	// About does not wait.
	About() About
	// Licenses returns the licenses of all linked code, by name.
	Licenses(ctx context.Context) ([]assets.License, error)
	// Reports returns the crash reports that the user has not dismissed, oldest first.
	Reports(ctx context.Context) ([]Report, error)
	// Told dismisses a report.
	Told(ctx context.Context, path string) error
	// Logs returns the folder of the log. It does not wait.
	Logs() string
}

// About describes the program.
type About struct {
	Version, Go, Fyne, System string
	Data                      string // the data folder
	Icon                      []byte // PNG
}

// Report is a crash report of an earlier process.
type Report struct {
	Path string
	At   time.Time
	Text string
}

// openFolder opens a folder in the system's file manager. If there is none, it shows the path.
func (a *App) openFolder(path string) {
	err := os.MkdirAll(path, 0o700)
	if err == nil {
		err = a.app.OpenURL(&url.URL{Scheme: "file", Path: filepath.ToSlash(path)})
	}
	if err != nil {
		a.complain(fmt.Errorf("cannot open the folder\n%s\n(%w)", path, err))
	}
}

func (a *App) knowsProgram() bool { return a.desk.Program != nil }

func (a *App) openLogs() { a.openFolder(a.desk.Program.Logs()) }

// showAbout shows the version, the data folder and the licenses.
func (a *App) showAbout() {
	about := a.desk.Program.About()
	icon := canvas.NewImageFromResource(fyne.NewStaticResource("throng.png", about.Icon))
	icon.FillMode = canvas.ImageFillContain
	icon.SetMinSize(fyne.NewSquareSize(5 * theme.TextSize()))
	title := widgets.NewHeading("Throng " + about.Version)
	built := "Go " + about.Go
	if about.Fyne != "" {
		built += ", Fyne " + about.Fyne
	}
	data := form.NewNote("Data folder: " + about.Data)
	head := container.NewBorder(nil, nil, icon, nil, form.NewStack(title, form.NewNote(built+", "+about.System+". MIT license."), data,
		container.NewHBox(
			widget.NewButtonWithIcon("Open data folder", theme.FolderOpenIcon(), func() { a.openFolder(about.Data) }),
			widget.NewButtonWithIcon("Copy", theme.ContentCopyIcon(), func() {
				a.app.Clipboard().SetContent("Throng " + about.Version + ", " + built + ", " + about.System)
			}), layout.NewSpacer())))
	list := newLicenses()
	async.Work(func() ([]assets.License, error) { return a.desk.Program.Licenses(context.Background()) }, func(all []assets.License, err error) {
		if err != nil {
			list.count.SetProblem(err.Error())
			return
		}
		list.fill(all)
	})
	d := dialog.NewCustom("About Throng", "Close", container.NewBorder(head, nil, nil, nil, list.content), a.win)
	widgets.Ask(a.win, d, d.Dismiss)
	size := a.win.Canvas().Size()
	d.Resize(fyne.NewSize(min(size.Width*0.92, 62*theme.TextSize()), size.Height*0.92))
}

// licenses is a searchable list of licenses, and the text of the chosen one.
type licenses struct {
	all, found []assets.License
	search     *form.Entry
	count      *form.Note
	list       *widget.List
	text       *widget.Label
	page       *container.Scroll
	content    fyne.CanvasObject
}

func newLicenses() *licenses {
	l := &licenses{search: form.NewEntry(), count: form.NewNote("Loading licenses…"), text: widget.NewLabel("")}
	l.text.Wrapping, l.text.Selectable, l.text.SizeName = fyne.TextWrapWord, true, theme.SizeNameCaptionText
	l.search.SetPlaceHolder("Search components and license texts")
	l.search.OnChanged = func(string) { l.show() }
	l.list = widget.NewList(func() int { return len(l.found) },
		func() fyne.CanvasObject {
			name := widget.NewLabel("")
			name.Truncation = fyne.TextTruncateEllipsis
			return name
		},
		func(i widget.ListItemID, o fyne.CanvasObject) {
			if i < len(l.found) {
				o.(*widget.Label).SetText(strings.TrimPrefix(l.found[i].Module, "github.com/"))
			}
		})
	l.list.OnSelected = l.choose
	l.page = container.NewVScroll(l.text)
	split := container.NewHSplit(l.list, l.page)
	split.Offset = 0.34
	l.content = container.NewBorder(form.NewStack(widgets.NewHeading("Licenses"), l.search, l.count), nil, nil, nil, split)
	return l
}

func (l *licenses) fill(all []assets.License) {
	l.all = all
	l.show()
}

// show lists the matching licenses and the text of the first one.
func (l *licenses) show() {
	looked := strings.ToLower(strings.TrimSpace(l.search.Text))
	l.found = nil
	for _, one := range l.all {
		if strings.Contains(strings.ToLower(one.Module+" "+one.Kind+" "+one.Text), looked) {
			l.found = append(l.found, one)
		}
	}
	l.count.SetText(fmt.Sprintf("%d of %d components", len(l.found), len(l.all)))
	l.list.UnselectAll()
	l.list.Refresh()
	l.text.SetText("")
	if len(l.found) > 0 {
		l.list.Select(0)
		l.list.ScrollToTop()
	}
}

func (l *licenses) choose(i widget.ListItemID) {
	if i >= len(l.found) {
		return
	}
	one := l.found[i]
	l.text.SetText(strings.TrimSpace(one.Module+" "+one.Version) + "\n" + one.Kind + "\n\n" + one.Text)
	l.page.ScrollToTop()
}

// showReports shows the crash reports one after another, then calls then.
func (a *App) showReports(all []Report, then func()) {
	if len(all) == 0 {
		then()
		return
	}
	r := all[0]
	text := widget.NewLabel(r.Text)
	text.Selectable, text.TextStyle, text.Wrapping = true, fyne.TextStyle{Monospace: true}, fyne.TextWrapBreak
	about := form.NewNote("No results are lost. Please review this report and send it to your Throng administrator. Known secrets and folder names are removed.")
	forget := widget.NewCheck("Do not show this report again", nil)
	forget.Checked = true
	said := form.NewNote("")
	said.Hide()
	buttons := container.NewHBox(
		widget.NewButtonWithIcon("Copy", theme.ContentCopyIcon(), func() {
			a.app.Clipboard().SetContent(r.Text)
			said.SetGood("Copied to the clipboard.")
			said.Show()
		}),
		widget.NewButtonWithIcon("Save…", theme.DocumentSaveIcon(), func() { a.saveReport(r, said) }),
		widget.NewButtonWithIcon("Open folder", theme.FolderOpenIcon(), func() { a.openFolder(filepath.Dir(r.Path)) }),
		layout.NewSpacer(), forget)
	d := dialog.NewCustom("Throng ended unexpectedly on "+words.Stamp(r.At), "Close",
		container.NewBorder(about, form.NewStack(said, buttons), nil, nil, container.NewVScroll(text)), a.win)
	widgets.Ask(a.win, d, d.Dismiss)
	closed := func() {
		if !forget.Checked {
			a.showReports(all[1:], then)
			return
		}
		async.Work(func() (struct{}, error) { return struct{}{}, a.desk.Program.Told(context.Background(), r.Path) }, func(struct{}, error) {
			a.showReports(all[1:], then) // a report that cannot be dismissed is shown again the next time
		})
	}
	widgets.Closed(a.win, d, closed)
	size := a.win.Canvas().Size()
	d.Resize(fyne.NewSize(min(size.Width*0.92, 70*theme.TextSize()), size.Height*0.85))
}

// saveReport saves a report in a folder that the user picks.
func (a *App) saveReport(r Report, said *form.Note) {
	widgets.PickFolder(a.win, "Folder for the report", "Save here", func(dir string) {
		path := filepath.Join(dir, "throng-report-"+r.At.UTC().Format("20060102T150405Z")+".txt")
		async.Work(func() (struct{}, error) { return struct{}{}, os.WriteFile(path, []byte(r.Text), 0o600) }, func(_ struct{}, err error) {
			said.Show()
			if err != nil {
				said.SetProblem("Cannot save it. " + words.Trouble(err))
				return
			}
			said.SetGood("Saved as " + path)
		})
	})
}
