// Package picture takes pictures out of the window: into files that never replace another, and onto the clipboard.
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

// mostFiles is how many files of one name a folder takes before saving gives up.
const mostFiles = 10_000

// Save writes a picture into a folder, as name.png, or as name-2.png and so on where there is such a file already. It
// returns the file's path; a file that could not be written whole is removed.
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
			_ = os.Remove(path) // the first error says more
			return "", err
		}
		return path, nil
	}
	return "", fmt.Errorf("%s holds %d files of this name: choose another folder", dir, mostFiles)
}

// Say shows a sentence to the person.
type Say func(text string, tone widgets.Tone)

// Keep is what a screen gives its charts: pictures are saved into a folder that the person picks, under the name of what
// they are of, such as a run, and the chart's; what came of it is said.
func Keep(of func() string, say Say) chart.Keep {
	return chart.Keep{
		Copy: func(_ string, img image.Image) {
			async.Work(func() (struct{}, error) { return struct{}{}, Copy(img) }, func(_ struct{}, err error) {
				if err != nil {
					say("The picture was not copied: "+err.Error()+". Nothing else has changed.", widgets.Warning)
					return
				}
				say("The picture is on the clipboard.", widgets.Good)
			})
		},
		Save: func(from fyne.CanvasObject, title string, img image.Image) {
			win := windowOf(from)
			if win == nil {
				return // it was closed meanwhile
			}
			widgets.PickFolder(win, "Save the picture in this folder", "Save here", func(dir string) {
				async.Work(func() (string, error) { return Save(dir, Name(of(), title), img) }, func(path string, err error) {
					if err != nil {
						say("The picture was not saved: "+err.Error()+". Nothing else has changed.", widgets.Bad)
						return
					}
					say("Saved "+path, widgets.Good)
				})
			})
		},
	}
}

// windowOf returns the window that shows an object; nil if none does.
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

// Name makes a file's name of what a picture is of, without what file systems do not take.
func Name(parts ...string) string {
	names := []string{"throng"}
	for _, part := range parts {
		names = append(names, strings.FieldsFunc(strings.ToLower(part), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })...)
	}
	return strings.Join(names, "-")
}
