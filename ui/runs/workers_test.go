package runs

import (
	"slices"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/ui/fleet"
	"github.com/throng-sim/throng/ui/fleet/fleettest"
	"github.com/throng-sim/throng/ui/uitest"
)

// onWorkers resumes a run that had workers, and returns the question and a function that chooses where the sessions run.
func onWorkers(t *testing.T, desk *fakeDesk) (q *uitest.Queue, s *Screen, question fyne.CanvasObject, choose func(place string)) {
	t.Helper()
	q, s, _ = start(t, desk)
	q.Tap(s.Content(), "Resume")
	wait(q, s)
	question = s.win.Canvas().Overlays().Top()
	if question == nil || !uitest.Shows(question, "Resume on workers?") || !uitest.Shows(question, "the results are the same") {
		t.Fatalf("it asks %q", uitest.Texts(question))
	}
	return q, s, question, func(place string) {
		uitest.Walk(question, func(o fyne.CanvasObject) bool {
			if pick, ok := o.(interface{ SetSelected(string) }); ok {
				pick.SetSelected(place)
			}
			return true
		})
	}
}

// TestResumeOnLocalWorkers checks that a run that had workers on this computer has as many when it is resumed, or others that the user chooses.
func TestResumeOnLocalWorkers(t *testing.T) {
	for _, c := range []struct{ place, want string }{
		{"", "resume new on {Plan:{Local:3 Listen: Cluster: Credentials:} Share:[]}"},
		{"This computer", "resume new on {Plan:{Local:0 Listen: Cluster: Credentials:} Share:[]}"},
	} {
		desk := two()
		desk.changed = &HadWorkers{Plan: fleet.Plan{Local: 3}}
		q, s, question, choose := onWorkers(t, desk)
		if uitest.Shows(question, "Send secrets to the workers") {
			t.Error("it offers to send secrets that the run does not need")
		}
		if c.place != "" {
			choose(c.place)
		}
		q.Tap(question, "Resume")
		wait(q, s)
		wantOrders(t, desk, "resume new with 0", c.want)
	}
}

// TestResumeOnInvitedWorkers checks that workers of other computers can be invited again, that the run waits for the first one, and that
// secrets are sent only if the user says so.
func TestResumeOnInvitedWorkers(t *testing.T) {
	desk := two()
	desk.team.Join = "throng://desk:7500/token/fingerprint"
	desk.changed = &HadWorkers{Plan: fleet.Plan{Listen: ":7500"}, Secrets: []string{"SHOP_TOKEN", "MODEL_KEY"}}
	q, s, question, _ := onWorkers(t, desk)
	resume := uitest.Button(question, "Resume")
	if !resume.Disabled() || !uitest.Shows(question, "Invite workers first.") {
		t.Errorf("without workers it shows %q", uitest.Texts(question))
	}
	q.Tap(question, "Invite workers")
	q.Until("invited", func() bool { return uitest.Shows(question, "THRONG_JOIN="+desk.team.Join+" throngctl worker") })
	if !resume.Disabled() || !uitest.Shows(question, "The run can be resumed when a worker has joined.") {
		t.Errorf("after the invitation it shows %q", uitest.Texts(question))
	}
	desk.team.Set(fleettest.Four(time.Time{}, 0)...)
	s.Tick()
	if resume.Disabled() {
		t.Fatal("with workers it cannot be resumed")
	}
	if !uitest.Shows(question, "this computer sends MODEL_KEY, SHOP_TOKEN to them.") {
		t.Errorf("the secrets are not named: %q", uitest.Texts(question))
	}
	uitest.Walk(question, func(o fyne.CanvasObject) bool {
		if box, ok := o.(*widget.Check); ok && box.Text == "Send secrets to the workers" {
			if box.Checked {
				t.Error("secrets are sent without a question")
			}
			box.SetChecked(true)
		}
		return true
	})
	q.Tap(question, "Resume")
	wait(q, s)
	wantOrders(t, desk, "resume new with 0", "resume new on {Plan:{Local:0 Listen::7500 Cluster: Credentials:} Share:[MODEL_KEY SHOP_TOKEN]}")
	if got := desk.team.Orders(); !slices.Equal(got, []string{"invite :7500"}) {
		t.Errorf("the team was asked %q", got)
	}
}

// TestResumeFromACheckpointOnWorkers checks that a run that continues from an older checkpoint asks too.
func TestResumeFromACheckpointOnWorkers(t *testing.T) {
	desk := two()
	desk.changed = &HadWorkers{Plan: fleet.Plan{Local: 2}}
	q, s, _ := start(t, desk)
	s.detail.points.OnSelected("1")
	q.Tap(s.Content(), resumeFrom(points("new")[1]))
	q.Tap(s.win.Canvas().Overlays().Top(), "Resume")
	wait(q, s)
	q.Tap(s.win.Canvas().Overlays().Top(), "Resume")
	wait(q, s)
	wantOrders(t, desk, "resume new from 1 on {Plan:{Local:2 Listen: Cluster: Credentials:} Share:[]}")
}
