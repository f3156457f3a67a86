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

// runChecks shows the checks after the end of a run.
type runChecks struct {
	list    *checks.List
	summary *form.Note
	panel   *widgets.Panel
	of      mark // the state of the run that was checked
	asked   int  // number of the newest request; results of older ones are dropped
}

func newRunChecks(mend func(engine.Check)) *runChecks {
	c := &runChecks{list: checks.New(), summary: form.NewNote("")}
	c.list.OnMend = mend
	c.panel = widgets.NewPanel("After the run", c.list)
	return c
}

// drawChecks checks the chosen run after its end, and again when it has changed.
func (s *Screen) drawChecks(r *engine.RunRecord) {
	c := s.page.checks
	if c.panel.Hidden = !judged(r); c.panel.Hidden {
		c.summary.SetText("")
	}
	if !c.panel.Hidden && c.of != markOf(r) {
		s.check(r)
	}
}

func (s *Screen) checkAgain() {
	if r := s.run(); r != nil {
		s.check(r)
	}
}

// check checks a run. It may query a database, which can take seconds.
func (s *Screen) check(r *engine.RunRecord) {
	c, run := s.page.checks, r.ID
	if c.of.run != run {
		c.list.Set(nil)
	}
	c.of = markOf(r)
	c.asked++
	asked := c.asked
	c.summary.SetText("Checking the results and what the run left behind…")
	async.Work(func() ([]engine.Check, error) { return s.desk.Checks(context.Background(), run) }, func(all []engine.Check, err error) {
		if asked != c.asked {
			return
		}
		if err != nil {
			c.of = mark{}
			c.summary.SetProblem("Cannot check the run. " + words.Trouble(err))
			return
		}
		checks.Summarize(c.summary, all)
		c.list.Set(s.mendable(all))
	})
}

// send sends the rows that have not arrived again.
func (s *Screen) send() {
	run := s.chosen
	s.say("Sending…", widgets.Accent)
	async.Work(func() (struct{}, error) { return struct{}{}, s.desk.Send(context.Background(), run) }, func(_ struct{}, err error) {
		if err != nil {
			s.say("Cannot send the rows. They are kept on this machine. "+words.Trouble(err), widgets.Bad)
			return
		}
		s.say(fmt.Sprintf("Sending the results of run %s. Settings shows the progress.", run), widgets.Good)
	})
}
