package results

import (
	"slices"
	"strings"
	"testing"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/uitest"
)

// choose chooses an entry of the menu of exports.
func choose(t *testing.T, q *uitest.Queue, s *Screen, name string) {
	t.Helper()
	for _, item := range s.exports().Items {
		if item.Label == name {
			item.Action()
			q.Drain()
			return
		}
	}
	t.Fatalf("%s is not in the menu", name)
}

func TestExportAsksWhere(t *testing.T) {
	desk := &fakeDesk{runs: []engine.RunRecord{record("r", engine.EndFinished)}, totals: some()}
	q, s := start(t, desk)
	home := t.TempDir()
	t.Setenv("HOME", home)
	choose(t, q, s, "CSV…")
	picker := s.win.Canvas().Overlays().Top()
	if picker == nil {
		t.Fatal("no question is asked")
	}
	q.Tap(picker, "Save here")
	wait(q, s)
	if n := desk.times("csv r to " + home); n != 1 {
		t.Errorf("got calls %q", desk.asked)
	}
}

func TestExport(t *testing.T) {
	desk := &fakeDesk{runs: []engine.RunRecord{record("r", engine.EndFinished)}, totals: some()}
	q, s := start(t, desk)
	s.pickPath = func(_, _ string, then func(string)) { then("/there") }
	choose(t, q, s, "CSV…")
	wait(q, s)
	if n := desk.times("csv r to /there"); n != 1 {
		t.Errorf("got calls %q", desk.asked)
	}
	if got, want := s.said.Text(), "Exported to /there/throng-r. README.md describes"; !strings.HasPrefix(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	q.Tap(s.Content(), "Export…")
	if menu := s.win.Canvas().Overlays().Top(); menu == nil || !uitest.Shows(menu, "Parquet…") || !uitest.Shows(menu, "JSON…") {
		t.Error("the button opens no menu of exports")
	} else {
		s.win.Canvas().Overlays().Remove(menu)
	}
	q.Tap(s.Content(), "Open folder")
	desk.set(func() { desk.exportErr = engine.ErrNoRoom })
	choose(t, q, s, "CSV…")
	wait(q, s)
	if got, want := s.said.Text(), "The CSV export failed. There is no room on the disk"; !strings.HasPrefix(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if s.reveal.Visible() {
		t.Error("an export that failed can be revealed")
	}
}

// TestOtherWays checks that reports and Parquet files are exported like CSV, with the same questions and messages.
func TestOtherWays(t *testing.T) {
	desk := &fakeDesk{runs: []engine.RunRecord{record("r", engine.EndFinished)}, totals: some()}
	q, s := start(t, desk)
	var asked []string
	s.pickPath = func(title, _ string, then func(string)) {
		asked = append(asked, title)
		then("/there")
	}
	do := func(name string) {
		for _, a := range s.Actions() {
			if a.Name == name && a.Menu == "File" && a.Enabled() {
				a.Do()
				wait(q, s)
				return
			}
		}
		t.Fatalf("%s is not offered", name)
	}
	choose(t, q, s, "Report…")
	wait(q, s)
	if got, want := s.said.Text(), "Saved the report to /there/throng-r."; !strings.HasPrefix(got, want) || desk.times("report r to /there") != 1 {
		t.Errorf("got %q, want %q; asked %q", got, want, desk.asked)
	}
	do("Export Parquet…")
	if got, want := s.said.Text(), "Exported to /there/throng-r. README.md"; !strings.HasPrefix(got, want) || desk.times("parquet r to /there") != 1 {
		t.Errorf("got %q, want %q; asked %q", got, want, desk.asked)
	}
	if want := []string{"Folder for the report", "Folder for the Parquet export"}; !slices.Equal(asked, want) {
		t.Errorf("got calls %q, want %q", asked, want)
	}
	desk.set(func() { desk.exportErr = engine.ErrNoRoom })
	do("Report…")
	if got, want := s.said.Text(), "The report failed. There is no room on the disk"; !strings.HasPrefix(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
