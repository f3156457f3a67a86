package runs

import (
	"context"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/internal/words"
)

// OpenBundle adds the run of a bundle to the store, and selects it.
func (s *Screen) OpenBundle(path string) {
	type opened struct {
		run  engine.RunID
		note string
		all  []engine.RunRecord
	}
	s.list.say("Opening the bundle…", widgets.Accent)
	enable(s.list.menu.bundle, false)
	async.Work(func() (o opened, err error) {
		if o.run, o.note, err = s.desk.OpenBundle(context.Background(), path); err == nil {
			o.all, err = s.desk.Runs(context.Background())
		}
		return o, err
	}, func(o opened, err error) {
		enable(s.list.menu.bundle, true)
		if err != nil {
			s.list.say("Not opened. "+words.Trouble(err), widgets.Bad)
			return
		}
		s.runs = o.all
		s.Select(o.run)
		s.list.say(o.note, widgets.Good)
		s.load()
	})
}
