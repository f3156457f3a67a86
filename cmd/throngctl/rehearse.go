package main

import (
	"errors"
	"fmt"

	"github.com/throng-sim/throng/cmd/internal/wire"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/rehearsal"
)

// rehearseCmd starts the shop alone, for as long as nobody stops it.
type rehearseCmd struct {
	Shop           string            `required:"" placeholder:"ADDR" help:"Loopback address to listen on, such as 127.0.0.1:8080; port 0 takes a free one."`
	Profile        string            `enum:"none,local,remote,slow" default:"local" help:"Latency: none, local, remote or slow."`
	Fault          map[string]string `placeholder:"KIND=SHARE" help:"rate_limited, server_error, hang, cut, bad_body; outage=FROM+FOR in time since the start; token_requests=N, after which the token of a login expires."`
	Seed           uint64            `default:"1" help:"What the catalogue and the answers depend on."`
	Secret         string            `env:"THRONG_REHEARSAL_SECRET" help:"First part of every token; a random one without."`
	Scarcity       bool              `help:"Users share the stock."`
	KeepRateLimits bool              `help:"X-Simulation-Mode lifts no rate limit."`
}

// Run is called by kong.
func (c *rehearseCmd) Run(t *terminal) (err error) {
	cfg, err := wire.ParseRehearsal(engine.Rehearsal{Profile: c.Profile, Faults: c.Fault, Scarcity: c.Scarcity})
	if err != nil {
		return err
	}
	cfg.Addr, cfg.Secret, cfg.Seed, cfg.KeepRateLimits = c.Shop, c.Secret, c.Seed, c.KeepRateLimits
	if err := cfg.Validate(); err != nil {
		return &engine.FieldError{Field: "rehearse", Problem: err.Error()}
	}
	shop, err := rehearsal.Start(cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, shop.Close()) }()
	fmt.Fprintf(t.out, "url %s\nsecret %s\n", shop.URL(), shop.Secret())
	fmt.Fprintf(t.out, "sign in as USER with the header: Authorization: Bearer %s.USER\n", shop.Secret())
	fmt.Fprint(t.out, "or log in: POST /auth/login with user and password; the secret is everybody's password\nCtrl+C ends it\n")
	<-t.signals
	s, orders := shop.Stats(), shop.Orders()
	fmt.Fprintf(t.out, "%s requests answered, %s orders\n", engine.FormatCount(s.Requests), engine.FormatCount(orders.Total))
	return nil
}
