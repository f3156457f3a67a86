package wire

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/throng-sim/throng/assets"
	"github.com/throng-sim/throng/engine/scenario"
)

// LoadScenario reads a scenario from the disk or, where there is no such file, the built-in one of that name: both
// shopping and assets/scenarios/shopping.yaml name it.
func LoadScenario(path string, set map[string]string) (*scenario.Scenario, error) {
	s, err := scenario.Load(path, set)
	if !errors.Is(err, fs.ErrNotExist) {
		return s, err
	}
	name := strings.TrimPrefix(filepath.ToSlash(path), "assets/scenarios/")
	if filepath.Ext(name) == "" {
		name += ".yaml"
	}
	if _, statErr := fs.Stat(assets.Scenarios(), name); statErr != nil {
		return nil, err
	}
	return scenario.Read(name, scenario.FS(assets.Scenarios()), set)
}

// FileSettings are the run settings that a scenario gives, as texts for [Layers.File].
func FileSettings(s *scenario.Scenario) map[string]string {
	file := map[string]string{}
	if s.Cycles > 0 {
		file["cycles"] = strconv.Itoa(s.Cycles)
	}
	if s.Sequential {
		file["sequential"] = "on"
	}
	if len(s.WarmUp) > 0 {
		var shares []string
		for _, f := range s.WarmUp {
			shares = append(shares, decimal(f))
		}
		file["warm-up"] = strings.Join(shares, ",")
	}
	return file
}
