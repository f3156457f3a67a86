package desk

import (
	"context"
	"os"

	"github.com/throng-sim/throng/assets"
	"github.com/throng-sim/throng/cmd/internal/app/about"
	"github.com/throng-sim/throng/cmd/internal/app/crashes"
	"github.com/throng-sim/throng/cmd/internal/crash"
	"github.com/throng-sim/throng/cmd/internal/logs"
	"github.com/throng-sim/throng/ui"
)

// program provides information on the program.
type program struct{ *Desk }

var _ ui.Program = program{}

// About implements [ui.Program].
func (p program) About() ui.About {
	a := about.Read()
	return ui.About{Version: a.String(), Go: a.Go, Fyne: a.Fyne, System: a.System, Data: p.data, Icon: assets.Icon()}
}

// Licenses implements [ui.Program].
func (p program) Licenses(context.Context) ([]assets.License, error) { return assets.Licenses() }

// Reports implements [ui.Program].
func (p program) Reports(context.Context) ([]ui.Report, error) {
	left, err := crashes.Reports(p.data, "")
	var all []ui.Report
	for _, r := range left {
		text, readErr := os.ReadFile(r.Path)
		if readErr != nil { // the file was deleted meanwhile
			continue
		}
		all = append(all, ui.Report{Path: r.Path, At: r.At, Text: string(text)})
	}
	return all, err
}

// Told implements [ui.Program].
func (p program) Told(_ context.Context, path string) error {
	_, err := crash.Told(path)
	return err
}

// Logs implements [ui.Program].
func (p program) Logs() string { return logs.Folder(p.data) }
