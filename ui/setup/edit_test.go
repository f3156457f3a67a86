package setup

import (
	"slices"
	"testing"

	"github.com/throng-sim/throng/ui/uitest"
)

// TestEditingIsOffered checks that scenarios can be edited, even unreadable ones, and that the values of the form can
// be saved to the file.
func TestEditingIsOffered(t *testing.T) {
	s := newStage(t, &fakeDesk{})
	var did []string
	var kept Order
	s.screen.SetEditing(Editing{
		New:  func() { did = append(did, "new") },
		Edit: func(name string) { did = append(did, "edit "+name) },
		Try:  func(name string) { did = append(did, "try "+name) },
		Keep: func(o Order) { kept = o },
	})
	s.until("Title of shopping")
	s.tap("New scenario…")
	s.tap("Edit scenario…")
	s.tap("Try one agent…")
	if want := []string{"new", "edit shopping", "try shopping"}; !slices.Equal(did, want) {
		t.Errorf("did %v", did)
	}
	if uitest.Button(s.screen.Content(), "Save to file…") != nil {
		t.Error("saving is offered without changes")
	}
	s.typed("Eagerness", "2.5")
	s.Drain()
	s.tap("Save to file…")
	if kept.Scenario != "shopping" || kept.Given["eagerness"] != "2.5" || kept.Settings.Cycles != 0 {
		t.Errorf("kept %+v", kept)
	}
	s.typed("Eagerness", "1")
	s.Drain()
	s.Until("nothing to keep", func() bool { return uitest.Button(s.screen.Content(), "Save to file…") == nil })
	s.typed("Length", "9")
	s.Drain()
	s.tap("Save to file…")
	if len(kept.Given) != 0 || kept.Settings.Cycles != 9 {
		t.Errorf("kept %+v", kept)
	}
	s.typed("Length", "24")
	s.typed("Eagerness", "2.5")
	given, settings, ok := s.screen.OrderOf("shopping")
	if !ok || given["eagerness"] != "2.5" || settings.Cycles != 24 {
		t.Errorf("the order is %v with %+v, %v", given, settings, ok)
	}
	if _, _, ok := s.screen.OrderOf("world"); ok {
		t.Error("the form shows another scenario")
	}
}

// TestEditingIsNotOffered checks that editing is not offered without an editor.
func TestEditingIsNotOffered(t *testing.T) {
	s := shown(t, &fakeDesk{})
	if uitest.Button(s.screen.Content(), "Edit scenario…") != nil || uitest.Button(s.screen.Content(), "New scenario…") != nil {
		t.Error("editing is offered")
	}
}

// TestANewScenarioThatWasNotSavedOpensInTheEditor checks that the list shows a new scenario that exists as a draft only, and opens it.
func TestANewScenarioThatWasNotSavedOpensInTheEditor(t *testing.T) {
	s := newStage(t, &fakeDesk{})
	opened := ""
	s.screen.SetEditing(Editing{Edit: func(name string) { opened = name }})
	s.until("Title of shopping")
	s.screen.gallery.set(append(s.screen.gallery.choices, Choice{Name: "templates/rules.yaml", Title: "Rules", BuiltIn: true, Draft: true, New: true}), nil)
	s.until("Not saved")
	s.pick("Rules")
	if opened != "templates/rules.yaml" || s.screen.gallery.chosen != "shopping" {
		t.Errorf("opened %q with %q chosen", opened, s.screen.gallery.chosen)
	}
}
