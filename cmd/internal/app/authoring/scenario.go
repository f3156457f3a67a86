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
	"github.com/throng-sim/throng/cmd/internal/app/secrets"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/scenario"
	"github.com/throng-sim/throng/engine/suggest"
)

// Load reads a scenario from the disk or, where there is no such file, the built-in one of that name: both
// shopping and assets/scenarios/shopping.yaml name it.
func Load(path string, set map[string]string) (*scenario.Scenario, error) {
	return LoadWith(path, scenario.Extras{Parameters: set})
}

// LoadWith is [LoadScenario] with what a run adds to the scenario.
func LoadWith(path string, x scenario.Extras) (*scenario.Scenario, error) {
	if name, ok := strings.CutPrefix(path, engine.BuiltIn); ok {
		return readBuiltIn(name, x)
	}
	s, err := x.Load(path)
	if !errors.Is(err, fs.ErrNotExist) {
		if err == nil {
			secrets.TakeGiven(s)
			s.Source.Path, err = filepath.Abs(path)
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
	s, err := x.Read(name, scenario.FS(assets.Scenarios()))
	if err == nil {
		secrets.TakeGiven(s)
		s.Source.Path = engine.BuiltIn + name
	}
	return s, err
}

// noScenario is the path of a scenario that does not exist.
type noScenario string

func (n noScenario) Error() string {
	text := fmt.Sprintf("there is no file %s, and no built-in scenario of that name", string(n))
	if hint := suggest.Hint(string(n), n.near()); hint != "" {
		text += "; " + hint
	}
	return text + " (" + strings.Join(BuiltIn(), ", ") + ")"
}

// near returns the built-in scenarios and the scenario files in the same folder.
func (n noScenario) near() []string {
	names := BuiltIn()
	dir, _ := filepath.Split(string(n))
	entries, _ := os.ReadDir(cmp.Or(dir, ".")) // a folder that cannot be read holds no suggestion
	for _, e := range entries {
		if slices.Contains(scenario.Endings, filepath.Ext(e.Name())) {
			names = append(names, dir+e.Name())
		}
	}
	return names
}

func (n noScenario) Unwrap() error { return fs.ErrNotExist }

// FileName is the name of a built-in scenario's own file, which has an ending; another name stays as it is.
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

// BuiltIn are the names of the built-in scenarios.
func BuiltIn() (names []string) {
	files, err := fs.ReadDir(assets.Scenarios(), ".")
	if err != nil { // they are in this program
		return nil
	}
	for _, f := range files {
		if ending := filepath.Ext(f.Name()); slices.Contains(scenario.Endings, ending) {
			names = append(names, strings.TrimSuffix(f.Name(), ending))
		}
	}
	return names
}

// Connectors reads those of the settings; nil where there are none.
func Connectors(data string) ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(data, config.ConnectorsName))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("the connectors of the settings: %w", err)
	}
	return text, nil
}

// MaxPayload bounds a payload, in bytes.
const MaxPayload = 256 << 20

// Payload reads the file of a payload; nil for "".
func Payload(path string) (*scenario.Payload, error) {
	if path == "" {
		return nil, nil //nolint:nilnil // no payload is no error
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &engine.FieldError{Field: "payload", Problem: "there is no file " + path}
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, &engine.FieldError{Field: "payload", Problem: path + " is no file"}
	case info.Size() > MaxPayload:
		return nil, &engine.FieldError{Field: "payload", Problem: fmt.Sprintf("%s has %d bytes, more than %d", path, info.Size(), MaxPayload)}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return &scenario.Payload{Name: filepath.Base(path), Text: text}, nil
}
