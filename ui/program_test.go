package ui

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"github.com/throng-sim/throng/assets"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/uitest"
)

// program returns what a test sets.
type program struct {
	mu      sync.Mutex
	reports []Report
	told    []string
}

func (p *program) About() About {
	return About{Version: "0.1.0, commit abc", Go: "1.26", Fyne: "2.8.1", System: "linux", Data: "/data/throng", Icon: assets.Icon()}
}

func (p *program) Licenses(context.Context) ([]assets.License, error) {
	return []assets.License{
		{Module: "example.com/one", Version: "v1.0.0", Kind: "MIT", Text: "Permission is granted"},
		{Module: "example.com/two", Version: "v2.0.0", Kind: "zlib", Text: "altered versions"},
	}, nil
}

func (p *program) Reports(context.Context) ([]Report, error) { return p.reports, nil }

func (p *program) Told(_ context.Context, path string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.told = append(p.told, path)
	return nil
}

func (p *program) Logs() string { return "/nowhere/logs" }

// TestReportsAreOffered checks that crash reports are offered one after another, before an interrupted run.
func TestReportsAreOffered(t *testing.T) {
	p := &program{reports: []Report{{"/c/new-1", time.Now(), "panic: one"}, {"/c/new-2", time.Now(), "panic: two"}}}
	q, a, _ := start(t, &desk{interrupted: &engine.RunRecord{ID: "r1", Title: "Shoppers"}})
	a.desk.Program = p
	a.greet()
	q.Until("the first", func() bool { return a.overlay() != nil && uitest.Shows(a.overlay(), "panic: one") })
	q.Tap(a.overlay(), "Copy")
	if got := a.app.Clipboard().Content(); got != "panic: one" {
		t.Errorf("on the clipboard is %q", got)
	}
	q.Tap(a.overlay(), "Close")
	q.Until("the second", func() bool { return a.overlay() != nil && uitest.Shows(a.overlay(), "panic: two") })
	check(t, a.overlay(), "Do not show this report again", false)
	q.Tap(a.overlay(), "Close")
	q.Until("the run", func() bool { return a.overlay() != nil && uitest.Button(a.overlay(), "Resume") != nil })
	if got := strings.Join(p.told, " "); got != "/c/new-1" {
		t.Errorf("got %q", got)
	}
}

// check sets a checkbox in a tree.
func check(t *testing.T, o fyne.CanvasObject, text string, on bool) {
	t.Helper()
	found := false
	uitest.Walk(o, func(o fyne.CanvasObject) bool {
		if c, ok := o.(interface{ SetChecked(bool) }); ok && uitest.Shows(o, text) {
			c.SetChecked(on)
			found = true
		}
		return !found
	})
	if !found {
		t.Fatalf("there is no box %s", text)
	}
}

// TestAbout checks the information about the program, and searches the licenses.
func TestAbout(t *testing.T) {
	q, a, _ := start(t, &desk{})
	if a.knowsProgram() {
		t.Error("About can be shown where nothing is known")
	}
	a.desk.Program = &program{}
	a.showAbout()
	q.Until("the licenses", func() bool { return uitest.Shows(a.overlay(), "2 of 2 components") })
	for _, text := range []string{"Throng 0.1.0, commit abc", "Fyne 2.8.1", "/data/throng", "Permission is granted"} {
		if !uitest.Shows(a.overlay(), text) {
			t.Errorf("%q is not shown", text)
		}
	}
	l := newLicenses()
	l.fill([]assets.License{{Module: "one", Kind: "MIT", Text: "granted"}, {Module: "two", Kind: "zlib", Text: "altered"}})
	test.Type(l.search, "ALTER")
	if len(l.found) != 1 || !strings.Contains(l.text.Text, "two\nzlib\n\naltered") {
		t.Errorf("found %v, %q", l.found, l.text.Text)
	}
	test.Type(l.search, " nothing")
	if l.text.Text != "" || !strings.HasPrefix(l.count.Text(), "0 of 2") {
		t.Errorf("found %q", l.text.Text)
	}
}

// TestFolderThatCannotBeOpened checks that the path of a folder that cannot be opened is shown.
func TestFolderThatCannotBeOpened(t *testing.T) {
	_, a, _ := start(t, &desk{})
	a.openFolder("/dev/null/logs")
	if !uitest.Shows(a.overlay(), "/dev/null/logs") {
		t.Errorf("got %q", uitest.Texts(a.overlay()))
	}
}
