package authoring_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/throng-sim/throng/cmd/internal/app/authoring"
	"github.com/throng-sim/throng/engine/scenario"
)

// TestEditReadsWhatIsEdited checks that edited texts replace saved files, also those that the main file includes.
func TestEditReadsWhatIsEdited(t *testing.T) {
	e := &authoring.Edit{Name: "shopping", Texts: map[string][]byte{"shopping.star": []byte("def broken(:\n")}}
	_, err := e.Load(scenario.Extras{})
	if err == nil || !strings.Contains(err.Error(), "shopping.star") || !e.BuiltIn() {
		t.Errorf("got %v", err)
	}
	if want := []string{"shopping.yaml", "shopping.star"}; !slices.Equal(e.Files(), want) {
		t.Errorf("opened %v", e.Files())
	}
	if err := e.Write("shopping.yaml", nil); err == nil {
		t.Error("a built-in scenario was changed")
	}
}

// TestEditWrites checks that a file is replaced through a link with its permissions, and that no other files change.
func TestEditWrites(t *testing.T) {
	dir := t.TempDir()
	real, link := filepath.Join(t.TempDir(), "real.yaml"), filepath.Join(dir, "mine.yaml")
	if err := os.WriteFile(real, []byte("old"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, link); err != nil {
		t.Skipf("Windows lets only administrators make links: %v", err)
	}
	e := &authoring.Edit{Name: link}
	if err := e.Write("mine.yaml", []byte("new\r\n")); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(real)
	info, statErr := os.Stat(real)
	if err != nil || statErr != nil || string(text) != "new\r\n" || info.Mode().Perm() != 0o640 {
		t.Errorf("%q with %v, %v", text, info.Mode(), err)
	}
	for _, outside := range []string{"../x.yaml", "/tmp/x.yaml"} {
		if err := e.Write(outside, nil); err == nil {
			t.Errorf("%s was written", outside)
		}
	}
	for _, at := range []string{dir, filepath.Dir(real)} {
		if left, err := os.ReadDir(at); err != nil || len(left) != 1 {
			t.Errorf("%s holds %v, %v", at, left, err)
		}
	}
}

// TestEditKeepsAFileThatCannotBeReplaced checks that a failed write leaves no files.
func TestEditKeepsAFileThatCannotBeReplaced(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "mine.yaml"), 0o700); err != nil {
		t.Fatal(err)
	}
	e := &authoring.Edit{Name: filepath.Join(dir, "mine.yaml")}
	if err := e.Write("mine.yaml", []byte("x")); err == nil {
		t.Error("a folder was replaced")
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("left %v, %v", left, err)
	}
}

// TestEditCopies copies all files of a scenario, and overwrites files only on request.
func TestEditCopies(t *testing.T) {
	dir := t.TempDir()
	e := &authoring.Edit{Name: "shopping", Texts: map[string][]byte{}}
	own, err := e.Original("shopping.yaml")
	if err != nil {
		t.Fatal(err)
	}
	e.Texts["shopping.yaml"] = append(bytes.Clone(own), "# mine\n"...)
	if _, err := e.Load(scenario.Extras{}); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "mine.throng.yaml")
	if there, err := e.Copy(path, false); err != nil || len(there) > 0 {
		t.Fatalf("%v, %v", there, err)
	}
	if text, err := os.ReadFile(path); err != nil || !bytes.Equal(text, e.Texts["shopping.yaml"]) {
		t.Errorf("the copy differs from the edited text: %v", err)
	}
	if _, err := scenario.Load(path, nil); err != nil {
		t.Errorf("the copy cannot be read: %v", err)
	}
	if there, _ := e.Copy(path, false); !slices.Equal(there, []string{"shopping.star"}) {
		t.Errorf("existing files: %v", there)
	}
	if _, err := e.Copy(path, true); err != nil {
		t.Errorf("not replaced: %v", err)
	}
}
