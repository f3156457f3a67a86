package results

import (
	"context"

	"fyne.io/fyne/v2"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/internal/export"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/internal/words"
)

func (s *Screen) askExport() { s.exportAs(export.Formats[0]) }

// exports returns the menu of the button Export.
func (s *Screen) exports() *fyne.Menu { return export.Menu(s.exportAs) }

// openExports opens that menu at the button.
func (s *Screen) openExports() { export.Open(s.exports(), s.export) }

// say shows a message in which nothing can be revealed.
func (s *Screen) say(text string, tone widgets.Tone) {
	s.saved = ""
	s.reveal.Hide()
	s.said.Say(text, tone)
}

// showSaved opens the folder of the last export.
func (s *Screen) showSaved() {
	if err := export.OpenFolder(s.saved); err != nil {
		s.said.Say("Cannot open "+s.saved+". "+words.Trouble(err), widgets.Bad)
	}
}

// exportAs asks for a folder, and exports the results of the run into it.
func (s *Screen) exportAs(f export.Format) {
	run := s.chosen
	s.pickPath(f.Folder(), "Save here", func(dir string) {
		s.exporting[run] = "Writing the " + f.Thing + "…"
		s.draw()
		async.Work(func() (string, error) { return s.desk.ExportAs(context.Background(), run, dir, f.ID) }, func(path string, err error) {
			delete(s.exporting, run)
			about := ""
			if run != s.chosen {
				about = "Run " + string(run) + ": "
			}
			if err != nil {
				s.say(about+"The "+f.Thing+" failed. "+words.Trouble(err), widgets.Bad)
			} else {
				s.say(about+export.Said(f.ID, path), widgets.Good)
				s.saved = path
				s.reveal.Show()
			}
			s.draw()
		})
	})
}

// exportable reports whether the chosen run can be exported now.
func (s *Screen) exportable() bool { return s.run() != nil && s.exporting[s.chosen] == "" }

func (s *Screen) drawExport(r *engine.RunRecord) {
	enable(s.export, s.exportable())
	if r != nil && s.exporting[r.ID] != "" {
		s.say(s.exporting[r.ID], widgets.Accent)
	}
}
