package scenario

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/enginetest"
	"github.com/throng-sim/throng/engine/run"
	"github.com/throng-sim/throng/engine/service"
)

const keyed = `
population: {count: 4}
services:
  shop:
    kind: http
    url: http://shop.example.com
    headers: {X-Key: "${secret:KEY}"}
    auth: {basic: {user: me, password: "secret:WORD"}}
    repeats: harmless
  signed:
    kind: http
    url: http://shop.example.com
    auth: {login: {post: /login, json: {word: "secret:WORD"}, token: body.token}}
chain c:
  step a: {kind: http, service: shop, get: /a, headers: {X-Step: "${secret:KEY}"}}
  step b: {kind: http, service: signed, post: /b, json: {key: "secret:WORD"}}
`

// TestLaunchesOfOneParsedScenario runs two launches of one parsed scenario at the same time, against different servers and
// with different secrets.
func TestLaunchesOfOneParsedScenario(t *testing.T) {
	parsed, err := Extras{}.Parse("s.yaml", files("s.yaml", keyed))
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for _, secret := range []string{"first", "second"} {
		group.Go(func() { launch(t, parsed.Bind(), secret) })
	}
	group.Wait()
	for _, s := range parsed.s.Services {
		if s.HTTP != nil || s.Secret("WORD") != "" || s.Values != nil || s.Concealed != nil {
			t.Errorf("the parsed service %s is connected", s.Name)
		}
	}
}

// launch runs a scenario against a server of its own, which accepts one secret.
func launch(t *testing.T, s *Scenario, secret string) {
	var mu sync.Mutex
	seen := map[string]int{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body bytes.Buffer
		_, _ = body.ReadFrom(r.Body)
		_, word, _ := r.BasicAuth()
		mu.Lock()
		defer mu.Unlock()
		seen[fmt.Sprint(r.URL.Path, " ", r.Header.Get("X-Key"), r.Header.Get("X-Step"), word, r.Header.Get("Authorization") == "Bearer "+secret, body.String())]++
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"token": %q}`, secret)
	}))
	defer server.Close()
	for _, of := range s.Services {
		client, err := service.NewHTTP(of.Name, server.URL, of.Limits, false)
		if err != nil {
			t.Error(err)
			return
		}
		defer client.Close()
		of.Unlock(map[string]string{"KEY": secret, "WORD": secret})
		of.Connect(client, "")
	}
	settings := engine.DefaultSettings()
	settings.Cycles, settings.Metrics, settings.CheckpointEvery = 1, false, 0
	j := &enginetest.Journal{}
	r, err := run.Start(t.Context(), run.Config{ID: "test", Program: s.Program(1), Agents: s.Agents, Clock: s.Clock, Settings: settings, Journal: j})
	if err != nil {
		t.Error(err)
		return
	}
	r.Wait()
	for _, row := range j.Sessions() {
		if row.Error != "" {
			t.Error(row.Error)
		}
	}
	want := map[string]int{
		"/a " + secret + secret + secret + "false": 4,
		`/login false{"word":"` + secret + `"}`:    4,
		`/b true{"key":"` + secret + `"}`:          4,
	}
	if fmt.Sprint(seen) != fmt.Sprint(want) {
		t.Errorf("the server of %s received\n%v, want\n%v", secret, seen, want)
	}
}

// TestLaunchesSettleTheirOwnPopulation settles the population of one launch, and a population with an error in another.
func TestLaunchesSettleTheirOwnPopulation(t *testing.T) {
	parsed, err := Extras{}.Parse("s.yaml", files("s.yaml", writing(somebody)))
	if err != nil {
		t.Fatal(err)
	}
	first, second, third := parsed.Bind(), parsed.Bind(), parsed.Bind()
	persona := []byte(`{"name": "Ann", "age": 50}`)
	if err := first.Writing(1).Settle([][]byte{persona, persona, persona}); err != nil {
		t.Fatal(err)
	}
	wrong := []byte(`{"name": "Ann", "age": "old"}`)
	if err := second.Writing(1).Settle([][]byte{wrong, wrong, wrong}); err == nil {
		t.Error("a persona without a number for its age was settled")
	}
	if !first.Written() || third.Written() || third.Source.Files[PersonasName] != nil || third.Source.Hash == first.Source.Hash {
		t.Error("launches share a population")
	}
	if n := len(third.Warnings()); n != len(parsed.s.Warnings()) || len(parsed.s.report.Problems()) > 0 {
		t.Errorf("the parsed scenario has the problems of a launch: %v", parsed.s.report.Problems())
	}
}
