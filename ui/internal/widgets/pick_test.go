package widgets

import (
	"os"
	"path/filepath"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/ui/uitest"
)

// TestANewFileDoesNotExistYet checks that the toolkit's dialog leaves no empty file, and completes names.
func TestANewFileDoesNotExistYet(t *testing.T) {
	for _, c := range []struct {
		name, typed, want string
		exists            string // a file with text
		asked             bool   // before it is replaced
	}{
		{name: "proposed", want: "shop.experiment.yaml"},
		{name: "another name", typed: "mine.experiment.yaml", want: "mine.experiment.yaml"},
		{name: "half an ending", typed: "my.yaml", want: "my.experiment.yaml"},
		{name: "no ending", typed: "my", want: "my.experiment.yaml"},
		{name: "another file", typed: "my.yaml", exists: "my.experiment.yaml", want: "my.experiment.yaml", asked: true},
		{name: "a file that is replaced", exists: "shop.experiment.yaml", want: "shop.experiment.yaml", asked: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			q := uitest.Start(t)
			home := t.TempDir()
			t.Setenv("HOME", home)
			t.Setenv("USERPROFILE", home)
			if c.exists != "" {
				if err := os.WriteFile(filepath.Join(home, c.exists), []byte("title: mine\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			w := test.NewTempWindow(t, widget.NewLabel("below"))
			w.Resize(fyne.NewSize(900, 700))
			picked := ""
			PickSaveAs(w, "Save", "shop.experiment.yaml", ".experiment.yaml", func(path string) {
				picked = path
				if c.exists == "" {
					if _, err := os.Lstat(path); !os.IsNotExist(err) {
						t.Errorf("%s exists: %v", path, err)
					}
				}
			})
			top := w.Canvas().Overlays().Top
			if c.typed != "" {
				uitest.Walk(top(), func(o fyne.CanvasObject) bool {
					if e, ok := o.(*widget.Entry); ok {
						e.SetText(c.typed)
					}
					return true
				})
			}
			q.Tap(top(), "Save")
			if c.asked {
				if picked != "" {
					t.Fatal("not asked")
				}
				for _, yes := range []string{"Replace", "Overwrite", "Yes"} {
					if uitest.Button(top(), yes) != nil {
						q.Tap(top(), yes)
						break
					}
				}
			}
			if filepath.Base(picked) != c.want {
				t.Errorf("picked %q, want %q", picked, c.want)
			}
			left, err := os.ReadDir(home)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range left {
				if !f.IsDir() && f.Name() != c.exists {
					t.Errorf("%s is left", f.Name())
				}
			}
		})
	}
}
