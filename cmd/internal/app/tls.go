package app

import (
	"crypto/tls"
	"errors"
	"path/filepath"
	"strings"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain"
	"github.com/throng-sim/throng/engine/scenario"
)

// trust returns the TLS configuration of a service. It reads a private key from its file each time, because keys are not
// stored with the run.
func (l Services) trust(s *chain.Service) (*tls.Config, error) {
	return s.TLS.Config(s.Name, &s.Store, func(file string) ([]byte, error) {
		path := l.Scenario.Source.Path
		if path == "" || strings.HasPrefix(path, engine.BuiltIn) {
			return nil, errors.New("the folder of the scenario is not known")
		}
		return scenario.Folder(filepath.Dir(path))(file)
	})
}
