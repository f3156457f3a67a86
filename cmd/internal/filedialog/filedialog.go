// Package filedialog opens the file dialogs of the operating system: those of Windows and macOS, and on Linux those of zenity,
// matedialog or qarma where one is installed.
package filedialog

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/ncruces/zenity"

	"github.com/throng-sim/throng/ui"
)

// System are the dialogs of the operating system. Methods wait for the user and return "" if the user cancels.
type System struct{}

// New returns the dialogs, or nil if this system has none.
func New() ui.FileDialogs {
	if !zenity.IsAvailable() {
		return nil
	}
	return System{}
}

// Folder asks for a folder.
func (System) Folder(ctx context.Context, title string) (string, error) {
	return chosen(zenity.SelectFile(zenity.Context(ctx), zenity.Title(title), zenity.Directory()))
}

// File asks for an existing file with one of some extensions, such as ".yaml".
func (System) File(ctx context.Context, title string, extensions []string) (string, error) {
	return chosen(zenity.SelectFile(zenity.Context(ctx), zenity.Title(title), filters(extensions)))
}

// Save asks for the name of a file to write, and before it replaces one.
func (System) Save(ctx context.Context, title, name string) (string, error) {
	return chosen(zenity.SelectFileSave(zenity.Context(ctx), zenity.Title(title), zenity.Filename(name), zenity.ConfirmOverwrite(), filters([]string{filepath.Ext(name)})))
}

func filters(extensions []string) zenity.FileFilters {
	f := zenity.FileFilter{Name: "Files"}
	for _, e := range extensions {
		if e != "" {
			f.Patterns = append(f.Patterns, "*"+e)
			f.Name += " *" + e
		}
	}
	if len(f.Patterns) == 0 {
		return nil
	}
	f.CaseFold = true
	return zenity.FileFilters{f, {Name: "All files", Patterns: []string{"*"}}}
}

// chosen turns the cancellation by the user into an empty path.
func chosen(path string, err error) (string, error) {
	if errors.Is(err, zenity.ErrCanceled) {
		return "", nil
	}
	return path, err
}
