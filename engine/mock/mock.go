// Package mock contains the mock shop and the mock model: real HTTP servers on loopback, without keys or cost. Their answers are a
// function of the seed, the request and the user's own history, never of the order in which the calls of different users arrive. Both
// share latency profiles, faults and the hook that receives every request.
//
// Users authenticate with the token <secret>.<user id>, or they log in: POST /auth/login with {"user", "password"}, where the secret is
// the password of every user, answers 200 {"access_token", "token_type", "expires_in"}, or 401. A login changes nothing and is not
// logged: its tokens expire with the shop, or after Faults.TokenRequests requests.
//
// The shop also stands in for connectors that a scenario does not define: POST /connectors echoes {"target", "input"}, with the latency
// and the faults of any call.
//
// Every change to the shop takes one path: a route checks the request and fills in a change, the change is written to the log, and apply
// makes the next state and the answer from it. Replaying a log calls the same apply, so a shop that was killed restarts with its carts,
// orders and answered keys.
//
// The mock model (StartModel) speaks the OpenAI wire format: chat completions, whole or streamed, embeddings and the list of models. An
// answer, with its id and created, is a function of model, messages, seed and response_format only; max_tokens and stop shorten it. With
// a JSON Schema the answer is a document that matches the schema, or a 400 that names the first unsupported keyword. Otherwise it is
// prose with words of the last message, as long as max_tokens, "in 30 words" or "two sentences" ask for. If a message names the sign
// [END], the conversation ends with it, and ends sooner the more turns it has had. Embeddings are hashed words, so that similar texts
// have similar vectors. A token is four characters. The quota refills evenly; the x-ratelimit headers and Retry-After report its actual
// state.
package mock

import (
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/throng-sim/throng/engine/internal/draw"
	"github.com/throng-sim/throng/engine/mock/quota"
	"github.com/throng-sim/throng/engine/mock/wire"
)

// Config configures a mock shop. The zero value is a shop on a free port with a random secret, no latency, no faults and no log.
type Config struct {
	// Addr is the address to listen on; "" is 127.0.0.1:0. It must be a loopback address.
	Addr string
	// Secret is the first part of every token, <secret>.<user id>; "" draws one. It must not contain spaces.
	Secret string
	// Seed decides the catalogue and all random draws. A log stores its seed.
	Seed uint64
	// Log is the path of the mutation log; "" keeps the state in memory only. Only one shop may use a log at a time.
	Log string
	// Profile is the latency of every answer.
	Profile Profile
	// Faults are the fractions of requests that fail.
	Faults Faults
	// Scarcity shares the stock among users. Answers then depend on the order of arrival.
	Scarcity bool
	// KeepRateLimits makes the shop ignore X-Simulation-Mode, which otherwise lifts rate limits.
	KeepRateLimits bool
	// OnRequest, if set, is called before a request is answered, cut or held. No lock is held during the call, and it may block; Close
	// waits for it.
	OnRequest func(Request)
	// OnMutation, if set, is called after the n-th mutation since Start is written to the log and before it is answered. Every record
	// counts, also a kept refusal and a session seen for the first time. No lock is held during the call, and it may block.
	OnMutation func(n int64)
}

// Validate reports everything that is wrong with c.
func (c Config) Validate() error {
	return checkHost(c.Addr, c.Secret, network{c.Profile, c.Faults})
}

// Shop is a running mock shop. Its methods are safe for concurrent use.
type Shop struct {
	host
	cfg   Config
	root  draw.Key // of all random draws of this shop
	goods *catalogue

	users    *users
	sessions *sessions
	sold     []atomic.Int64 // by product, for scarcity
	till     sync.Mutex     // held during every change if stock is shared
	log      *shopLog       // nil without a log
	limits   *limits
	quota    *quota.Quota // of a fault

	closing   sync.Once
	closeErr  error
	bearer    string // "Bearer <secret>."
	mutations atomic.Int64
	found     int   // the last cycle with changes in the log at the start; -1 without a log
	began     int64 // bytes of the log at the start
}

// Start replays the log, if there is one, and listens. It cuts off an unfinished record at the end of the log; damage elsewhere is an
// error.
func Start(cfg Config) (*Shop, error) { return start(cfg, time.Now) }

func start(cfg Config, clock func() time.Time) (*Shop, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("mock shop: %w", err)
	}
	if cfg.Secret == "" {
		cfg.Secret = rand.Text()
	}
	s := build(cfg, clock)
	if cfg.Log != "" {
		_, begun, err := LogSeed(cfg.Log)
		if err != nil {
			return nil, fmt.Errorf("mock shop: %w", err)
		}
		if begun {
			s.found = 0
		}
		s.log, err = openLog(cfg.Log, cfg.Seed, s.redo)
		if err != nil {
			return nil, fmt.Errorf("mock shop: %w", err)
		}
	}
	s.began = s.log.bytes()
	server, err := wire.Listen(cfg.Addr, s.serve)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("mock shop: %w", err), s.log.close())
	}
	s.server = server
	server.Run()
	return s, nil
}

// build makes the shop without a log and without a listener.
func build(cfg Config, clock func() time.Time) *Shop {
	root := draw.Key{}.Text("rehearsal shop").Int(cfg.Seed)
	s := &Shop{
		host:     host{clock: clock, started: clock(), onRequest: cfg.OnRequest},
		cfg:      cfg,
		root:     root,
		goods:    newCatalogue(root),
		users:    newUsers(root),
		sessions: newSessions(),
		limits:   newLimits(),
		found:    -1,
		quota:    quota.New(0, 0, clock()),
		bearer:   "Bearer " + cfg.Secret + ".",
	}
	s.sold = make([]atomic.Int64, len(s.goods.products))
	s.network.Store(&network{cfg.Profile, cfg.Faults})
	return s
}

// URL returns the base address of the shop, http://127.0.0.1:PORT.
func (s *Shop) URL() string { return s.server.URL() }

// Secret returns the first part of every token, <secret>.<user id>.
func (s *Shop) Secret() string { return s.cfg.Secret }

// Lost describes what was cut off the log at the start, or returns "".
func (s *Shop) Lost() string {
	if s.log == nil || s.log.lost == 0 {
		return ""
	}
	return fmt.Sprintf("The log of the mock shop ended in an unfinished record: its last %d bytes were cut off. "+
		"After a kill, that change was not answered and is requested again. After a power failure, other changes of the current cycle may be missing.", s.log.lost)
}

// Found returns the last cycle with changes in the log at the start, or -1 if there was no log.
func (s *Shop) Found() int { return s.found }

// LogBytes returns the size of the log now and at the start, in bytes; 0 without a log.
func (s *Shop) LogBytes() (now, began int64) { return s.log.bytes(), s.began }

// Sync makes the log durable. Without a log it does nothing.
func (s *Shop) Sync() error { return s.log.sync() }

// Close ends every request immediately, including those that hang, and waits until all goroutines of the shop have ended. Then it syncs
// and closes the log. Further calls return the same error.
func (s *Shop) Close() error {
	s.closing.Do(func() { s.closeErr = errors.Join(s.server.Close(), s.log.close()) })
	return s.closeErr
}
