package authoring

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/throng-sim/throng/assets"
	"github.com/throng-sim/throng/cmd/internal/consent"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/scenario"
)

// Edit is a scenario as somebody edits it: the files of a folder, or a built-in one, with other texts in the place of some.
type Edit struct {
	Name  string            // an absolute path, or a built-in's name
	Texts map[string][]byte // by file, relative to the scenario's folder

	opened []string
}

// BuiltIn reports whether the scenario is in the program.
func (e *Edit) BuiltIn() bool { return !filepath.IsAbs(e.Name) }

// File is the name of the scenario's own file.
func (e *Edit) File() string {
	name := filepath.Base(strings.TrimPrefix(e.Name, engine.BuiltIn))
	if e.BuiltIn() {
		return FileName(name)
	}
	return name
}

// Original opens a file as it is saved.
func (e *Edit) Original(name string) ([]byte, error) {
	if e.BuiltIn() {
		return scenario.FS(assets.Scenarios())(name)
	}
	return scenario.Folder(filepath.Dir(e.Name))(name)
}

// open opens a file as it is edited, and notes that it belongs to the scenario.
func (e *Edit) open(name string) ([]byte, error) {
	text, edited := e.Texts[name]
	var err error
	if !edited {
		text, err = e.Original(name)
	}
	if err == nil && !slices.Contains(e.opened, name) {
		e.opened = append(e.opened, name)
	}
	return text, err
}

// Load reads the scenario as it is edited.
func (e *Edit) Load(x scenario.Extras) (*scenario.Scenario, error) {
	if !e.BuiltIn() {
		x.Keys = scenario.Folder(filepath.Dir(e.Name))
	}
	s, err := x.Read(e.File(), e.open)
	if err == nil && e.BuiltIn() {
		s.Source.Path = engine.BuiltIn + e.File()
	} else if err == nil {
		s.Source.Path = e.Name
	}
	return s, err
}

// Files are those that Load has opened, the scenario's own first.
func (e *Edit) Files() []string { return e.opened }

// Take counts files among those that belong to the scenario, if they are there: where it cannot be read, Load has not found
// all of them.
func (e *Edit) Take(names []string) {
	for _, name := range names {
		_, _ = e.open(name) // one that is not there does not belong to it
	}
}

// IsOwn reports whether the scenario, as it is saved, came with the program or was written in it: then what it is edited to is
// the person's own, too.
func (e *Edit) IsOwn(data string) bool {
	if e.BuiltIn() {
		return true
	}
	saved := Edit{Name: e.Name}
	s, err := saved.Load(scenario.Extras{})
	if err != nil { // it cannot be read as a whole: its own file has to tell
		text, err := e.Original(e.File())
		return err == nil && consent.Of(data).Wrote(text)
	}
	return IsOwn(data, s.Source.Files)
}

// Own remembers the texts of the scenario as written here.
func (e *Edit) Own(data string) error {
	for _, name := range e.opened {
		text, err := e.open(name)
		if err == nil {
			err = consent.Of(data).Write(text)
		}
		if err != nil {
			return fmt.Errorf("remember %s as yours: %w", name, err)
		}
	}
	return nil
}

// Stamp stands for a text: two of the same text are the same.
func Stamp(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

// Stamp is that of a file as it is saved; "" is that it is not there.
func (e *Edit) Stamp(name string) (string, error) {
	text, err := e.Original(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	case err != nil:
		return "", err
	}
	return Stamp(text), nil
}

// Write puts a text in the place of a file in one step: who reads it meanwhile, or after a crash, finds one or the other.
// Links are followed, and who may read it stays.
func (e *Edit) Write(name string, text []byte) error {
	if e.BuiltIn() {
		return errors.New("a built-in scenario cannot be changed: save it in a folder")
	}
	return writeIn(filepath.Dir(e.Name), name, text)
}

// writeIn writes a file of a folder.
func writeIn(dir, name string, text []byte) error {
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return fmt.Errorf("%s is outside of the scenario's folder", name)
	}
	path, mode := filepath.Join(dir, filepath.FromSlash(name)), fs.FileMode(0o644)
	if to, err := filepath.EvalSymlinks(path); err == nil {
		path = to
	}
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// copied is what a file of the scenario is called in another folder: a built-in one gets the ending by which desktops know
// a scenario.
func (e *Edit) copied(name string) string {
	if stem, ok := strings.CutSuffix(name, ".yaml"); ok && e.BuiltIn() && name == e.File() {
		return stem + ".throng.yaml"
	}
	return name
}

// Copy writes all files of the scenario into another folder as they are edited, and returns where its own is then. Those
// that are there already come back, and nothing is written, unless over is set.
func (e *Edit) Copy(dir string, over bool) (path string, there []string, err error) {
	own := e.copied(e.File())
	for _, name := range append(slices.Clone(e.opened), e.File()) {
		name = e.copied(name)
		if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name))); err == nil && !slices.Contains(there, name) {
			there = append(there, name)
		}
	}
	if len(there) > 0 && !over {
		return "", there, nil
	}
	for _, name := range e.opened {
		text, err := e.open(name)
		if err == nil {
			err = writeIn(dir, e.copied(name), text)
		}
		if err != nil {
			return "", nil, fmt.Errorf("copy %s: %w", name, err)
		}
	}
	return filepath.Join(dir, own), nil, nil
}
