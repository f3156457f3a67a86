package settings

import (
	"errors"
	"testing"

	"fyne.io/fyne/v2/test"

	"github.com/throng-sim/throng/engine"
)

func TestAPasswordInTheAddressIsTakenOut(t *testing.T) {
	s := shown(t, Database, &fakeDesk{})
	d := s.screen.database
	d.url.SetText("postgres://app:secret@db.example.com:5432/app")
	if d.url.Text != good || d.password.Text != "secret" {
		t.Errorf("a pasted address became %q and %q", d.url.Text, d.password.Text)
	}
	s.tap("Save")
	s.asks("save " + good + " secret")
	s.until("Saved.")
	s.Until("kept", func() bool { return d.password.PlaceHolder != "" })
	if d.password.Text != "" || d.url.Text != good {
		t.Errorf("after saving the fields hold %q and %q", d.url.Text, d.password.Text)
	}

	test.Type(d.url, "x") // a letter that is typed was not pasted
	d.url.SetText("")
	for _, letter := range "postgres://app:p@ss@db.example.com/app" {
		d.url.TypedRune(letter)
	}
	if d.password.Text != "" {
		t.Errorf("the password %q was taken while it was typed", d.password.Text)
	}
	d.url.FocusLost()
	if d.url.Text != "postgres://app@db.example.com/app" || d.password.Text != "p@ss" {
		t.Errorf("a typed address became %q and %q", d.url.Text, d.password.Text)
	}
}

func TestAWrongAddressIsNotSent(t *testing.T) {
	s := shown(t, Database, &fakeDesk{})
	for text, want := range map[string]string{"": "missing address", "db.example.com": "start with postgres://", "postgres://app:s#x@db/app": "own field"} {
		s.screen.database.url.SetText(text)
		for _, button := range []string{"Test", "Save"} {
			s.tap(button)
			if !s.shows(want) {
				t.Errorf("%s of %q does not show %q", button, text, want)
			}
		}
	}
	if len(s.desk.asked) != 0 {
		t.Errorf("got calls %q", s.desk.asked)
	}
}

func TestTheConnectionIsTested(t *testing.T) {
	desk := &fakeDesk{
		connection: Connection{URL: good, From: "saved", HasPassword: true},
		lines:      []Line{{"Server", "PostgreSQL 15.6", Plain}, {"Round trip", "1.2 ms", Good}, {"Encryption", "none", Bad}},
	}
	s := shown(t, Database, desk)
	s.Until("the address is shown", func() bool { return s.screen.database.url.Text == good })
	s.tap("Test")
	s.asks("test " + good + " ") // the password that is kept
	s.until("PostgreSQL 15.6")
	for _, text := range []string{"Round trip", "1.2 ms", "Encryption", "none"} {
		if !s.shows(text) {
			t.Errorf("the test does not show %q", text)
		}
	}

	desk.set(func() { desk.err = errors.New("no route to host") })
	s.tap("Test")
	s.until("The test failed: no route to host")
	if s.shows("PostgreSQL 15.6") {
		t.Error("the answer of another test is shown")
	}

	late := make(chan struct{})
	desk.set(func() { desk.err, desk.wait = nil, late })
	s.tap("Test")
	if !s.screen.database.test.Disabled() {
		t.Error("the test shows no progress")
	}
	s.Until("asked", func() bool { return desk.count() == 3 })
	s.screen.database.url.SetText(good + "2")
	desk.set(func() { desk.wait, desk.lines = nil, []Line{{"Server", "PostgreSQL 16.1", Plain}} })
	s.tap("Test")
	s.until("PostgreSQL 16.1")
	close(late)
	s.tap("Test")
	s.until("PostgreSQL 16.1")
	if s.shows("PostgreSQL 15.6") {
		t.Error("the answer for an address that was changed is shown")
	}
}

func TestAFailureToSaveIsExplained(t *testing.T) {
	desk := &fakeDesk{err: &engine.FieldError{Field: "database", Problem: "has no such sslmode"}}
	s := shown(t, Database, desk)
	s.screen.database.url.SetText(good)
	s.screen.database.password.SetText("secret")
	s.tap("Save")
	s.until("has no such sslmode")
	if s.screen.database.password.Text != "secret" || s.screen.database.save.Disabled() {
		t.Error("the password is gone, or the button is dead")
	}
	desk.set(func() { desk.err = errors.New("no keychain: the password lasts until the end of the program") })
	s.tap("Save")
	s.until("no keychain")
	if s.shows("sslmode") {
		t.Error("the mistake before is still shown")
	}
}

func TestForgettingAsks(t *testing.T) {
	s := shown(t, Database, &fakeDesk{connection: Connection{URL: good, From: "saved"}})
	s.until("Saved in the settings")
	s.tap("Forget…")
	s.confirm("Cancel")
	s.tap("Forget…")
	s.confirm("Forget")
	s.asks("save  ")
	s.until("Forgotten.")
	s.until("No database")
	if got := len(s.desk.asked); got != 1 {
		t.Errorf("the desk was asked %d times, want once", got)
	}
	if s.screen.database.forget.Visible() || s.screen.database.url.Text != "" {
		t.Error("there is still something to forget")
	}
}

func TestTheEnvironmentGoesFirst(t *testing.T) {
	s := shown(t, Database, &fakeDesk{connection: Connection{URL: good, From: "THRONG_DATABASE_URL", Keychain: "nothing answers"}})
	s.until("The environment variable THRONG_DATABASE_URL")
	if !s.shows("The password is kept only until the program ends: nothing answers") {
		t.Error("the keychain error is not reported")
	}
	if s.screen.database.forget.Visible() {
		t.Error("a value of the environment can be removed")
	}
}

// TestADatabaseOfTheEnvironmentIsOffered accepts and declines the database in DATABASE_URL.
func TestADatabaseOfTheEnvironmentIsOffered(t *testing.T) {
	for button, answer := range map[string]string{"Use": "offer true", "No": "offer false"} {
		s := shown(t, Database, &fakeDesk{connection: Connection{Offer: "db.example.com/app"}})
		s.until("The environment variable DATABASE_URL points to db.example.com/app")
		s.tap(button)
		s.asks(answer)
		s.Until("the offer is gone", func() bool { return !s.shows("DATABASE_URL in the environment") })
	}
}

// TestThePasswordIsNeededAgain checks that a start asks for the password again if no keychain stored it.
func TestThePasswordIsNeededAgain(t *testing.T) {
	s := shown(t, Database, &fakeDesk{connection: Connection{URL: good, From: "saved", Keychain: "nothing answers", Asks: true}})
	s.until("Enter the password again")
	if s.win.Canvas().Focused() != s.screen.database.password {
		t.Errorf("the focus is at %v", s.win.Canvas().Focused())
	}
	s.screen.database.password.SetText("hush")
	s.tap("Save")
	s.until("Saved.")
	s.Until("it is no longer needed", func() bool { return !s.shows("Enter the password again") })
}

func TestTheStateOfSendingIsFollowed(t *testing.T) {
	s := shown(t, Database, &fakeDesk{})
	s.desk.sending = Line{Value: "12 rows wait", State: Warning}
	s.screen.Tick()
	if !s.shows("12 rows wait") {
		t.Error("the state is not shown")
	}
	s.desk.sending = Line{}
	s.screen.Tick()
	if s.shows("12 rows wait") {
		t.Error("an outdated state is shown")
	}
}
