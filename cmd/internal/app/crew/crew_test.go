package crew

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zalando/go-keyring"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/cmd/internal/app/about"
	"github.com/throng-sim/throng/cmd/internal/app/services"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/fleet"
	"github.com/throng-sim/throng/engine/scenario"
	"github.com/throng-sim/throng/engine/service/lending"
)

// TestInexactWorkersAreRefused checks that a worker with another version or processor is refused, with the reason.
func TestInexactWorkersAreRefused(t *testing.T) {
	for _, c := range []struct {
		of   fleet.Info
		want string
	}{
		{fleet.Info{Version: about.Version(), System: system()}, ""},
		{fleet.Info{Version: about.Version(), System: "plan9/" + runtime.GOARCH}, ""},
		{fleet.Info{Version: "9.9.9", System: system()}, "it is Throng 9.9.9, the coordinator is " + about.Version()},
		{fleet.Info{Version: about.Version(), System: runtime.GOOS + "/sparc64"}, "its processor is of the kind sparc64"},
		{fleet.Info{}, "of an unknown version"},
	} {
		err := check(c.of)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.of, err, c.want)
		}
	}
}

// given returns a bundle of a scenario.
func given(t *testing.T, text string, change func(b *bundle)) []byte {
	t.Helper()
	s, err := scenario.Read("x.yaml", func(string) ([]byte, error) { return []byte(text), nil }, nil)
	if err != nil {
		t.Fatal(err)
	}
	b := bundle{Work: app.Work{Run: "20260101-120000-abcd", Source: s.Source, Settings: engine.DefaultSettings()}, Machine: thisMachine()}
	if change != nil {
		change(&b)
	}
	return b.encode()
}

const backend = `
title: A backend
services:
  shop: {kind: http, url: "http://127.0.0.1:1", auth: {bearer: secret:SHOP_TOKEN}}
chain c: {step a: {kind: http, service: shop, get: /items}}
`

const mocked = `
services:
  shop: {kind: http, url: "mock:shop"}
chain c: {step a: {kind: http, service: shop, get: /items}}
`

// lender lends nothing.
type lender struct{}

func (lender) Admit(context.Context, lending.Ask) (lending.Grant, error) { return lending.Grant{}, nil }

func (lender) Tell(context.Context, lending.Notes) (lending.Lent, error) { return lending.Lent{}, nil }

// TestPrepare checks the reasons why a worker cannot execute the sessions of a run.
func TestPrepare(t *testing.T) {
	keyring.MockInit()
	t.Setenv("SHOP_TOKEN", "")
	allowed := func(b *bundle) { b.Allowed = []string{"127.0.0.1:1"} }
	shared := func(b *bundle) {
		allowed(b)
		b.Shared = map[string]string{"SHOP_TOKEN": "a-token-of-the-shop"}
	}
	reach := func(b *bundle) {
		b.Reach = map[string]services.Reach{"shop": {Mock: "http://127.0.0.1:1", Secret: "quiet"}}
	}
	from := lending.NewBorrower(lender{}, lending.Lent{})
	defer from.Close()
	for name, c := range map[string]struct {
		text   string
		change func(b *bundle)
		want   string // "" means that it can
	}{
		"shared secret":       {backend, shared, ""},
		"missing secret":      {backend, allowed, "the secret SHOP_TOKEN is neither in the environment nor in the keychain (export SHOP_TOKEN="},
		"address not allowed": {backend, func(b *bundle) { shared(b); b.Allowed = []string{"127.0.0.1:2"} }, "shop is at 127.0.0.1:1 on this machine, which the run may not call"},
		"local address":       {backend, func(b *bundle) { shared(b); b.Machine = "other" }, "which is another machine for each worker"},
		"other scenario":      {backend, func(b *bundle) { shared(b); b.Source.Hash = strings.Repeat("0", 64) }, "the scenario is not the same here"},
		"mock":                {mocked, reach, ""},
		"mock elsewhere":      {mocked, func(b *bundle) { reach(b); b.Machine = "other" }, "the scenario uses a mock for service shop, which listens on the coordinator's machine only; use --fleet local:N, or"},
	} {
		var said []string
		p, err := preparer{say: func(text string) { said = append(said, text) }}.prepare(t.Context(), given(t, c.text, c.change), from, fleet.Part{})
		switch {
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n")):
			t.Errorf("%s: %v, want %q", name, err, c.want)
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case c.want == "":
			if len(p.Services) != 1 || p.Program == nil || len(said) != 1 {
				t.Errorf("%s: %+v, %q", name, p, said)
			}
			if err := p.Close(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if _, err := (preparer{}).prepare(t.Context(), []byte("x"), nil, fleet.Part{}); err == nil || !strings.Contains(err.Error(), "cannot be read") {
		t.Errorf("a damaged bundle: %v", err)
	}
}

// TestBundlesHoldNoSecrets checks that a bundle holds only the secrets that are shared by name.
func TestBundlesHoldNoSecrets(t *testing.T) {
	t.Setenv("SHOP_TOKEN", "a-token-of-the-shop")
	if data := given(t, backend, nil); strings.Contains(string(data), "a-token-of-the-shop") {
		t.Error("the bundle holds a secret")
	}
}

func TestLocal(t *testing.T) {
	for where, want := range map[string]int{":7422": 0, "": 0, "local:1": 1, "local:12": 12, "local:": -1, "local:x": -1, "local:0": -1, "local:100000": -1} {
		n, err := Local(where)
		if err != nil {
			n = -1
		}
		if n != want {
			t.Errorf("%s: %d, %v, want %d", where, n, err, want)
		}
	}
}

func TestCounts(t *testing.T) {
	for text, want := range map[string][]int{
		"local:2": {2}, "local:4,1,2,1": {1, 2, 4}, "local:0,3": {0, 3}, "local:": nil, "local:1,": nil, "local:-1": nil, "local:1,x": nil, "local:257": nil, ":7422": nil, "2": nil,
	} {
		if got, err := Counts(text); !slices.Equal(got, want) || (err == nil) != (want != nil) {
			t.Errorf("%s: %v, %v, want %v", text, got, err, want)
		}
	}
}

// TestCheckLaunch checks that a launch whose database has fewer connections than there are workers is refused.
func TestCheckLaunch(t *testing.T) {
	s, err := scenario.Read("x.yaml", func(string) ([]byte, error) {
		return []byte("services:\n  db: {kind: postgres, url: \"postgres://127.0.0.1:1/shop\", limits: {connections: 2}}\nchain c: {step a: {kind: sql, service: db, query: SELECT 1}}\n"), nil
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	l := app.Launch{Services: app.Services{Scenario: s, Settings: engine.DefaultSettings()}}
	if err := CheckLaunch(&l, 2); err != nil {
		t.Error(err)
	}
	if err := CheckLaunch(&l, 3); err == nil || !strings.Contains(err.Error(), "3 workers cannot share 2 connections of service db (raise limits.connections") {
		t.Errorf("got %v", err)
	}
}

// TestUnstartableWorkers checks that a fleet whose local workers cannot be started says why.
func TestUnstartableWorkers(t *testing.T) {
	notes := make(chan string, 100)
	f, err := Open(t.Context(), Config{Where: "local:2", Program: "/nonexistent/throngctl", Data: t.TempDir(), Say: func(text string) { notes <- text }})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for _, count := range []int{1, 2} {
		err := f.Await(ctx, count)
		if !errors.Is(err, errLocal) || !strings.Contains(err.Error(), "/nonexistent/throngctl") {
			t.Errorf("%d workers: got %v", count, err)
		}
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	close(notes)
	counts := map[string]int{}
	for text := range notes {
		words := strings.Fields(text)
		counts[fmt.Sprint(words[1], " ", words[2])]++
	}
	if want := map[string]int{"local-1 ended": mostRestarts, "local-2 ended": mostRestarts, "local-1 is": 1, "local-2 is": 1, "worker is": 1}; !maps.Equal(counts, want) {
		t.Errorf("got the notes %v, want %v", counts, want)
	}
}

// TestOrdersForUnknownWorkers checks that a wrong name is a mistake of the user.
func TestOrdersForUnknownWorkers(t *testing.T) {
	f, err := Open(t.Context(), Config{Where: "127.0.0.1:0", Data: t.TempDir(), Say: func(string) {}})
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{f.Drain("x"), f.Remove("x"), f.Limit("x", 3)} {
		if _, ok := errors.AsType[*engine.FieldError](err); !ok || !strings.Contains(err.Error(), "there is no worker named x (no worker is connected)") {
			t.Errorf("got %v", err)
		}
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}

// patience is how long tests wait for what must come, on a slow machine.
const patience = 20 * time.Second

// TestRemovedWorkersStayAway checks that a worker is known as removed by the name with which it joined.
func TestRemovedWorkersStayAway(t *testing.T) {
	l := &locals{removed: map[string]bool{}}
	l.remove("local-1-2")
	l.remove("local-3")
	for name, want := range map[string]bool{"local-1": true, "local-10": false, "local-2": false, "local-3": true} {
		if l.isRemoved(name) != want {
			t.Errorf("%s: removed is %v", name, !want)
		}
	}
}

// TestOneFleetOfAFolder checks that a second process cannot use the fleet of a data folder, and that it can afterward.
func TestOneFleetOfAFolder(t *testing.T) {
	cfg := Config{Where: "127.0.0.1:0", Data: t.TempDir(), Say: func(string) {}}
	f, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), "another program has the workers of this data folder") {
		t.Errorf("a second fleet: %v", err)
	}
	line := f.JoinLine()
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	again, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := token(line), token(again.JoinLine()); a != b || a == "" {
		t.Errorf("the token changed from %q to %q", a, b)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}

// token is the part of a join line that stays.
func token(line string) string {
	_, rest, _ := strings.Cut(line, "://")
	_, token, _ := strings.Cut(rest, "/")
	return token
}

// TestSharedSecrets checks that the secrets of a run are those that were set last, and that a fleet names itself without a password.
func TestSharedSecrets(t *testing.T) {
	f, err := Open(t.Context(), Config{Where: "127.0.0.1:0", Data: t.TempDir(), Say: func(string) {}, Log: slog.New(slog.DiscardHandler), Share: []string{"FIRST"}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}()
	f.Plan([]string{"SECOND"}, 2)
	if _, _, err := f.Pool(t.Context(), app.Work{}, nil); err == nil || !strings.Contains(err.Error(), "SECOND") || strings.Contains(err.Error(), "FIRST") {
		t.Errorf("a secret without a value: %v", err)
	}
	for cluster, want := range map[string]string{"": "127.0.0.1:0", "tls://me:word@nats.example.com:4222": "tls://nats.example.com:4222", "::": "", "nats://u:p@a:4222,nats://u:p2@b:4222": "nats://a:4222,nats://b:4222"} {
		f.cfg.Cluster = cluster
		if got := f.where(); got != want {
			t.Errorf("cluster %q: named %q", cluster, got)
		}
	}
}
