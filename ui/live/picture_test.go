package live

import (
	"context"
	"fmt"
	"image/png"
	"math"
	"os"
	"testing"
	"time"

	"fyne.io/fyne/v2"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/internal/skin"
)

// TestPictures saves pictures of the screen in the folder THRONG_PICTURES, to look at them.
func TestPictures(t *testing.T) {
	dir := os.Getenv("THRONG_PICTURES")
	if dir == "" {
		t.Skip("THRONG_PICTURES is not set")
	}
	s := running()
	s.Steps = []engine.StepFigures{
		figuresOf("browse", 990, 10, 1000, 120*time.Millisecond), figuresOf("fill", 900, 0, 0, time.Second), figuresOf("fill.add", 80, 20, 130, 1234*time.Microsecond),
	}
	s.Changes = []engine.ChangeRow{{At: began, Cycle: 1, What: engine.LimitSetting, Old: "50", New: "20", Who: "user", Why: "by hand"}}
	st := perform(t, s)
	job := jobOf(st.run)
	job.Name = func(i int) string { return fmt.Sprintf("shopper-%d", i+1) }
	job.Transcript = func(context.Context, view.TranscriptQuery) (t view.Transcript, err error) {
		for i, who := range []string{"Ada", "Bruno", "Ada", "Bruno"} {
			t.Lines = append(t.Lines, view.Line{At: began, ID: "shopper-1", Step: "talk.first", Speaker: who, Text: fmt.Sprintf("Line %d: the harbor is the town's memory, and a market would bring people back to it every week.", i), More: "feeling: curious"})
		}
		t.Lines = append(t.Lines, view.Line{Kind: view.EventLine, ID: "shopper-1", Text: "order", More: "total: 41.82"})
		return t, nil
	}
	job.Events = func(context.Context, view.EventQuery) (e view.Events, err error) {
		for i := range 30 {
			e.Rows = append(e.Rows, view.EventRow{At: began, Agent: i, ID: fmt.Sprintf("shopper-%d", i), Step: "record", Name: "order", Data: fmt.Sprintf(`{"subtotal": %d.5, "item_discounts": 1.2, "final_total": %d}`, 10+i, 9+i)})
		}
		return e, nil
	}
	job.Log = func(context.Context) ([]LogLine, error) {
		return []LogLine{{began, "INFO", "the run started", "agents 372"}, {began, "WARN", "a session failed", "agent shopper-17"}}, nil
	}
	st.desk.job = job
	st.tick()
	for i := range 240 {
		st.run.second(func(m *engine.MetricsRow) {
			m.Host.CPU = 40 + 20*math.Sin(float64(i)/9)
			m.SessionsPerSec = 80 + 10*math.Sin(float64(i)/5)
			m.Limit = 50
			m.InFlight = 30 + i%17
		})
		st.Collect()
	}
	st.run.change(func(s *engine.Snapshot) { s.Elapsed = 300 * time.Second })
	st.tick()
	for _, look := range []struct {
		name  string
		theme string
		scale float32
		size  fyne.Size
	}{
		{"1280-light", "light", 1, fyne.NewSize(1130, 760)},
		{"1000-dark", "dark", 1, fyne.NewSize(850, 600)},
		{"1920-light", "light", 1, fyne.NewSize(1770, 1160)},
		{"1280-large", "light", 1.5, fyne.NewSize(1130, 760)},
	} {
		fyne.CurrentApp().Settings().SetTheme(skin.New(look.theme).Scaled(look.scale))
		st.win.Resize(look.size)
		for _, name := range []string{"Overview", "Steps", "Agents", "Transcript", "Events", "Changes", "Log"} {
			st.view(name)
			st.Drain()
			st.tick()
			st.Until("everything is read", func() bool { return !st.events.Loading() })
			f, err := os.Create(fmt.Sprintf("%s/live-%s-%s.png", dir, look.name, name))
			if err != nil {
				t.Fatal(err)
			}
			_ = png.Encode(f, st.win.Canvas().Capture())
			_ = f.Close()
		}
	}
}
