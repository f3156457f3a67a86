package results

import (
	"context"
	"net/url"
	"path/filepath"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

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

// dataFormats are the formats of exports, with their names.
var dataFormats = []struct{ format, name string }{{"csv", "CSV"}, {"parquet", "Parquet"}, {"jsonl", "JSON"}}

func (s *Screen) askExport() { s.askData("csv", "CSV") }

// askData exports the data of the run.
func (s *Screen) askData(format, name string) {
	s.exportAs(&exportFormat{
		"Folder for the " + name + " export", "Export here", "Exporting…", "The export failed",
		func(path string) string { return "Exported to " + path + ". " + inExport },
		func(ctx context.Context, run engine.RunID, dir string) (string, error) {
			return s.desk.ExportAs(ctx, run, dir, format)
		},
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

// exports returns the menu of the button Export.
func (s *Screen) exports() *fyne.Menu {
	menu := fyne.NewMenu("")
	for _, f := range dataFormats {
		menu.Items = append(menu.Items, fyne.NewMenuItem(f.name+"…", func() { s.askData(f.format, f.name) }))
	}
	menu.Items = append(menu.Items, fyne.NewMenuItemSeparator(), fyne.NewMenuItem("Report…", s.askReport))
	return menu
}

// openExports opens that menu below the button.
func (s *Screen) openExports() {
	driver := fyne.CurrentApp().Driver()
	at := driver.AbsolutePositionForObject(s.export)
	widget.NewPopUpMenu(s.exports(), driver.CanvasForObject(s.export)).ShowAtPosition(fyne.NewPos(at.X, at.Y+s.export.Size().Height))
}

// say shows a message in which nothing can be revealed.
func (s *Screen) say(text string, tone widgets.Tone) {
	s.saved = ""
	s.reveal.Hide()
	s.said.Say(text, tone)
}

// showSaved opens the folder of the last export.
func (s *Screen) showSaved() {
	dir := s.saved
	if filepath.Ext(dir) == ".html" {
		dir = filepath.Dir(dir)
	}
	if err := fyne.CurrentApp().OpenURL(&url.URL{Scheme: "file", Path: filepath.ToSlash(dir)}); err != nil {
		s.said.Say("Cannot open "+dir+". "+words.Trouble(err), widgets.Bad)
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
