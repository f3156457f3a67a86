package results

import (
	"context"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/internal/words"
)

// drawAudit shows the audit of a run that is not in progress.
func (s *Screen) drawAudit(r *engine.RunRecord) {
	switch {
	case r == nil || r.InProgress || s.auditing[r.ID]:
		s.audit.Disable()
	case s.audit.Disabled():
		s.audit.Enable()
	}
	if r != nil && s.auditing[r.ID] {
		s.say("Recalculating all figures from the journal…", widgets.Accent)
	}
}

func (s *Screen) startAudit() {
	run := s.chosen
	s.auditing[run] = true
	s.draw()
	type found struct {
		summary string
		equal   bool
	}
	async.Work(func() (f found, err error) {
		f.summary, f.equal, err = s.desk.Audit(context.Background(), run)
		return f, err
	}, func(f found, err error) {
		delete(s.auditing, run)
		about := ""
		if run != s.chosen {
			about = "Run " + string(run) + ": "
		}
		switch {
		case err != nil:
			s.say(about+"The audit failed. "+words.Trouble(err), widgets.Bad)
		case f.equal:
			s.say(about+"Audited: "+f.summary+".", widgets.Good)
		default:
			s.say(about+"Audited: "+f.summary+". For details run: throngctl audit "+string(run), widgets.Bad)
		}
		s.draw()
	})
}
