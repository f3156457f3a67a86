package editor

import (
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"

	"github.com/throng-sim/throng/engine/scenario/complete"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// help explains the key at the cursor, and lists the keys that are allowed there.
type help struct {
	object fyne.CanvasObject
	lines  *fyne.Container
	at     string // the explained path
}

func newHelp() *help {
	h := &help{lines: form.NewStack()}
	h.object = widgets.NewPanel("", container.NewVScroll(h.lines))
	h.say("The file", "Move the cursor to a key to see its description.", nil)
	return h
}

// about explains a position in a sheet.
func (h *help) about(s *sheet, line, col int) {
	if isStarlark(s.Name) {
		h.show("functions", "Function", "Functions are written in Starlark, a dialect of Python without imports, files and network. Call them in expressions, for example ${will_shop(agent, now)}.", nil)
		return
	}
	path, about, others := language().Explain(s.editor.Text(), line, col)
	at := strings.Join(path, " > ")
	title := "The file"
	if len(path) > 0 {
		title = at
	}
	h.show(at, title, about, others)
}

func (h *help) show(at, title, about string, others []complete.Key) {
	if h.at == at {
		return
	}
	h.at = at
	h.say(title, about, others)
}

func (h *help) say(title, about string, others []complete.Key) {
	name := form.NewNote("")
	name.TextSize = theme.SizeNameSubHeadingText
	name.Say(title)
	text := form.NewNote("")
	text.TextSize = theme.SizeNameText
	text.Say(about)
	h.lines.Objects = []fyne.CanvasObject{name, text}
	if len(others) > 0 {
		h.lines.Add(widgets.NewHeading("Keys allowed here"))
	}
	for _, k := range others {
		note := form.NewNote("")
		note.TextSize = theme.SizeNameText
		note.Say(k.Name)
		if k.About != "" {
			note.Say(k.Name + ": " + strings.ToLower(k.About[:1]) + k.About[1:])
		}
		h.lines.Add(note)
	}
	h.lines.Refresh()
}
