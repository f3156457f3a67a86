package settings

import (
	"slices"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"github.com/throng-sim/throng/ui/internal/action"
	"github.com/throng-sim/throng/ui/uitest"
)

// someSettings are run settings of four groups.
var someSettings = []Setting{
	{"retries", "Attempts", "Timeouts and retries", "5", "default", "attempts at a request"},
	{"cycles", "Cycles", "Length and pace", "24", "saved", "length of the run"},
	{"session-timeout", "Session timeout", "Timeouts and retries", "5m0s", "default", "time that a session may use"},
	{"max-concurrent", "Concurrency limit", "Concurrency", "50", "MAX_WORKERS", "maximum number of sessions in flight"},
	{"new-thing", "New thing", "More", "on", "default", "a setting without a title"},
}

// listed returns the entries of the list of sections, with the numbers of settings found.
func (s *stage) listed() []string {
	return slices.DeleteFunc(uitest.Texts(s.screen.sections.index), func(text string) bool { return text == defaultsTitle })
}

func (s *stage) key(name fyne.KeyName) {
	s.win.Canvas().Focused().TypedKey(&fyne.KeyEvent{Name: name})
	s.Drain()
}

// TestSections checks that every section is in the list and opens by a tap and with the arrow keys, one at a time.
func TestSections(t *testing.T) {
	s := shown(t, General, &fakeDesk{settings: someSettings})
	want := []string{General, Notifications, Storage, Database, Privacy, "Timeouts and retries", "Length and pace", "Concurrency", "More"}
	s.Until("the groups", func() bool { return slices.Equal(s.listed(), want) })
	says := []string{"Text size", "Web hook URL", "Log level", "Server's CA", "Allowed addresses", "Session timeout", "Cycles", "MAX_WORKERS (environment)", "New thing"}
	for i, o := range lines(s.screen.sections.index) {
		test.Tap(o)
		s.Drain()
		for j, text := range says {
			if shows := uitest.Shows(s.screen.sections.page, text); shows != (i == j) {
				t.Errorf("%s: %q is shown: %t", want[i], text, shows)
			}
		}
	}
	s.key(fyne.KeyHome)
	for i, title := range want {
		if s.screen.sections.chosen != title || !uitest.Shows(s.screen.sections.page, says[i]) {
			t.Errorf("the arrow keys are at %s instead of %s", s.screen.sections.chosen, title)
		}
		s.key(fyne.KeyDown)
	}
	s.key(fyne.KeyUp)
	if s.screen.sections.chosen != "Concurrency" {
		t.Errorf("Up at the end leads to %s", s.screen.sections.chosen)
	}
}

// lines returns the lines of an index that can be tapped.
func lines(x *index) (all []*line) {
	for _, o := range x.lines.Objects {
		if l := o.(*line); !l.entry.caption {
			all = append(all, l)
		}
	}
	return all
}

// TestSearch checks that the search finds settings by label and help, in all sections, and that the keyboard is enough.
func TestSearch(t *testing.T) {
	s := shown(t, General, &fakeDesk{settings: someSettings})
	s.Until("the groups", func() bool { return slices.Contains(s.listed(), "More") })
	acts := s.screen.Actions()
	find := acts[slices.IndexFunc(acts, func(a action.Action) bool { return a.Name == "Find…" })]
	find.Do()
	if s.win.Canvas().Focused() != fyne.Focusable(s.screen.sections.look) || find.Key != fyne.KeyF || find.Modifier != action.Command {
		t.Fatal("Ctrl+F does not focus the search")
	}
	for _, tt := range []struct{ looked, listed, shows, not string }{
		{"session timeout", "Timeouts and retries 1", "Session timeout", "Attempts"},
		{"certificate", "Database 1", "Server's CA", "Session timeout"},
		{"KEYCHAIN", "Notifications 1 Database 1", "Server's CA", "Web hook URL"},
		{"timeouts", "Timeouts and retries 2", "Attempts", "Cycles"},
		{"max-concurrent", "Concurrency 1", "Concurrency limit", "Cycles"},
	} {
		s.screen.sections.look.SetText(tt.looked)
		s.Drain()
		if got := strings.Join(s.listed(), " "); got != tt.listed {
			t.Errorf("%s: the list is %q, want %q", tt.looked, got, tt.listed)
		}
		if page := s.screen.sections.page; !uitest.Shows(page, tt.shows) || uitest.Shows(page, tt.not) {
			t.Errorf("%s: the page shows %q", tt.looked, uitest.Texts(page))
		}
	}
	s.screen.sections.look.SetText("keychain")
	if s.screen.sections.chosen != Notifications {
		t.Errorf("a search with matches in other sections is at %s", s.screen.sections.chosen)
	}
	if !s.shows("Found here: Web hook URL.") {
		t.Errorf("what is found in Notifications is not named: %q", uitest.Texts(s.screen.sections.page))
	}
	s.key(fyne.KeyDown)
	if s.screen.sections.chosen != Database || !s.shows("Found here: Password.") {
		t.Errorf("Down in the search leads to %s: %q", s.screen.sections.chosen, uitest.Texts(s.screen.sections.page))
	}
	s.screen.sections.look.SetText("elephants")
	s.Drain()
	if !s.shows("Try fewer") || len(s.listed()) > 0 || s.shows("Server's CA") {
		t.Errorf("nothing is found, and the screen shows %q", uitest.Texts(s.screen.Content()))
	}
	s.key(fyne.KeyEscape)
	if len(s.listed()) != 9 || s.screen.sections.chosen != Database || !s.shows("Server's CA") {
		t.Errorf("without a search, %q are listed", s.listed())
	}
}

// TestItemsAreShown checks that what the search finds in a section with a panel of its own is shown there.
func TestItemsAreShown(t *testing.T) {
	s := shown(t, General, &fakeDesk{})
	for _, one := range s.screen.sections.panels {
		s.screen.Open(one.title)
		for _, i := range one.items {
			if !uitest.Shows(one.panel, i.label) {
				t.Errorf("%s does not show %q", one.title, i.label)
			}
		}
	}
}

// TestTheOpenSectionIsInView checks that the arrow keys scroll the list in a low window.
func TestTheOpenSectionIsInView(t *testing.T) {
	s := shown(t, General, &fakeDesk{settings: someSettings})
	s.Until("the groups", func() bool { return slices.Contains(s.listed(), "More") })
	s.win.Resize(fyne.NewSize(700, 150))
	s.Drain()
	s.win.Canvas().Focus(s.screen.sections.index)
	s.key(fyne.KeyEnd)
	driver, list := fyne.CurrentApp().Driver(), s.screen.sections.list
	line := s.screen.sections.index.line("More")
	y := driver.AbsolutePositionForObject(line).Y - driver.AbsolutePositionForObject(list).Y
	if s.screen.sections.chosen != "More" || list.Offset.Y == 0 || y < 0 || y+line.Size().Height > list.Size().Height+1 {
		t.Errorf("%s is at %v of %v", s.screen.sections.chosen, y, list.Size().Height)
	}
}
