package setup

import (
	"strconv"
	"testing"

	"fyne.io/fyne/v2"
)

func TestWhatWasTypedStaysWithItsScenario(t *testing.T) {
	s := shown(t, &fakeDesk{})
	s.typed("Eagerness", "3")
	s.pick("A small world")
	s.until("Title of world")
	if got := s.entry("Eagerness").Text; got != "1" {
		t.Errorf("the other scenario has %s, want its default", got)
	}
	s.pick("Marketplace shoppers")
	s.until("Title of shopping")
	if got := s.entry("Eagerness").Text; got != "3" {
		t.Errorf("the first scenario has %s, want what was typed", got)
	}
}

func TestTheLastChoiceIsRemembered(t *testing.T) {
	s := shown(t, &fakeDesk{})
	s.pick("A small world")
	s.until("Title of world")
	s.typed("Shoppers", "20")
	s.until("20 shoppers")

	s.again()
	s.until("Title of world")
	if got := s.entry("Shoppers").Text; got != "20" || !s.shows("20 shoppers") {
		t.Errorf("the parameter is %s, want 20", got)
	}
}

// TestTheLastChoiceDoesNotWaitForTheList checks that the last scenario is shown before the others are listed, as the built-in it is.
func TestTheLastChoiceDoesNotWaitForTheList(t *testing.T) {
	s := shown(t, &fakeDesk{})
	s.pick("A small world")
	s.until("Title of world")
	s.desk.listed = make(chan struct{})
	s.again()
	s.until("Title of world")
	if s.shows("Reload") {
		t.Error("the built-in is shown as a file")
	}
	close(s.desk.listed)
	s.until("Marketplace shoppers")
}

// TestEverythingTypedIsRestored types into each field, ends the program without a word, and checks the form of the next one.
func TestEverythingTypedIsRestored(t *testing.T) {
	s := shown(t, &fakeDesk{remote: "db.example.com/throng"})
	s.pick("A small world")
	s.until("Title of world")
	s.typed("Shoppers", "20")
	s.until("20 shoppers")
	screen := s.screen
	n := 1
	texts := map[string]string{}
	for name, e := range screen.entries() {
		n++
		texts[name] = strconv.Itoa(n)
		if name == "service shop" || name == "wall" || name == "floor" {
			texts[name] = "half typed " + name
		}
		e.SetText(texts[name])
	}
	screen.length.unit.SetSelected(inHours)
	screen.length.profile.SetSelectedIndex(3)
	screen.concurrency.governor.SetSelectedIndex(2)
	screen.remote.send.SetChecked(true)
	s.typed("Eagerness", "much") // not valid
	s.typed("Agents", "a b")
	picks := map[string]string{}
	for name, p := range screen.picks() {
		picks[name] = p.Selected()
	}

	s.again()
	s.until("Title of world")
	screen = s.screen
	for name, e := range screen.entries() {
		if e.Text != texts[name] {
			t.Errorf("%s is %q, want %q", name, e.Text, texts[name])
		}
	}
	for name, p := range screen.picks() {
		if p.Selected() != picks[name] {
			t.Errorf("%s is %q, want %q", name, p.Selected(), picks[name])
		}
	}
	if got := s.entry("Shoppers").Text + " " + s.entry("Eagerness").Text + " " + s.entry("Agents").Text; got != "20 much a b" || !screen.remote.send.Checked {
		t.Errorf("restored is %q, sending %v", got, screen.remote.send.Checked)
	}
	s.pick("Marketplace shoppers") // and back
	s.until("Title of shopping")
	if got := screen.length.unit.Selected; got != inCycles {
		t.Errorf("another scenario has a length %q", got)
	}
	s.pick("A small world")
	s.until("Title of world")
	if got := screen.length.hours.Text; got != texts["hours"] || screen.length.unit.Selected != inHours {
		t.Errorf("the length is %s %s", got, screen.length.unit.Selected)
	}
}

func TestParametersThatNoLongerFitAreGivenUp(t *testing.T) {
	s := newStage(t, &fakeDesk{})
	s.until("Title of shopping")
	s.screen.scenario = nil // it remembers nothing more
	remember(fyne.CurrentApp().Preferences(), subject{scenario: "world"}, map[string]string{"agents": "13"}, selection{}, nil)
	s.again()
	s.until("Title of world")
	if got := s.entry("Shoppers").Text; got != "372" {
		t.Errorf("the parameter is %s, want its default", got)
	}
}
