package settings

import (
	"context"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/internal/words"
)

const example = "postgres://user@host:5432/database?sslmode=verify-full"

// database is the panel of the connection.
type database struct {
	desk               Desk
	win                fyne.Window
	panel              fyne.CanvasObject
	form               form.Form
	url, password      *form.Entry
	fields             *fields
	authority          *authority
	test, save, forget *widget.Button
	source, keychain   *form.Note // source says where the connection is configured; keychain says why no password can be stored
	sending            *form.Note
	offer              *offer
	answer             *form.Note
	lines              *fyne.Container
	kept               Connection
	filling            bool // the program changes the address
	joining            bool // the address is being assembled from its parts
	asked              int  // number of the newest operation; results of older ones are dropped
}

var databaseItems = []item{
	{"Address", "URL of the PostgreSQL database that receives results"},
	{"Host", "server"},
	{"Port", ""},
	{"Database", "name"},
	{"Encryption", "TLS, sslmode"},
	{"User", ""},
	{"Password", "secret, keychain"},
	{"Server's CA", "certificate, TLS"},
}

func newDatabase(desk Desk, win fyne.Window) *database {
	d := &database{
		desk: desk, win: win, url: form.NewEntry(), password: form.NewEntry(),
		source: form.NewNote("Loading…"), keychain: form.NewNote(""), sending: form.NewNote(""), answer: form.NewNote(""), lines: form.NewStack(),
	}
	d.fields = newFields(d.join)
	d.authority = newAuthority(desk, win, d.authorized)
	d.offer = newOffer(d.answerOffer)
	d.url.SetPlaceHolder(example)
	d.password.Password = true
	address, password := form.NewRow("Address", d.url), form.NewRow("Password", d.password)
	d.form.Add(address, "database", "url")
	d.form.Add(password, "password")
	d.form.Add(d.authority.row, "database-ca")
	d.url.Left = d.part
	typed := 0
	d.url.OnChanged = func(text string) {
		pasted := len(text) > typed+1
		typed = len(text)
		d.changed(address)
		if pasted {
			d.part()
		}
		d.split()
	}
	d.password.OnChanged = func(string) { d.changed(password) }

	d.test = widget.NewButton("Test", d.try)
	d.save = widget.NewButtonWithIcon("Save", theme.DocumentSaveIcon(), d.keep)
	d.save.Importance = widget.HighImportance
	d.forget = widget.NewButton("Forget…", d.askForget)
	d.forget.Hide()
	d.keychain.Hide()
	d.answer.Hide()
	d.sending.Hide()
	buttons := container.NewHBox(d.test, d.save, layout.NewSpacer(), d.forget)
	d.panel = widgets.NewPanel(Database, form.NewStack(d.source, d.offer.row, address, d.fields.content(password), d.keychain, d.authority.row, buttons, d.sending, d.answer, d.lines))
	return d
}

// setPage sets the page that the entries scroll.
func (d *database) setPage(page *container.Scroll) {
	for _, e := range append(d.fields.entries(), d.url, d.password) {
		e.Page = page
	}
}

// split fills the fields from the address, unless the address was assembled from them.
func (d *database) split() {
	if p, ok := splitAddress(d.url.Text); ok && !d.joining {
		d.fields.fill(p)
	}
}

// join assembles the address from the fields.
func (d *database) join() {
	d.joining = true
	d.url.SetText(joinAddress(d.fields.parts(), d.url.Text))
	d.joining = false
}

// authorized shows the result of a change of the CA.
func (d *database) authorized(good string, err error) {
	d.load()
	d.asked++
	d.idle()
	d.lines.RemoveAll()
	if err != nil {
		d.fail("", err)
		return
	}
	d.authority.row.Changed()
	d.say((*form.Note).SetGood, good)
}

// load reads the current connection. Text that is being typed stays.
func (d *database) load() {
	async.Work(func() (Connection, error) { return d.desk.Connection(context.Background()) }, func(c Connection, err error) {
		if err != nil {
			d.say((*form.Note).SetProblem, "Cannot read the saved connection. "+words.Trouble(err))
			return
		}
		d.kept = c
		d.filling = true
		d.url.Propose(c.URL)
		d.filling = false
		d.split()
		d.describe()
		d.askPassword()
	})
}

// askPassword focuses the password if it must be entered again.
func (d *database) askPassword() {
	if d.kept.Asks && d.panel.Visible() && d.win.Canvas().Focused() == nil {
		d.win.Canvas().Focus(d.password)
	}
}

// describe shows where the connection is configured and what of it is stored.
func (d *database) describe() {
	switch d.kept.From {
	case "":
		d.source.SetText("No database: results stay on this machine. With a database, Throng can also send them there during a run.")
	case "saved":
		d.source.SetText("Saved in the settings. The password is stored separately.")
	default:
		d.source.SetText("The environment variable " + d.kept.From + " is set and overrides the address saved here.")
	}
	placeholder := ""
	if d.kept.HasPassword && d.url.Text == d.kept.URL {
		placeholder = "saved; leave empty to keep it"
	}
	d.password.SetPlaceHolder(placeholder)
	switch {
	case d.kept.Asks:
		d.keychain.SetWarning("Enter the password again and save it. Without a keychain it was kept only until the program ended. Until then results wait on this machine.")
		d.keychain.Show()
	case d.kept.Keychain == "":
		d.keychain.Hide()
	default:
		d.keychain.SetWarning("The password is kept only until the program ends: " + d.kept.Keychain)
		d.keychain.Show()
	}
	d.authority.show(d.kept)
	d.offer.show(d.kept.Offer)
	if d.kept.From == "saved" {
		d.forget.Show()
	} else {
		d.forget.Hide()
	}
}

// follow shows the state of sending.
func (d *database) follow() {
	text, state := d.desk.RemoteState()
	if text == "" {
		if d.sending.Visible() {
			d.sending.Hide()
		}
		return
	}
	set(d.sending, text, state)
	if !d.sending.Visible() {
		d.sending.Show()
	}
}

// changed clears the messages about the previous values.
func (d *database) changed(row *form.Row) {
	row.Changed()
	if d.filling {
		return
	}
	d.asked++
	d.idle()
	d.answer.Hide()
	d.lines.RemoveAll()
	d.describe()
}

// part moves a password from the address into its own field.
func (d *database) part() {
	rest, password := takePassword(d.url.Text)
	if rest == d.url.Text {
		return
	}
	d.url.SetText(rest)
	d.url.CursorColumn = len([]rune(rest))
	if password != "" {
		d.password.SetText(password)
	}
}

// values returns the values of the fields; ok is false if they are invalid.
func (d *database) values() (url, password string, ok bool) {
	d.part()
	url, password = strings.TrimSpace(d.url.Text), d.password.Text
	err := checkAddress(url)
	if err != nil {
		err = &engine.FieldError{Field: "database", Problem: err.Error()}
	}
	_ = d.form.Tell(err) // it has a row
	return url, password, err == nil
}

// try tests the connection.
func (d *database) try() {
	url, password, ok := d.values()
	if !ok {
		return
	}
	this := d.begin("Testing…")
	async.Work(func() ([]Line, error) { return d.desk.TestConnection(context.Background(), url, password) }, func(lines []Line, err error) {
		if this != d.asked {
			return
		}
		d.idle()
		if err != nil {
			d.fail("The test failed: ", err)
		} else {
			d.answer.Hide()
		}
		d.show(lines)
	})
}

// keep saves the connection.
func (d *database) keep() {
	url, password, ok := d.values()
	if ok {
		d.store(url, password, "Saved.")
	}
}

func (d *database) askForget() {
	ask := dialog.NewCustomConfirm("Forget the database?", "Forget", "Cancel",
		widget.NewLabel("This removes the address and the password from this machine.\nIt deletes nothing in the database."),
		func(yes bool) {
			if yes {
				d.store("", "", "Forgotten.")
			}
		}, d.win)
	widgets.Ask(d.win, ask, ask.Confirm)
}

func (d *database) store(url, password, done string) {
	this := d.begin("Saving…")
	async.Work(func() (struct{}, error) {
		return struct{}{}, d.desk.SaveConnection(context.Background(), url, password)
	},
		func(_ struct{}, err error) {
			d.load() // even after an error, a part may be saved
			if this != d.asked {
				return
			}
			d.idle()
			if url == "" {
				d.password.Put("") // it is the password of another database
			}
			if err != nil {
				d.fail("", err)
				return
			}
			d.url.Put(url)
			d.split()
			d.password.Put("")
			d.say((*form.Note).SetGood, done)
		})
}

// answerOffer handles the user's answer to the offer of a database.
func (d *database) answerOffer(use bool) {
	this := d.begin("Saving…")
	async.Work(func() (struct{}, error) { return struct{}{}, d.desk.AnswerOffer(context.Background(), use) }, func(_ struct{}, err error) {
		d.load()
		if this != d.asked {
			return
		}
		d.idle()
		switch {
		case err != nil:
			d.fail("", err)
		case use:
			d.say((*form.Note).SetGood, "Saved. Throng now sends results there.")
		default:
			d.answer.Hide()
		}
	})
}

// begin shows a message about an operation and returns the operation's number.
func (d *database) begin(text string) int {
	d.asked++
	d.lines.RemoveAll()
	d.say((*form.Note).SetText, text)
	d.test.Disable()
	d.save.Disable()
	return d.asked
}

func (d *database) idle() {
	d.test.Enable()
	d.save.Enable()
}

// fail shows an error; errors of fields are shown at the fields.
func (d *database) fail(what string, err error) {
	d.answer.Hide()
	if rest := d.form.Tell(err); rest != nil {
		d.say((*form.Note).SetProblem, what+rest.Error())
	}
}

func (d *database) say(how func(*form.Note, string), text string) {
	how(d.answer, text)
	d.answer.Show()
}

// show lists the findings of a test.
func (d *database) show(lines []Line) {
	d.lines.RemoveAll()
	var width float32
	for _, l := range lines {
		width = max(width, widgets.NewCaption(l.Name).MinSize().Width)
	}
	for _, l := range lines {
		value := form.NewNote("")
		set(value, l.Value, l.State)
		d.lines.Add(container.New(&sheet{first: width / theme.TextSize()}, widgets.NewCaption(l.Name), value))
	}
	d.lines.Refresh()
}

// set shows a text with the style of its state.
func set(n *form.Note, text string, state State) {
	switch state {
	case Good:
		n.SetGood(text)
	case Warning:
		n.SetWarning(text)
	case Bad:
		n.SetProblem(text)
	default:
		n.Say(text)
	}
}
