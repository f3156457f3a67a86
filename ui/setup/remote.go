package setup

import (
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// remote is the choice of sending results to a database.
type remote struct {
	panel    *widgets.Panel
	send     *widget.Check
	none     *form.Note
	proposed bool
}

func newRemote() *remote {
	r := &remote{send: widget.NewCheck("", nil), none: form.NewNote("Results stay on this machine. To send them to a database, set one in Settings.")}
	r.panel = widgets.NewPanel("Results", form.NewStack(r.send, r.none))
	r.offer("")
	return r
}

// offer shows the database; "" if none.
func (r *remote) offer(name string) {
	if name == "" {
		r.send.Hide()
		r.none.Show()
		return
	}
	r.none.Hide()
	r.send.SetText("Also send results to Postgres at " + name)
	r.send.Show()
}

func (r *remote) fill(sc *Scenario, another bool) {
	if another || r.send.Checked == r.proposed {
		r.send.SetChecked(sc.Settings.Remote)
	}
	r.proposed = sc.Settings.Remote
}

func (r *remote) into(set *engine.Settings) { set.Remote = r.send.Visible() && r.send.Checked }
