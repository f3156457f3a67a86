package setup

import (
	"errors"
	"slices"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/uitest"
)

// listed is a list with one check of each grade.
var listed = []engine.Check{
	{Name: "Service shop", Grade: engine.GradeWarning, Text: "nothing was sent there", Hint: "a launch asks", Fix: "allow shop.example.com"},
	{Name: "Pool", Grade: engine.GradeProblem, Text: "only 3 opened", Fix: "connections 3"},
	{Name: "Disk", Grade: engine.GradeOK, Text: "69 GB free"},
	{Name: "Power", Grade: engine.GradeUnknown, Text: "this system does not tell", Fix: "again"},
}

// TestChecksBeforeALaunch checks that results are shown as they arrive, that passed checks are shown on request, and
// that checks do not run again without a reason.
func TestChecksBeforeALaunch(t *testing.T) {
	held := make(chan struct{})
	desk := &fakeDesk{checks: listed, wait: map[string]chan struct{}{"check": held}}
	s := shown(t, desk)
	s.Until("checking", func() bool {
		s.screen.Tick()
		return s.shows("checking: 0 of 4")
	})
	close(held)
	s.until("1 problem, 1 warning, 1 ok, 1 unknown")
	for _, want := range []string{"Service shop", "nothing was sent there", "a launch asks", "only 3 opened"} {
		if !s.shows(want) {
			t.Errorf("it does not show %q", want)
		}
	}
	if s.shows("69 GB free") {
		t.Error("a metric without problems takes room")
	}
	s.tap("Show all")
	if !s.shows("69 GB free") || !s.shows("this system does not tell") {
		t.Error("not all is shown")
	}
	s.tap("Show less")
	if uitest.Button(s.screen.bar.panel, "1 problem") == nil {
		t.Errorf("the bar shows %q", uitest.Texts(s.screen.bar.panel))
	}
	n := desk.count(&desk.checked)
	s.screen.follow()
	s.Drain()
	if got := desk.count(&desk.checked); got != n {
		t.Errorf("the same was checked %d times more", got-n)
	}
	s.typed("Starting limit", "7")
	s.Until("checked again", func() bool { return desk.count(&desk.checked) == n+1 })
	if got := desk.last(&desk.checked).Settings.Limit; got != 7 {
		t.Errorf("checked with a limit of %d", got)
	}
	s.tap("Check again")
	s.Until("asked fresh", func() bool {
		desk.mu.Lock()
		defer desk.mu.Unlock()
		return desk.fresh == 1
	})
}

// TestMendingWhatWasFound checks the effect of each button, and that the checks run again.
func TestMendingWhatWasFound(t *testing.T) {
	desk := &fakeDesk{
		checks: append(slices.Clone(listed),
			engine.Check{Name: "Memory", Grade: engine.GradeWarning, Fix: "limit 12"},
			engine.Check{Name: "Data folder", Grade: engine.GradeProblem, Fix: "settings"},
			engine.Check{Name: "Space", Grade: engine.GradeWarning, Fix: "free"}),
		targets: []engine.Destination{{Service: "shop", Host: "shop.example.com"}},
	}
	s := shown(t, desk)
	s.until("2 problems, 3 warnings")
	s.tap("Allow shop.example.com")
	s.Until("asked", func() bool { return s.win.Canvas().Overlays().Top() != nil })
	s.confirm("Allow")
	s.until("2 problems, 2 warnings")
	s.tap("Lower to 3 connections")
	s.until("1 problem, 2 warnings")
	if want := []string{"allow shop.example.com", "connections 3"}; !slices.Equal(desk.mended, want) {
		t.Errorf("mended %q", desk.mended)
	}
	s.tap((&engine.Check{Fix: "limit 12"}).Button())
	if s.entry("Starting limit").Text != "12" || s.entry("Highest limit").Text != "12" {
		t.Errorf("the fields say %s and %s", s.entry("Starting limit").Text, s.entry("Highest limit").Text)
	}
	s.tap("Open Settings")
	if s.went != "settings" {
		t.Errorf("it went to %q", s.went)
	}
	s.tap("Free space…")
	if s.went != "runs" {
		t.Errorf("it went to %q", s.went)
	}
}

// TestAKeyThatIsEnteredIsChecked checks that entering a missing secret runs the checks again, because it may have
// caused a problem.
func TestAKeyThatIsEnteredIsChecked(t *testing.T) {
	desk := &fakeDesk{
		checks:       []engine.Check{{Name: "Service model", Grade: engine.GradeProblem, Fix: "secret MODEL_KEY"}},
		requirements: Requirements{Missing: []Missing{{Service: "model", Secret: "MODEL_KEY", Problem: "it is nowhere", Kept: "in the keychain"}}},
	}
	s := shown(t, desk)
	s.until("1 problem")
	s.until("it is nowhere")
	s.tap("Enter MODEL_KEY…")
	key := s.screen.services.fields[1].keys.all[0]
	if s.win.Canvas().Focused() != fyne.Focusable(key.entry) {
		t.Errorf("the keyboard is at %T", s.win.Canvas().Focused())
	}
	n := desk.count(&desk.checked)
	key.entry.SetText("sesame")
	s.tap("Save")
	s.Until("checked again", func() bool { return desk.count(&desk.checked) > n })
	s.tap("Launch") // a missing secret is reported next to its field, and by the launch itself
	s.Until("launched", func() bool { return s.launched == 1 })
}

func TestMendingThatFailsSaysWhy(t *testing.T) {
	s := shown(t, &fakeDesk{checks: listed, unmended: errors.New("the disk is full")})
	s.until("1 problem")
	s.tap("Allow shop.example.com")
	s.until("Cannot fix it: the disk is full")
}

// TestALaunchChecksAgain checks that a launch does not rely on old results: a backend may have stopped since then.
func TestALaunchChecksAgain(t *testing.T) {
	desk := &fakeDesk{}
	s := shown(t, desk)
	s.Until("checked", func() bool { return !s.screen.preflight.at.IsZero() })
	desk.mu.Lock()
	desk.checks = []engine.Check{{Name: "Service shop", Grade: engine.GradeProblem, Text: "connection refused"}}
	desk.mu.Unlock()
	s.screen.preflight.at = time.Now().Add(-time.Minute)
	s.tap("Launch")
	s.Until("asked", func() bool { return s.win.Canvas().Overlays().Top() != nil })
	if s.launched != 0 || desk.rechecked != 1 || !s.shows("connection refused") {
		t.Errorf("launched %d times, checked again %d times", s.launched, desk.rechecked)
	}
	s.confirm("Launch anyway")
	s.Until("launched", func() bool { return s.launched == 1 })
}

// TestProblemsAreAskedAbout checks that a launch asks for confirmation if there are problems, but not for warnings.
func TestProblemsAreAskedAbout(t *testing.T) {
	s := shown(t, &fakeDesk{checks: listed})
	s.until("1 problem")
	s.tap("Launch")
	s.confirm("Cancel")
	if n := s.desk.count(&s.desk.launched); n > 0 || uitest.Button(s.screen.bar.panel, "Launch") == nil {
		t.Fatalf("launched %d times; the bar shows %q", n, uitest.Texts(s.screen.bar.panel))
	}
	s.tap("Launch")
	s.Until("asked", func() bool { return s.win.Canvas().Overlays().Top() != nil })
	if !uitest.Shows(s.win.Canvas().Overlays().Top(), "Pool: only 3 opened") {
		t.Errorf("it asks %q", uitest.Texts(s.win.Canvas().Overlays().Top()))
	}
	s.confirm("Launch anyway")
	s.Until("launched", func() bool { return s.launched == 1 })

	s = shown(t, &fakeDesk{checks: listed[:1]})
	s.until("1 warning")
	s.tap("Launch")
	s.Until("launched", func() bool { return s.launched == 1 })
}

// TestFavoritesComeFirst marks favorites by the star of a card and by its key, and checks that both are saved.
func TestFavoritesComeFirst(t *testing.T) {
	s := shown(t, &fakeDesk{})
	starOf := func(title string) *favoriteStar {
		var found *favoriteStar
		uitest.Walk(s.screen.gallery.panel, func(o fyne.CanvasObject) bool {
			if one, ok := o.(*favoriteStar); ok && one.card.choice.Title == title {
				found = one
			}
			return found == nil
		})
		return found
	}
	test.Tap(starOf("Staging"))
	s.Drain()
	if got := uitest.Texts(s.screen.gallery.items)[:2]; !slices.Equal(got, []string{"Favorites", "Staging"}) {
		t.Errorf("the list begins with %q", got)
	}
	s.win.Canvas().Focus(starOf("A small world").card)
	s.win.Canvas().Focused().TypedRune('*')
	card, ok := s.win.Canvas().Focused().(*card)
	if !ok || card.choice.Title != "A small world" || !card.choice.Favorite {
		t.Errorf("the keyboard is at %+v", s.win.Canvas().Focused())
	}
	s.win.Canvas().Focus(starOf("Staging"))
	s.win.Canvas().Focused().TypedKey(&fyne.KeyEvent{Name: fyne.KeySpace})
	if mark, ok := s.win.Canvas().Focused().(*favoriteStar); !ok || mark.card.choice.Title != "Staging" || mark.card.choice.Favorite {
		t.Errorf("after the star's own key the keyboard is at %+v", s.win.Canvas().Focused())
	}
	s.Until("kept", func() bool {
		s.desk.mu.Lock()
		defer s.desk.mu.Unlock()
		return len(s.desk.mended) == 3
	})
	s.desk.mu.Lock()
	defer s.desk.mu.Unlock()
	slices.Sort(s.desk.mended) // they are kept side by side
	if want := []string{"star /scenarios/staging.yaml false", "star /scenarios/staging.yaml true", "star world true"}; !slices.Equal(s.desk.mended, want) {
		t.Errorf("kept %q", s.desk.mended)
	}
}

// TestPresetsFillTheFieldsIn checks the values that the presets for a machine and a use fill in.
func TestPresetsFillTheFieldsIn(t *testing.T) {
	s := shown(t, &fakeDesk{})
	pick := func(title, option string) {
		field[*widget.Select](s, title).SetSelected(option)
		s.Drain()
	}
	pick("Machine preset", "workstation, 8–16")
	pick("Use preset", "research, 4–8")
	if start, ceiling := s.entry("Starting limit").Text, s.entry("Highest limit").Text; start != "4" || ceiling != "8" {
		t.Errorf("start %s, ceiling %s", start, ceiling)
	}
	s.typed("Concurrent model calls", "20")
	s.tap("Launch")
	s.Until("launched", func() bool { return s.launched == 1 })
	got := s.desk.last(&s.desk.launched).Settings
	if got.Limit != 4 || got.Ceiling != 8 || got.MaxLLMCalls != 20 {
		t.Errorf("launched with %d to %d, %d calls", got.Limit, got.Ceiling, got.MaxLLMCalls)
	}
}
