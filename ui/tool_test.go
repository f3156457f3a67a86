package ui

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/throng-sim/throng/ui/uitest"
)

// tool answers what a test sets.
type tool struct {
	text, command string
	err           error
}

func (t *tool) Install(context.Context) (text, command string, err error) {
	return t.text, t.command, t.err
}

// chooses chooses an action of the menus by name, and reports whether it is there.
func chooses(a *App, name string) bool {
	i := slices.IndexFunc(a.commands, func(d *command) bool { return d.Name == name && d.item != nil })
	if i >= 0 {
		a.commands[i].item.Action()
	}
	return i >= 0
}

// TestInstallsTheTool checks that the menu offers to install the terminal program where it is missing, and shows what was done or the
// command to type.
func TestInstallsTheTool(t *testing.T) {
	const name = "Install command line tool…"
	q, a, _ := start(t, &desk{})
	if chooses(a, name) {
		t.Error("there is nothing to install, and the menu offers it")
	}
	own := &tool{text: "Linked /usr/local/bin/throngctl."}
	a.desk.Tool = own
	a = New(a.app, a.desk)
	if !chooses(a, name) {
		t.Fatal("the menu does not offer it")
	}
	q.Until("what was done", func() bool { return a.overlay() != nil && uitest.Shows(a.overlay(), own.text) })
	q.Tap(a.overlay(), "Close")

	own.text, own.command = "Type this:", "sudo ln -sf throngctl /usr/local/bin"
	chooses(a, name)
	q.Until("the command", func() bool { return a.overlay() != nil && uitest.Shows(a.overlay(), own.command) })
	q.Tap(a.overlay(), "Copy")
	if got := a.app.Clipboard().Content(); got != own.command {
		t.Errorf("on the clipboard is %q", got)
	}
	q.Tap(a.overlay(), "Close")

	own.err = errors.New("it runs from the disk image")
	chooses(a, name)
	q.Until("the error", func() bool { return a.overlay() != nil && uitest.Shows(a.overlay(), own.err.Error()) })
}
