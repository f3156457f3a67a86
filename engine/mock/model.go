package mock

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/throng-sim/throng/engine/internal/draw"
	"github.com/throng-sim/throng/engine/mock/batchmock"
	"github.com/throng-sim/throng/engine/mock/quota"
	"github.com/throng-sim/throng/engine/mock/wire"
)

// ModelConfig configures a mock model. The zero value is a server on a free port with a random key, no latency, no faults and no quota.
type ModelConfig struct {
	// Addr is the address to listen on; "" is 127.0.0.1:0. It must be a loopback address.
	Addr string
	// Secret is the key, sent as "Bearer <secret>" or "Bearer <secret>.<user id>"; "" draws one. It must not contain spaces.
	Secret string
	// Seed is the seed of requests without a seed, and of faults and latency.
	Seed uint64
	// Models are the names of the models, each for chat and for embeddings; nil is mock-1, mock-2 and mock-persona, whose choices
	// and numbers in structured answers depend on the words and numbers of the user's messages.
	Models []string
	// Profile is the latency of every answer. Each token of the answer adds to it.
	Profile Profile
	// Faults are the fractions of requests that fail.
	Faults Faults
	// RequestsPerMinute and TokensPerMinute are the quota of all callers together; 0 is unlimited. No header of a request lifts it.
	RequestsPerMinute, TokensPerMinute int
	// Batches is how batches of requests end.
	Batches batchmock.Config
	// OnRequest, if set, is called before a request is answered, cut or held. No lock is held during the call, and it may block; Close
	// waits for it.
	OnRequest func(Request)
}

// personaModel is the model whose structured answers depend on the persona.
const personaModel = "mock-persona"

// Validate reports everything that is wrong with c.
func (c ModelConfig) Validate() error {
	errs := []error{checkHost(c.Addr, c.Secret, network{c.Profile, c.Faults}), c.Batches.Validate()}
	if c.RequestsPerMinute < 0 || c.TokensPerMinute < 0 {
		errs = append(errs, errors.New("a quota per minute is negative; use 0 (unlimited) or more"))
	}
	if slices.Contains(c.Models, "") {
		errs = append(errs, errors.New("a model has no name"))
	}
	return errors.Join(errs...)
}

// Model is a running mock model. Its methods are safe for concurrent use.
type Model struct {
	host
	cfg     ModelConfig
	root    draw.Key // of faults and latency
	quota   *quota.Quota
	schemas schemas
	batches *batchmock.Server
	// wait waits for the latency of a call; tests replace it.
	wait func(*call, time.Duration)

	calls                        atomic.Int64 // without X-Throng-Request
	promptTokens, completeTokens atomic.Int64

	closing  sync.Once
	closeErr error
}

// StartModel starts a mock model.
func StartModel(cfg ModelConfig) (*Model, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("mock model: %w", err)
	}
	if cfg.Secret == "" {
		cfg.Secret = rand.Text()
	}
	m := buildModel(cfg, time.Now)
	if err := m.listen(); err != nil {
		return nil, err
	}
	return m, nil
}

// buildModel makes the server without a listener.
func buildModel(cfg ModelConfig, clock func() time.Time) *Model {
	if len(cfg.Models) == 0 {
		cfg.Models = []string{"mock-1", "mock-2", personaModel}
	}
	m := &Model{
		host:  host{clock: clock, started: clock(), onRequest: cfg.OnRequest},
		cfg:   cfg,
		root:  draw.Key{}.Text("rehearsal model").Int(cfg.Seed),
		quota: quota.New(cfg.RequestsPerMinute, cfg.TokensPerMinute, clock()),
		wait:  (*call).pause,
	}
	m.batches = batchmock.New(cfg.Batches, clock, m.answerInBatch)
	m.network.Store(&network{cfg.Profile, cfg.Faults})
	return m
}

func (m *Model) listen() error {
	server, err := wire.Listen(m.cfg.Addr, func(w http.ResponseWriter, r *http.Request) { m.serve(w, r) })
	if err != nil {
		return fmt.Errorf("mock model: %w", err)
	}
	m.server = server
	server.Run()
	return nil
}

// URL returns the base address that clients of the OpenAI wire format expect, http://127.0.0.1:PORT/v1.
func (m *Model) URL() string { return m.server.URL() + "/v1" }

// Secret returns the key.
func (m *Model) Secret() string { return m.cfg.Secret }

// Models returns the names of the models.
func (m *Model) Models() []string { return slices.Clone(m.cfg.Models) }

// Close ends every request immediately, including those that hang, and waits until all goroutines of the server have ended. Further calls
// return the same error.
func (m *Model) Close() error {
	m.closing.Do(func() { m.closeErr = m.server.Close() })
	return m.closeErr
}

// ModelStats are the counters of a mock model since its start.
type ModelStats struct {
	// Requests that arrived. Each ends in a status, a hang or a cut.
	Requests int64
	// Statuses counts the answers by status.
	Statuses map[int]int64
	// Faults counts the requests with an injected fault.
	Faults map[Fault]int64
	// PromptTokens and CompletionTokens are those of answers that were sent, at least in part.
	PromptTokens, CompletionTokens int64
	// Batches counts what was answered in batches, which the other counters omit.
	Batches batchmock.Stats
}

// Stats returns the current counters.
func (m *Model) Stats() ModelStats {
	return ModelStats{
		Requests:         m.count.requests.Load(),
		Statuses:         m.count.byStatus(),
		Faults:           m.count.byFault(),
		PromptTokens:     m.promptTokens.Load(),
		CompletionTokens: m.completeTokens.Load(),
		Batches:          m.batches.Stats(),
	}
}

type modelEntry struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"`
	OwnedBy string `json:"owned_by"`
}

type modelList struct {
	Object string       `json:"object"`
	Data   []modelEntry `json:"data"`
}

func entry(name string) modelEntry { return modelEntry{name, "model", born, "throng"} }

// listModels answers GET /v1/models.
func (x *modelExchange) listModels() (*reply, *apiError) {
	list := modelList{Object: "list"}
	for _, name := range x.model.cfg.Models {
		list.Data = append(list.Data, entry(name))
	}
	return &reply{body: encode(list)}, nil
}

// oneModel answers GET /v1/models/{id}.
func (x *modelExchange) oneModel(name string) (*reply, *apiError) {
	if no := x.model.knows(name); no != nil {
		return nil, no
	}
	return &reply{body: encode(entry(name))}, nil
}
