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

// exportFormat is a format of exported results.
type exportFormat struct {
	title, confirm string // of the dialog for the folder
	meanwhile      string
	failed         string
	done           func(path string) string
	write          func(ctx context.Context, run engine.RunID, dir string) (string, error)
}

func (s *Screen) askExport() { s.askData(export.Formats[0]) }

// askData exports the data of the run, or a report.
func (s *Screen) askData(f export.Format) {
	if f.ID == export.Report {
		s.askReport()
		return
	}
	s.exportAs(&exportFormat{
		"Folder for the " + f.Name + " export", "Export here", "Exporting…", "The export failed",
		func(path string) string { return export.Said(f.ID, path) },
		func(ctx context.Context, run engine.RunID, dir string) (string, error) {
			return s.desk.ExportAs(ctx, run, dir, f.ID)
		},
	})
}

func (s *Screen) askReport() {
	s.exportAs(&exportFormat{
		"Folder for the report", "Save here", "Writing the report…", "The report failed",
		func(path string) string { return export.Said(export.Report, path) }, s.desk.Report,
	})
}

// exports returns the menu of the button Export.
func (s *Screen) exports() *fyne.Menu { return export.Menu(s.askData) }

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

// exportAs asks for a folder and exports.
func (s *Screen) exportAs(way *exportFormat) {
	run := s.chosen
	s.pickPath(way.title, way.confirm, func(dir string) {
		s.exporting[run] = way.meanwhile
		s.draw()
		async.Work(func() (string, error) { return way.write(context.Background(), run, dir) }, func(path string, err error) {
			delete(s.exporting, run)
			about := ""
			if run != s.chosen {
				about = "Run " + string(run) + ": "
			}
			if err != nil {
				s.say(about+way.failed+". "+words.Trouble(err), widgets.Bad)
			} else {
				s.say(about+way.done(path), widgets.Good)
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
