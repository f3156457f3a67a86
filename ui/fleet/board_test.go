package fleet_test

import (
	"errors"
	"image/png"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/workers"
	"github.com/throng-sim/throng/ui/fleet"
	"github.com/throng-sim/throng/ui/fleet/fleettest"
	"github.com/throng-sim/throng/ui/internal/chart"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/skin"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/uitest"
)

var began = time.Date(2030, 3, 1, 12, 0, 0, 0, time.UTC)

// stage is a board in a window.
type stage struct {
	*uitest.Queue
	*fleet.Board
	fleet *fleettest.Fleet
	win   fyne.Window
	said  []string
	now   time.Time
}

// board shows four workers after a minute and a half, one of them lost two seconds ago.
func board(t *testing.T) *stage {
	t.Helper()
	s := &stage{Queue: uitest.Start(t), fleet: &fleettest.Fleet{}, now: began}
	s.win = test.NewTempWindow(t, nil)
	s.Board = fleet.NewBoard(s.win, chart.Keep{})
	s.Asked = func(text string, _ widgets.Tone) { s.said = append(s.said, text) }
	s.win.SetContent(s.Content)
	s.win.Resize(fyne.NewSize(1130, 480))
	s.Begin(s.fleet, fleet.Record{Gap: 5 * time.Second})
	for i := range 90 {
		s.second(fleettest.Four(time.Time{}, i)...)
	}
	s.now = s.now.Add(time.Second)
	s.second(fleettest.Four(s.now.Add(time.Second), 91)...)
	s.Draw([]chart.Marker{{At: s.now.Add(-2 * time.Second), Kind: chart.Troubled, Text: "worker rack-2 lost"}})
	return s
}

// second collects the figures of another second.
func (s *stage) second(all ...workers.State) {
	s.now = s.now.Add(time.Second)
	s.fleet.Set(all...)
	s.Collect(s.now, false)
}

func (s *stage) shows(text string) bool { return uitest.Shows(s.win.Content(), text) }

// choose selects a worker.
func (s *stage) choose(name string) {
	uitest.Walk(s.Content, func(o fyne.CanvasObject) bool {
		if t, ok := o.(*widgets.Table); ok {
			t.Select(name)
			t.OnSelected(name)
		}
		return true
	})
}

// answer taps a button of the open dialog.
func (s *stage) answer(button string) {
	s.Tap(s.win.Canvas().Overlays().Top(), button)
	s.Drain()
}

func TestTheBoardShowsWorkers(t *testing.T) {
	s := board(t)
	for _, want := range []string{
		"4 workers, 1 lost. Select one to drain, limit or remove it.", "rack-1", "ready", "lost 2 s ago: no answer for 3 s", "6 (max 6)", "3.1 of 8 cores", "402 MB", "1.2 ms", "Sessions", "In flight",
	} {
		if !s.shows(want) {
			t.Errorf("there is no %q among %q", want, uitest.Texts(s.Content))
		}
	}
	texts := uitest.Texts(s.Content)
	if i := slices.Index(texts, "lost 2 s ago: no answer for 3 s"); i < 0 || texts[i+1] != "–" {
		t.Errorf("a lost worker has figures: %q", texts)
	}
	for _, button := range []string{"Drain", "Remove…", "Limit…"} {
		if !uitest.Button(s.Content, button).Disabled() {
			t.Errorf("%s is enabled without a worker", button)
		}
	}
}

func TestOrdersForWorkers(t *testing.T) {
	s := board(t)
	s.choose("rack-2")
	if !s.shows("rack-2 is lost. It can join again by itself.") || !uitest.Button(s.Content, "Drain").Disabled() {
		t.Errorf("a lost worker takes orders: %q", uitest.Texts(s.Content))
	}
	s.choose("rack-1")
	s.Tap(s.Content, "Drain")
	s.Until("drained", func() bool { return len(s.said) == 1 })
	s.Tap(s.Content, "Remove…")
	top := s.win.Canvas().Overlays().Top()
	if !uitest.Shows(top, "Remove rack-1?") || !uitest.Shows(top, "run again on the other workers. Each counts once.") || !uitest.Shows(top, "Drain it instead") {
		t.Errorf("the question is %q", uitest.Texts(top))
	}
	s.answer("Cancel")
	s.Tap(s.Content, "Remove…")
	s.answer("Remove")
	s.Until("removed", func() bool { return len(s.said) == 2 })
	s.Tap(s.Content, "Limit…")
	if e, ok := s.win.Canvas().Focused().(interface{ SelectedText() string }); !ok || e.SelectedText() != "0" {
		t.Error("a number that is typed does not replace the old one")
	}
	s.limit("many")
	s.answer("Set")
	if top = s.win.Canvas().Overlays().Top(); top == nil || !uitest.Shows(top, "is not a whole number") {
		t.Fatal("a limit of many is taken")
	}
	s.limit("12")
	s.answer("Set")
	s.Until("limited", func() bool { return len(s.said) == 3 })
	if got := strings.Join(s.fleet.Orders(), "; "); got != "drain rack-1; remove rack-1; limit rack-1=12" {
		t.Errorf("the orders are %s", got)
	}
	if s.said[2] != "rack-1 has at most 12 sessions in flight." || s.win.Canvas().Overlays().Top() != nil {
		t.Errorf("it says %q", s.said)
	}
	drained := fleettest.Four(time.Time{}, 0)
	drained[1].Status = workers.Draining
	s.second(drained...)
	s.Draw(nil)
	s.fleet.Fail = errors.New("the worker left")
	s.Tap(s.Content, "Undrain")
	s.Until("refused", func() bool { return len(s.said) == 4 })
	if orders := s.fleet.Orders(); s.said[3] != "Nothing has changed: the worker left." || orders[len(orders)-1] != "undrain rack-1" {
		t.Errorf("it says %q after %s", s.said[3], orders)
	}
}

// limit types a limit into the open dialog.
func (s *stage) limit(text string) {
	uitest.Walk(s.win.Canvas().Overlays().Top(), func(o fyne.CanvasObject) bool {
		if e, ok := o.(*form.Number); ok {
			e.SetText(text)
		}
		return true
	})
}

// TestTheLastWorkerIsRemoved checks that the question says that the run will wait.
func TestTheLastWorkerIsRemoved(t *testing.T) {
	s := board(t)
	s.second(workers.State{Name: "desk", InFlight: 1}, workers.State{Name: "rack-1", Status: workers.Lost})
	s.Draw(nil)
	s.choose("desk")
	s.Tap(s.Content, "Remove…")
	top := s.win.Canvas().Overlays().Top()
	if !uitest.Shows(top, "Its 1 session is cut, and runs again") || !uitest.Shows(top, "No other worker is ready: the run waits until one joins.") {
		t.Errorf("the question is %q", uitest.Texts(top))
	}
}

func TestTheEndKeepsTheFigures(t *testing.T) {
	s := board(t)
	s.now = s.now.Add(time.Minute)
	s.fleet.Set()
	s.Collect(s.now, true)
	s.Draw(nil)
	if !s.shows("The run has ended. These are its last figures.") || !s.shows("rack-1") {
		t.Errorf("at the end it shows %q", uitest.Texts(s.Content))
	}
}

// TestManyWorkers checks that a large fleet has a chart that can be read.
func TestManyWorkers(t *testing.T) {
	s := board(t)
	var many []workers.State
	for i := range 40 {
		many = append(many, workers.State{Name: "rack-" + string(rune('a'+i%26)) + string(rune('0'+i/26)), Cores: 4, InFlight: 2, PerSecond: 3})
	}
	s.second(many...)
	s.second(many...)
	s.Draw(nil)
	if !s.shows("others") || !s.shows("40 workers") {
		t.Errorf("it shows %q", uitest.Texts(s.Content))
	}
	if misfits := uitest.Misfits(s.win.Content()); len(misfits) > 0 {
		t.Errorf("%q", misfits)
	}
}

// TestNothingIsClipped checks that no text of the board is clipped at any text size.
func TestNothingIsClipped(t *testing.T) {
	s := board(t)
	s.FitSideways("workers", s.Content, scaled)
}

func scaled(scale float32) fyne.Theme { return skin.New("dark").Scaled(scale) }

// TestPictures saves pictures of the board in the folder THRONG_PICTURES, to look at them.
func TestPictures(t *testing.T) {
	dir := os.Getenv("THRONG_PICTURES")
	if dir == "" {
		t.Skip("THRONG_PICTURES is not set")
	}
	s := board(t)
	for _, look := range []struct {
		name, theme string
		scale       float32
		size        fyne.Size
	}{
		{"1280-light", "light", 1, fyne.NewSize(1130, 480)},
		{"1000-dark", "dark", 1, fyne.NewSize(850, 400)},
		{"1280-large", "dark", 1.5, fyne.NewSize(1080, 560)},
	} {
		fyne.CurrentApp().Settings().SetTheme(skin.New(look.theme).Scaled(look.scale))
		s.win.Resize(look.size)
		s.Drain()
		f, err := os.Create(dir + "/board-" + look.name + ".png")
		if err != nil {
			t.Fatal(err)
		}
		_ = png.Encode(f, uitest.Picture(s.win.Canvas(), s.Content))
		_ = f.Close()
	}
}

// recorded returns the rows of a run that one process executed at first, and then four workers; one was lost after a minute.
func recorded() (rows []engine.MetricsRow) {
	for i := range 90 {
		m := engine.MetricsRow{At: began.Add(time.Duration(i) * time.Second)}
		if all := fleettest.Four(time.Time{}, i); i >= 10 {
			if i >= 70 {
				all = fleettest.Four(m.At, i)
			}
			m.Workers = workers.Samples(all)
		}
		rows = append(rows, m)
	}
	return rows
}

// TestTheRecordOfWorkers checks that a run of the store shows what its workers did, at its end and at a moment, without orders.
func TestTheRecordOfWorkers(t *testing.T) {
	s := board(t)
	s.Begin(nil, fleet.Record{})
	if s.Offered() {
		t.Error("a run without workers has a board")
	}
	rows := recorded()
	s.Begin(nil, fleet.Record{Rows: rows, Gap: 5 * time.Second})
	if !s.Offered() {
		t.Fatal("a run that had workers has no board")
	}
	s.Collect(s.now, true)
	s.Draw(nil)
	for _, want := range []string{"3 workers at " + rows[89].At.Local().Format(time.TimeOnly), "rack-1", "3.1 cores", "rack-2", "CPU cores"} {
		if !s.shows(want) {
			t.Errorf("at the end there is no %q among %q", want, uitest.Texts(s.Content))
		}
	}
	for _, hidden := range []string{"Drain", "Limit…", "Remove…", "lost"} {
		if s.shows(hidden) {
			t.Errorf("the record shows %q", hidden)
		}
	}
	s.DrawAt(rows[50].At, rows[50].Workers, nil)
	if want := "4 workers at " + rows[50].At.Local().Format(time.TimeOnly); !s.shows(want) {
		t.Errorf("at a moment there is no %q among %q", want, uitest.Texts(s.Content))
	}
	s.DrawAt(rows[5].At, rows[5].Workers, nil)
	if !s.shows("No worker had joined.") {
		t.Errorf("before the workers it shows %q", uitest.Texts(s.Content))
	}
	s.Begin(s.fleet, fleet.Record{Rows: rows[:60]}) // it is resumed on workers
	s.second(fleettest.Four(time.Time{}, 0)...)
	s.Draw(nil)
	if !s.shows("Drain") || !s.shows("1.2 ms") {
		t.Errorf("the run in progress shows %q", uitest.Texts(s.Content))
	}
}
