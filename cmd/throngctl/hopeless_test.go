package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/cmd/throngctl/internal/answer"
	"github.com/throng-sim/throng/engine"
)

// refusing starts a server that answers with the status in the request's path, and counts requests.
func refusing(t *testing.T) (url string, asked *atomic.Int64) {
	t.Helper()
	asked = &atomic.Int64{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		status, _ := strconv.Atoi(strings.Trim(r.URL.Path, "/"))
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(`{"products": [{"id": 1, "price": 2}]}`))
	}))
	t.Cleanup(server.Close)
	return server.URL, asked
}

// hopelessFile writes a scenario with 372 agents for 24 cycles; its step is in line 7.
func hopelessFile(t *testing.T, url, steps string) string {
	t.Helper()
	return scenarioFile(t, `title: Hopeless
clock: {start: 2026-01-02T08:00:00Z, cycle: 1h, cycles: 24}
population: {count: 372}
services:
  api: {kind: http, url: "`+url+`"}
chain shop:
`+steps)
}

// fewRequests is the maximum number of requests of a run that cannot succeed: far fewer than the 8,928 of all sessions.
const fewRequests = 500

// TestRunThatCannotSucceedEnds checks that a permanent error ends a run immediately, with its position and what to change,
// and how to continue.
func TestRunThatCannotSucceedEnds(t *testing.T) {
	url, asked := refusing(t)
	for _, c := range []struct {
		name, url, steps string
		want             []string // of the reason
	}{
		{"401", url, `  step browse: {kind: http, service: api, get: /401}`, []string{":7: step browse: status 401", "check `auth` of the service"}},
		{
			"401 with a secret", url, `  step browse: {kind: http, service: api, get: /401, headers: {X-Key: secret:HOPELESS_KEY}}`,
			[]string{"step browse: status 401", "change the secret HOPELESS_KEY (in the window: Setup, Services; in a terminal: throngctl secret set HOPELESS_KEY)"},
		},
		{"403", url, `  step browse: {kind: http, service: api, get: /403}`, []string{":7: step browse: status 403", "does not allow"}},
		{"404", url, `  step browse: {kind: http, service: api, post: /404, json: {}}`, []string{":7: step browse: status 404", "check the path of the step"}},
		{"422", url, `  step browse: {kind: http, service: api, post: /422, json: {}}`, []string{":7: step browse: status 422", "refuses the values"}},
		{
			"a wrong expression", url, "  step browse: {kind: http, service: api, get: /200}\n  step pay: {kind: emit, event: paid, data: '${steps.browse.products[0].prize}'}",
			[]string{":8:72: record has no field \"prize\"", "did you mean price?", "correct the expression"},
		},
		{"an unknown host", "http://shop.invalid", `  step browse: {kind: http, service: api, get: /200}`, []string{":7: step browse: there is no host shop.invalid", "check `url` of the service api"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			asked.Store(0)
			t.Setenv("HOPELESS_KEY", "wrong")
			hook := newHook(t, http.StatusOK)
			t.Setenv(config.NotifyEnv, hook.URL)
			data, file := filepath.Join(t.TempDir(), "data"), hopelessFile(t, c.url, c.steps)
			dir := filepath.Join(t.TempDir(), "out")
			code, out, stderr := ctl(t, "run", file, "--data", data, "--allow", "shop.invalid", "--export", dir, "--max-concurrent", "10", "--no-adaptive")
			if code != exitFailed {
				t.Fatalf("exit code %d, want %d\n%s%s", code, exitFailed, out, stderr)
			}
			if n := asked.Load(); n > fewRequests {
				t.Errorf("%d requests were sent", n)
			}
			code, listed, stderr := ctl(t, "runs", "--json", "--data", data)
			var all []struct{ State, Reason string }
			if err := json.Unmarshal([]byte(listed), &all); err != nil || len(all) != 1 || code != exitDone {
				t.Fatalf("runs: %d, %v\n%s%s", code, err, listed, stderr)
			}
			reason := all[0].Reason
			if all[0].State != engine.EndHopeless.String() {
				t.Errorf("the run is %s", all[0].State)
			}
			for _, want := range append(c.want, "every session so far failed", "waiting cannot heal it", filepath.Base(file)) {
				if !strings.Contains(reason, want) {
					t.Errorf("the reason has no %q: %s", want, reason)
				}
			}
			shows := map[string]string{"summary": out}
			_, shows["status"], _ = ctl(t, "status", "--data", data)
			_, shows["check --after"], _ = ctl(t, "check", "--after", "--data", data)
			for name, text := range shows {
				if !strings.Contains(text, reason) {
					t.Errorf("%s has no reason:\n%s\nwant %s", name, text, reason)
				}
				if !strings.Contains(text, "throngctl run "+file) {
					t.Errorf("%s does not say how to continue:\n%s", name, text)
				}
			}
			if last := hook.got[len(hook.got)-1]; !strings.Contains(last.Text, reason) || *last.Passed {
				t.Errorf("the notification has no reason: %+v", last)
			}
			if exact := !strings.Contains(out, "inexact"); exact != (c.url == url) { // the network may have been down
				t.Errorf("the result is exact: %v\n%s", exact, out)
			}
			if page := read(t, dir, reportName); !strings.Contains(page, engine.EndHopeless.String()) || !strings.Contains(page, "waiting cannot heal it") {
				t.Error("the report has no reason")
			}
		})
	}
}

// TestHopelessRunAsJSON checks the reason, the exit code and the next command in JSON.
func TestHopelessRunAsJSON(t *testing.T) {
	url, _ := refusing(t)
	file := hopelessFile(t, url, `  step browse: {kind: http, service: api, get: /404}`)
	code, out, stderr := ctl(t, "run", file, "--json", "--data", t.TempDir(), "--max-concurrent", "10")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	var end answer.Ended
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &end); err != nil {
		t.Fatalf("%v\n%s%s", err, out, stderr)
	}
	if code != exitFailed || end.Code != exitFailed || end.Ending != "cannot succeed" || end.Passed || !end.Exact || end.Next != "throngctl run "+file || !strings.Contains(end.Reason, "status 404") {
		t.Errorf("code %d, %+v", code, end)
	}
}

// TestHopelessRunResumes checks that a run that failed because of its services can be resumed once they work.
func TestHopelessRunResumes(t *testing.T) {
	url, asked := refusing(t)
	data := t.TempDir()
	file := hopelessFile(t, url, `  step browse: {kind: http, service: api, get: /, expect: [200]}`)
	if code, out, stderr := ctl(t, "run", file, "--cycles", "1", "--service", "api="+url+"/403", "--data", data, "--max-concurrent", "10", "--no-adaptive"); code != exitFailed {
		t.Fatalf("code %d\n%s%s", code, out, stderr)
	}
	was := asked.Load()
	code, out, stderr := ctl(t, "resume", "--service", "api="+url+"/200", "--data", data)
	if code != exitDone || !strings.Contains(out, "finished") || was+asked.Load() < 372 {
		t.Errorf("code %d, %d and %d requests\n%s%s", code, was, asked.Load(), out, stderr)
	}
}

// TestRunOfWhichAllFailed checks that a run without criteria that reaches its end fails if all sessions failed.
func TestRunOfWhichAllFailed(t *testing.T) {
	url, _ := refusing(t)
	for steps, want := range map[string]int{
		`  step browse: {kind: http, service: api, get: /404}`:                                  exitFailed,
		`  step browse: {kind: http, service: api, get: "/${404 if agent.index > 0 else 200}"}`: exitDone,
	} {
		data := t.TempDir()
		code, out, stderr := ctl(t, "run", hopelessFile(t, url, steps), "--cycles", "1", "--breaker", "off", "--data", data)
		if code != want {
			t.Errorf("code %d, want %d\n%s%s", code, want, out, stderr)
		}
		why := "all cycles are done, and every session failed (372 of 372): "
		if said := strings.Contains(out, why); said != (want == exitFailed) {
			t.Errorf("says that all failed: %v\n%s", said, out)
		}
		if !strings.Contains(out, "finished after") {
			t.Errorf("not finished:\n%s", out)
		}
	}
}
