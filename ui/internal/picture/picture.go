// Package picture saves pictures of the window in new files, and copies them to the clipboard.
package picture

import (
	"errors"
	"fmt"
	"image"
	"image/png"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"fyne.io/fyne/v2"

	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/internal/chart"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// mostFiles is the maximum number of files with the same name in a folder.
const mostFiles = 10_000

// Save writes a picture into a folder as name.png, or as name-2.png and so on if the file exists. It returns the file's path, and removes a
// file that is incomplete.
func Save(dir, name string, img image.Image) (path string, err error) {
	for n := 1; n <= mostFiles; n++ {
		path = filepath.Join(dir, name+".png")
		if n > 1 {
			path = filepath.Join(dir, fmt.Sprintf("%s-%d.png", name, n))
		}
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		err = errors.Join(png.Encode(f, img), f.Close())
		if err != nil {
			_ = os.Remove(path) // the first error is more useful
			return "", err
		}
		return path, nil
	}
	return "", fmt.Errorf("%s has %d files of this name: choose another folder", dir, mostFiles)
}

// Say shows a message.
type Say func(text string, tone widgets.Tone)

// Keep returns how a screen's charts save and copy pictures: in a folder that the user picks, under the name of the subject, for example a
// run, and of the chart.
func Keep(of func() string, say Say) chart.Keep {
	return chart.Keep{
		Copy: func(_ string, img image.Image) {
			async.Work(func() (struct{}, error) { return struct{}{}, Copy(img) }, func(_ struct{}, err error) {
				if err != nil {
					say("Cannot copy the picture: "+err.Error()+".", widgets.Warning)
					return
				}
				say("Copied the picture.", widgets.Good)
			})
		},
		Save: func(from fyne.CanvasObject, title string, img image.Image) {
			win := windowOf(from)
			if win == nil {
				return // the window was closed
			}
			widgets.PickFolder(win, "Folder for the picture", "Save here", func(dir string) {
				async.Work(func() (string, error) { return Save(dir, Name(of(), title), img) }, func(path string, err error) {
					if err != nil {
						say("Cannot save the picture: "+err.Error()+".", widgets.Bad)
						return
					}
					say("Saved "+path, widgets.Good)
				})
			})
		},
	}
}

// windowOf returns the window that shows an object, or nil.
func windowOf(o fyne.CanvasObject) fyne.Window {
	driver := fyne.CurrentApp().Driver()
	shown := driver.CanvasForObject(o)
	for _, win := range driver.AllWindows() {
		if shown != nil && win.Canvas() == shown {
			return win
		}
	}
	return nil
}

// Name returns a file name from parts, without characters that file systems do not allow.
func Name(parts ...string) string {
	names := []string{"throng"}
	for _, part := range parts {
		names = append(names, strings.FieldsFunc(strings.ToLower(part), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })...)
	}
	return strings.Join(names, "-")
}
