package ui

import (
	"context"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/internal/words"
)

// Tool is the terminal program that came with the window and is not on PATH.
type Tool interface {
	// Install puts it on PATH and says what it did. If it may not, it returns the command that the user can type.
	Install(ctx context.Context) (text, command string, err error)
}

// toolTitle is the title of the dialog on the terminal program.
const toolTitle = "Command line tool"

// toolWidth is the width of its text, in text heights.
const toolWidth = 42

// installTool puts the terminal program on PATH and shows what was done.
func (f *frame) installTool() {
	type answer struct{ text, command string }
	async.Work(func() (a answer, err error) {
		a.text, a.command, err = f.of.desk.Tool.Install(context.Background())
		return a, err
	}, func(a answer, err error) {
		if err != nil {
			widgets.Complain(f.win, err)
			return
		}
		content := container.NewVBox(words.NewParagraph(f.win, a.text))
		if a.command != "" {
			command := widget.NewLabelWithStyle(a.command, fyne.TextAlignLeading, fyne.TextStyle{Monospace: true})
			command.Wrapping, command.Selectable = fyne.TextWrapBreak, true
			content.Add(command)
			content.Add(container.NewHBox(widget.NewButtonWithIcon("Copy", theme.ContentCopyIcon(), func() {
				f.of.app.Clipboard().SetContent(a.command)
			}), layout.NewSpacer()))
		}
		d := dialog.NewCustom(toolTitle, "Close", content, f.win)
		widgets.Ask(f.win, d, d.Dismiss)
		d.Resize(fyne.NewSize(min(f.win.Canvas().Size().Width*0.92, toolWidth*theme.TextSize()), 0))
	})
}
