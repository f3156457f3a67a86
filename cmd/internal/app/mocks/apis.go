package mocks

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain"
	"github.com/throng-sim/throng/engine/mock"
	"github.com/throng-sim/throng/engine/mock/apimock"
	"github.com/throng-sim/throng/engine/mock/wire"
	"github.com/throng-sim/throng/engine/openapi"
	"github.com/throng-sim/throng/engine/scenario"
)

// Shop is the address of the mock shop.
const Shop = scenario.Mock + "shop"

// IsAPI reports whether an address is the mock of an OpenAPI document, such as mock:openapi.yaml.
func IsAPI(address string) bool {
	return strings.HasPrefix(address, scenario.Mock) && address != Shop && address != scenario.Mock+"model"
}

// APIs are the mocks of OpenAPI documents of a run, by service. The zero value has none.
type APIs map[string]*apimock.Server

// Start starts the mock of a service's document. Its log is in the data folder, so that a resumed run finds what it created.
func (a *APIs) Start(s *chain.Service, settings *engine.Settings, data string, run engine.RunID) (*apimock.Server, error) {
	if s.API == nil {
		return nil, &engine.FieldError{Field: "service " + s.Name, Problem: "there is no OpenAPI document to mock", Hint: "add `openapi: FILE` to the service"}
	}
	behaves, err := Parse(settings.Mock)
	if err != nil {
		return nil, err
	}
	cfg := apimock.Config{Document: s.API, Seed: settings.Seed, Log: config.APILog(data, run, s.Name), Network: network(behaves)}
	if err := os.MkdirAll(filepath.Dir(cfg.Log), 0o700); err != nil {
		return nil, fmt.Errorf("create the folder of the mock's log: %w", err)
	}
	server, err := apimock.Start(cfg)
	if err != nil {
		return nil, fmt.Errorf("start the mock of the service %s: %w", s.Name, err)
	}
	if *a == nil {
		*a = APIs{}
	}
	(*a)[s.Name] = server
	return server, nil
}

// Document reads an OpenAPI document, which may refer to files in its folder.
func Document(file string) (*openapi.Document, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	folder, err := os.OpenRoot(filepath.Dir(file))
	if err != nil {
		return nil, err
	}
	d, err := openapi.Load(text, openapi.Options{Location: filepath.Base(file), Open: func(name string) ([]byte, error) { return folder.ReadFile(filepath.FromSlash(name)) }})
	if err := errors.Join(err, folder.Close()); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return d, nil
}

func network(behaves mock.Config) wire.Network {
	return wire.Network{Profile: behaves.Profile, Faults: behaves.Faults}
}

// Serve starts the mock of a document outside of a run. Its settings other than the address are those of the mock shop.
func Serve(file, addr string, behaves mock.Config) (*apimock.Server, *openapi.Document, error) {
	d, err := Document(file)
	if err != nil {
		return nil, nil, &engine.FieldError{Field: "openapi", Problem: err.Error()}
	}
	cfg := apimock.Config{Document: d, Addr: addr, Secret: behaves.Secret, Seed: behaves.Seed, Network: network(behaves)}
	if err := cfg.Validate(); err != nil {
		return nil, nil, &engine.FieldError{Field: "mock", Problem: err.Error()}
	}
	s, err := apimock.Start(cfg)
	return s, d, err
}

// Sync makes the logs durable.
func (a APIs) Sync() error {
	var errs []error
	for _, s := range a {
		errs = append(errs, s.Sync())
	}
	return errors.Join(errs...)
}

// Copy copies the logs of the parent of a fork, up to the cycle that the fork starts with.
func Copy(data string, parent, fork engine.RunID, first int) error {
	for service, from := range config.APILogs(data, parent) {
		if err := apimock.CopyLog(config.APILog(data, fork, service), from, first); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("copy the mock of run %s: %w", parent, err)
		}
	}
	return nil
}
