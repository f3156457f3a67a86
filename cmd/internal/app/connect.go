package app

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/cmd/internal/app/mocks"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain"
	"github.com/throng-sim/throng/engine/mock"
	"github.com/throng-sim/throng/engine/scenario"
	"github.com/throng-sim/throng/engine/service"
	"github.com/throng-sim/throng/engine/service/admission"
	"github.com/throng-sim/throng/engine/service/mcp"
	"github.com/throng-sim/throng/engine/service/pricing"
)

// connecting connects the services of a run to their clients.
type connecting struct {
	Services
	job     *Job
	bearers map[string]string // by service
	bound   *service.Bound    // limit for all model calls
}

// connect starts the mocks that services use, and connects every service to its client.
func (l Services) connect(j *Job, bearers map[string]string, services []*chain.Service) error {
	c := &connecting{Services: l, job: j, bearers: bearers, bound: l.Sharing.Bound(l.Settings.MaxLLMCalls)}
	for _, s := range services {
		s.Simulation = l.Settings.Simulation && s.Kind == "http"
		connect := c.http
		switch s.Kind {
		case "llm":
			connect = c.llm
		case "mcp":
			connect = c.tools
		case "postgres":
			connect = func(s *chain.Service) error { return l.openPool(j, s) }
		}
		s.Limits.NoBreaker = l.Settings.Breaker == noBreaker
		if err := connect(s); err != nil {
			return err
		}
	}
	if slices.ContainsFunc(services, func(s *chain.Service) bool { return s.Kind == "llm" }) {
		j.services = append(j.services, c.bound)
	}
	return nil
}

// noBreaker is the entry of [engine.Breakers] without a circuit breaker.
const noBreaker = "off"

// mocks reports whether a service is a mock.
func (l Services) mocks(s *chain.Service) bool {
	return strings.HasPrefix(l.address(s), scenario.Mock)
}

func (c *connecting) http(s *chain.Service) error {
	address, secret, embedded := c.address(s), c.bearers[s.Name], c.mocks(s)
	if embedded {
		var err error
		if address, secret, err = c.mockOf(s, address); err != nil {
			return err
		}
	}
	client, err := service.NewHTTP(s.Name, address, s.Limits, embedded)
	if err != nil {
		return err
	}
	s.Connect(client, secret)
	return c.attach(s, client)
}

func (c *connecting) tools(s *chain.Service) error {
	client, err := mcp.Connect(s.Name, c.address(s), s.Limits)
	if err != nil {
		return err
	}
	s.Connect(client.HTTP, c.bearers[s.Name])
	return c.attach(s, client)
}

// mockOf starts the mock that is the service, and returns its address and secret.
func (c *connecting) mockOf(s *chain.Service, address string) (url, secret string, err error) {
	if r, ok := c.Reach[s.Name]; ok {
		return r.Mock, r.Secret, nil
	}
	if mocks.IsAPI(address) {
		server, err := c.job.APIs.Start(s, &c.Settings, c.shopFolder(), c.job.Record.ID)
		if err != nil {
			return "", "", err
		}
		c.job.onClose(server.Close)
		return server.URL(), server.Secret(), nil
	}
	if err := c.startShop(); err != nil {
		return "", "", err
	}
	return c.job.Shop.URL(), c.job.Shop.Secret(), nil
}

// client is a client that can present certificates.
type client interface {
	engine.Service
	Trust(cfg *tls.Config)
	Observe(w service.Witness)
	Share(s *service.Sharing)
	Borrow(from admission.Admitter)
	Close()
}

// attach configures the client of a service, and adds it to the job.
func (c *connecting) attach(s *chain.Service, to client) error {
	trusted, err := c.trust(s)
	if err != nil {
		return err
	}
	to.Trust(trusted)
	to.Observe(c.Witness)
	to.Share(c.Sharing)
	if c.Borrow != nil {
		to.Borrow(c.Borrow(s.Name))
	}
	c.job.onClose(func() error { to.Close(); return nil })
	c.job.services = append(c.job.services, to)
	return nil
}

func (c *connecting) llm(s *chain.Service) (err error) {
	cfg := service.LLMConfig{Name: s.Name, Base: c.address(s), Limits: s.Limits, Shared: c.bound, Mocks: c.mocks(s), API: s.Wire.Of(c.mocks(s)), Batch: s.Batch}
	secret := c.bearers[s.Name]
	r, elsewhere := c.Reach[s.Name]
	switch {
	case cfg.Mocks && elsewhere:
		cfg.Base, secret, cfg.Prices = r.Mock, r.Secret, pricing.Free
	case cfg.Mocks:
		if err := c.startModel(); err != nil {
			return err
		}
		cfg.Base, secret, cfg.Prices = c.job.Model.URL(), c.job.Model.Secret(), pricing.Free
	default:
		if cfg.Prices, err = c.pricesOf(s); err != nil {
			return err
		}
	}
	if c.job.single {
		cfg.Batch = nil
	}
	quota := !cfg.Mocks || c.Settings.Mock.Faults["quota"] != ""
	if quota && cfg.Limits.Rate == 0 { // a mock has a quota only with that fault
		cfg.Limits.Rate, cfg.Limits.MaxRate = c.Settings.LLMRate, max(c.Settings.LLMRate, defaultMaxLLMRate)
	}
	client, err := service.NewLLM(cfg)
	if err != nil {
		return err
	}
	s.ConnectLLM(client, secret)
	return c.attach(s, client)
}

// defaultMaxLLMRate bounds the rate of model calls per second, unless the scenario sets a bound.
const defaultMaxLLMRate = 50

// startShop starts the mock shop, once per run. Its log is in the data folder.
func (c *connecting) startShop() error {
	if c.job.Shop != nil {
		return nil
	}
	cfg, err := mocks.Parse(c.Settings.Mock)
	if err != nil {
		return err
	}
	cfg.Seed, cfg.Log, cfg.OnRequest = c.Settings.Seed, config.ShopLog(c.shopFolder(), c.job.Record.ID), c.OnRequest
	if err := os.MkdirAll(filepath.Dir(cfg.Log), 0o700); err != nil {
		return fmt.Errorf("create the folder of the mock shop's log: %w", err)
	}
	if seed, begun, err := mock.LogSeed(cfg.Log); err != nil {
		return fmt.Errorf("start the mock: %w", err)
	} else if begun { // a fork with another seed continues the shop of its parent
		cfg.Seed = seed
	}
	shop, err := mock.Start(cfg)
	if err != nil {
		return fmt.Errorf("start the mock: %w", err)
	}
	if lost := shop.Lost(); lost != "" {
		slog.Warn(lost, "run", c.job.Record.ID)
	}
	c.job.Shop = shop
	c.job.onClose(shop.Close)
	return nil
}

// startModel starts the mock model server, once per run. It answers to the names of all models of the scenario.
func (c *connecting) startModel() error {
	if c.job.Model != nil {
		return nil
	}
	behaves, err := mocks.Parse(c.Settings.Mock)
	if err != nil {
		return err
	}
	cfg := mock.ModelConfig{Seed: c.Settings.Seed, Profile: behaves.Profile, Faults: behaves.Faults, OnRequest: c.OnRequest}
	cfg.Faults.TokenRequests = 0 // there are no logins
	for _, s := range c.services() {
		cfg.Models = append(cfg.Models, s.Models...)
		if s.Embeds != "" {
			cfg.Models = append(cfg.Models, s.Embeds)
		}
	}
	slices.Sort(cfg.Models)
	cfg.Models = slices.Compact(cfg.Models)
	model, err := mock.StartModel(cfg)
	if err != nil {
		return fmt.Errorf("start the mock: %w", err)
	}
	c.job.Model = model
	c.job.onClose(model.Close)
	return nil
}
