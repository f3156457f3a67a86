package setup

import (
	"errors"
	"image/png"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/workers"
	"github.com/throng-sim/throng/ui/fleet"
	"github.com/throng-sim/throng/ui/fleet/fleettest"
	"github.com/throng-sim/throng/ui/internal/skin"
	"github.com/throng-sim/throng/ui/uitest"
)

const joinLine = "throng://desk:7422/k3v9q2x7c1m8/b64d8c52e1f0a97344d2"

// elsewhere shows a scenario whose sessions run on other computers.
func elsewhere(t *testing.T, desk *fakeDesk) (*stage, *fleettest.Fleet) {
	t.Helper()
	team := &fleettest.Fleet{Join: joinLine}
	desk.fleet = team
	s := shown(t, desk)
	s.until("Cycle")
	if !s.shows("this computer only") {
		t.Fatalf("at first it shows %q", uitest.Texts(s.screen.workers.Panel))
	}
	s.screen.workers.Panel.SetOpen(true)
	s.screen.workers.Where.SetSelected("Other computers")
	s.screen.Tick()
	s.Drain()
	return s, team
}

// join lets four workers join; one is refused.
func join(s *stage, team *fleettest.Fleet) {
	all := fleettest.Four(time.Time{}, 0)
	all[3].Status, all[3].Why = workers.Refused, "it is Throng 0.8.1, the coordinator is 0.9.0; results may differ between versions"
	team.Set(all...)
	s.screen.Tick()
	s.Drain()
}

func TestWorkersAreInvited(t *testing.T) {
	s, team := elsewhere(t, &fakeDesk{})
	if !s.shows("Launch when a worker joins") || s.shows("Join command") {
		t.Errorf("before the invitation it shows %q", uitest.Texts(s.screen.Content()))
	}
	s.Tap(s.screen.Content(), "Invite workers")
	s.Until("invited", func() bool { return s.screen.workers.Invited() })
	if !s.shows("THRONG_JOIN=throng://desk:7422/") || !s.shows("No worker has joined yet.") || !uitest.Button(s.screen.Content(), "Invite workers").Disabled() {
		t.Errorf("after the invitation it shows %q", uitest.Texts(s.screen.workers.Panel))
	}
	s.Tap(s.screen.workers.Panel, "Copy")
	if got := fyne.CurrentApp().Clipboard().Content(); got != "THRONG_JOIN="+joinLine+" throngctl worker" {
		t.Errorf("copied %q", got)
	}
	fyne.CurrentApp().Driver().CanvasForObject(s.screen.Content()).(interface{ Resize(fyne.Size) }).Resize(fyne.NewSize(1200, 760))
	join(s, team)
	for _, want := range []string{"rack-1", "linux/amd64", "0.9.0", "64 GB", "1.2 ms", "rack-3 is refused: it is Throng 0.8.1"} {
		if !s.shows(want) {
			t.Errorf("there is no %q among %q", want, uitest.Texts(s.screen.workers.Panel))
		}
	}
	if s.shows("Launch when a worker joins") || !s.shows("other computers, 3 ready") {
		t.Error("with workers, the launch waits for one")
	}
	team.Fail = errors.New("a run uses the workers")
	s.Tap(s.screen.Content(), "Stop inviting")
	s.until("a run uses the workers")
	team.Fail = nil
	s.Tap(s.screen.Content(), "Stop inviting")
	s.Until("not invited", func() bool { return !s.screen.workers.Invited() })
	if s.shows("Join command") || !s.shows("none invited yet") {
		t.Errorf("after the end it shows %q", uitest.Texts(s.screen.workers.Panel))
	}
	if got := strings.Join(team.Orders(), "; "); got != "invite :7422; uninvite; uninvite" {
		t.Errorf("the orders are %s", got)
	}
}

// TestALaunchWaitsForAWorker checks that a launch invites workers first, says that it waits, and can be canceled.
func TestALaunchWaitsForAWorker(t *testing.T) {
	desk := &fakeDesk{awaited: make(chan struct{})}
	s, team := elsewhere(t, desk)
	s.tap("Launch when a worker joins")
	waits := func() bool {
		s.screen.Tick()
		return s.shows("Waiting for the first worker to join.") && s.shows("Join command")
	}
	s.Until("waiting", waits)
	s.tap("Cancel")
	s.until("Not launched: start canceled.")
	s.screen.Tick()
	s.tap("Launch when a worker joins")
	s.Until("waiting", waits)
	join(s, team)
	close(desk.awaited)
	s.Until("launched", func() bool { return desk.count(&desk.launched) == 1 })
	if p := desk.last(&desk.launched).Fleet.Plan; p != (fleet.Plan{Listen: ":7422"}) {
		t.Errorf("launched with %+v", p)
	}
	if got := team.Orders(); !slices.Equal(got, []string{"invite :7422"}) {
		t.Errorf("the orders are %q", got)
	}
}

func TestPlansOfWorkers(t *testing.T) {
	s, team := elsewhere(t, &fakeDesk{})
	plan := func() fleet.Plan {
		o, _, _ := s.screen.order()
		return o.Fleet.Plan
	}
	s.screen.workers.Where.SetSelected("Several processes")
	s.typed("Processes", "4")
	if p := plan(); p != (fleet.Plan{Local: 4}) || !s.shows("4 processes on this computer") || s.shows("Listen on") {
		t.Errorf("several processes: %+v among %q", p, uitest.Texts(s.screen.workers.Panel))
	}
	s.typed("Processes", "0")
	if rows := s.screen.mistakes(); len(rows) != 1 || rows[0].Title() != "Processes" {
		t.Error("0 processes are accepted")
	}
	s.screen.workers.Where.SetSelected("Other computers")
	team.Fail = &engine.FieldError{Field: fleet.ListenField, Problem: "the port is in use"}
	s.Tap(s.screen.Content(), "Invite workers")
	s.until("the port is in use")
	team.Fail = nil
	s.check("Through a NATS cluster")
	if rows := s.screen.mistakes(); len(rows) != 1 || rows[0].Title() != "NATS cluster" {
		t.Errorf("a cluster without an address is accepted: %v", rows)
	}
	s.typed("NATS cluster", "tls://nats.example.com:4222")
	if p := plan(); p != (fleet.Plan{Cluster: "tls://nats.example.com:4222"}) {
		t.Errorf("a cluster: %+v", p)
	}
	s.screen.workers.Where.SetSelected("This computer")
	if p := plan(); p != (fleet.Plan{}) {
		t.Errorf("this computer: %+v", p)
	}
}

// TestSecretsAreSentOnlyIfAllowed checks that secrets are offered by name, sent only after the box is checked, and have to be allowed again
// if there are others.
func TestSecretsAreSentOnlyIfAllowed(t *testing.T) {
	desk := &fakeDesk{requirements: Requirements{Stored: []Stored{{"shop", "SHOP_TOKEN", "the keychain", "in the keychain"}, {"model", "MODEL_KEY", "the keychain", "in the keychain"}}}}
	s, _ := elsewhere(t, desk)
	s.until("this computer sends MODEL_KEY, SHOP_TOKEN to them.")
	shared := func() []string {
		o, _, _ := s.screen.order()
		return o.Fleet.Share
	}
	if got := shared(); got != nil {
		t.Errorf("without a question, %q are sent", got)
	}
	s.check("Send secrets to the workers")
	if got := shared(); !slices.Equal(got, []string{"MODEL_KEY", "SHOP_TOKEN"}) {
		t.Errorf("%q are sent", got)
	}
	s.check("Through a NATS cluster")
	if got := shared(); got != nil || s.shows("Send secrets") {
		t.Errorf("a cluster sees %q", got)
	}
	s.screen.workers.Where.SetSelected("This computer")
	if got := shared(); got != nil || s.shows("Send secrets") {
		t.Errorf("this process is sent %q", got)
	}
	s.screen.workers.Where.SetSelected("Several processes")
	if got := shared(); len(got) != 2 {
		t.Errorf("worker processes are sent %q", got)
	}
	s.screen.workers.SetSecrets([]string{"MODEL_KEY", "SHOP_TOKEN", "OTHER"})
	if got := shared(); got != nil {
		t.Errorf("with another secret, %q are sent", got)
	}
}

// TestWithoutAFleetNothingIsShown checks that there is no section if runs stay in this process.
func TestWithoutAFleetNothingIsShown(t *testing.T) {
	s := shown(t, &fakeDesk{})
	s.until("Cycle")
	s.screen.Tick()
	if s.shows("Workers") || s.shows("worker") {
		t.Errorf("it shows %q", uitest.Texts(s.screen.Content()))
	}
	if o, _, err := s.screen.order(); o.Fleet.Plan != (fleet.Plan{}) || err != nil {
		t.Errorf("the plan is %+v, %v", o.Fleet, err)
	}
}

func TestNoWorkerIsClipped(t *testing.T) {
	s, team := elsewhere(t, &fakeDesk{})
	s.Tap(s.screen.Content(), "Invite workers")
	s.Until("invited", func() bool { return s.screen.workers.Invited() })
	join(s, team)
	s.screen.bring(s.screen.workers.Fields[1].Row)
	s.Fit("setup-workers", s.screen.Content(), scaled)
}

// TestPicturesOfWorkers saves pictures of the screen in the folder THRONG_PICTURES, to look at them.
func TestPicturesOfWorkers(t *testing.T) {
	dir := os.Getenv("THRONG_PICTURES")
	if dir == "" {
		t.Skip("THRONG_PICTURES is not set")
	}
	s, team := elsewhere(t, &fakeDesk{})
	win := fyne.CurrentApp().Driver().CanvasForObject(s.screen.Content())
	picture := func(name string) {
		for _, look := range []struct {
			name, theme string
			scale       float32
			size        fyne.Size
		}{
			{"1280-light", "light", 1, fyne.NewSize(1130, 760)},
			{"1000-dark", "dark", 1, fyne.NewSize(850, 600)},
			{"1280-large", "dark", 1.5, fyne.NewSize(1130, 760)},
		} {
			fyne.CurrentApp().Settings().SetTheme(skin.New(look.theme).Scaled(look.scale))
			win.(interface{ Resize(fyne.Size) }).Resize(look.size)
			s.screen.bring(s.screen.workers.Fields[1].Row)
			s.Drain()
			f, err := os.Create(dir + "/setup-" + name + "-" + look.name + ".png")
			if err != nil {
				t.Fatal(err)
			}
			_ = png.Encode(f, uitest.Picture(win, s.screen.Content()))
			_ = f.Close()
		}
	}
	picture("before")
	s.Tap(s.screen.Content(), "Invite workers")
	s.Until("invited", func() bool { return s.screen.workers.Invited() })
	picture("invited")
	join(s, team)
	picture("joined")
}

// check checks the box with a text.
func (s *stage) check(text string) {
	uitest.Walk(s.screen.Content(), func(o fyne.CanvasObject) bool {
		if c, ok := o.(*widget.Check); ok && c.Text == text {
			c.SetChecked(true)
		}
		return true
	})
	s.Drain()
}
