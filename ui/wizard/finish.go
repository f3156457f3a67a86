package wizard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/importer"
	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/internal/words"
)

const (
	ending   = ".throng.yaml" // of the names of scenario files
	mostOpen = 200            // lines of what is left to decide
)

// finish is the page that asks for the file, the addresses and the secrets, and writes the scenario.
type finish struct {
	wizard *Wizard
	path   *form.Entry
	file   *fyne.Container
	target *form.Note // what saving would do
	fields form.Form  // the addresses
	parts  *fyne.Container
	users  *form.Note
	state  *form.Note
	object fyne.CanvasObject

	addresses []*form.Entry // of the services
	secrets   map[string]*form.Entry
	plan      *Plan // nil while unknown
	planned   int   // number of the newest plan; results of older ones are dropped
	saving    bool
	proposed  string // the file
}

func newFinish(w *Wizard) *finish {
	f := &finish{wizard: w, path: form.NewEntry(), target: form.NewNote(""), users: form.NewNote(""), state: form.NewNote("")}
	f.target.Lines = 2
	choose := widget.NewButtonWithIcon("Choose…", theme.FolderOpenIcon(), f.choose)
	f.file = part("File", container.NewBorder(nil, nil, nil, choose, f.path), container.New(reserved(f.target.Lines), f.target))
	f.path.OnChanged = func(string) { f.check() }
	f.parts = form.NewPanels()
	f.object = container.NewBorder(nil, container.New(reserved(2), f.state), nil, nil, container.NewVScroll(f.parts))
	return f
}

func (f *finish) content() fyne.CanvasObject { return f.object }

func (f *finish) title() string {
	return "Step 3 of 3: Finish. Check the sign-in, and choose the file."
}

func (f *finish) first() fyne.Focusable {
	for _, e := range f.addresses {
		if strings.TrimSpace(e.Text) == "" {
			return e
		}
	}
	return f.path
}

func (f *finish) next() (string, bool) {
	text := "Create scenario"
	if f.plan != nil && f.plan.Exists {
		text = "Update scenario"
	}
	return text, f.plan != nil && !f.saving && f.wizard.stop == nil && len(f.fields.Mistakes()) == 0
}

func (f *finish) back() func() {
	if f.saving || f.wizard.stop != nil {
		return nil
	}
	return func() {
		f.keep()
		f.wizard.show(f.wizard.steps)
	}
}

func (f *finish) submit(fyne.Focusable) bool { return false }

func (f *finish) tick() {}

// draft returns the draft of the journey.
func (f *finish) draft() *importer.Draft { return f.wizard.steps.journey.draft }

// fill shows a draft.
func (f *finish) fill() {
	d := f.draft()
	f.fields.Clear()
	f.addresses, f.secrets = nil, map[string]*form.Entry{}
	f.state.SetText("")
	parts := []fyne.CanvasObject{f.file, f.backends(d)}
	if len(d.Secrets) > 0 {
		parts = append(parts, f.secretFields(d))
	}
	if logsIn(d) {
		parts = append(parts, f.usersField(d))
	}
	f.parts.Objects = append(parts, openList(undecided(f.wizard.steps.journey.snapshot())))
	f.parts.Refresh()
	f.checkAddresses()
	f.propose(d.Title)
}

// propose proposes a file, unless the user has chosen one.
func (f *finish) propose(title string) {
	on := f.wizard.dialog
	f.plan = nil
	f.target.SetText("")
	async.Work(func() (string, error) { return f.wizard.desk.Propose(context.Background(), title), nil }, func(path string, _ error) {
		if f.wizard.dialog != on {
			return
		}
		f.proposed = path
		f.path.Propose(path)
		f.check()
	})
}

// backends are the addresses of the services and how agents sign in.
func (f *finish) backends(d *importer.Draft) fyne.CanvasObject {
	list := []fyne.CanvasObject{}
	for i := range d.Services {
		s := &d.Services[i]
		address := form.NewEntry()
		address.SetText(s.URL)
		address.SetPlaceHolder("https://staging.example.com")
		row := f.fields.Add(form.NewRow("Address of "+s.Name, address), addressOf(i))
		help := func() { row.SetHelp(whereAndHow(s, address.Text)) }
		address.OnChanged = func(string) {
			help()
			f.checkAddresses()
		}
		help()
		f.addresses = append(f.addresses, address)
		list = append(list, row)
	}
	return part("Backend and sign-in", list...)
}

func addressOf(service int) string { return fmt.Sprintf("address %d", service) }

// checkAddresses checks the addresses, and marks wrong ones.
func (f *finish) checkAddresses() {
	var problem []error
	for i, e := range f.addresses {
		text := full(e.Text)
		u, err := url.Parse(text)
		switch {
		case text == "" && f.draft().Services[i].OpenAPI != "": // a mock
		case text == "":
			problem = append(problem, &engine.FieldError{Field: addressOf(i), Problem: "the source does not say where the backend is", Hint: "for example http://127.0.0.1:8000"})
		case err != nil || u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "mock" || u.Host == "" && u.Opaque == "":
			problem = append(problem, &engine.FieldError{Field: addressOf(i), Problem: "not an address", Hint: "it begins with http:// or https:// and a host"})
		case u.User != nil:
			problem = append(problem, &engine.FieldError{Field: addressOf(i), Problem: "an address must not contain a password", Hint: "it would be in the file; use a secret"})
		}
	}
	_ = f.fields.Check(errors.Join(problem...)) // all of them have a row
	f.wizard.follow()
}

// full completes an address that begins with a host.
func full(address string) string {
	address = strings.TrimSpace(address)
	host, _, _ := strings.Cut(address, "/")
	if !strings.ContainsAny(host, ".:") && host != "localhost" || strings.Contains(address, "://") || strings.HasPrefix(address, "mock:") {
		return address
	}
	return scheme(address) + address
}

// secretFields are the secrets: where each goes, and fields for those that the source does not have.
func (f *finish) secretFields(d *importer.Draft) fyne.CanvasObject {
	list := []fyne.CanvasObject{form.NewNote("They are stored in the keychain of this computer or, without one, until Throng ends, and never in the file. You can also set them later, in Setup.")}
	names := []string{}
	rows := map[string]*form.Row{}
	for _, s := range d.Secrets {
		e := form.NewEntry()
		e.Password = !isName(s.Use)
		row := form.NewRow(strings.TrimSuffix(words.Sentence(s.Use), ".")+" ("+s.Name+")", e)
		if s.Value != "" {
			e.SetPlaceHolder("found in the source")
			row.SetHelp("It was found in the source and will be stored. Type another one to replace it.")
		} else {
			names = append(names, s.Name)
		}
		f.secrets[s.Name], rows[s.Name] = e, row
		list = append(list, row)
	}
	on := f.secrets
	async.Work(func() (map[string]string, error) { return f.wizard.desk.Known(context.Background(), names), nil }, func(known map[string]string, _ error) {
		for name, place := range known {
			if row := rows[name]; row != nil {
				on[name].SetPlaceHolder("already known")
				row.SetHelp("It is in " + place + ". Type another one to replace it.")
			}
		}
	})
	return part("Secrets", list...)
}

// isName reports whether the use of a secret is a name, which a person may see.
func isName(use string) bool {
	return strings.HasPrefix(use, "user name") || strings.HasPrefix(use, "client ID")
}

// usersField asks for the users that agents log in as.
func (f *finish) usersField(d *importer.Draft) fyne.CanvasObject {
	text := "Agents log in. Choose a CSV file with their users, for example with the columns username and password; each agent takes one row."
	if slices.ContainsFunc(d.Services, func(s importer.Service) bool { return strings.HasPrefix(s.Auth.Note, importer.OneAccount) }) {
		text = "All agents log in with one account. For one account each, choose a CSV file, for example with the columns username and password."
	}
	f.users.SetText(text)
	switch {
	case f.wizard.request.Users != "":
		f.users.SetGood("Agents are the rows of " + f.wizard.request.Users + ".")
	case d.People != "":
		f.users.SetGood("Agents are the rows of " + d.People + ".")
	}
	return part("Users", f.users, container.NewHBox(widget.NewButtonWithIcon("Choose users…", theme.AccountIcon(), f.chooseUsers)))
}

// undecided lists what is left to decide, without the addresses, which have fields.
func undecided(d *importer.Draft) []string {
	for i := range d.Services {
		d.Services[i].URL = cmp.Or(d.Services[i].URL, "http://127.0.0.1")
	}
	return d.Write().Open
}

// whereAndHow says how agents sign in to a service, and where it is if that is not known.
func whereAndHow(s *importer.Service, address string) string {
	if strings.TrimSpace(address) != "" || s.OpenAPI == "" {
		return signIn(s)
	}
	return "The source does not say where the backend is. Type its address, or leave it empty to run on a mock that is made from the document."
}

// openList lists what is left to decide.
func openList(open []string) fyne.CanvasObject {
	if len(open) == 0 {
		note := form.NewNote("")
		note.SetGood("Every value has a source.")
		return part("Left to decide", note)
	}
	lines := open
	if len(lines) > mostOpen {
		lines = append(slices.Clone(lines[:mostOpen]), fmt.Sprintf("and %d more", len(open)-mostOpen))
	}
	about := form.NewNote("")
	about.SetWarning(several(len(open), "value") + " without a source. The file marks each one as unresolved, with what it may be taken from.")
	return part("Left to decide", about, form.NewNote(strings.Join(lines, "\n")))
}

// choose asks for the file.
func (f *finish) choose() {
	widgets.PickSave(f.wizard.win, "Save the scenario as", f.path.Text, func(path string) {
		if filepath.Ext(path) == "" {
			path += ending
		}
		f.path.SetText(path)
	})
}

// check finds out what saving would do.
func (f *finish) check() {
	f.planned++
	this, on := f.planned, f.wizard.dialog
	f.plan = nil
	path := strings.TrimSpace(f.path.Text)
	if path == "" {
		f.tell(&engine.FieldError{Problem: "the scenario needs a file", Hint: "for example " + filepath.Base(f.proposed)})
		return
	}
	d := f.wizard.steps.journey.snapshot()
	async.Work(func() (Plan, error) { return f.wizard.desk.Plan(context.Background(), d, path) }, func(p Plan, err error) {
		if this != f.planned || f.wizard.dialog != on {
			return
		}
		if err == nil {
			f.plan = &p
		}
		f.tell(err)
		if err == nil {
			f.target.SetText("A new file.")
			if p.Exists {
				f.target.SetWarning(merging(p.Merged))
			}
		}
	})
}

// tell shows the problem of the file, or that there is none.
func (f *finish) tell(err error) {
	f.target.SetText("")
	if of, ok := errors.AsType[*engine.FieldError](err); ok {
		f.target.SetProblem(words.Sentence(form.Words(of)))
	} else if err != nil {
		f.target.SetProblem(words.Trouble(err))
	}
	f.wizard.follow()
}

// merging says what becomes of an existing file.
func merging(m *importer.Merged) string {
	text := "The file exists. The journey is merged into it: everything that you have edited stays."
	if m == nil {
		return text
	}
	for _, part := range []struct {
		names []string
		what  string
	}{{m.Added, "added"}, {m.Updated, "updated"}, {m.Kept, "kept as you edited them"}, {m.Gone, "no longer in the source, and kept"}} {
		if len(part.names) > 0 {
			text += fmt.Sprintf(" %s %s: %s.", several(len(part.names), "step"), part.what, strings.Join(part.names, ", "))
		}
	}
	if len(m.Added)+len(m.Updated)+len(m.Kept)+len(m.Gone) == 0 {
		text += " Nothing has changed."
	}
	return text
}

// chooseUsers asks for a file of users and reads the source again with it. The journey stays as it was arranged.
func (f *finish) chooseUsers() {
	widgets.PickFile(f.wizard.win, "Users of the backend", "Open", []string{".csv", ".jsonl"}, func(path string) {
		r := f.wizard.request
		r.Users = path
		f.keep()
		was := f.draft()
		f.wizard.ask(r, f.state, func(found *Found) {
			j := journey{found.Draft}
			j.arrange(was)
			for i := range min(len(found.Services), len(was.Services)) {
				found.Services[i].URL = was.Services[i].URL
			}
			for i := range found.Secrets {
				if k := slices.IndexFunc(was.Secrets, func(s importer.Secret) bool { return s.Name == found.Secrets[i].Name }); k >= 0 && was.Secrets[k].Value != "" {
					found.Secrets[i].Value = was.Secrets[k].Value
				}
			}
			f.wizard.request, f.wizard.found = r, found
			f.wizard.steps.fill(found)
			f.fill()
		})
	})
}

// keep stores the fields in the draft.
func (f *finish) keep() {
	d := f.draft()
	for i, e := range f.addresses {
		d.Services[i].URL = strings.TrimRight(full(e.Text), "/")
	}
	for i := range d.Secrets {
		if e := f.secrets[d.Secrets[i].Name]; e != nil && strings.TrimSpace(e.Text) != "" {
			d.Secrets[i].Value = e.Text
		}
	}
}

// forward writes the scenario and closes the dialog.
func (f *finish) forward() {
	f.keep()
	d, path, on := f.wizard.steps.journey.snapshot(), strings.TrimSpace(f.path.Text), f.wizard.dialog
	f.saving = true
	f.state.SetText("Writing…")
	f.wizard.follow()
	async.Work(func() (Saved, error) { return f.wizard.desk.Save(context.Background(), d, path) }, func(s Saved, err error) {
		f.saving = false
		if f.wizard.dialog != on {
			return
		}
		if err != nil {
			f.state.SetProblem("The scenario was not written. " + words.Trouble(err))
			f.wizard.follow()
			return
		}
		f.wizard.close()
		f.wizard.ways.Created(s.File)
		if len(s.Unkept) > 0 {
			widgets.Tell(f.wizard.win, "Secrets are kept until you close Throng", words.NewParagraph(f.wizard.win, "The keychain of this computer could not store "+
				strings.Join(s.Unkept, ", ")+".\nThe scenario was created and can run now. After the next start, enter them in Setup, or set them as environment variables."))
		}
	})
}
