// Package authoring reads and edits scenario files.
package authoring

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/throng-sim/throng/assets"
	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/scenario"
	"github.com/throng-sim/throng/engine/suggest"
)

// Load reads a scenario from a file. If there is no such file, it reads the built-in scenario of that name: shopping and
// assets/scenarios/shopping.yaml name the same one.
func Load(path string, set map[string]string) (*scenario.Scenario, error) {
	return LoadWith(path, scenario.Extras{Parameters: set})
}

// LoadWith is [Load] with parameters, connectors and a payload.
func LoadWith(path string, x scenario.Extras) (*scenario.Scenario, error) {
	if name, ok := strings.CutPrefix(path, engine.BuiltIn); ok {
		return readBuiltIn(name, x)
	}
	file, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	folder := scenario.Folder(filepath.Dir(file))
	own := x
	own.Keys, own.Data = folder, scenario.FolderData(filepath.Dir(file))
	s, err := scenarios.read(file, filepath.Base(file), own, folder)
	if !errors.Is(err, fs.ErrNotExist) {
		if err == nil {
			s.Source.Path = file
		}
		return s, err
	}
	name := FileName(strings.TrimPrefix(filepath.ToSlash(path), "assets/scenarios/"))
	if _, statErr := fs.Stat(assets.Scenarios(), name); statErr == nil {
		return readBuiltIn(name, x)
	}
	if _, statErr := os.Stat(path); errors.Is(statErr, fs.ErrNotExist) {
		return nil, noScenario(path)
	}
	return nil, err
}

func readBuiltIn(name string, x scenario.Extras) (*scenario.Scenario, error) {
	path := engine.BuiltIn + name
	s, err := scenarios.read(path, name, x, scenario.FS(assets.Scenarios()))
	if err == nil {
		s.Source.Path = path
	}
	return s, err
}

// noScenario is the path of a scenario that does not exist.
type noScenario string

func (n noScenario) Error() string {
	text := fmt.Sprintf("no such file or built-in scenario: %s", string(n))
	if hint := suggest.Hint(string(n), n.near()); hint != "" {
		text += "; " + hint
	}
	return text + " (built-in scenarios: " + strings.Join(BuiltIn(), ", ") + ")"
}

// near returns the built-in scenarios and the scenario files in the same folder.
func (n noScenario) near() []string {
	names := BuiltIn()
	dir, _ := filepath.Split(string(n))
	entries, _ := os.ReadDir(cmp.Or(dir, ".")) // an unreadable folder has no suggestions
	for _, e := range entries {
		if slices.Contains(scenario.Endings, filepath.Ext(e.Name())) {
			names = append(names, dir+e.Name())
		}
	}
	return names
}

func (n noScenario) Unwrap() error { return fs.ErrNotExist }

// FileName adds the extension to the name of a built-in scenario. Other names stay unchanged.
func FileName(name string) string {
	if filepath.Ext(name) == "" {
		for _, ending := range scenario.Endings {
			if _, err := fs.Stat(assets.Scenarios(), name+ending); err == nil {
				return name + ending
			}
		}
	}
	return name
}

// BuiltIn returns the names of the built-in scenarios.
func BuiltIn() (names []string) {
	files, err := fs.ReadDir(assets.Scenarios(), ".")
	if err != nil { // cannot happen: the files are embedded
		return nil
	}
	for _, f := range files {
		if ending := filepath.Ext(f.Name()); slices.Contains(scenario.Endings, ending) {
			names = append(names, strings.TrimSuffix(f.Name(), ending))
		}
	}
	return names
}

// Open is [Load] with the connectors of a data folder.
func Open(data, path string, parameters map[string]string) (*scenario.Scenario, error) {
	connectors, err := Connectors(data)
	if err != nil {
		return nil, err
	}
	return LoadWith(path, scenario.Extras{Parameters: parameters, Connectors: connectors})
}

// Connectors reads the connectors of a data folder; nil if there are none.
func Connectors(data string) ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(data, config.ConnectorsName))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read the connectors: %w", err)
	}
	return text, nil
}

// MaxPayload is the maximum size of a payload in bytes.
const MaxPayload = 256 << 20

// Payload reads a payload from a file; nil for "".
func Payload(path string) (*scenario.Payload, error) {
	if path == "" {
		return nil, nil //nolint:nilnil // no payload is not an error
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &engine.FieldError{Field: "payload", Problem: "no such file: " + path}
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, &engine.FieldError{Field: "payload", Problem: path + " is not a regular file"}
	case info.Size() > MaxPayload:
		return nil, &engine.FieldError{Field: "payload", Problem: fmt.Sprintf("%s has %s; the maximum is %d MB", path, engine.FormatBytes(info.Size()), MaxPayload>>20)}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return &scenario.Payload{Name: filepath.Base(path), Text: text}, nil
}
