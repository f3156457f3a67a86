package wizard

import (
	"path/filepath"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// extensions are those of files that scenarios can be made from.
var extensions = []string{".json", ".yaml", ".yml", ".har", ".curl", ".sh", ".txt"}

const (
	wayEms     = 20 // width of one of the ways
	stateLines = 3
)

// source is the page that asks for the source.
type source struct {
	wizard  *Wizard
	address *form.Entry
	curl    *form.Entry
	trust   *widget.Button
	state   *form.Note
	top     *fyne.Container
	at      *fyne.Container // the way of the address
	object  fyne.CanvasObject
	ca      string
	edited  *form.Entry // the field that was changed last; nil for none
	second  bool        // it asks for a second recording
}

func newSource(w *Wizard) *source {
	s := &source{wizard: w, address: form.NewEntry(), curl: form.NewText(), state: form.NewNote("")}
	s.address.SetPlaceHolder("https://staging.example.com or http://127.0.0.1:8000")
	s.curl.SetPlaceHolder("curl https://staging.example.com/api/products")
	s.address.OnChanged = func(string) { s.changed(s.address) }
	s.curl.OnChanged = func(string) { s.changed(s.curl) }
	s.trust = widget.NewButton("Certificate…", s.chooseCA)
	s.trust.Importance = widget.LowImportance
	button := func(text string, icon fyne.Resource, do func()) *widget.Button {
		return widget.NewButtonWithIcon(text, icon, func() {
			if w.stop == nil {
				do()
			}
		})
	}
	file := way("File", "An OpenAPI or Swagger document, a HAR file that a browser saved, or a Postman collection. You can also drop it on the window.",
		button("Choose file…", theme.FolderOpenIcon(), s.chooseFile))
	commands := way("curl commands", "Paste one or more requests, for example from “Copy as cURL” in a browser's developer tools.",
		button("Read commands", theme.ContentPasteIcon(), s.readCommands), s.curl)
	visit := way("Recording", "Throng stands between a client and the backend, and learns the journey from a visit.",
		button("Record…", theme.MediaRecordIcon(), func() { w.show(w.record) }))
	s.at = part("Address", form.NewNote("Throng reads the API description that the backend has at this address, as FastAPI, Spring and many others do."),
		container.NewBorder(nil, nil, nil, container.NewHBox(
			widgets.NewHint(s.trust, "Choose a file with the CA certificate of the backend, if the system does not trust it."),
			button("Read", theme.DownloadIcon(), s.readAddress)), s.address))
	s.top = form.NewStack(s.at, container.New(reserved(stateLines), s.state))
	s.object = container.NewBorder(s.top, nil, nil, nil, container.NewVScroll(form.NewColumns(wayEms, form.NewStack(file, visit), commands)))
	return s
}

// way is a title with its button, what it is for, and further controls.
func way(title, about string, button *widget.Button, controls ...fyne.CanvasObject) fyne.CanvasObject {
	head := container.NewBorder(nil, nil, nil, button, container.NewVBox(layout.NewSpacer(), widgets.NewHeading(title), layout.NewSpacer()))
	return spaced(append([]fyne.CanvasObject{head, form.NewNote(about)}, controls...)...)
}

// part is a part of a page with a title.
func part(title string, content ...fyne.CanvasObject) *fyne.Container {
	return spaced(append([]fyne.CanvasObject{widgets.NewHeading(title)}, content...)...)
}

// spaced is a stack at a distance from the next one.
func spaced(content ...fyne.CanvasObject) *fyne.Container {
	pad := theme.Padding()
	return container.New(layout.NewCustomPaddedLayout(pad, 2*pad, 0, 2*pad), form.NewStack(content...))
}

// reserved keeps room for some lines of a note, so that its text moves nothing.
type reserved int

// MinSize implements [fyne.Layout].
func (r reserved) MinSize([]fyne.CanvasObject) fyne.Size {
	return fyne.NewSize(0, float32(r)*fyne.MeasureText("M", theme.CaptionTextSize(), fyne.TextStyle{}).Height)
}

// Layout implements [fyne.Layout].
func (r reserved) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	for _, o := range objects {
		o.Resize(size)
	}
}

func (s *source) content() fyne.CanvasObject { return s.object }

func (s *source) title() string {
	if s.second {
		return "Add a second recording of the same visit. Values that differ between the two are taken from earlier answers or drawn for each agent."
	}
	return "Step 1 of 3: Source. Choose what Throng can learn your backend from."
}

func (s *source) first() fyne.Focusable {
	if s.second {
		return s.curl
	}
	return s.address
}

func (s *source) tick() {}

// add asks for a second recording.
func (s *source) add() {
	s.second = true
	s.follow()
	s.wizard.show(s)
}

// follow hides what a second recording cannot be.
func (s *source) follow() {
	s.at.Hidden = s.second
	s.curl.SetText("")
	s.state.SetText("")
	s.top.Refresh()
	s.object.Refresh()
}

func (s *source) changed(of *form.Entry) {
	s.edited = of
	s.wizard.follow()
}

// typed returns the field whose text is read next; nil if there is none.
func (s *source) typed() *form.Entry {
	if s.edited != nil && strings.TrimSpace(s.edited.Text) != "" {
		return s.edited
	}
	return nil
}

func (s *source) next() (string, bool) {
	return "Next", s.wizard.stop == nil && (s.typed() != nil || s.wizard.found != nil)
}

// forward reads what was typed. If nothing was typed since, it shows the journey that was read before.
func (s *source) forward() {
	switch s.typed() {
	case nil:
		s.second = false
		s.wizard.show(s.wizard.steps)
	case s.address:
		s.readAddress()
	default:
		s.readCommands()
	}
}

func (s *source) back() func() {
	if !s.second || s.wizard.stop != nil {
		return nil
	}
	return func() {
		s.second = false
		s.follow()
		s.wizard.show(s.wizard.steps)
	}
}

func (s *source) submit(fyne.Focusable) bool { return false }

// readAddress reads the document at the address.
func (s *source) readAddress() {
	place := strings.TrimSpace(s.address.Text)
	switch {
	case place == "":
		s.state.SetProblem("Type the address of the backend first, for example http://127.0.0.1:8000.")
		return
	case filepath.IsAbs(place): // a file
	case !strings.Contains(place, "://"):
		place = scheme(place) + place
		s.address.SetText(place)
	}
	s.edited = nil
	s.wizard.read(Source{Place: place})
}

// scheme returns how an address without one begins: a backend on this machine rarely has a certificate.
func scheme(host string) string {
	name, _, _ := strings.Cut(host, "/")
	name, _, _ = strings.Cut(name, ":")
	if name == "localhost" || strings.HasPrefix(name, "127.") || strings.HasPrefix(host, "[::1]") {
		return "http://"
	}
	return "https://"
}

// readCommands reads the curl commands.
func (s *source) readCommands() {
	text := strings.TrimSpace(s.curl.Text)
	if text == "" {
		s.state.SetProblem("Paste a curl command first.")
		return
	}
	s.edited = nil
	s.wizard.read(Source{Text: []byte(text + "\n")})
}

func (s *source) chooseFile() {
	widgets.PickFile(s.wizard.win, "File to make a scenario from", "Open", extensions, func(path string) { s.wizard.read(Source{Place: path}) })
}

func (s *source) chooseCA() {
	widgets.PickFile(s.wizard.win, "CA certificate of the backend", "Trust", []string{".pem", ".crt", ".cer"}, func(path string) {
		s.ca = path
		s.state.SetText("Trusts the certificates in " + path + " for this import.")
	})
}
