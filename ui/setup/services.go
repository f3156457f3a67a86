package setup

import (
	"context"
	"errors"
	"maps"
	"net/url"
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/internal/form"
)

// mocked is the prefix of the mocks' addresses.
const mocked = "mock:"

// services are the addresses of the scenario's services.
type services struct {
	screen *Screen
	panel  *form.Fold
	rows   *fyne.Container
	of     []Service // the shown services
	fields []*address
}

// address is the field of a service.
type address struct {
	service Service
	row     *form.Row
	entry   *form.Entry
	test    *widget.Button
	answer  *form.Note
	keys    *keys
	asked   int // number of the newest test or change; older results are dropped
}

func newServices(s *Screen) *services {
	v := &services{screen: s, rows: form.NewColumns(26)}
	v.panel = form.NewFold("Services", v.rows)
	return v
}

// fill shows the services of a scenario. If the services are the same, it keeps text that the user typed.
func (v *services) fill(sc *Scenario, another bool) {
	if another || !slices.Equal(v.of, sc.Services) {
		v.of = slices.Clone(sc.Services)
		for _, a := range v.fields {
			v.screen.settings.Remove(a.row)
		}
		v.fields = nil
		v.rows.RemoveAll()
		for _, service := range sc.Services {
			a := v.field(service)
			v.fields = append(v.fields, a)
			v.rows.Add(a.row)
		}
		v.rows.Refresh()
	}
	for _, a := range v.fields {
		at := a.service.URL
		if other := sc.Settings.Services[a.service.Name]; other != "" {
			at = other
		}
		put(a.entry, at, another)
	}
	if len(sc.Services) == 0 {
		v.panel.Hide()
	} else {
		v.panel.Show()
	}
}

func (v *services) field(service Service) *address {
	a := &address{service: service, entry: form.NewEntry(), answer: form.NewNote("")}
	a.entry.SetPlaceHolder(service.URL)
	a.answer.Hide()
	a.test = widget.NewButton("Test", func() { v.try(a) })
	a.keys = &keys{object: form.NewStack(), add: func(secret string) *key {
		k := newKey(v.screen.desk, secret, func() {
			a.changed()
			a.row.Changed() // the launch may have failed because of the secret
			v.screen.bar.say("")
			v.screen.requirements.again()
			v.screen.preflight.ask(false)
		})
		v.screen.seen(a.row, k.entry)
		return k
	}}
	a.row = form.NewRow(service.Name, form.NewStack(container.NewBorder(nil, nil, nil, a.test, a.entry), a.answer, a.keys.object)).Marking(a.entry)
	a.row.SetAside(service.kind())
	if service.Kind == "llm" {
		a.row.SetHelp("To use another model, add # and its name (http://127.0.0.1:11434/v1#llama3.2)")
	}
	v.screen.watch(v.screen.settings.Add(a.row, "service "+service.Name), a.entry)
	changed := a.entry.OnChanged
	a.entry.OnChanged = func(text string) {
		a.changed()
		changed(text)
	}
	return a
}

// kind describes a service next to its name: its kind and its models.
func (s *Service) kind() string {
	if s.Models == "" {
		return s.Kind
	}
	return s.Kind + ", " + s.Models
}

// changed clears the result of a test.
func (a *address) changed() {
	a.asked++
	a.test.Enable()
	say(a.answer, "")
}

// secrets shows the secrets at their services.
func (v *services) secrets(of *Requirements) {
	for _, a := range v.fields {
		a.keys.want(
			slices.DeleteFunc(slices.Clone(of.Missing), func(m Missing) bool { return m.Service != a.service.Name }),
			slices.DeleteFunc(slices.Clone(of.Stored), func(s Stored) bool { return s.Service != a.service.Name }))
	}
	v.rows.Refresh()
	v.panel.Refresh()
}

// reveal scrolls to the first service with a missing secret.
func (v *services) reveal() {
	for _, a := range v.fields {
		for _, k := range a.keys.all {
			if k.lacks {
				v.screen.bring(a.row)
				v.screen.win.Canvas().Focus(k.entry)
				return
			}
		}
	}
}

// change opens the first secret that can be changed.
func (v *services) change() {
	for _, a := range v.fields {
		if len(a.keys.all) > 0 {
			v.screen.bring(a.row)
			a.keys.all[0].open()
			return
		}
	}
}

// haveSecrets reports whether a service has secrets.
func (v *services) haveSecrets() bool {
	return slices.ContainsFunc(v.fields, func(a *address) bool { return len(a.keys.all) > 0 })
}

// try sends a request to a service and shows the response.
func (v *services) try(a *address) {
	a.asked++
	this, service := a.asked, a.service
	service.URL = a.url()
	a.test.Disable()
	say(a.answer, "Testing…")
	order, _, _ := v.screen.order()
	async.Work(func() (string, error) { return v.screen.desk.TestService(context.Background(), order, service) }, func(text string, err error) {
		if this != a.asked {
			return
		}
		a.test.Enable()
		if err != nil {
			text := err.Error()
			if mistake, ok := errors.AsType[*engine.FieldError](err); ok { // the error is shown at its field
				text = form.Words(mistake)
			}
			a.answer.SetProblem(text)
			return
		}
		a.answer.SetGood(text)
	})
}

// url returns the address in the field; "" if it is the scenario's.
func (a *address) url() string {
	if text := strings.TrimSpace(a.entry.Text); text != "" {
		return text
	}
	return a.service.URL
}

// mocked reports whether the address is a mock.
func (v *services) mocked() bool {
	return slices.ContainsFunc(v.fields, func(a *address) bool { return strings.HasPrefix(a.url(), mocked) })
}

// into puts the addresses that differ from the scenario's into the settings.
func (v *services) into(set *engine.Settings) error {
	var mistakes []error
	set.Services = maps.Clone(set.Services)
	for _, a := range v.fields {
		at := a.url()
		if !keep(&mistakes, "service "+a.service.Name, checkAddress(at)) {
			continue
		}
		delete(set.Services, a.service.Name)
		if at != a.service.URL {
			if set.Services == nil {
				set.Services = map[string]string{}
			}
			set.Services[a.service.Name] = at
		}
	}
	return errors.Join(mistakes...)
}

// checkAddress validates an address. The error does not repeat the address.
func checkAddress(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Scheme == "" || u.Host == "" && u.Opaque == "" {
		return errors.New("not an address. Example: https://staging.example.com")
	}
	if _, has := u.User.Password(); has {
		return errors.New("remove the password from the address: it would be stored with the run")
	}
	return nil
}
