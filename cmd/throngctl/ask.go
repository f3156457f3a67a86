package main

import (
	"errors"
	"fmt"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/cmd/internal/app/secrets"
	"github.com/throng-sim/throng/cmd/throngctl/internal/show"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/visible"
)

// person returns the terminal of a user who can be asked: input and standard error must both be terminals.
func (t *terminal) person() (fd int, ok bool) {
	fd, in := show.IsTerminal(t.in)
	_, out := show.IsTerminal(show.Raw(t.err))
	return fd, in && out
}

// asked asks a question and reads the answer without echo.
func (t *terminal) asked(question string, fd int) (string, error) {
	fmt.Fprint(t.err, question)
	defer fmt.Fprintln(t.err)
	return t.typed(fd)
}

// askSecrets asks the user at the terminal, if there is one, for each missing secret of a launch. Values are kept until the
// process ends. The launch reports secrets that stay missing.
func askSecrets(t *terminal, l app.Launch) error {
	fd, ok := t.person()
	if !ok || l.Settings.Replay != "" { // a replay calls no services
		return nil
	}
	put := map[string]bool{}
	for _, service := range l.Permits().PlannedServices() {
		for _, s := range service.Secrets {
			if s.Err == nil || put[s.Name] {
				continue
			}
			put[s.Name] = true
			if mistake, ok := errors.AsType[*engine.FieldError](s.Err); ok { // its hint suggests other ways
				fmt.Fprintf(t.err, "%s: %s\n", mistake.Field, mistake.Problem)
			}
			value, err := t.asked("value of "+s.Name+" (hidden, for this run only; press Enter to skip): ", fd)
			if err != nil {
				return err
			}
			if value == "" {
				continue
			}
			if err := secrets.Remember(s.Name, value); err != nil {
				return err
			}
		}
	}
	return nil
}

// askDestinations shows the addresses that the scenario may not call yet, and asks the user once for all of them. Without a
// terminal, or if the answer is no, the launch refuses them.
func askDestinations(t *terminal, l *app.Launch) error {
	_, ok := t.person()
	if !ok || t.json {
		return nil
	}
	all := engine.Merged(l.Permits().Unallowed())
	if len(all) == 0 {
		return nil
	}
	fmt.Fprintf(t.err, "%s may not call these addresses yet:\n", visible.Line(l.Scenario.Source.Name))
	for _, d := range all {
		fmt.Fprintf(t.err, "  %s gets %s (%s)\n", d.Address(), d.Gets(), d.Service)
		if d.Results {
			fmt.Fprintln(t.err, "    This database holds the results of your runs.")
		}
	}
	fmt.Fprint(t.err, "Allow all of them for this file? The answer is remembered; a new address or secret asks again. [y/N] ")
	answer, err := t.typedLine()
	if err != nil {
		return err
	}
	if answer != "y" && answer != "yes" {
		return nil
	}
	for _, d := range all {
		l.Allow = append(l.Allow, d.Address())
	}
	return nil
}

// typedLine reads a line in lower case, until a signal interrupts it.
func (t *terminal) typedLine() (string, error) {
	done := make(chan string, 1)
	go func() { done <- t.answer("") }()
	select {
	case text := <-done:
		return text, nil
	case <-t.signals:
		fmt.Fprintln(t.err)
		return "", exitError(exitInterrupted)
	}
}

// askPassword asks for the password of the saved database if it was not stored.
func (f databaseFlag) askPassword(t *terminal, db config.Database) (config.Database, error) {
	fd, ok := t.person()
	if !ok || !db.Asks {
		return db, nil
	}
	fmt.Fprintf(t.err, "The password of %s was kept only for the program it was entered in.\n", db.Target())
	password, err := t.asked("password (hidden, for this run only; press Enter to skip): ", fd)
	if err != nil || password == "" {
		return db, err
	}
	config.RememberPassword(db.URL, password)
	db.Password, db.Asks = password, false
	return db, nil
}
