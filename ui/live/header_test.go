package live

import (
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/skin"
	"github.com/throng-sim/throng/ui/uitest"
)

// TestALongTitleLeavesRoomForTheButtons checks that a long title is cut in the middle in a narrow window with large text, and that the
// buttons stay inside.
func TestALongTitleLeavesRoomForTheButtons(t *testing.T) {
	job := jobOf(newFakeRun(running()))
	job.Title = "372 shoppers of the second campaign, two weeks in March, with the new recommendations and without coupons, variant seven"
	st := perform(t, running())
	st.desk.job = job
	st.tick()
	for _, scale := range []float32{1, 1.5} {
		fyne.CurrentApp().Settings().SetTheme(skin.New("dark").Scaled(scale))
		st.win.Resize(fyne.NewSize(850, 600))
		st.Drain()
		st.charts.all[0].SetLog(true)
		shown := ""
		uitest.Walk(st.header.title, func(o fyne.CanvasObject) bool {
			if text, ok := o.(*canvas.Text); ok {
				shown = text.Text
			}
			return true
		})
		before, after, cut := strings.Cut(shown, "…")
		if !cut || !strings.HasPrefix(job.Title, before) || !strings.HasSuffix(job.Title, after) || len(before) < 8 || len(after) < 8 {
			t.Errorf("at %.1f the title is %q", scale, shown)
		}
		at := fyne.CurrentApp().Driver().AbsolutePositionForObject(st.orders.buttons)
		if right := at.X + st.orders.buttons.Size().Width; right > 850 {
			t.Errorf("at %.1f the buttons end at %v", scale, right)
		}
		if dir := os.Getenv("THRONG_PICTURES"); dir != "" {
			f, err := os.Create(filepath.Join(dir, "live-title-"+strings.ReplaceAll(map[float32]string{1: "1", 1.5: "1.5"}[scale], ".", "_")+".png"))
			if err != nil {
				t.Fatal(err)
			}
			_ = png.Encode(f, st.win.Canvas().Capture())
			_ = f.Close()
		}
	}
}

// TestARunIsRenamed checks that the header shows the new name of its run, and not that of another one.
func TestARunIsRenamed(t *testing.T) {
	st := perform(t, running())
	st.Rename("another", "Thursday")
	if was := st.desk.job.Title; st.header.title.Text() != was {
		t.Errorf("the title is %q, want %q", st.header.title.Text(), was)
	}
	st.Rename(st.desk.job.ID(), "Friday")
	if got := st.header.title.Text(); got != "Friday" || st.desk.job.Title != "Friday" {
		t.Errorf("the title is %q, want Friday", got)
	}
}

// TestSurveysHaveNoCycles checks what the header shows of a survey: agents and answers.
func TestSurveysHaveNoCycles(t *testing.T) {
	s := &engine.Snapshot{
		Phase: engine.Running, CycleState: engine.CycleState{Cycle: 2, Cycles: 3, CycleEnded: 12, CycleTotal: 20},
		SessionCounts: engine.SessionCounts{Ended: 12, Total: 20, Survey: true}, Metrics: engine.MetricsRow{Acted: 11},
	}
	job := &Job{Origin: "asks the agents of A study after 2 cycles"}
	for _, phase := range []engine.Phase{engine.Running, engine.Ended} {
		s.Phase, s.Reason = phase, engine.AllDone
		left, _, _ := progress(&feed{snap: s})
		if text := state(job, s); left != "12 of 20 agents asked, 11 answered" || strings.Contains(text, "cycle 2") || strings.Contains(text, "all cycles") || !strings.HasPrefix(text, job.Origin) {
			t.Errorf("%s: %q, %q", phase, left, text)
		}
	}
}
