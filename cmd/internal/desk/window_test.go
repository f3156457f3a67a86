package desk

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fyne.io/fyne/v2/test"

	"github.com/throng-sim/throng/cmd/internal/control"
	"github.com/throng-sim/throng/cmd/internal/logs"
)

// TestSecondStartBeforeWindow checks that files that arrive while the store opens are not lost, and go to the window in
// front.
func TestSecondStartBeforeWindow(t *testing.T) {
	data := t.TempDir()
	d, err := claim(data)
	if err != nil {
		t.Fatal(err)
	}
	s := &showing{start: Start{Data: data}, desk: d}
	s.listen()
	var seen []string
	front := func(who string) func(string) { return func(file string) { seen = append(seen, who+" "+file) } }
	for _, step := range []struct {
		file string
		do   func()
	}{{"a.yaml", func() { s.front(front("update")) }}, {"b.yaml", func() { s.front(front("window")) }}, {"", nil}} {
		if err := control.Raise(t.Context(), data, step.file); err != nil {
			t.Fatal(err)
		}
		if step.do != nil {
			step.do()
		}
	}
	if want := []string{"update a.yaml", "update b.yaml", "window "}; !slices.Equal(seen, want) {
		t.Errorf("got %q, want %q", seen, want)
	}
	if err := s.giveUp(nil); err != nil {
		t.Error(err)
	}
	if err := control.Raise(t.Context(), data, ""); err == nil {
		t.Error("raised a window that was closed before it opened")
	}
	if d, err = claim(data); err != nil {
		t.Fatalf("the folder is not free: %v", err)
	}
	if err := d.window.Close(); err != nil {
		t.Error(err)
	}
}

// TestLogWhereNothingCanBeWritten checks that errors appear in the terminal if the log file cannot be written.
func TestLogWhereNothingCanBeWritten(t *testing.T) {
	data := t.TempDir()
	if err := os.WriteFile(logs.Folder(data), nil, 0o600); err != nil { // root could write into a read-only folder
		t.Fatal(err)
	}
	terminal, err := os.Create(filepath.Join(t.TempDir(), "terminal"))
	if err != nil {
		t.Fatal(err)
	}
	before := slog.Default()
	defer slog.SetDefault(before)
	var level slog.LevelVar
	trouble, file := openLog(data, &level, terminal)
	slog.Error("broken")
	if n, _, _ := trouble.newest(); n != 1 {
		t.Errorf("%d errors were counted", n)
	}
	if err := errors.Join(file.Close(), terminal.Close()); err != nil {
		t.Error(err)
	}
	text, err := os.ReadFile(terminal.Name())
	if err != nil || !strings.Contains(string(text), "broken") {
		t.Errorf("%v: %s", err, text)
	}
}

// TestClosedWhileUpdating checks that closing waits for the update of the store, and that starting the program again
// cancels the close.
func TestClosedWhileUpdating(t *testing.T) {
	app := test.NewTempApp(t)
	u := newUpdating(&showing{app: app})
	u.say("Half of it.")
	u.close()
	if want := "Half of it." + closingWords; u.text.Text != want {
		t.Errorf("it says %q, want %q", u.text.Text, want)
	}
	u.wanted("a.yaml")
	if u.text.Text != "Half of it." || u.leave || u.start.File != "a.yaml" {
		t.Errorf("after a second start: got text %q, file %q", u.text.Text, u.start.File)
	}
	u.close()
	u.done(nil)
	if !u.opened || u.window != nil {
		t.Error("a closed window opened another")
	}
}
