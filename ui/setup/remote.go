package setup

import (
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/form"
)

// remote is the choice of sending results to a database.
type remote struct {
	panel    *form.Fold
	send     *widget.Check
	about    *form.Note
	proposed bool
}

func newRemote() *remote {
	r := &remote{send: widget.NewCheck("Also send results to Postgres", nil), about: form.NewNote("")}
	r.panel = form.NewFold("Results", form.NewStack(r.send, r.about))
	r.offer("")
	return r
}

// offer shows the database; "" if none.
func (r *remote) offer(name string) {
	if name == "" {
		r.send.Hide()
		r.about.SetText("Results stay on this machine. To send them to a database, set one in Settings.")
		return
	}
	r.about.SetText("Database: " + name)
	r.send.Show()
}

func (r *remote) fill(sc *Scenario, another bool) {
	if another || r.send.Checked == r.proposed {
		r.send.SetChecked(sc.Settings.Remote)
	}
	r.proposed = sc.Settings.Remote
}

func (r *remote) into(set *engine.Settings) { set.Remote = r.send.Visible() && r.send.Checked }
