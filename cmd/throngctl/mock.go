package main

import (
	"errors"
	"fmt"

	"github.com/throng-sim/throng/cmd/internal/app/mocks"
	"github.com/throng-sim/throng/cmd/throngctl/internal/answer"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/mock"
)

// mockCmd serves mocks until it is stopped.
type mockCmd struct {
	Shop              string            `placeholder:"ADDR" help:"Loopback address of the mock shop, such as 127.0.0.1:8080; port 0 picks a free port."`
	Model             string            `placeholder:"ADDR" help:"Loopback address of the mock model."`
	OpenAPI           string            `name:"openapi" placeholder:"FILE" type:"existingfile" help:"Serve a stateful mock of the API that an OpenAPI document describes."`
	Addr              string            `placeholder:"ADDR" default:"127.0.0.1:8080" help:"Loopback address of that mock; port 0 picks a free port."`
	Profile           string            `enum:"none,local,remote,slow" default:"local" help:"Latency profile: none, local, remote or slow."`
	Fault             map[string]string `placeholder:"KIND=SHARE" help:"A fraction for rate_limited, server_error, hang, cut or bad_body, and for answers of models that are refused, fenced or empty, or misuse tools (tool_again, tool_unknown, tool_misfit); outage=FROM+FOR after the start; token_requests=N requests until a login token expires; quota=N requests per second; capacity=N concurrent requests before it slows down."`
	Batch             map[string]string `placeholder:"KIND=VALUE" help:"How batches of the mock model end: delay=TIME; a fraction for expired, failed, missing or doubled requests; shuffled=1 for answers out of order."`
	Seed              uint64            `default:"1" help:"Random seed of catalog and answers."`
	Secret            string            `env:"THRONG_MOCK_SECRET" help:"Prefix of all shop tokens, and the key of the mock model (default: random)."`
	Scarcity          bool              `help:"Share the stock among users."`
	KeepRateLimits    bool              `help:"Keep rate limits for requests with X-Simulation-Mode."`
	RequestsPerMinute int               `placeholder:"N" help:"Request quota of the mock model per minute (default: unlimited)."`
	TokensPerMinute   int               `placeholder:"N" help:"Token quota of the mock model per minute (default: unlimited)."`
	jsonFlag
}

// Run is called by kong.
func (c *mockCmd) Run(t *terminal) (err error) {
	if c.Shop == "" && c.Model == "" && c.OpenAPI == "" {
		return &engine.FieldError{Field: "mock", Problem: "nothing to serve", Hint: "add --shop ADDR, --model ADDR or --openapi FILE"}
	}
	cfg, err := mocks.Parse(engine.Mock{Profile: c.Profile, Faults: c.Fault, Scarcity: c.Scarcity})
	if err != nil {
		return err
	}
	cfg.Addr, cfg.Secret, cfg.Seed, cfg.KeepRateLimits = c.Shop, c.Secret, c.Seed, c.KeepRateLimits
	model := mock.ModelConfig{
		Addr: c.Model, Secret: c.Secret, Seed: c.Seed, Profile: cfg.Profile, Faults: cfg.Faults,
		RequestsPerMinute: c.RequestsPerMinute, TokensPerMinute: c.TokensPerMinute,
	}
	if model.Batches, err = mocks.ParseBatches(c.Batch); err != nil {
		return err
	}
	if err := errors.Join(cfg.Validate(), model.Validate()); err != nil {
		return &engine.FieldError{Field: "mock", Problem: err.Error()}
	}
	if c.Shop != "" {
		end, err := c.startShop(t, cfg)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, end()) }()
	}
	if c.Model != "" {
		end, err := c.startModel(t, model)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, end()) }()
	}
	if c.OpenAPI != "" {
		end, err := c.startAPI(t, cfg)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, end()) }()
	}
	if !t.json {
		fmt.Fprintln(t.out, "Press Ctrl+C to stop.")
	}
	<-t.signals
	return nil
}

// startShop starts the shop and prints its address. The returned function stops it and prints statistics.
func (c *mockCmd) startShop(t *terminal, cfg mock.Config) (end func() error, err error) {
	shop, err := mock.Start(cfg)
	if err != nil {
		return nil, err
	}
	if t.json {
		return shop.Close, t.line(answer.Mock{Server: "shop", URL: shop.URL(), Secret: shop.Secret()})
	}
	fmt.Fprintf(t.out, "url %s\nsecret %s\n", shop.URL(), shop.Secret())
	fmt.Fprintf(t.out, "sign in as USER with the header: Authorization: Bearer %s.USER\n", shop.Secret())
	fmt.Fprintln(t.out, "or log in: POST /auth/login with user and password; the secret is the password of every user")
	fmt.Fprintln(t.out, `in a scenario, with the secret in THRONG_MOCK_SECRET: auth: {login: {post: /auth/login, json: {user: "${agent.id}", password: secret:THRONG_MOCK_SECRET}, token: body.access_token}}`)
	return func() error {
		s, orders := shop.Stats(), shop.Orders()
		fmt.Fprintf(t.out, "%s requests answered, %s orders\n", engine.FormatCount(s.Requests), engine.FormatCount(orders.Total))
		return shop.Close()
	}, nil
}

// startModel starts the model server in the same way.
func (c *mockCmd) startModel(t *terminal, cfg mock.ModelConfig) (end func() error, err error) {
	model, err := mock.StartModel(cfg)
	if err != nil {
		return nil, err
	}
	if t.json {
		return model.Close, t.line(answer.Mock{Server: "model", URL: model.URL(), Secret: model.Secret()})
	}
	fmt.Fprintf(t.out, "model url %s\nmodel key %s\n", model.URL(), model.Secret())
	return func() error {
		s := model.Stats()
		fmt.Fprintf(t.out, "%s requests answered by the model, %s tokens\n",
			engine.FormatCount(s.Requests), engine.FormatCount(s.PromptTokens+s.CompletionTokens))
		if b := s.Batches; b.Batches > 0 {
			fmt.Fprintf(t.out, "%s requests answered in %s batches, %s tokens\n",
				engine.FormatCount(b.Requests), engine.FormatCount(b.Batches), engine.FormatCount(b.PromptTokens+b.CompletionTokens))
		}
		return model.Close()
	}, nil
}

// startAPI starts the mock of an OpenAPI document in the same way.
func (c *mockCmd) startAPI(t *terminal, cfg mock.Config) (end func() error, err error) {
	server, d, err := mocks.Serve(c.OpenAPI, c.Addr, cfg)
	if err != nil {
		return nil, err
	}
	if t.json {
		return server.Close, t.line(answer.Mock{Server: "openapi", URL: server.URL(), Secret: server.Secret()})
	}
	fmt.Fprintf(t.out, "api url %s\napi secret %s\n", server.URL(), server.Secret())
	fmt.Fprintln(t.out, "the secret is accepted as token, API key and password; logins accept every password")
	for _, p := range d.Problems {
		if p.LeftOut {
			fmt.Fprintf(t.out, "left out: %s\n", p)
		}
	}
	return func() error {
		fmt.Fprintf(t.out, "%s requests answered by the API\n", engine.FormatCount(server.Requests()))
		return server.Close()
	}, nil
}
