// Package export holds what screens with exports share: the formats, the menu, and what is said and opened afterwards.
package export

import (
	"net/url"
	"path/filepath"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/ui/internal/action"
)

const (
	// Report is the format of a report, one HTML page.
	Report = "report"
	// Bundle is the format of a bundle, an archive with everything that decided the run.
	Bundle = "bundle"
	// BundleEnding is the ending of names of bundles.
	BundleEnding = ".zip"
)

// Format is a format in which the results of a run can be exported.
type Format struct {
	ID, Name string
	Thing    string // in sentences, without an article
}

// Formats are the formats of exports, in the order of the menu.
var Formats = []Format{
	{"csv", "CSV", "CSV export"},
	{"parquet", "Parquet", "Parquet export"},
	{"jsonl", "JSON", "JSON export"},
	{Report, "Report", "report"},
	{Bundle, "Bundle", "bundle"},
}

// Folder is the title of the dialog that asks for the folder.
func (f Format) Folder() string { return "Folder for the " + f.Thing }

// Menu returns the menu of a button Export.
func Menu(chosen func(Format)) *fyne.Menu {
	menu := fyne.NewMenu("")
	for _, f := range Formats {
		if f.ID == Report {
			menu.Items = append(menu.Items, fyne.NewMenuItemSeparator())
		}
		menu.Items = append(menu.Items, fyne.NewMenuItem(f.Name+"…", func() { chosen(f) }))
	}
	return menu
}

// Actions returns an action for each format, for the menus and shortcuts.
func Actions(chosen func(Format), enabled func() bool) (all []action.Action) {
	for _, f := range Formats {
		a := action.Action{Name: "Export " + f.Name + "…", Menu: "File", Sub: "Export", Do: func() { chosen(f) }, Enabled: enabled}
		switch f.ID {
		case Report, Bundle:
			a.Name = f.Name + "…"
		case Formats[0].ID:
			a.Key, a.Modifier = fyne.KeyE, action.Command
		}
		all = append(all, a)
	}
	return all
}

// Open opens a menu below a button, or above it if there is no room.
func Open(menu *fyne.Menu, at *widget.Button) {
	driver := fyne.CurrentApp().Driver()
	canvas := driver.CanvasForObject(at)
	if canvas == nil {
		return
	}
	shown := widget.NewPopUpMenu(menu, canvas)
	place, size := driver.AbsolutePositionForObject(at), shown.MinSize()
	y := place.Y + at.Size().Height
	if y+size.Height > canvas.Size().Height {
		y = max(place.Y-size.Height, 0)
	}
	shown.ShowAtPosition(fyne.NewPos(min(place.X, max(canvas.Size().Width-size.Width, 0)), y))
}

// Said describes a finished export.
func Said(format, path string) string {
	switch format {
	case Report:
		return "Saved the report to " + path + ". Open it in a browser, or share it as one file."
	case Bundle:
		return "Saved the bundle to " + path + ". File > Open bundle… adds the run on another computer."
	}
	return "Exported to " + path + ". README.md describes each file and column."
}

// OpenFolder opens the folder of an export.
func OpenFolder(path string) error {
	switch filepath.Ext(path) {
	case ".html", BundleEnding:
		path = filepath.Dir(path)
	}
	return fyne.CurrentApp().OpenURL(&url.URL{Scheme: "file", Path: filepath.ToSlash(path)})
}
