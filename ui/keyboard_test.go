package ui

import (
	"fmt"
	"image"
	"image/color"
	"reflect"
	"slices"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/ui/internal/action"
	"github.com/throng-sim/throng/ui/internal/chart"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/uitest"
)

// filledApp is the window with data on all screens.
func filledApp(t *testing.T) (*uitest.Queue, *App, *patience) {
	q, a, p := patientApp(t)
	p.begun()
	p.open()
	t.Cleanup(p.shut)
	a.win.Resize(fyne.NewSize(1280, 800))
	for _, page := range a.pages {
		a.show(page)
		a.tick()
		q.Until(page.title+" has read what it shows", func() bool { return hasLoaded(page) && p.idle() })
	}
	a.show(a.pages[0])
	q.Drain()
	return q, a, p
}

// typed types a shortcut into a window. It bypasses the focused widget, as a menu does.
func typed(t *testing.T, f *frame, key fyne.KeyName, modifier fyne.KeyModifier) {
	t.Helper()
	act := action.Action{Key: key, Modifier: modifier}
	canvasOf(f).TypedShortcut(act.Shortcut())
}

// canvasOf returns a window's canvas with its shortcuts, which the test driver hides.
func canvasOf(f *frame) fyne.Shortcutable {
	return reflect.ValueOf(f.win.Canvas()).Elem().FieldByName("WindowlessCanvas").Interface().(fyne.Shortcutable)
}

// pressed presses a key as the system does: the window gets it first, then the focused widget.
func pressed(f *frame, key fyne.KeyName) {
	if focused := f.win.Canvas().Focused(); !f.key(key) && focused != nil {
		focused.TypedKey(&fyne.KeyEvent{Name: key})
	}
}

// TestEveryActionHasItsOwnKeys checks that no two actions of a window share a shortcut.
func TestEveryActionHasItsOwnKeys(t *testing.T) {
	_, a, _ := filledApp(t)
	a.open()
	for _, f := range []*frame{a.frame, a.others[0]} {
		if err := clash(f.commands); err != nil {
			t.Errorf("%s: %v", f.win.Title(), err)
		}
	}
	if n := len(a.commands); n < 40 {
		t.Errorf("there are only %d actions", n)
	}
	for _, m := range a.win.MainMenu().Items {
		if len(m.Items) == 0 {
			t.Errorf("the menu %s is empty", m.Label)
		}
	}
	for _, d := range a.commands {
		if d.typed == nil && owned(d) {
			t.Errorf("%s has the keys %s, which a system or its text fields use", d.Name, d.Keys())
		}
	}
}

// owned reports whether macOS, Windows, a Linux desktop or their text fields use the keys of a command. Ctrl+Alt with a character types
// another one on many keyboards.
func owned(d *command) bool {
	if d.Key == "" || d.Name == "Complete" { // every editor completes with Ctrl+Space; on a Mac the keys differ
		return false
	}
	const ctrl, shift, alt = action.Command, fyne.KeyModifierShift, fyne.KeyModifierAlt
	reserved := map[fyne.KeyModifier][]fyne.KeyName{
		ctrl:         {fyne.KeyA, fyne.KeyC, fyne.KeyV, fyne.KeyX, fyne.KeyY, fyne.KeyZ, fyne.KeyH, fyne.KeyM, fyne.KeyTab, fyne.KeySpace, fyne.KeyEscape, fyne.KeyLeft, fyne.KeyRight, fyne.KeyBackspace, fyne.KeyDelete, fyne.KeyBackTick},
		ctrl | shift: {fyne.KeyZ, fyne.KeyQ, fyne.Key3, fyne.Key4, fyne.Key5, fyne.KeySlash, fyne.KeyUp, fyne.KeyDown, fyne.KeyLeft, fyne.KeyRight, fyne.KeyEscape},
		alt:          {fyne.KeyTab, fyne.KeySpace, fyne.KeyF4, fyne.KeyF7, fyne.KeyF8, fyne.KeyLeft, fyne.KeyRight, fyne.KeyUp, fyne.KeyDown},
		0:            {fyne.KeyF11, fyne.KeyF12},
	}
	return d.Modifier&^shift == ctrl|alt && len(d.Key) == 1 || slices.Contains(reserved[d.Modifier], d.Key)
}

// TestEditMenuIsForWhatIsFocused uses the items of the Edit menu in a text field, and without one.
func TestEditMenuIsForWhatIsFocused(t *testing.T) {
	_, a, _ := filledApp(t)
	command := func(name string) *command {
		i := slices.IndexFunc(a.commands, func(d *command) bool { return d.Name == name })
		if i < 0 || a.commands[i].Menu != menuEdit {
			t.Fatalf("the Edit menu has no %s", name)
		}
		return a.commands[i]
	}
	a.win.Canvas().Unfocus()
	a.drawMenu()
	for _, name := range []string{"Cut", "Copy", "Paste", "Select all"} {
		if !command(name).item.Disabled {
			t.Errorf("%s is possible without a text", name)
		}
		a.chosen(command(name))
	}
	entry := form.NewEntry()
	a.content.Objects = append(a.content.Objects, entry)
	a.win.Canvas().Focus(entry)
	entry.SetText("one")
	a.drawMenu()
	for _, step := range []struct{ name, want string }{{"Select all", "one"}, {"Cut", ""}, {"Paste", "one"}, {"Paste", "oneone"}, {"Undo", "one"}, {"Redo", "oneone"}, {"Copy", "oneone"}} {
		if command(step.name).item.Disabled {
			t.Errorf("%s is disabled", step.name)
		}
		if a.chosen(command(step.name)); entry.Text != step.want {
			t.Errorf("after %s the text is %q, want %q", step.name, entry.Text, step.want)
		}
	}
}

// TestClashesAreFound checks that clash finds conflicting shortcuts.
func TestClashesAreFound(t *testing.T) {
	p := &page{}
	same := action.Action{Name: "a", Menu: menuRun, Key: fyne.KeyE, Modifier: action.Command}
	other := same
	other.Name = "b"
	moved := same
	moved.Key = fyne.KeyF
	for name, commands := range map[string][]*command{
		"shared":   {{Action: same}, {Action: other}},
		"no menu":  {{Action: action.Action{Name: "a", Menu: "Tools", Key: fyne.KeyE}}},
		"two keys": {{Action: same, on: map[*page]action.Action{p: moved}}},
	} {
		if clash(commands) == nil {
			t.Errorf("%s: nothing is found", name)
		}
	}
}

// TestShortcutsReachTheirScreens types the shortcuts of a screen while another one is shown.
func TestShortcutsReachTheirScreens(t *testing.T) {
	q, a, p := filledApp(t)
	p.shut()
	t.Cleanup(p.open)
	a.show(a.pageOf(settingsTitle))
	typed(t, a.frame, fyne.KeyP, action.Command)
	q.Until("paused", func() bool { return p.stands("Pause") })
	if a.current.title != "Live" {
		t.Errorf("what is done to the run is not shown, but %s", a.current.title)
	}
	typed(t, a.frame, fyne.KeyD, action.Command) // of Runs
	if q.Drain(); p.stands("Footprint") || a.current.title != "Live" {
		t.Error("a run is deleted from a screen that does not show it")
	}
	a.show(a.pages[2])
	typed(t, a.frame, fyne.KeyD, action.Command)
	q.Until("weighed", func() bool { return p.stands("Footprint") })
}

// TestUndoIsFirstForWhatIsTyped checks that Undo applies to the text of a focused entry first.
func TestUndoIsFirstForWhatIsTyped(t *testing.T) {
	_, a, _ := start(t, &desk{})
	undone := 0
	d := &command{typed: &fyne.ShortcutUndo{}, Action: action.Action{Name: "Undo", Menu: menuEdit, Key: fyne.KeyZ, Modifier: action.Command, Do: func() { undone++ }}}
	entry := form.NewEntry()
	a.content.Objects = []fyne.CanvasObject{entry}
	a.win.Canvas().Focus(entry)
	entry.TypedRune('a')
	if a.chosen(d); undone != 0 || entry.Text != "" {
		t.Errorf("in an entry a deletion was undone %d times, and %q stays", undone, entry.Text)
	}
	a.win.Canvas().Unfocus()
	if a.chosen(d); undone != 1 {
		t.Errorf("elsewhere it was undone %d times", undone)
	}
}

// itemName returns the name of a menu item without its keys.
func itemName(i *fyne.MenuItem) string {
	name, _, _ := strings.Cut(i.Label, "  ")
	return name
}

// TestMenusPrintTheirKeys checks that all keys of a menu end at the same place, a few pixels from its end.
func TestMenusPrintTheirKeys(t *testing.T) {
	_, a, _ := filledApp(t)
	var check func(m *fyne.Menu)
	check = func(m *fyne.Menu) {
		var ends []float32
		for _, i := range m.Items {
			if i.ChildMenu != nil {
				check(i.ChildMenu)
			}
			if i.Shortcut == nil {
				continue
			}
			if _, printed := i.Shortcut.(fyne.KeyboardShortcut); printed || itemName(i) == i.Label {
				t.Errorf("%s prints no keys: %q", itemName(i), i.Label)
			}
			ends = append(ends, fyne.MeasureText(i.Label, theme.TextSize(), fyne.TextStyle{}).Width)
		}
		if len(ends) > 0 && slices.Max(ends)-slices.Min(ends) > 3 {
			t.Errorf("%s: the keys end at %v", m.Label, ends)
		}
	}
	for _, m := range a.win.MainMenu().Items {
		check(m)
	}
	for _, m := range a.win.MainMenu().Items { // at the smallest size of a window
		n := 0
		for _, i := range m.Items {
			if !i.IsSeparator {
				n++
			}
		}
		if n > 20 {
			t.Errorf("the menu %s has %d items", m.Label, n)
		}
	}
}

// TestMenusGrayOutWhatCannotBeDone checks which menu items are enabled on each screen.
func TestMenusGrayOutWhatCannotBeDone(t *testing.T) {
	q, a, _ := filledApp(t)
	item := func(name string) *fyne.MenuItem {
		for _, m := range a.win.MainMenu().Items {
			for _, i := range m.Items {
				if itemName(i) == name {
					return i
				}
			}
		}
		t.Fatalf("there is no menu entry %q", name)
		return nil
	}
	if item("Launch").Disabled || !item("Fork…").Disabled || item("Pause or resume").Disabled {
		t.Error("in Setup: Launch and the run's orders can be given, Fork cannot")
	}
	item("Runs").Action()
	if q.Drain(); !item("Launch").Disabled || item("Fork…").Disabled || item("Pause or resume").Disabled {
		t.Error("in Runs: Fork and the run's orders can be given, Launch cannot")
	}
}

// TestTheMenuBarCopiesTheChartInUse checks that the menu bar copies the chart in use on the current screen, and that
// the item is disabled on screens without charts.
func TestTheMenuBarCopiesTheChartInUse(t *testing.T) {
	_, a, _ := filledApp(t)
	i := slices.IndexFunc(a.commands, func(d *command) bool { return d.Name == "Copy the chart's values" })
	if i < 0 || a.commands[i].Menu != menuView || !a.commands[i].divide {
		t.Fatal("the menu View has no entry of the chart")
	}
	item := a.commands[i].item
	charts := func() (all []fyne.Focusable) {
		for _, o := range focusable(a.current.Content()) {
			if _, ok := o.(*chart.Chart); ok {
				all = append(all, o)
			}
		}
		return all
	}
	if a.tick(); !item.Disabled {
		t.Error("a value can be copied in Setup, which has no chart")
	}
	a.show(a.pages[1])
	a.win.Canvas().Focus(charts()[0])
	if a.tick(); item.Disabled {
		t.Fatal("the values of a chart with the focus cannot be copied")
	}
	a.app.Clipboard().SetContent("")
	item.Action()
	if got := a.app.Clipboard().Content(); !strings.HasPrefix(got, "time\t") {
		t.Errorf("copied %q", got)
	}
	a.win.Canvas().Unfocus() // as the menu does
	if a.tick(); item.Disabled {
		t.Error("the menu forgets the chart")
	}
	a.show(a.pages[0])
	if a.tick(); !item.Disabled {
		t.Error("the chart of another screen can be copied")
	}
}

// TestTheListOfKeysIsComplete opens, reads and closes the list of shortcuts by keyboard.
func TestTheListOfKeysIsComplete(t *testing.T) {
	_, a, _ := filledApp(t)
	for _, way := range []struct {
		name        string
		open, close func()
	}{
		{"Ctrl+/", func() { typed(t, a.frame, fyne.KeySlash, action.Command) }, func() { pressed(a.frame, fyne.KeyEscape) }},
		{"Ctrl+/", func() { typed(t, a.frame, fyne.KeySlash, action.Command) }, func() { pressed(a.frame, fyne.KeyReturn) }},
	} {
		way.open()
		sheet := a.overlay()
		if sheet == nil {
			t.Fatalf("%s opens nothing", way.name)
		}
		texts := strings.Join(uitest.Texts(sheet), "\n")
		for _, d := range a.commands {
			if !strings.Contains(texts, d.Keys()) || !strings.Contains(texts, d.Name) {
				t.Errorf("%s, %s is not in the list", d.Name, d.Keys())
			}
		}
		typed(t, a.frame, fyne.Key4, action.Command)
		if a.current.title != "Setup" {
			t.Errorf("under the list %s is shown", a.current.title)
		}
		if way.close(); a.overlay() != nil {
			t.Errorf("%s: the list stays", way.name)
		}
	}
}

// TestTabReachesEverything moves through each screen with Tab and checks that it reaches every widget.
func TestTabReachesEverything(t *testing.T) {
	_, a, _ := filledApp(t)
	for _, p := range a.pages {
		a.show(p)
		want := focusable(a.win.Canvas().Content())
		if len(want) < len(a.pages)+1 {
			t.Errorf("%s: only %d things can have the focus", p.title, len(want))
		}
		c := a.win.Canvas()
		c.Unfocus()
		reached := map[fyne.Focusable]bool{}
		for range 3 * len(want) {
			c.FocusNext()
			if c.Focused() == nil || reached[c.Focused()] {
				break
			}
			reached[c.Focused()] = true
		}
		for _, o := range want {
			if !reached[o] {
				t.Errorf("%s: %s is not reached", p.title, said(o))
			}
		}
		for _, b := range buttons(p.Content()) {
			if !b.Disabled() && !reached[b] {
				t.Errorf("%s: the button %q is not reached", p.title, b.Text)
			}
		}
		for _, other := range a.pages {
			if !reached[other.item] {
				t.Errorf("%s: the way to %s is not reached", p.title, other.title)
			}
		}
		// Objects that can be tapped must be reachable, or be inside a reachable object.
		for _, o := range tappable(p.Content()) {
			t.Errorf("%s: %s can be tapped and never has the focus", p.title, said(o))
		}
	}
	a.win.Canvas().Focus(a.pages[3].item)
	if pressed(a.frame, fyne.KeyReturn); a.current.title != "Results" {
		t.Errorf("Return on the navigation shows %s", a.current.title)
	}
}

func said(o any) string {
	text := fmt.Sprintf("%T", o)
	if c, ok := o.(fyne.CanvasObject); ok {
		text += fmt.Sprintf(" %q", uitest.Texts(c))
	}
	return text
}

// focusable returns the enabled widgets that can have the focus.
func focusable(o fyne.CanvasObject) (all []fyne.Focusable) {
	uitest.Walk(o, func(o fyne.CanvasObject) bool {
		f, ok := o.(fyne.Focusable)
		if d, can := o.(fyne.Disableable); ok && (!can || !d.Disabled()) {
			all = append(all, f)
		}
		return true
	})
	return all
}

// tappable returns the widgets that can be tapped, except those that can have the focus or are part of one that can.
func tappable(o fyne.CanvasObject) (all []fyne.CanvasObject) {
	uitest.Walk(o, func(o fyne.CanvasObject) bool {
		_, taps := o.(fyne.Tappable)
		_, focus := o.(fyne.Focusable)
		if taps && !focus && !passes[fmt.Sprintf("%T", o)] {
			all = append(all, o)
		}
		return true
	})
	return all
}

// passes are the types that Tab may skip: rows, because arrow keys move through their table, the button that shows a
// password, captions of buttons, lines that pass clicks on, and the drawing of a chart, because the chart has the focus.
var passes = map[string]bool{"*widget.listItem": true, "*widget.passwordRevealer": true, "*chart.zoomPad": true, "*chart.pad": true, "*widgets.tableRow": true, "*settings.line": true, "*widgets.Line": true, "*widgets.Title": true, "*form.Caption": true}

// TestFocusIsSeen checks that each focusable widget looks different with the focus, in both themes.
func TestFocusIsSeen(t *testing.T) {
	uitest.Start(t)
	filled := widget.NewButton("Launch", func() {})
	filled.Importance = widget.HighImportance
	danger := widget.NewButton("Delete", func() {})
	danger.Importance = widget.DangerImportance
	low := widget.NewButton("Reset", func() {})
	low.Importance = widget.LowImportance
	table := widgets.NewTable([]widgets.Column{{Title: "Run", Sample: "a long name"}}, "", 2)
	table.SetRows([]widgets.Row{{Key: "a", Cells: []widgets.Cell{{Text: "a"}}}, {Key: "b", Cells: []widgets.Cell{{Text: "b"}}}})
	table.Select("a")
	for _, choice := range []string{"light", "dark"} {
		fyne.CurrentApp().Settings().SetTheme(NewLook(choice))
		for name, o := range map[string]fyne.CanvasObject{
			"a button": widget.NewButton("Pause", func() {}), "a filled one": filled, "a dangerous one": danger, "a quiet one": low,
			"an entry": form.NewEntry(), "a number": form.NewWhole(1, 9), "a box": widget.NewCheck("Notify me", nil), "a choice": widget.NewSelect([]string{"a"}, nil),
			"a slider": widget.NewSlider(0, 1), "the limit": widgets.NewLimitSlider(1, 100), "the navigation": newNavItem("Setup", theme.HomeIcon(), func() {}), "a table": table,
		} {
			w := test.NewTempWindow(t, o)
			w.Resize(fyne.NewSize(240, 90))
			c := w.Canvas()
			without := uitest.Picture(c, o)
			c.FocusNext()
			if c.Focused() == nil {
				t.Errorf("%s, %s: it cannot have the focus", choice, name)
				continue
			}
			if n := differing(without, uitest.Picture(c, o)); n < 40 {
				t.Errorf("%s, %s: the focus changes %d pixels to be seen", choice, name, n)
			}
			c.Unfocus()
			w.SetContent(widget.NewLabel(""))
		}
	}
}

// differing counts the pixels whose brightness differs visibly.
func differing(a, b image.Image) (n int) {
	bounds := a.Bounds()
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			one, other := color.GrayModel.Convert(a.At(x, y)).(color.Gray).Y, color.GrayModel.Convert(b.At(x, y)).(color.Gray).Y
			if max(one, other)-min(one, other) > 24 {
				n++
			}
		}
	}
	return n
}

// TestDigitsAreOfOneWidth checks that all digits have the same width in the fonts of figures, so that columns align.
func TestDigitsAreOfOneWidth(t *testing.T) {
	uitest.Start(t)
	fyne.CurrentApp().Settings().SetTheme(NewLook("dark"))
	for _, style := range []fyne.TextStyle{{}, {Bold: true}, {Monospace: true}} {
		want := fyne.MeasureText("0000", 13, style).Width
		for digit := '1'; digit <= '9'; digit++ {
			if got := fyne.MeasureText(strings.Repeat(string(digit), 4), 13, style).Width; got != want {
				t.Errorf("%+v: four %c are %v wide, four 0 %v", style, digit, got, want)
			}
		}
	}
}

// clash returns an error if commands of the table have missing or conflicting shortcuts.
func clash(commands []*command) error {
	seen := map[string]string{}
	for _, d := range commands {
		if !slices.Contains(menus, d.Menu) {
			return fmt.Errorf("%s is in no menu", d.Name)
		}
		for _, act := range d.on {
			if act.Keys() != d.Keys() || act.Menu != d.Menu {
				return fmt.Errorf("%s has %s in one screen and %s in another", d.Name, d.Keys(), act.Keys())
			}
		}
		if other := seen[d.Keys()]; other != "" && d.Key != "" {
			return fmt.Errorf("%s and %s share %s", d.Name, other, d.Keys())
		}
		seen[d.Keys()] = d.Name
	}
	return nil
}
