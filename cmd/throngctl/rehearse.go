package main

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/rehearsal"
)

// rehearseCmd starts the shop alone, for as long as nobody stops it.
type rehearseCmd struct {
	Shop           string            `required:"" placeholder:"ADDR" help:"Loopback address to listen on, such as 127.0.0.1:8080; port 0 takes a free one."`
	Profile        string            `enum:"none,local,remote,slow" default:"local" help:"Latency: none, local, remote or slow."`
	Fault          map[string]string `placeholder:"KIND=SHARE" help:"rate_limited, server_error, hang, cut, bad_body; outage=FROM+FOR in time since the start."`
	Seed           uint64            `default:"1" help:"What the catalogue and the answers depend on."`
	Secret         string            `env:"THRONG_REHEARSAL_SECRET" help:"First part of every token; a random one without."`
	Scarcity       bool              `help:"Users share the stock."`
	KeepRateLimits bool              `help:"X-Simulation-Mode lifts no rate limit."`
}

// Run is called by kong.
func (c *rehearseCmd) Run(t *terminal) (err error) {
	cfg := rehearsal.Config{Addr: c.Shop, Secret: c.Secret, Seed: c.Seed, Scarcity: c.Scarcity, KeepRateLimits: c.KeepRateLimits}
	if cfg.Profile, err = rehearsal.ParseProfile(c.Profile); err != nil {
		return err
	}
	if cfg.Faults, err = parseFaults(c.Fault); err != nil {
		return err
	}
	if err := cfg.Validate(); err != nil {
		return &engine.FieldError{Field: "rehearse", Problem: err.Error()}
	}
	shop, err := rehearsal.Start(cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, shop.Close()) }()
	fmt.Fprintf(t.out, "url %s\nsecret %s\n", shop.URL(), shop.Secret())
	fmt.Fprintf(t.out, "sign in as USER with the header: Authorization: Bearer %s.USER\nCtrl+C ends it\n", shop.Secret())
	<-t.signals
	s, orders := shop.Stats(), shop.Orders()
	fmt.Fprintf(t.out, "%s requests answered, %s orders\n", thousands(s.Requests), thousands(orders.Total))
	return nil
}

// parseFaults reads shares by kind of fault.
func parseFaults(given map[string]string) (rehearsal.Faults, error) {
	var f rehearsal.Faults
	shares := map[string]*float64{
		"rate_limited": &f.RateLimited, "server_error": &f.ServerError, "hang": &f.Hang, "cut": &f.Cut, "bad_body": &f.BadBody,
	}
	for kind, text := range given {
		if kind == "outage" {
			var err error
			if f.OutageFrom, f.OutageFor, err = parseOutage(text); err != nil {
				return f, err
			}
			continue
		}
		share, ok := shares[kind]
		if !ok {
			return f, &engine.FieldError{Field: "fault", Problem: "there is no fault " + kind, Hint: "rate_limited, server_error, hang, cut, bad_body, outage"}
		}
		var err error
		if *share, err = strconv.ParseFloat(text, 64); err != nil {
			return f, &engine.FieldError{Field: "fault " + kind, Problem: fmt.Sprintf("%q is no share", text), Hint: "such as 0.05"}
		}
	}
	if err := f.Validate(); err != nil {
		return f, &engine.FieldError{Field: "fault", Problem: err.Error()}
	}
	return f, nil
}

// parseOutage reads FROM+FOR, such as 30s+10s.
func parseOutage(text string) (from, length time.Duration, err error) {
	for i := range text {
		if text[i] != '+' {
			continue
		}
		if from, err = time.ParseDuration(text[:i]); err == nil {
			length, err = time.ParseDuration(text[i+1:])
		}
		if err == nil {
			return from, length, nil
		}
	}
	return 0, 0, &engine.FieldError{Field: "fault outage", Problem: fmt.Sprintf("%q is no outage", text), Hint: "FROM+FOR, such as 30s+10s"}
}
