package settings

import (
	"net/url"
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/ui/internal/form"
)

// automatic is the choice of an address without an encryption mode: encryption is required, except on this machine.
const automatic = "automatic"

var encryptions = []string{automatic, "disable", "allow", "prefer", "require", "verify-ca", "verify-full"}

// parts are the parts of an address, except for its password.
type parts struct{ host, port, name, user, mode string }

// splitAddress splits an address; ok is false if it is invalid.
func splitAddress(text string) (p parts, ok bool) {
	u, err := url.Parse(strings.TrimSpace(text))
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return parts{}, strings.TrimSpace(text) == ""
	}
	return parts{u.Hostname(), u.Port(), strings.TrimPrefix(u.Path, "/"), u.User.Username(), u.Query().Get("sslmode")}, true
}

// joinAddress writes parts into an address and keeps the rest of it.
func joinAddress(p parts, old string) string {
	u, err := url.Parse(strings.TrimSpace(old))
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
		u = &url.URL{Scheme: "postgres"}
	}
	u.Host = p.host
	if strings.Contains(p.host, ":") { // IPv6
		u.Host = "[" + strings.Trim(p.host, "[]") + "]"
	}
	if p.port != "" {
		u.Host += ":" + p.port
	}
	u.User, u.Path = nil, "/"+p.name
	if p.user != "" {
		u.User = url.User(p.user)
	}
	query := u.Query()
	query.Del("sslmode")
	if p.mode != "" {
		query.Set("sslmode", p.mode)
	}
	u.RawQuery = query.Encode()
	if p == (parts{}) {
		return ""
	}
	return u.String()
}

// fields are the fields of the parts of the address. They and the address update each other.
type fields struct {
	host, port, name, user *form.Entry
	mode                   *widget.Select
	changed                func() // called after a change by the user
	filling                bool   // the program fills the fields
}

func newFields(changed func()) *fields {
	f := &fields{host: form.NewEntry(), port: form.NewEntry(), name: form.NewEntry(), user: form.NewEntry(), changed: changed}
	for _, e := range f.entries() {
		e.OnChanged = func(string) { f.tell() }
	}
	f.host.SetPlaceHolder("db.example.com")
	f.port.SetPlaceHolder("5432")
	f.mode = widget.NewSelect(encryptions, func(string) { f.tell() })
	f.fill(parts{})
	return f
}

func (f *fields) entries() []*form.Entry { return []*form.Entry{f.host, f.port, f.name, f.user} }

// content lays out the fields, with the password among them.
func (f *fields) content(password fyne.CanvasObject) fyne.CanvasObject {
	return form.NewColumns(17,
		form.NewRow("Host", f.host), form.NewRow("Port", f.port),
		form.NewRow("Database", f.name), form.NewRow("Encryption", form.NewFrame(f.mode)),
		form.NewRow("User", f.user), password,
	)
}

func (f *fields) tell() {
	if !f.filling {
		f.changed()
	}
}

// fill shows the parts of an address.
func (f *fields) fill(p parts) {
	f.filling = true
	defer func() { f.filling = false }()
	for i, text := range []string{p.host, p.port, p.name, p.user} {
		if e := f.entries()[i]; e.Text != text {
			e.SetText(text)
		}
	}
	mode := p.mode
	if !slices.Contains(encryptions, mode) {
		mode = automatic
	}
	f.mode.SetSelected(mode)
}

// parts returns the values of the fields.
func (f *fields) parts() parts {
	p := parts{strings.TrimSpace(f.host.Text), strings.TrimSpace(f.port.Text), strings.TrimSpace(f.name.Text), strings.TrimSpace(f.user.Text), f.mode.Selected}
	if p.mode == automatic {
		p.mode = ""
	}
	return p
}
