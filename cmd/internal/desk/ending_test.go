package desk

import (
	"context"
	"strings"
	"testing"

	"fyne.io/fyne/v2/test"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/setup"
)

// TestPanicOfTheWindow checks that a panic in a button handler leaves a checkpoint of the run and a crash report, and that
// the next window shows the report once and offers to resume.
func TestPanicOfTheWindow(t *testing.T) {
	data := t.TempDir()
	d := open(t, data)
	launch(t, d, func(o *setup.Order) { o.Settings.Mock.Faults = map[string]string{"hang": "1"} })
	run := liveDesk{d}.Job().ID()
	code := 0
	d.exit = func(c int) { code = c }
	d.guarded(test.NewTempApp(t), func() { panic("a button broke") })
	if code != 1 {
		t.Errorf("exit code %d", code)
	}
	all, err := runsDesk{d}.Checkpoints(t.Context(), run)
	if err != nil || len(all) != 1 || all[0].Reason != engine.PanicReason || !all[0].Emergency() || all[0].Took <= 0 {
		t.Errorf("checkpoints %+v, %v, want one of the panic", all, err)
	}
	// The program would have ended now; the test must end the run.
	d.leave("SIGTERM")
	<-d.Settled()
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	for n := range 2 {
		d := open(t, data)
		reports, err := program{d}.Reports(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if n == 1 {
			if len(reports) > 0 {
				t.Errorf("reported twice: %v", reports)
			}
			continue
		}
		if len(reports) != 1 || !strings.Contains(reports[0].Text, "a button broke") || !strings.Contains(reports[0].Text, "doing: run "+string(run)+" (") {
			t.Fatalf("the reports are %+v", reports)
		}
		if err := (program{d}).Told(t.Context(), reports[0].Path); err != nil {
			t.Error(err)
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestTermination checks that a run whose sessions hang gets an emergency checkpoint when the window closes.
func TestTermination(t *testing.T) {
	data := t.TempDir()
	d := open(t, data)
	launch(t, d, func(o *setup.Order) { o.Settings.Mock.Faults = map[string]string{"hang": "1"} })
	run := liveDesk{d}.Job().ID()
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	d = open(t, data)
	all, err := runsDesk{d}.Checkpoints(t.Context(), run)
	if err != nil || len(all) != 1 || all[0].Reason != engine.QuitReason || all[0].Kind() != "emergency" {
		t.Errorf("checkpoints %+v, %v", all, err)
	}
	if r, err := d.store.Run(context.Background(), run); err != nil || r.Ending != engine.EndStopped {
		t.Errorf("the run ended %s, %v", r.Ending, err)
	}
}
