package main

import (
	"errors"
	"fmt"
	"io"

	"golang.org/x/term"

	"github.com/throng-sim/throng/cmd/internal/app/secrets"
	"github.com/throng-sim/throng/cmd/throngctl/internal/answer"
	"github.com/throng-sim/throng/cmd/throngctl/internal/show"
)

// maxSecret is the maximum size of a secret, in bytes.
const maxSecret = 64 << 10

// secretCmd manages the secrets that scenarios name as secret:NAME.
type secretCmd struct {
	Set    secretSetCmd    `cmd:"" help:"Save a secret in the system's keychain; its value is prompted for, or read from a pipe."`
	Forget secretForgetCmd `cmd:"" help:"Remove a secret from the keychain."`
	Check  secretCheckCmd  `cmd:"" help:"Show where a secret is found: environment or keychain. Its value is not shown."`
}

type secretSetCmd struct {
	Name string `arg:"" help:"Name, without the prefix secret:."`
	jsonFlag
}

// Run is called by kong.
func (c *secretSetCmd) Run(t *terminal) error {
	value, err := c.readSecret(t, c.Name)
	if err != nil {
		return err
	}
	err = secrets.Keep(c.Name, value)
	if unkept, ok := errors.AsType[*secrets.UnkeptError](err); ok {
		return fmt.Errorf("%s was not saved: %w; set the variable %s before a run, or type it when a run in a terminal asks",
			c.Name, unkept.Err, c.Name)
	}
	if err != nil {
		return err
	}
	return printSecret(t, c.Name, secrets.InKeychain)
}

type secretForgetCmd struct {
	Name string `arg:"" help:"Name, without the prefix secret:."`
	jsonFlag
}

// Run is called by kong.
func (c *secretForgetCmd) Run(t *terminal) error {
	if err := secrets.Forget(c.Name); err != nil {
		return err
	}
	if t.json {
		return t.print(answer.Secret{Name: c.Name})
	}
	fmt.Fprintf(t.out, "%s was removed from %s.\n", c.Name, secrets.InKeychain)
	return nil
}

type secretCheckCmd struct {
	Name string `arg:"" help:"Name, without the prefix secret:."`
	jsonFlag
}

// Run is called by kong.
func (c *secretCheckCmd) Run(t *terminal) error {
	place, err := secrets.FindPlace(c.Name)
	if err != nil {
		return err
	}
	return printSecret(t, c.Name, place)
}

// printSecret prints where a secret is found.
func printSecret(t *terminal, name, place string) error {
	if t.json {
		return t.print(answer.Secret{Name: name, Place: place})
	}
	_, err := fmt.Fprintf(t.out, "%s is in %s\n", name, place)
	return err
}

// readSecret reads a value from a terminal without echo, or from a pipe.
func (c *secretSetCmd) readSecret(t *terminal, name string) (string, error) {
	if fd, ok := show.IsTerminal(t.in); ok {
		return t.asked("value of "+name+" (hidden): ", fd)
	}
	value, err := io.ReadAll(io.LimitReader(t.in, maxSecret+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("read the value of %s: %w", name, err)
	case len(value) > maxSecret:
		return "", fmt.Errorf("the value of %s is longer than %d kB", name, maxSecret>>10)
	}
	return string(value), nil
}

// typed reads a line without echo. A signal cancels it and restores the terminal.
func (t *terminal) typed(fd int) (string, error) {
	was, err := term.GetState(fd)
	if err != nil {
		return "", err
	}
	type line struct {
		text []byte
		err  error
	}
	done := make(chan line, 1)
	go func() {
		text, err := term.ReadPassword(fd)
		done <- line{text, err}
	}()
	select {
	case l := <-done:
		return string(l.text), l.err
	case <-t.signals:
		return "", errors.Join(exitError(exitInterrupted), term.Restore(fd, was))
	}
}
