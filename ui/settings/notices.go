package settings

import (
	"context"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// Hook is where notices go beside this machine.
type Hook struct {
	Kind, Host string // of the one in force; its address is a secret
	From       string // "saved", or what of the environment names it; "" is none
	Asks       bool   // its address could not be kept, and must be given again
	Keychain   string // why the keychain cannot be used; "" where it can
	Kinds      []HookKind
}

// HookKind is a way to tell, by its name.
type HookKind struct{ Name, Title string }

// byHost is the choice that leaves the kind to the address.
const byHost = "As the address says"

// notices is the panel of what is told, and where.
type notices struct {
	desk               Desk
	panel              fyne.CanvasObject
	form               form.Form
	kind               *widget.Select
	url                *form.Entry
	test, save, forget *widget.Button
	about, answer      *form.Note
	kinds              []HookKind
	kept               Hook
	asked              int // what the person did so far: answers to what was done before are dropped
}

func newNotices(desk Desk, looks Appearance) *notices {
	n := &notices{desk: desk, kind: widget.NewSelect([]string{byHost}, nil), url: form.NewEntry(), about: form.NewNote("Reading what is saved…"), answer: form.NewNote("")}
	n.kind.SetSelected(byHost)
	n.url.Password = true
	n.answer.Hide()
	address := form.NewRow("Address of the web hook", n.url)
	n.form.Add(address, "notify")
	n.url.OnChanged = func(string) {
		address.Changed()
		n.asked++
		n.answer.Hide()
		n.idle()
	}
	n.kind.OnChanged = func(string) { n.url.OnChanged("") }
	n.test = widget.NewButton("Send a test", n.try)
	n.save = widget.NewButtonWithIcon("Save", theme.DocumentSaveIcon(), n.keep)
	n.forget = widget.NewButton("Forget", func() { n.store("", "", "Forgotten: notices go nowhere else.") })
	n.idle()
	n.panel = widgets.NewPanel("Notices", form.NewStack(
		tellHere(looks), widgets.NewHeading("Elsewhere"), n.about, form.NewRow("Kind", form.NewFrame(n.kind)), address,
		container.NewHBox(n.test, n.save, layout.NewSpacer(), n.forget), n.answer))
	return n
}

// tellHere is what the system shows while nobody looks.
func tellHere(looks Appearance) fyne.CanvasObject {
	boxes := form.NewColumns(20)
	for _, k := range engine.NoticeKinds {
		box := widget.NewCheck(k.About, func(on bool) { looks.SetNotify(k.Occasion, on) })
		box.Checked = !looks.Silent[k.Occasion]
		boxes.Add(box)
	}
	return form.NewRow("On this machine, while the window is in the background", boxes)
}

// load asks for what is in force.
func (n *notices) load() {
	async.Work(func() (Hook, error) { return n.desk.Hook(context.Background()) }, func(h Hook, err error) {
		n.kinds = h.Kinds
		n.kind.Options = []string{byHost}
		for _, k := range h.Kinds {
			n.kind.Options = append(n.kind.Options, k.Title)
		}
		n.kind.Refresh()
		n.kept = h
		n.describe(err)
		n.idle()
	})
}

// describe says where notices go.
func (n *notices) describe(err error) {
	n.url.SetPlaceHolder("https://…")
	switch h := n.kept; {
	case err != nil:
		n.about.SetProblem(err.Error())
	case h.Asks:
		n.about.SetWarning("Notices should go to " + h.Host + ", whose address was kept only until the program ended. Enter it and save.")
	case h.From == fromSaved:
		n.about.SetGood("Notices go to " + h.Host + " (" + n.title(h.Kind) + ").")
		n.url.SetPlaceHolder("kept; leave empty to use it")
	case h.From != "":
		n.about.SetGood("Notices go to " + h.Host + ": " + h.From + " of the environment says so. What is saved here counts where that is not set.")
	case h.Keychain != "":
		n.about.SetWarning("Nowhere yet. The address is a secret and would be kept only until the program ends: " + h.Keychain)
	default:
		n.about.SetText("Nowhere yet: to Slack, to a phone by ntfy, or to a program of yours. The address is kept in the keychain.")
	}
}

func (n *notices) title(kind string) string {
	for _, k := range n.kinds {
		if k.Name == kind {
			return k.Title
		}
	}
	return kind
}

// chosen is the kind that a person chose; "" is that of the address.
func (n *notices) chosen() string {
	for _, k := range n.kinds {
		if k.Title == n.kind.Selected {
			return k.Name
		}
	}
	return ""
}

// idle lets be pressed what makes sense.
func (n *notices) idle() {
	enable(n.test, n.url.Text != "" || n.kept.From == fromSaved && !n.kept.Asks)
	enable(n.save, n.url.Text != "")
	enable(n.forget, n.kept.From == fromSaved)
}

func enable(b *widget.Button, can bool) {
	if can {
		b.Enable()
	} else {
		b.Disable()
	}
}

func (n *notices) try() {
	kind, url := n.chosen(), n.url.Text
	this := n.begin("Sending…")
	async.Work(func() (string, error) { return n.desk.TestHook(context.Background(), kind, url) }, func(said string, err error) {
		if this == n.asked {
			n.end("It was sent, and the server answered "+said+".", err)
		}
	})
}

func (n *notices) keep() {
	n.store(n.chosen(), n.url.Text, "Saved. Runs that begin from now on are told of there.")
}

func (n *notices) store(kind, url, done string) {
	this := n.begin("Saving…")
	async.Work(func() (struct{}, error) { return struct{}{}, n.desk.SaveHook(context.Background(), kind, url) }, func(_ struct{}, err error) {
		n.load() // of a failure too, what could be saved is
		if this != n.asked {
			return
		}
		if err == nil {
			n.url.SetText("")
		}
		n.end(done, err)
	})
}

func (n *notices) begin(text string) int {
	n.asked++
	n.answer.SetText(text)
	n.answer.Show()
	for _, b := range []*widget.Button{n.test, n.save, n.forget} {
		b.Disable()
	}
	return n.asked
}

// end says what came of what was begun; a mistake stands at the address.
func (n *notices) end(good string, err error) {
	n.idle()
	n.answer.Hide()
	switch rest := n.form.Tell(err); {
	case err == nil:
		n.answer.SetGood(good)
		n.answer.Show()
	case rest != nil:
		n.answer.SetProblem(rest.Error())
		n.answer.Show()
	}
}
