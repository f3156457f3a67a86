package settings

import (
	"context"
	"net/url"
	"path/filepath"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/internal/words"
)

// data is the panel of the data folder.
type data struct {
	desk   Desk
	win    fyne.Window
	panel  fyne.CanvasObject
	folder *form.Note
	answer *form.Note
	level  *widget.Select
}

var dataItems = []item{
	{"Data folder", "where Throng stores runs, checkpoints and settings; directory, disk"}, {"Log level", "how much is logged; debug"},
}

func newData(desk Desk, win fyne.Window) *data {
	d := &data{desk: desk, win: win, folder: form.NewNote(""), answer: form.NewNote("")}
	d.folder.TextSize = theme.SizeNameText
	d.answer.Hide()
	about := form.NewNote("Throng stores runs, checkpoints and settings in this folder.")
	buttons := container.NewHBox(
		widget.NewButton("Change…", d.choose),
		widget.NewButtonWithIcon("Open folder", theme.FolderOpenIcon(), d.open),
	)
	d.level = widget.NewSelect(nil, nil)
	logged := form.NewRow("Log level", form.NewFrame(d.level))
	logged.SetHelp("The log is in the folder logs of the data folder. To open it, choose Help, Open log folder.")
	d.panel = widgets.NewPanel(Storage, form.NewStack(form.NewRow("Data folder", d.folder), about, buttons, logged, d.answer))
	return d
}

func (d *data) load() {
	async.Work(func() (string, error) { return d.desk.DataFolder(), nil }, func(dir string, _ error) { d.folder.Say(dir) })
	type logging struct {
		level string
		all   []string
	}
	async.Work(func() (logging, error) {
		level, all := d.desk.LogLevel()
		return logging{level, all}, nil
	}, func(l logging, _ error) {
		d.level.OnChanged = nil
		d.level.Options = l.all
		d.level.SetSelected(l.level)
		d.level.OnChanged = d.log
	})
}

// log changes the log level.
func (d *data) log(level string) {
	async.Work(func() (struct{}, error) { return struct{}{}, d.desk.SetLogLevel(context.Background(), level) }, func(_ struct{}, err error) {
		if err != nil {
			d.answer.SetProblem("The log level is not changed. " + words.Trouble(err))
			d.answer.Show()
		}
	})
}

// choose asks for another folder.
func (d *data) choose() { widgets.PickFolder(d.win, "New data folder", "Choose", d.ask) }

// ask explains the change of the data folder before it is made.
func (d *data) ask(dir string) {
	text := "After a restart, Throng stores runs in\n" + dir +
		"\n\nNothing is moved or deleted: existing runs stay in\n" + d.folder.Text() + "\nand reappear when you change back to that folder."
	ask := dialog.NewCustomConfirm("Change the data folder?", "Change", "Cancel", words.NewParagraph(d.win, text), func(yes bool) {
		if yes {
			d.move(dir)
		}
	}, d.win)
	widgets.Ask(d.win, ask, ask.Confirm)
}

func (d *data) move(dir string) {
	async.Work(func() (struct{}, error) { return struct{}{}, d.desk.MoveData(context.Background(), dir) }, func(_ struct{}, err error) {
		d.answer.Show()
		if err != nil {
			d.answer.SetProblem("The data folder is not changed. " + words.Trouble(err))
			return
		}
		d.answer.SetGood("After a restart: " + dir)
	})
}

// open opens the folder in the system's file manager.
func (d *data) open() {
	if err := fyne.CurrentApp().OpenURL(&url.URL{Scheme: "file", Path: filepath.ToSlash(d.folder.Text())}); err != nil {
		d.answer.SetProblem("Cannot open the folder. Copy its path above. " + words.Trouble(err))
		d.answer.Show()
	}
}
