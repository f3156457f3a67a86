package chain

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.starlark.net/starlark"
	"go.uber.org/goleak"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain/credential"
	"github.com/throng-sim/throng/engine/chain/expr"
	"github.com/throng-sim/throng/engine/chain/memory"
	"github.com/throng-sim/throng/engine/enginetest"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/openapi"
	"github.com/throng-sim/throng/engine/run"
	"github.com/throng-sim/throng/engine/script"
	"github.com/throng-sim/throng/engine/script/value"
	"github.com/throng-sim/throng/engine/service"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// stage is a run of a chain in a test. By default it has one agent, one cycle and no services.
type stage struct {
	steps     string // YAML under `chain test:`, without indentation
	others    string // YAML of other chains and of connectors, behind it
	functions string
	address   string // of the service shop; "" if unused
	database  string // address of the service db, of kind postgres; "" if unused
	pool      *service.Postgres
	tag       bool // that service is the mock
	secret    string
	auth      string            // how it is signed in to, in YAML: jwt or login
	secrets   map[string]string // of that
	cookies   bool              // it keeps cookies
	follow    bool              // it follows redirects
	files     map[string]string // of the scenario's folder
	more      []*Service        // others, connected
	acted     string
	agents    int
	change    func(*engine.Settings)
	journal   *enginetest.Journal
	resume    *engine.Resumption
	recording engine.Recording // answers in place of services; nil asks them
	ctx       context.Context
	before    func(*Chain) // what a test does to the chain
	during    func(*run.Run)
	watch     *Watch
	tracer    engine.Tracer
	memory    int64 // budget in bytes; 0 sets none
}

// read reads the chain, with its mistakes.
func (st *stage) read(t testing.TB) (*Chain, *doc.Report, *Service) {
	t.Helper()
	cfg := script.Config{Params: value.NewRecord(value.Field{Name: "n", Value: starlark.MakeInt(3)})}
	if st.functions != "" {
		cfg.Functions = &script.Source{Name: "test.star", Text: st.functions}
	}
	env, err := script.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	report := &doc.Report{}
	shop := &Service{Name: "shop", Kind: "http", Browsing: Browsing{Cookies: st.cookies, Follow: st.follow}}
	if text := st.files["openapi.yaml"]; text != "" {
		if shop.API, err = openapi.Load([]byte(text), openapi.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	if shop.User, err = env.Template("${agent.id}", []string{"agent"}); err != nil {
		t.Fatal(err)
	}
	services := map[string]*Service{"shop": shop, "db": {Name: "db", Kind: "postgres", Postgres: &Postgres{}}}
	r := &Reader{File: expr.File{Env: env, Fields: map[string][]string{
		"agent": {"id", "index", "memory", "notes"}, "params": {"n"},
	}}, Functions: st.functions != "", Services: services}
	r.Open = func(name string) ([]byte, error) {
		text, ok := st.files[name]
		if !ok {
			return nil, fmt.Errorf("there is no file %s", name)
		}
		return []byte(text), nil
	}
	for _, s := range st.more {
		r.Services[s.Name] = s
	}
	text := "chain test:\n" + indent(st.steps) + strings.TrimPrefix(st.others, "\n")
	if st.auth != "" {
		text += "auth: " + st.auth + "\n"
	}
	root := doc.Parse("test.yaml", []byte(text), report)
	if root == nil {
		return nil, report, shop
	}
	outside := []string{"agent", "session", "now"}
	if n := root.Get("auth").Get("jwt"); n != nil {
		r.JWT(shop, n, outside)
	}
	if n := root.Get("auth").Get("login"); n != nil {
		r.Login(shop, n, outside, nil)
	}
	if n := root.Get("auth").Get("oauth2"); n != nil {
		r.OAuth2(shop, n, outside, nil)
	}
	for _, kind := range credential.KeyKinds {
		if n := root.Get("auth").Get(kind); n != nil {
			r.Key(shop, kind, n, outside)
		}
	}
	for _, e := range root.Entries() {
		if word, name := e.Split(); word == "chain" {
			r.Declare(name)
		}
	}
	ReadTools(r, root.Get("tools"))
	for _, e := range root.Get("connectors").Entries() {
		r.Connector(e.Key.Text(), e.Value)
	}
	var test *Chain
	for _, e := range root.Entries() {
		if word, name := e.Split(); word == "chain" {
			if c := r.Chain(name, e.Value); test == nil {
				test = c
			}
		}
	}
	r.Link()
	st.open(t, r.Services["db"])
	return test, report, shop
}

func indent(text string) string {
	return "  " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n  ") + "\n"
}

// run executes the chain and returns the rows of its sessions by agent.
func (st stage) run(t testing.TB) []engine.SessionRow {
	t.Helper()
	c, report, shop := st.read(t)
	if err := report.Err(); err != nil {
		t.Fatal(err)
	}
	if st.address != "" {
		client, err := service.NewHTTP("shop", st.address, service.Limits{}, st.tag)
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		shop.Unlock(st.secrets)
		shop.Connect(client, st.secret)
	}
	if st.pool != nil {
		defer st.pool.Close()
	}
	if st.before != nil {
		st.before(c)
	}
	if st.journal == nil {
		st.journal = &enginetest.Journal{}
	}
	if st.ctx == nil {
		st.ctx = t.Context()
	}
	settings := engine.DefaultSettings()
	settings.Metrics, settings.CheckpointEvery, settings.Retry.Wait = false, 0, 0
	if st.change != nil {
		st.change(&settings)
	}
	run, err := run.Start(st.ctx, run.Config{
		ID: "run", Program: program{c, st.acted, st.watch, crowd(max(st.agents, 1))}, Agents: max(st.agents, 1), Settings: settings, Journal: st.journal, Resume: st.resume, Recording: st.recording,
		Clock: engine.Clock{Start: time.Date(2026, 1, 2, 8, 0, 0, 0, time.UTC), Cycle: time.Hour},
		Hooks: run.Hooks{Tracer: st.tracer}, MemoryBudget: st.memory,
	})
	if err != nil {
		t.Fatal(err)
	}
	if st.during != nil {
		st.during(run)
	}
	run.Wait()
	return st.journal.Sessions()
}

// one returns the row of the only session.
func (st stage) one(t testing.TB) engine.SessionRow {
	t.Helper()
	rows := st.run(t)
	if len(rows) != 1 {
		t.Fatalf("%d sessions ended", len(rows))
	}
	return rows[0]
}

type program struct {
	chain *Chain
	acted string
	watch *Watch
	crowd crowd
}

// crowd is a directory of so many agents without names.
type crowd int

func (crowd) Index(string) (int, bool, error) { return 0, false, nil }
func (c crowd) Count() int                    { return int(c) }

func (p program) Session(s *engine.Session) {
	memory := memory.New(s.Memory)
	p.chain.Run(s, &Input{World: world{s, memory}, Memory: memory, Acted: p.acted, Watch: p.watch, Agents: p.crowd})
}

// world is what the steps of a test see.
type world struct {
	s      *engine.Session
	memory *memory.View
}

func (w world) With(m *memory.View) World { return world{w.s, m} }

func (w world) Lookup(name string) (value.Value, error) {
	switch name {
	case "agent":
		return value.NewLazy("agent", agent{w.s.Agent, w.memory}), nil
	case "session":
		return value.NewRecord(value.Field{Name: "cycle", Value: starlark.MakeInt(w.s.Cycle)}), nil
	case "now":
		return value.NewTime(w.s.Now), nil
	}
	return value.Missing, nil
}

type agent struct {
	index  int
	memory *memory.View
}

func (a agent) Field(name string) (value.Value, error) {
	switch name {
	case "id":
		return starlark.String(fmt.Sprintf("a%d", a.index)), nil
	case "index":
		return starlark.MakeInt(a.index), nil
	case "memory":
		return value.NewLazy("memory", a.memory), nil
	case "notes":
		return a.memory.Notes()
	}
	return nil, nil //nolint:nilnil // value.Fields: a missing field is not an error
}

func (agent) Names() []string { return []string{"id", "index", "memory", "notes"} }

// steps formats the step records of a row as path:status:class.
func steps(row *engine.SessionRow) string {
	var b strings.Builder
	for _, s := range row.Steps {
		fmt.Fprintf(&b, " %s:%v", s.Path, s.Status)
		if s.Class != engine.NoError {
			fmt.Fprintf(&b, ":%v", s.Class)
		}
	}
	return strings.TrimSpace(b.String())
}

// events formats the events of a row.
func events(row *engine.SessionRow) string {
	var b strings.Builder
	for _, e := range row.Events {
		fmt.Fprintf(&b, " %s=%s", e.Name, e.Data)
	}
	return strings.TrimSpace(b.String())
}

// serve starts a server for a test.
func serve(t testing.TB, f http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(f)
	t.Cleanup(s.Close)
	return s.URL
}

// js responds with JSON.
func js(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(body))
}
