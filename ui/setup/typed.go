package setup

import (
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/ui/internal/form"
)

// typed are the texts that the user changed, by field, also while they are not valid. It restores them after the program ended in any way.
type typed map[string]string

// typing is what the user changed, by subject, and the choices that the program made.
type typing struct {
	memory   fyne.Preferences // of the program
	written  map[subject]typed
	before   subject           // the scenario that was set up before a fork
	proposed map[string]string // by the name of the choice
	tour     *touring          // nil except during the tour
}

// entries returns the entries of all settings by name.
func (s *Screen) entries() map[string]*form.Entry {
	all := map[string]*form.Entry{
		"cycles": &s.length.cycles.Entry, "hours": &s.length.hours.Entry, "time-scale": &s.length.scale.Entry, "seed": s.length.seed, "at": s.length.at,
		"limit": &s.concurrency.start.Entry, "floor": &s.concurrency.floor.Entry, "ceiling": &s.concurrency.ceiling.Entry,
		"batch": &s.concurrency.batch.Entry, "calls": &s.concurrency.calls.Entry,
		"dollars": &s.budget.dollars.Entry, "tokens": &s.budget.tokens.Entry, "requests": &s.budget.requests.Entry, "wall": s.budget.wall,
	}
	for _, a := range s.services.fields {
		all["service "+a.service.Name] = a.entry
	}
	for _, f := range s.workers.Fields {
		all["workers "+f.Name] = f.Entry
	}
	return all
}

// pick is a choice among options.
type pick interface {
	Selected() string
	SetSelected(option string)
}

// menuPick is a pick in a menu.
type menuPick struct{ *widget.Select }

func (s menuPick) Selected() string { return s.Select.Selected }

// picks returns the choices of all settings by name.
func (s *Screen) picks() map[string]pick {
	return map[string]pick{
		"unit": menuPick{s.length.unit}, "latency": menuPick{s.length.profile},
		"limit mode": s.concurrency.mode, "governor": menuPick{s.concurrency.governor},
		"workers": s.workers.Where,
	}
}

// Values of a check.
const (
	checked   = "on"
	unchecked = "off"
)

// typed returns what the user changed in the form.
func (s *Screen) typed() typed {
	t := typed{}
	for name, e := range s.entries() {
		if !e.Proposed() {
			t[name] = e.Text
		}
	}
	for name, p := range s.picks() {
		if p.Selected() != s.proposed[name] {
			t[name] = p.Selected()
		}
	}
	if s.remote.send.Checked != s.remote.proposed {
		t["remote"] = s.sends()
	}
	for _, f := range s.parameters.fields {
		if f.check != nil && f.check() != nil {
			t["parameter "+f.Name] = f.text()
		}
	}
	return t
}

// restore puts what the user changed into the form, after it was filled.
func (s *Screen) restore(t typed) {
	s.proposed = map[string]string{}
	for name, p := range s.picks() {
		s.proposed[name] = p.Selected()
		if text, ok := t[name]; ok {
			p.SetSelected(text)
		}
	}
	for name, e := range s.entries() {
		if text, ok := t[name]; ok {
			e.SetText(text)
		}
	}
	if text, ok := t["remote"]; ok {
		s.remote.send.SetChecked(text == checked)
	}
	for _, f := range s.parameters.fields {
		if text, ok := t["parameter "+f.Name]; ok {
			f.put(text)
		}
	}
}

// unpicked returns the choices that the user has not changed.
func (s *Screen) unpicked() (names []string) {
	for name, p := range s.picks() {
		if p.Selected() == s.proposed[name] {
			names = append(names, name)
		}
	}
	return names
}

// propose takes the current values of choices as those of the program.
func (s *Screen) propose(names []string) {
	for name, p := range s.picks() {
		if slices.Contains(names, name) {
			s.proposed[name] = p.Selected()
		}
	}
}

// note remembers what the user changed, for the return to this scenario and the next start of the program.
func (s *Screen) note(given map[string]string) {
	t := s.typed()
	s.written[s.shown] = t
	if s.tour != nil { // what the user chose before it is still remembered
		return
	}
	remember(s.memory, s.shown, given, s.agentsPanel.typed(), t)
}
