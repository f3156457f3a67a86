package results

import (
	"context"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/async"
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

func (s *Screen) askExport() {
	s.exportAs(&exportFormat{
		"Folder for the CSV export", "Export here", "Exporting…", "The export failed",
		func(path string) string { return "Exported to " + path + ": " + inExport }, s.desk.Export,
	})
}

func (s *Screen) askParquet() {
	s.exportAs(&exportFormat{
		"Folder for the Parquet export", "Export here", "Exporting…", "The export failed",
		func(path string) string { return "Exported to " + path + ", with the columns of the CSV." }, s.desk.ExportParquet,
	})
}

func (s *Screen) askReport() {
	s.exportAs(&exportFormat{
		"Folder for the report", "Save here", "Writing the report…", "The report failed",
		func(path string) string {
			return "Saved the report to " + path + ". Open it in a browser, or share it as one file."
		}, s.desk.Report,
	})
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
				s.said.Say(about+way.failed+". "+words.Trouble(err), widgets.Bad)
			} else {
				s.said.Say(about+way.done(path), widgets.Good)
			}
			s.draw()
		})
	})
}

// exportable reports whether the chosen run can be exported now.
func (s *Screen) exportable() bool { return s.run() != nil && s.exporting[s.chosen] == "" }

func (s *Screen) drawExport(r *engine.RunRecord) {
	enable(s.export, s.exportable())
	enable(s.report, s.exportable())
	if r != nil && s.exporting[r.ID] != "" {
		s.said.Say(s.exporting[r.ID], widgets.Accent)
	}
}
