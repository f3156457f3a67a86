package ui

import (
	_ "embed" // the icon
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"

	"github.com/throng-sim/throng/ui/experiments"
	"github.com/throng-sim/throng/ui/experiments/designer"
)

const experimentsTitle = "Experiments"

//go:embed experiment.svg
var experimentIcon []byte

// withExperiments adds the page of experiments after Compare, if the application has them.
func (a *App) withExperiments(pages []*page) []*page {
	if a.desk.Experiments == nil {
		return pages
	}
	a.designer = designer.New(a.desk.Designer, a.win, designer.Ways{Saved: func(path string) { a.openExperiment(path) }, Text: a.openFile})
	a.experiments = experiments.New(a.desk.Experiments, a.win, experiments.Ways{
		Results: a.showResults, Create: a.designer.Create, Edit: a.designer.Edit, Text: a.openFile,
	})
	a.live.Experiments(func() string {
		w, _ := experiments.Executing(a.desk.Experiments.Working())
		return w.Title
	}, a.showExecuting)
	icon := theme.NewThemedResource(fyne.NewStaticResource("experiment.svg", experimentIcon))
	after := 1 + slices.IndexFunc(pages, func(p *page) bool { return p.title == "Compare" })
	return slices.Insert(pages, after, &page{title: experimentsTitle, icon: icon, help: "16-experiments.md#in-the-window", screen: a.experiments})
}

// showExecuting opens the experiment that this window executes.
func (a *App) showExecuting() {
	if w, ok := experiments.Executing(a.desk.Experiments.Working()); ok {
		a.experiments.Select(w.Path)
	}
	a.show(a.pageOf(experimentsTitle))
}

// pageOf returns the page with a title, or nil.
func (a *App) pageOf(title string) *page {
	i := slices.IndexFunc(a.pages, func(p *page) bool { return p.title == title })
	if i < 0 {
		return nil
	}
	return a.pages[i]
}

// openExperiment opens an experiment file. It returns false for other files.
func (a *App) openExperiment(path string) bool {
	if a.experiments == nil || !strings.HasSuffix(path, experiments.Extension) {
		return false
	}
	a.experiments.Select(path)
	a.show(a.pageOf(experimentsTitle))
	return true
}

// openFile opens a file in the system's editor. If there is none, it shows the path.
func (a *App) openFile(path string) {
	if err := a.app.OpenURL(&url.URL{Scheme: "file", Path: filepath.ToSlash(path)}); err != nil {
		a.complain(fmt.Errorf("cannot open the file\n%s\n(%w)", path, err))
	}
}
