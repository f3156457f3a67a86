package results

import (
	"context"
	"fmt"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/internal/checks"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/internal/words"
)

// checklist is what a run is looked at for after its end.
type checklist struct {
	list    *checks.List
	summary *form.Note
	panel   *widgets.Panel
	of      mark // what the list is of
	asked   int  // numbers the looks: the answer to the newest counts
}

func newChecklist(mend func(engine.Check)) *checklist {
	c := &checklist{list: checks.New(), summary: form.NewNote("")}
	c.list.OnMend = mend
	c.panel = widgets.NewPanel("After the run", form.NewStack(c.summary, c.list))
	return c
}

// drawChecks looks at the chosen run once it is over, and again when it has changed.
func (s *Screen) drawChecks(r *engine.RunRecord) {
	c := s.page.checks
	c.panel.Hidden = !judged(r)
	if !c.panel.Hidden && c.of != markOf(r) {
		s.check(r)
	}
}

func (s *Screen) checkAgain() {
	if r := s.run(); r != nil {
		s.check(r)
	}
}

// check looks at a run. Some of that asks a database, and may take seconds.
func (s *Screen) check(r *engine.RunRecord) {
	c, run := s.page.checks, r.ID
	if c.of.run != run {
		c.list.Set(nil)
	}
	c.of = markOf(r)
	c.asked++
	asked := c.asked
	c.summary.SetText("Looking at what the run reached, and what it has left behind…")
	async.Work(func() ([]engine.Check, error) { return s.desk.Checks(context.Background(), run) }, func(all []engine.Check, err error) {
		if asked != c.asked {
			return
		}
		if err != nil {
			c.of = mark{}
			c.summary.SetProblem("The run could not be looked at; nothing was changed. " + words.Trouble(err))
			return
		}
		checks.Summarize(c.summary, all)
		c.list.Set(s.mendable(all))
	})
}

// send hands what has not arrived to the database again.
func (s *Screen) send() {
	run := s.chosen
	s.said.Say("Sending…", widgets.Accent)
	async.Work(func() (struct{}, error) { return struct{}{}, s.desk.Send(context.Background(), run) }, func(_ struct{}, err error) {
		if err != nil {
			s.said.Say("The rows were not sent, and are kept here. "+words.Trouble(err), widgets.Bad)
			return
		}
		s.said.Say(fmt.Sprintf("The results of run %s are on their way; Settings shows how that goes.", run), widgets.Good)
	})
}
