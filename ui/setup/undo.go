package setup

import (
	"maps"
	"slices"
	"time"

	"github.com/throng-sim/throng/ui/internal/form"
)

// input is a field of the form, as a text.
type input struct {
	get func() string
	set func(text string)
}

// inputs returns all fields by name. Names begin with their kind.
func (s *Screen) inputs() map[string]input {
	all := map[string]input{"remote": {s.sends, func(text string) { s.remote.send.SetChecked(text == checked) }}}
	entry := func(name string, e *form.Entry) { all[name] = input{func() string { return e.Text }, e.SetText} }
	for name, e := range s.entries() {
		entry("entry "+name, e)
	}
	entry("agents", s.agentsPanel.agents)
	entry("filter", s.agentsPanel.filter)
	for name, p := range s.picks() {
		all["choice "+name] = input{p.Selected, p.SetSelected}
	}
	for _, f := range s.parameters.fields {
		all["parameter "+f.Name] = input{f.text, f.put}
	}
	return all
}

// sends returns whether the results go to Postgres, as a text.
func (s *Screen) sends() string {
	if s.remote.send.Checked {
		return checked
	}
	return unchecked
}

// edit is one change of the form: the old and the new texts of what changed.
type edit struct{ old, now map[string]string }

// edits are the changes of the form that can be undone, and those that were.
type edits struct {
	screen       *Screen
	shown        map[string]string // by input
	past, future []edit
	at           time.Time // of the last change
}

// The longest pauses between changes that are undone together: of the same field, as by typing, and of several, as by one button.
const (
	oneEdit    = time.Second
	oneGesture = 50 * time.Millisecond
)

func (e *edits) texts() map[string]string {
	all := map[string]string{}
	for name, i := range e.screen.inputs() {
		all[name] = i.get()
	}
	return all
}

// filled takes the form as it is after the program has filled it. The changes of another scenario cannot be undone.
func (e *edits) filled(another bool) {
	e.shown = e.texts()
	if another {
		e.past, e.future = nil, nil
	}
}

// note adds what the user has just changed.
func (e *edits) note() {
	now := e.texts()
	change := edit{map[string]string{}, map[string]string{}}
	for name, text := range now {
		if was, ok := e.shown[name]; ok && was != text {
			change.old[name], change.now[name] = was, text
		}
	}
	e.shown = now
	if len(change.now) == 0 {
		return
	}
	since := time.Since(e.at)
	if n := len(e.past); n > 0 && len(e.future) == 0 && (since < oneGesture || since < oneEdit && sameKeys(e.past[n-1].now, change.now)) {
		last := e.past[n-1]
		maps.Copy(change.old, last.old)
		maps.Copy(last.old, change.old)
		maps.Copy(last.now, change.now)
	} else {
		e.past = append(e.past, change)
	}
	e.future, e.at = nil, time.Now()
}

func sameKeys(a, b map[string]string) bool {
	return slices.Equal(slices.Sorted(maps.Keys(a)), slices.Sorted(maps.Keys(b)))
}

// undo takes the last change back.
func (e *edits) undo() {
	if n := len(e.past); n > 0 {
		last := e.past[n-1]
		e.past, e.future = e.past[:n-1], append(e.future, last)
		e.put(last.old)
	}
}

// redo repeats the last change that was undone.
func (e *edits) redo() {
	if n := len(e.future); n > 0 {
		next := e.future[n-1]
		e.future, e.past = e.future[:n-1], append(e.past, next)
		e.put(next.now)
	}
}

// put sets fields, and shows the group with one of them.
func (e *edits) put(texts map[string]string) {
	s := e.screen
	s.filling = true
	inputs := s.inputs()
	for name, text := range texts {
		if i, ok := inputs[name]; ok { // the parameters may be others now
			i.set(text)
		}
	}
	s.filling, e.at = false, time.Time{}
	e.shown = e.texts()
	s.edited()
	s.changed()
}
