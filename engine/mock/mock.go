// Package mock is the embedded shop backend and the embedded model server: real HTTP on loopback, no keys, no
// cost, and answers that are a function of the seed, the request and the user's own history, never of the order in
// which users' calls arrive. Both share latency profiles, faults and the hook that hears of every request.
//
// Users come with <secret>.<user id> as their token, or log in: POST /auth/login with {"user", "password"}, where the
// secret is everybody's password, answers 200 {"access_token", "token_type", "expires_in"}, or 401. A login changes
// nothing and is not logged: its tokens end with the shop, or after Faults.TokenRequests requests.
//
// It also answers in place of what a scenario does not define: POST /connectors with {"target", "input"} says the same
// again, after the latency and with the faults of any call.
//
// Every change to the shop goes one way: a route checks the request and fills a change, the change is written to the
// log, and apply makes the next state and the answer from it. Reading a log back calls the same apply, so a shop that was
// killed comes back with the carts, orders and answered keys it had.
//
// The model server (StartModel) speaks the OpenAI wire format: chat completions, whole or streamed, embeddings and the
// list of models. What it says is a function of model, messages, seed and response_format alone, down to id and
// created; max_tokens and stop bound it. With a JSON Schema it is a document that fits, where the schema has a keyword
// that it cannot follow a 400 that names it; else prose that takes up words of the last message, as long as max_tokens,
// "in 30 words" or "two sentences" say. Where a message names the sign [END], a conversation ends with it, the sooner
// the more turns it has had. Vectors are hashed words, so that texts alike are near each other. Tokens are four
// characters. The quota fills up evenly; the x-ratelimit headers and Retry-After say what it really holds.
package mock

import (
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/throng-sim/throng/engine/internal/draw"
)

// Config says how a shop starts. The zero value is a shop on a free port with a random secret, no latency, no
// faults, and nothing on disk.
type Config struct {
	// Addr is where to listen; "" is 127.0.0.1:0. Anything but a loopback address is refused.
	Addr string
	// Secret is the first part of every token, <secret>.<user id>; "" draws one. It holds no spaces.
	Secret string
	// Seed decides the catalogue and everything a user meets. A log remembers its seed.
	Seed uint64
	// Log is the path of the mutation log; "" keeps everything in memory only. A log belongs to one shop at a time.
	Log string
	// Profile is the latency of every answer.
	Profile Profile
	// Faults are the shares of requests that go wrong.
	Faults Faults
	// Scarcity shares the stock among users; answers then depend on who came first.
	Scarcity bool
	// KeepRateLimits makes X-Simulation-Mode lift nothing.
	KeepRateLimits bool
	// OnRequest, when set, is called before the answer of a request leaves, or before it is cut or held. It holds no
	// lock, may block, and Close waits for it.
	OnRequest func(Request)
	// OnMutation, when set, is called after the n-th mutation since Start was written to the log and before its
	// answer leaves. Every record counts: a kept refusal and a session first seen too. It holds no lock and may block.
	OnMutation func(n int64)
}

// Validate says what is wrong with c, all of it.
func (c Config) Validate() error {
	return checkHost(c.Addr, c.Secret, weather{c.Profile, c.Faults})
}

// Shop is a shop that listens. Its methods may be called from anywhere.
type Shop struct {
	host
	cfg   Config
	root  draw.Key // of everything this shop draws
	goods *catalogue

	users    *users
	sessions *sessions
	sold     []atomic.Int64 // by product, for scarcity
	till     sync.Mutex     // held over every change while stock is shared
	log      *shopLog       // nil: in memory only
	limits   *limits
	quota    *quota // of a fault

	closing   sync.Once
	closeErr  error
	bearer    string // "Bearer <secret>."
	mutations atomic.Int64
	found     int   // the last cycle of which the log that was there at the start had changes; -1 without a log
	began     int64 // bytes of that log
}

// Start reads the log, if there is one, and listens. An existing log is replayed to the state it was written from;
// an unfinished record at its end is cut off, and damage anywhere else is an error.
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
	server, err := listen(cfg.Addr, s.serve)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("mock shop: %w", err), s.log.close())
	}
	s.server = server
	server.run()
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
		quota:    newQuota(0, 0, clock()),
		bearer:   "Bearer " + cfg.Secret + ".",
	}
	s.sold = make([]atomic.Int64, len(s.goods.products))
	s.weather.Store(&weather{cfg.Profile, cfg.Faults})
	return s
}

// URL is the address of the shop, http://127.0.0.1:PORT.
func (s *Shop) URL() string { return s.server.url() }

// Secret is the first part of every token, <secret>.<user id>.
func (s *Shop) Secret() string { return s.cfg.Secret }

// Lost says what of an existing log was cut off at the start; "" is nothing.
func (s *Shop) Lost() string {
	if s.log == nil || s.log.lost == 0 {
		return ""
	}
	return fmt.Sprintf("the mock shop's log ended in an unfinished record: its last %d bytes were cut off; "+
		"after a kill that change had not been answered and is asked for again, after a power cut others of the open cycle may be missing", s.log.lost)
}

// Found is the last cycle of which an existing log had changes at the start; -1 is that there was no log.
func (s *Shop) Found() int { return s.found }

// LogBytes is how many bytes the log has now, and had at the start; 0 without a log.
func (s *Shop) LogBytes() (now, began int64) { return s.log.bytes(), s.began }

// Sync makes what the log holds survive a power cut. Without a log it does nothing.
func (s *Shop) Sync() error { return s.log.sync() }

// Close ends every request at once, those that hang too, and waits until nothing of the shop runs. Then it syncs and
// closes the log. A second call does nothing more and returns the same.
func (s *Shop) Close() error {
	s.closing.Do(func() { s.closeErr = errors.Join(s.server.close(), s.log.close()) })
	return s.closeErr
}
