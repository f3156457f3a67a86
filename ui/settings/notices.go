package settings

import (
	"context"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// Hook is the destination of notifications in addition to this machine.
type Hook struct {
	Kind, Host string // of the current one; its address is a secret
	From       string // "saved", or the environment variable; "" if none
	Asks       bool   // its address could not be stored and must be entered again
	Keychain   string // why the keychain cannot be used; "" if it can
	Kinds      []HookKind
}

// HookKind is a kind of web hook, by name.
type HookKind struct{ Name, Title string }

// byHost is the choice that detects the kind from the address.
const byHost = "Detect from address"

// notices is the panel of notifications.
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
	asked              int // number of the newest operation; results of older ones are dropped
}

// noticeItems returns what a search finds here.
func noticeItems() []item {
	all := []item{{"Web hook", "Slack, ntfy, JSON"}, {"Kind", "of the web hook"}, {"Web hook URL", "address, secret, keychain"}}
	for _, k := range view.NotificationKinds {
		all = append(all, item{k.About, "desktop notification on this machine"})
	}
	return all
}

func newNotices(desk Desk, looks Appearance) *notices {
	n := &notices{desk: desk, kind: widget.NewSelect([]string{byHost}, nil), url: form.NewEntry(), about: form.NewNote("Loading…"), answer: form.NewNote("")}
	n.kind.SetSelected(byHost)
	n.url.Password = true
	n.answer.Hide()
	address := form.NewRow("Web hook URL", n.url)
	n.form.Add(address, "notify")
	n.url.OnChanged = func(string) {
		address.Changed()
		n.asked++
		n.answer.Hide()
		n.idle()
	}
	n.kind.OnChanged = func(string) { n.url.OnChanged("") }
	n.test = widget.NewButton("Send test", n.try)
	n.save = widget.NewButtonWithIcon("Save", theme.DocumentSaveIcon(), n.keep)
	n.forget = widget.NewButton("Forget", func() { n.store("", "", "Forgotten. Notifications stay on this machine.") })
	n.idle()
	n.panel = widgets.NewPanel(Notifications, form.NewStack(
		tellHere(looks), widgets.NewHeading("Web hook"), n.about, form.NewRow("Kind", form.NewFrame(n.kind)), address,
		container.NewHBox(n.test, n.save, layout.NewSpacer(), n.forget), n.answer))
	return n
}

// tellHere returns the choice of desktop notifications.
func tellHere(looks Appearance) fyne.CanvasObject {
	boxes := form.NewColumns(20)
	for _, k := range view.NotificationKinds {
		box := widget.NewCheck(k.About, func(on bool) { looks.SetNotify(k.Occasion, on) })
		box.Checked = !looks.Silent[k.Occasion]
		boxes.Add(box)
	}
	return form.NewRow("On this machine, while the window is in the background", boxes)
}

// load reads the current web hook.
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

// describe shows where notifications are sent.
func (n *notices) describe(err error) {
	n.url.SetPlaceHolder("https://…")
	switch h := n.kept; {
	case err != nil:
		n.about.SetProblem(err.Error())
	case h.Asks:
		n.about.SetWarning("Enter the address again and save it. It was kept only until the program ended. Destination: " + h.Host + ".")
	case h.From == fromSaved:
		n.about.SetGood("Sent to " + h.Host + " (" + n.title(h.Kind) + ").")
		n.url.SetPlaceHolder("saved; leave empty to keep it")
	case h.From != "":
		n.about.SetGood("Sent to " + h.Host + ", set by the environment variable " + h.From + ", which overrides the address saved here.")
	case h.Keychain != "":
		n.about.SetWarning("Not set. The address is a secret and would be kept only until the program ends: " + h.Keychain)
	default:
		n.about.SetText("Not set. Send notifications to Slack, to a phone with ntfy, or to your own program. The address is stored in the keychain.")
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

// chosen returns the chosen kind; "" detects it from the address.
func (n *notices) chosen() string {
	for _, k := range n.kinds {
		if k.Title == n.kind.Selected {
			return k.Name
		}
	}
	return ""
}

// idle enables the buttons.
func (n *notices) idle() {
	n.test.Enable()
	n.save.Enable()
	n.forget.Enable()
	n.forget.Hidden = n.kept.From != fromSaved
	n.forget.Refresh()
}

// addressed reports whether there is an address to use, and shows the mistake if there is none. The saved one is enough for a test.
func (n *notices) addressed(saved bool) bool {
	if n.url.Text != "" || saved {
		return true
	}
	_ = n.form.Tell(&engine.FieldError{Field: "notify", Problem: "missing address"}) // it has a row
	return false
}

func (n *notices) try() {
	if !n.addressed(n.kept.From == fromSaved && !n.kept.Asks) {
		return
	}
	kind, url := n.chosen(), n.url.Text
	this := n.begin("Sending…")
	async.Work(func() (string, error) { return n.desk.TestHook(context.Background(), kind, url) }, func(said string, err error) {
		if this == n.asked {
			n.end("Sent. The server answered "+said+".", err)
		}
	})
}

func (n *notices) keep() {
	if n.addressed(false) {
		n.store(n.chosen(), n.url.Text, "Saved. Applies to new runs.")
	}
}

func (n *notices) store(kind, url, done string) {
	this := n.begin("Saving…")
	async.Work(func() (struct{}, error) { return struct{}{}, n.desk.SaveHook(context.Background(), kind, url) }, func(_ struct{}, err error) {
		n.load() // even after an error, a part may be saved
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

// end shows the result of an operation; an error is shown at the address.
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
