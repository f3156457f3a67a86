package results

import (
	"context"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/internal/words"
)

// taking is a way of taking a run's results elsewhere.
type taking struct {
	title, confirm string // of the question where to
	meanwhile      string
	failed         string
	done           func(path string) string
	write          func(ctx context.Context, run engine.RunID, dir string) (string, error)
}

func (s *Screen) askExport() {
	s.take(&taking{
		"Export CSV: a new folder is made in this one", "Export here", "Exporting…", "The export failed",
		func(path string) string { return "Exported to " + path + ": " + inExport }, s.desk.Export,
	})
}

func (s *Screen) askParquet() {
	s.take(&taking{
		"Export Parquet: a new folder is made in this one", "Export here", "Exporting…", "The export failed",
		func(path string) string { return "Exported to " + path + ", with the columns of the CSV." }, s.desk.ExportParquet,
	})
}

func (s *Screen) askReport() {
	s.take(&taking{
		"Report: an HTML file is made in this folder", "Write it here", "Writing the report…", "There is no report",
		func(path string) string {
			return "The report is " + path + ": one file, which any browser shows, and which can be sent on."
		}, s.desk.Report,
	})
}

// take asks where to, and writes.
func (s *Screen) take(way *taking) {
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
				s.said.Say(about+way.failed+"; the run is as it was. "+words.Trouble(err), widgets.Bad)
			} else {
				s.said.Say(about+way.done(path), widgets.Good)
			}
			s.draw()
		})
	})
}

// takeable reports whether the chosen run's results can be taken elsewhere now.
func (s *Screen) takeable() bool { return s.run() != nil && s.exporting[s.chosen] == "" }

func (s *Screen) drawExport(r *engine.RunRecord) {
	enable(s.export, s.takeable())
	enable(s.report, s.takeable())
	if r != nil && s.exporting[r.ID] != "" {
		s.said.Say(s.exporting[r.ID], widgets.Accent)
	}
}
