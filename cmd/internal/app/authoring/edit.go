package authoring

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/throng-sim/throng/assets"
	"github.com/throng-sim/throng/cmd/internal/consent"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/scenario"
)

// Edit is a scenario in an editor: a built-in one or the files of a folder, with edited texts in place of some files.
type Edit struct {
	Name  string            // an absolute path, or the name of a built-in scenario
	Texts map[string][]byte // by file, relative to the scenario's folder

	opened []string
	data   []string // files that were opened in pieces
}

// BuiltIn reports whether the scenario is built in.
func (e *Edit) BuiltIn() bool { return !filepath.IsAbs(e.Name) }

// File returns the name of the scenario's main file.
func (e *Edit) File() string {
	name := filepath.Base(strings.TrimPrefix(e.Name, engine.BuiltIn))
	if e.BuiltIn() && !e.IsTemplate() {
		return FileName(name)
	}
	return name
}

// IsTemplate reports whether the scenario is a template for a new one, which has no file yet.
func (e *Edit) IsTemplate() bool { return slices.Contains(assets.Templates, e.Name) }

// Original returns the saved text of a file.
func (e *Edit) Original(name string) ([]byte, error) {
	if e.IsTemplate() {
		name = path.Dir(e.Name) + "/" + name
	}
	if e.BuiltIn() {
		return scenario.FS(assets.Scenarios())(name)
	}
	return scenario.Folder(filepath.Dir(e.Name))(name)
}

// open returns the edited or saved text of a file, and notes that the file belongs to the scenario.
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

// openData opens a saved file in pieces, or its edited text, and notes that the file belongs to the scenario.
func (e *Edit) openData(name string) (scenario.Data, error) {
	if text, edited := e.Texts[name]; edited {
		return scenario.NewData(text), nil
	}
	data, err := scenario.FolderData(filepath.Dir(e.Name))(name)
	if err == nil && !slices.Contains(e.data, name) {
		e.data = append(e.data, name)
	}
	return data, err
}

// Load reads the scenario with the edited texts.
func (e *Edit) Load(x scenario.Extras) (*scenario.Scenario, error) {
	from := e.Name
	switch {
	case e.IsTemplate():
		from = engine.BuiltIn + e.Name
	case e.BuiltIn():
		from = engine.BuiltIn + e.File()
	default:
		x.Keys, x.Data = scenario.Folder(filepath.Dir(from)), e.openData
	}
	s, err := scenarios.read(from, e.File(), x, e.open)
	if err == nil {
		s.Source.Path = from
	}
	return s, err
}

// Files returns the files that Load has opened, the main file first.
func (e *Edit) Files() []string { return slices.Concat(e.opened, e.data) }

// AddFiles adds existing files to those of the scenario. If the scenario has mistakes, Load may not have found all of them.
func (e *Edit) AddFiles(names []string) {
	for _, name := range names {
		if path.Ext(name) != ".parquet" || e.BuiltIn() {
			_, _ = e.open(name) // a missing file does not belong to it
		} else if data, err := e.openData(name); err == nil {
			_ = data.Close() // nothing was read
		}
	}
}

// IsOwn reports whether the saved scenario is built in or was written in the program's editor. Then its edited form is the
// user's own, too.
func (e *Edit) IsOwn(data string) bool {
	if e.BuiltIn() {
		return true
	}
	saved := Edit{Name: e.Name}
	s, err := saved.Load(scenario.Extras{})
	if err != nil { // it has mistakes: check the main file only
		text, err := e.Original(e.File())
		return err == nil && consent.Of(data).Wrote(text)
	}
	return IsOwn(data, s.Source.Files)
}

// MarkOwn records that the texts of the scenario were written in this program.
func (e *Edit) MarkOwn(data string) error {
	for _, name := range e.opened {
		text, err := e.open(name)
		if err == nil {
			err = consent.Of(data).Write(text)
		}
		if err != nil {
			return fmt.Errorf("mark %s as your own: %w", name, err)
		}
	}
	return nil
}

// Stamp returns a hash of a text.
func Stamp(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

// Stamp returns the hash of a saved file; "" if it does not exist.
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

// Write replaces a file of the scenario; see [Replace].
func (e *Edit) Write(name string, text []byte) error {
	if e.BuiltIn() {
		return errors.New("a built-in scenario cannot be changed: save a copy in a folder")
	}
	return writeIn(filepath.Dir(e.Name), name, text)
}

// writeIn writes a file in a folder.
func writeIn(dir, name string, text []byte) error {
	to, err := pathIn(dir, name)
	if err != nil {
		return err
	}
	return Replace(to, text)
}

// pathIn returns the path of a file in a folder.
func pathIn(dir, name string) (string, error) {
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return "", fmt.Errorf("%s is outside the scenario's folder", name)
	}
	return filepath.Join(dir, filepath.FromSlash(name)), nil
}

// Replace writes a file atomically and durably: readers see the old or the new text, even after a crash. It follows symbolic links and
// keeps the permissions.
func Replace(path string, text []byte) error { return replace(path, bytes.NewReader(text)) }

func replace(path string, text io.Reader) error {
	mode := fs.FileMode(0o644)
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
	_, err = io.Copy(f, text)
	if err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// Copy writes the scenario with the edited texts to a file, which it replaces, and its other files to the same folder. If one of
// those already exists and overwrite is not set, it writes nothing and returns their names.
func (e *Edit) Copy(path string, overwrite bool) (existing []string, err error) {
	dir := filepath.Dir(path)
	for _, name := range e.Files() {
		if name == e.File() || slices.Contains(existing, name) {
			continue
		}
		if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name))); err == nil {
			existing = append(existing, name)
		}
	}
	if len(existing) > 0 && !overwrite {
		return existing, nil
	}
	for _, name := range e.opened {
		text, err := e.open(name)
		if err == nil {
			to := name
			if name == e.File() {
				to = filepath.Base(path)
			}
			err = writeIn(dir, to, text)
		}
		if err != nil {
			return nil, fmt.Errorf("copy %s: %w", name, err)
		}
	}
	for _, name := range e.data {
		if err := e.copyData(dir, name); err != nil {
			return nil, fmt.Errorf("copy %s: %w", name, err)
		}
	}
	return nil, nil
}

// copyData copies a file that may be large into a folder.
func (e *Edit) copyData(dir, name string) (err error) {
	data, err := e.openData(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, data.Close()) }()
	to, err := pathIn(dir, name)
	if err != nil {
		return err
	}
	return replace(to, io.NewSectionReader(data, 0, data.Size()))
}
