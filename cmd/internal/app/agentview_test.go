package app

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/throng-sim/throng/cmd/internal/app/history"
	"github.com/throng-sim/throng/cmd/internal/app/secrets"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/storage/sqlite"
)

// looked is a scenario of three shoppers who sign in, look, order and remember. The shop rejects the last one, with an
// answer that repeats the request.
const looked = `
title: Looked at
clock: {start: 2026-01-02T08:00:00Z, cycle: 1h, cycles: 3}
population: {count: 3, id: "shopper-${agent.index}", attributes: {age: "${30 + agent.index}", password: "word-${agent.index}"}}
services:
  shop: {kind: http, url: "URL", auth: {bearer: secret:SHOP}}
chain live:
  step enter: {kind: http, service: shop, post: /login, json: {user: "${agent.id}", password: "${agent.password}"}, private: true}
  step look: {kind: http, service: shop, get: "/look", query: {q: tea}}
  step order: {kind: http, service: shop, post: /order, json: {agent: "${agent.index}", age: "${agent.age}"}}
  step keep: {kind: remember, set: {bought: "${steps.order.n}"}, note: "bought ${steps.order.n}"}
  step say: {kind: emit, event: bought, data: {n: "${steps.order.n}"}}
`

// shopOf starts a server that counts orders and rejects those of one agent. It delays the order of another agent until it
// is released.
func shopOf(t *testing.T, held <-chan struct{}) string {
	t.Helper()
	var mu sync.Mutex
	n := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		switch {
		case r.URL.Path == "/order" && strings.Contains(string(body), `"agent":"2"`) || strings.Contains(string(body), `"agent":2`):
			w.WriteHeader(http.StatusConflict)
			fmt.Fprintf(w, `{"detail": "no", "you_sent": %q}`, r.Header.Get("Authorization"))
		case r.URL.Path == "/order":
			if held != nil && strings.Contains(string(body), `"agent":1`) {
				<-held
			}
			mu.Lock()
			n++
			fmt.Fprintf(w, `{"n": %d}`, n)
			mu.Unlock()
		case r.URL.Path == "/login":
			fmt.Fprint(w, `{"session": "hidden-session"}`)
		default:
			fmt.Fprint(w, `{"found": ["green", "black"]}`)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func lookedAt(t *testing.T, held <-chan struct{}, change func(*Launch)) (*Job, *sqlite.Store) {
	t.Helper()
	return started(t, strings.ReplaceAll(looked, "URL", shopOf(t, held)), func(l *Launch) {
		l.Secrets = secrets.Finder{Env: func(name string) string { return map[string]string{"SHOP": "sesame-open-1234"}[name] }}
		l.Settings.Cycles, l.Settings.KeepShare, l.Settings.KeepContent = 3, 0, 0
		l.Settings.Breaker = "off"
		if change != nil {
			change(l)
		}
	})
}

// exchangedIn describes the exchanges of a session.
func exchangedIn(t *engine.AgentTurn) string {
	var all []string
	for _, e := range t.Exchanges {
		text := fmt.Sprintf("%s %s %s [%s] %d [%s]%s", e.Path, e.Service, e.Request, e.Sent, e.Status, e.Answer, e.Error)
		if e.Kept {
			text += " kept"
		}
		all = append(all, text)
	}
	return strings.Join(all, "\n")
}

// TestAgentView reads a finished run: live, and from the store alone.
func TestAgentView(t *testing.T) {
	job, store := lookedAt(t, nil, nil)
	job.Run.Wait()
	past, err := history.LoadAgents(t.Context(), store, job.Record.ID)
	if err != nil {
		t.Fatal(err)
	}
	for name, people := range map[string]*history.Agents{"live": job.AgentHistory(store), "past": past} {
		good, err := people.View(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		if good.ID != "shopper-0" || good.State != engine.AgentOK || len(good.Sessions) != 3 || good.Earlier != 0 || good.Sessions[0].Cycle != 2 ||
			len(good.Notes) != 3 || fmt.Sprint(good.Persona) != "[{age 30} {password …}]" || len(good.Memory) != 1 || good.Activity != nil {
			t.Errorf("%s: %+v", name, good)
		}
		if s := good.Sessions[0]; len(s.Steps) != 5 || len(s.Events) != 1 || len(s.Exchanges) != 0 {
			t.Errorf("%s: the newest session is %+v", name, s)
		}
		bad, err := people.View(t.Context(), 2)
		if err != nil {
			t.Fatal(err)
		}
		if bad.State != engine.AgentFailed || len(bad.Memory) != 0 {
			t.Errorf("%s: the failed agent is %+v", name, bad)
		}
		for _, s := range bad.Sessions {
			got := exchangedIn(&s)
			for _, part := range []string{
				`enter shop  [] 200 [private, not shown] kept`, `look shop  [] 200 [{"found": ["green", "black"]}] kept`, `[{"detail": "no", "you_sent": "Bearer …"}]`,
			} {
				if !strings.Contains(got, part) {
					t.Errorf("%s: %s is missing in\n%s", name, part, got)
				}
			}
			if asked := strings.Contains(got, `POST /order [{"agent":2,"age":32}] 409`); asked != (name == "live") {
				t.Errorf("%s: only the live run has the request:\n%s", name, got)
			}
		}
		for _, v := range []*engine.AgentView{good, bad} {
			text, err := view.AgentJSON(v)
			if err != nil {
				t.Fatal(err)
			}
			for _, secret := range []string{"sesame", "word-", "hidden-session"} {
				if strings.Contains(string(text), secret) {
					t.Errorf("%s: %s is in %s", name, secret, text)
				}
			}
		}
		if _, err := people.View(t.Context(), 3); !errors.Is(err, engine.ErrNotFound) {
			t.Errorf("a missing agent: %v", err)
		}
	}
}

// TestAgentViewInFlight checks the session in flight, with its exchanges since the agent is watched.
func TestAgentViewInFlight(t *testing.T) {
	held, looking := make(chan struct{}), make(chan struct{})
	var once sync.Once
	job, store := lookedAt(t, held, func(l *Launch) {
		l.Tracer = func(e engine.Exchange) {
			if e.Agent == 1 && e.Cycle == 0 && e.Path == "look" {
				once.Do(func() { close(looking) })
			}
		}
	})
	<-looking // the order is about to wait
	job.Run.Watch(1)
	people := job.AgentHistory(store)
	view := func(people *history.Agents, agent int) *engine.AgentView {
		v, err := people.View(t.Context(), agent)
		if err != nil {
			t.Error(err)
			return &engine.AgentView{}
		}
		return v
	}
	v := view(people, 1)
	if v.Activity == nil || v.Activity.Path != "order" && v.Activity.Path != "look" || v.Activity.Name != "shopper-1" || v.State != engine.AgentInFlight && v.State != engine.AgentThrottled ||
		len(v.Sessions) != 1 || v.Sessions[0].Outcome != engine.Unfinished || v.Sessions[0].Cycle != 0 {
		t.Errorf("in flight: %+v", v)
	}
	if err := job.Broadcast(t.Context(), nil, "rain", "", "me"); err != nil {
		t.Error(err)
	}
	close(held)
	job.Run.Wait()
	past, err := history.LoadAgents(t.Context(), store, job.Record.ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []*history.Agents{people, past} { // the failed agent has not read it
		if v := view(p, 2); len(v.Inbox) != 1 || v.Inbox[0].From != "" || v.Inbox[0].Cycle != 1 || !strings.Contains(v.Inbox[0].Body, "rain") {
			t.Errorf("the inbox is %+v", v.Inbox)
		}
	}
	if v = view(people, 1); len(v.Inbox) != 0 || v.State != engine.AgentOK || v.Activity != nil || len(v.Sessions) != 3 {
		t.Errorf("at the end: %+v", v)
	}
	for _, s := range v.Sessions[:2] {
		got := exchangedIn(&s)
		if !strings.Contains(got, `enter shop POST /login [private, not shown] 200 [private, not shown]`) || !strings.Contains(got, `look shop GET /look?q=tea [] 200`) ||
			!strings.Contains(got, `order shop POST /order [{"agent":1,"age":31}] 200 [{"n": `) || strings.Contains(got, "kept") {
			t.Errorf("watched in cycle %d:\n%s", s.Cycle, got)
		}
	}
}
