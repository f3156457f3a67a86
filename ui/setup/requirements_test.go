package setup

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/internal/action"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/uitest"
)

const lacking = "the secret MODEL_KEY is neither in the environment nor in the keychain"

// TestAMissingSecretIsEntered checks that a missing secret is shown before the launch, and can be entered next to the
// service that needs it.
func TestAMissingSecretIsEntered(t *testing.T) {
	desk := &fakeDesk{requirements: Requirements{Missing: []Missing{{"model", "MODEL_KEY", lacking, "in a drawer"}}}}
	s := shown(t, desk)
	s.until("MODEL_KEY is missing")
	s.until("MODEL_KEY is neither")
	if uitest.Shows(s.row("shop"), "MODEL_KEY") {
		t.Error("the key is asked for next to another service")
	}
	k := s.screen.services.fields[1].keys.all[0]
	if got, want := k.note.Text(), lacking+". Enter it here; it is kept in a drawer."; got != want {
		t.Errorf("next to the service: got %q, want %q", got, want)
	}
	s.tap("MODEL_KEY is missing")
	if s.win.Canvas().Focused() != k.entry || !k.entry.Password {
		t.Error("the field of the secret has not the keyboard, or shows it")
	}
	s.Tap(s.row("model"), "Save") // nothing was entered
	k.entry.SetText("refused")
	s.Tap(s.row("model"), "Save")
	s.until("Cannot save the secret")
	k.entry.SetText("sk-1")
	s.Tap(s.row("model"), "Save")
	s.Until("kept", func() bool { return !s.shows("MODEL_KEY") })
	if got := desk.secret("MODEL_KEY"); got != "sk-1" || k.entry.Text != "" {
		t.Errorf("saved %q, and the field contains %q", got, k.entry.Text)
	}
}

func TestSeveralSecretsAreMissing(t *testing.T) {
	desk := &fakeDesk{requirements: Requirements{Missing: []Missing{{"model", "MODEL_KEY", lacking, "here"}, {"model", "OTHER", "no other", "here"}}}}
	s := shown(t, desk)
	s.until("2 secrets are missing")
	if all := s.screen.services.fields[1].keys.all; len(all) != 2 || !all[0].field.Visible() || !all[1].field.Visible() || all[1].entry.PlaceHolder != "OTHER" {
		t.Errorf("%d fields for two missing secrets", len(all))
	}
	s.screen.services.fields[1].keys.all[0].entry.SetText("sk-1")
	s.Tap(s.row("model"), "Save")
	s.until("OTHER is missing")
	s.typed("model", "mock:model") // it may want none
	s.until("OTHER is missing")
}

// TestASecretIsChanged checks that a secret that is not missing can be changed, for example after a wrong password, and that this
// clears what a launch said about the service.
func TestASecretIsChanged(t *testing.T) {
	desk := &fakeDesk{requirements: Requirements{Stored: []Stored{{"model", "MODEL_KEY", "the keychain", "in the keychain"}}}}
	s := shown(t, desk)
	s.until("The secret MODEL_KEY is in the keychain.")
	k := s.screen.services.fields[1].keys.all[0]
	if k.field.Visible() {
		t.Error("it is asked for although it is not missing")
	}
	i := slices.IndexFunc(s.screen.Actions(), func(a action.Action) bool { return strings.Contains(a.Name, "password") })
	s.screen.Actions()[i].Do()
	if s.win.Canvas().Focused() != k.entry || !k.field.Visible() {
		t.Error("the action does not open the field")
	}
	_ = s.screen.settings.Tell(&engine.FieldError{Field: "service model", Problem: "refused"})
	s.screen.bar.say("Not launched: correct the marked fields first.")
	k.entry.SetText("sk-2")
	s.Tap(s.row("model"), "Save")
	s.Until("kept", func() bool { return desk.secret("MODEL_KEY") == "sk-2" && !k.field.Visible() })
	if s.row("model").Problem() != "" || s.shows("Not launched") || k.entry.Text != "" {
		t.Errorf("the row says %q, and the field contains %q", s.row("model").Problem(), k.entry.Text)
	}
}

// TestWhoWritesThePopulation checks what is shown before a launch that lets a model write the population.
func TestWhoWritesThePopulation(t *testing.T) {
	desk := &fakeDesk{requirements: Requirements{Writing: "24 personas are to be written by model (small); about $0.02", Unwritten: 24}}
	s := shown(t, desk)
	s.until("about $0.02")
	s.until("8,928 sessions, 24 personas to write first")
	desk.mu.Lock()
	desk.requirements, desk.lost = Requirements{}, errors.New("the file is gone")
	desk.mu.Unlock()
	s.typed("Random seed", "7")
	s.until("Cannot check what the launch needs: the file is gone")
	if s.shows("written first") {
		t.Error("the summary still has them")
	}
}

func TestTheModelsOfAServiceAreShown(t *testing.T) {
	s := shown(t, &fakeDesk{})
	if !uitest.Shows(s.row("model"), "llm, small, large") {
		t.Errorf("next to the service: got %q", uitest.Texts(s.row("model")))
	}
}

// TestALongerTextHasRoom checks that a parameter with a long text has a multiline field of the full width.
func TestALongerTextHasRoom(t *testing.T) {
	long := strings.Repeat("a word ", 10)
	s := shown(t, &fakeDesk{change: func(sc *Scenario) {
		sc.Parameters = append(sc.Parameters, Parameter{ParameterSpec: view.ParameterSpec{Name: "topic", Title: "Topic"}, Kind: Text, Default: long})
	}})
	topic, greeting := s.entry("Topic"), s.entry("Greeting")
	if !topic.MultiLine || topic.Size().Width < 2*greeting.Size().Width || greeting.MultiLine {
		t.Errorf("the topic has %v, the greeting %v", topic.Size(), greeting.Size())
	}
	s.typed("Topic", "short now")
	s.Until("read again", func() bool { return s.desk.last(&s.desk.read).Given["topic"] == "short now" })
	if !s.entry("Topic").MultiLine {
		t.Error("the field changes while it is typed into")
	}
}

// TestNoFieldHoldsTheWheel checks that the wheel scrolls the page wherever the pointer is.
func TestNoFieldHoldsTheWheel(t *testing.T) {
	s := shown(t, &fakeDesk{})
	for _, f := range s.screen.parameters.fields {
		switch o := f.object.(type) {
		case *form.Entry:
			if o.Page == nil {
				t.Errorf("%s keeps the wheel", f.Name)
			}
		case *form.Number:
			if o.Page == nil {
				t.Errorf("%s keeps the wheel", f.Name)
			}
		case *widget.Check:
		}
	}
	for _, a := range s.screen.services.fields {
		if a.entry.Page == nil || slices.ContainsFunc(a.keys.all, func(k *key) bool { return k.entry.Page == nil }) {
			t.Errorf("%s keeps the wheel", a.service.Name)
		}
	}
}
