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

// trust is the TLS configuration of a service; a private key in a file is read anew each time, for it is not kept with
// the run.
func (l Services) trust(s *chain.Service) (*tls.Config, error) {
	return s.TLSConfig(func(file string) ([]byte, error) {
		path := l.Scenario.Source.Path
		if path == "" || strings.HasPrefix(path, engine.BuiltIn) {
			return nil, errors.New("it is not known where the scenario's folder is")
		}
		return scenario.Folder(filepath.Dir(path))(file)
	})
}
