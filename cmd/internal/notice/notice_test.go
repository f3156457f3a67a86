package notice

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/run"
	"github.com/throng-sim/throng/engine/view"
)

// brief are short times for tests.
var brief = times{attempt: 300 * time.Millisecond, first: time.Millisecond, look: time.Millisecond, again: time.Hour, last: 2 * time.Second}

// post is a request that a receiver got.
type post struct {
	header http.Header
	body   string
}

// receiver is a webhook on this machine.
type receiver struct {
	*httptest.Server
	mu  sync.Mutex
	got []post
	// answer, if set, answers the n-th request, from 1.
	answer func(n int, w http.ResponseWriter, r *http.Request)
}

func newReceiver(t *testing.T, answer func(n int, w http.ResponseWriter, r *http.Request)) *receiver {
	t.Helper()
	rec := &receiver{answer: answer}
	rec.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		rec.mu.Lock()
		rec.got = append(rec.got, post{r.Header, string(body)})
		n := len(rec.got)
		rec.mu.Unlock()
		if rec.answer != nil {
			rec.answer(n, w, r)
		}
	}))
	t.Cleanup(rec.Close)
	return rec
}

func (r *receiver) posts() []post {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]post(nil), r.got...)
}

// fake is a run with snapshots made by a test.
type fake struct {
	mu     sync.Mutex
	now    engine.Snapshot
	result run.Result
	done   chan struct{}
}

func newFake() *fake {
	return &fake{now: engine.Snapshot{Run: "r", Phase: engine.Running, SessionCounts: engine.SessionCounts{Ended: 12, Total: 24}, LimitState: engine.LimitState{Limit: 5}}, done: make(chan struct{})}
}

func (f *fake) Snapshot() *engine.Snapshot {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.now
	return &s
}
func (f *fake) Done() <-chan struct{} { return f.done }
func (f *fake) Wait() run.Result      { <-f.done; return f.result }

func (f *fake) set(change func(s *engine.Snapshot)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change(&f.now)
}

func (f *fake) end() {
	f.set(func(s *engine.Snapshot) { s.Phase, s.Ending = engine.Ended, engine.EndFinished })
	f.result.Ending = engine.EndFinished
	close(f.done)
}

// until waits for an effect of another goroutine.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	late := time.NewTimer(20 * time.Second)
	defer late.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-late.C:
			t.Fatalf("timed out: %s", what)
		}
	}
}

func TestParseTarget(t *testing.T) {
	for text, want := range map[string]string{
		"https://hooks.slack.com/services/T/B/x": "slack hooks.slack.com",
		"https://ntfy.sh/my-topic":               "ntfy ntfy.sh",
		"https://ntfy.example.com/t":             "ntfy ntfy.example.com",
		"http://127.0.0.1:8080/hook":             "json 127.0.0.1:8080",
		"https://discord.com/api/webhooks/1/x":   "discord discord.com",
		"https://x.webhook.office.com/y":         "teams x.webhook.office.com",
		"teams:https://flow.example.com/y":       "teams flow.example.com",

		"https://api.telegram.org/bot1:x/sendMessage?chat_id=@ops": "telegram api.telegram.org",
		"ntfy:https://push.example.com/t":                          "ntfy push.example.com",
		"slack:https://mattermost.example.com/x":                   "slack mattermost.example.com",
		" json:https://ntfy.sh/x ":                                 "json ntfy.sh",
	} {
		got, err := ParseTarget(text)
		if s := fmt.Sprint(got.Kind, " ", got.Host()); err != nil || s != want {
			t.Errorf("%s: got %s, %v, want %s", text, s, err, want)
		}
	}
	for _, text := range []string{"", "ftp://x/y", "hooks.slack.com/x", "https:///x", "https://ntfy.sh", "slack:", "https://s3cret@%zz", "https://api.telegram.org/bots3cret", "https://api.telegram.org/bots3cret/sendMessage"} {
		var field *engine.FieldError
		if _, err := ParseTarget(text); !errors.As(err, &field) || field.Hint == "" || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%q: got %v", text, err)
		}
	}
}

// TestKinds sends a notification of each kind.
func TestKinds(t *testing.T) {
	m := messageOf(view.Notification{Occasion: view.OnBreaker, Title: "paused, too many failures", Text: "half <of> a cycle & more"},
		&engine.Snapshot{Run: "r", Phase: engine.Paused, At: time.Unix(1_800_000_000, 0), CycleState: engine.CycleState{Cycle: 2}, SessionCounts: engine.SessionCounts{Outcomes: map[engine.Outcome]int64{engine.Failed: 3}}}, "Käufer")
	for kind, look := range map[Kind]func(p post) error{
		JSON: func(p post) error {
			var got Message
			if err := json.Unmarshal([]byte(p.body), &got); err != nil {
				return err
			}
			if got.Event != "breaker" || got.Run != "r" || got.Scenario != "Käufer" || got.Text != m.Text || got.Progress.Cycle != 2 || got.Progress.Failed != 3 || got.When.Unix() != 1_800_000_000 {
				return fmt.Errorf("got %s", p.body)
			}
			return nil
		},
		Slack: func(p post) error {
			if want := `{"text":"*Käufer: paused, too many failures*\nhalf &lt;of&gt; a cycle &amp; more"}`; strings.TrimSpace(p.body) != want || p.header.Get("Content-Type") != "application/json" {
				return fmt.Errorf("got %s, want %s", p.body, want)
			}
			return nil
		},
		Ntfy: func(p post) error {
			if p.body != m.Text || p.header.Get("Title") != "=?utf-8?q?K=C3=A4ufer:_paused,_too_many_failures?=" || p.header.Get("Priority") != "high" || p.header.Get("Tags") != "warning" {
				return fmt.Errorf("got %q %v", p.body, p.header)
			}
			return nil
		},
		Discord: func(p post) error {
			if want := `{"allowed_mentions":{"parse":[]},"content":"**Käufer: paused, too many failures**\nhalf <of> a cycle & more"}`; strings.TrimSpace(p.body) != want {
				return fmt.Errorf("got %s, want %s", p.body, want)
			}
			return nil
		},
		Teams: func(p post) error {
			var got struct {
				Attachments []struct {
					Content struct{ Body []struct{ Type, Text string } }
				}
			}
			if err := json.Unmarshal([]byte(p.body), &got); err != nil {
				return err
			}
			if b := got.Attachments[0].Content.Body; len(b) != 2 || b[0].Text != "Käufer: paused, too many failures" || b[1].Text != m.Text || b[1].Type != "TextBlock" {
				return fmt.Errorf("got %s", p.body)
			}
			return nil
		},
		Telegram: func(p post) error {
			if want := `{"chat_id":"@ops","text":"Käufer: paused, too many failures\nhalf <of> a cycle & more"}`; strings.TrimSpace(p.body) != want {
				return fmt.Errorf("got %s, want %s", p.body, want)
			}
			return nil
		},
	} {
		rec := newReceiver(t, nil)
		answer, err := Try(t.Context(), Target{kind, rec.URL + "/topic?chat_id=@ops"}, m)
		if err != nil || !strings.HasPrefix(answer, "200 OK") {
			t.Fatalf("%s: %q %v", kind, answer, err)
		}
		p := rec.posts()
		if len(p) != 1 {
			t.Fatalf("%s: %d posts", kind, len(p))
		}
		if err := look(p[0]); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
		if p[0].header.Get("X-Simulation-Mode") != "" || p[0].header.Get("Authorization") != "" {
			t.Errorf("%s: headers %v", kind, p[0].header)
		}
	}
}

// TestWatch checks the notifications of a run, without secrets, and the verdict at the end.
func TestWatch(t *testing.T) {
	rec, run := newReceiver(t, nil), newFake()
	run.result.Verdict = []engine.Judgment{{Criterion: engine.Criterion{Metric: "error_rate", Text: "< 5%"}, Shown: "9%"}}
	w := Start(Config{Run: run, Scenario: "Shoppers", Target: Target{JSON, rec.URL}, times: brief, Redact: func(s string) string { return strings.ReplaceAll(s, "hunter2", "…") }})
	run.set(func(s *engine.Snapshot) { s.Stall = &engine.Stall{Why: "all wait for hunter2"} })
	until(t, "the stall is reported", func() bool { return len(rec.posts()) == 1 })
	run.end()
	w.Close(nil)
	got := rec.posts()
	if len(got) != 2 || !strings.Contains(got[0].body, `"event":"stalled"`) || strings.Contains(got[0].body, "hunter2") {
		t.Fatalf("got %v", got)
	}
	for _, part := range []string{`"event":"ended"`, `"passed":false`, `{"metric":"error_rate","criterion":"< 5%","value":0,"shown":"9%","passed":false}`, "Criteria missed: 1 of 1.", `"planned_sessions":24`} {
		if !strings.Contains(got[1].body, part) {
			t.Errorf("%s does not hold %s", got[1].body, part)
		}
	}
}

// TestFlapping opens and closes a breaker a hundred times and expects one notification, then one with the count.
// TestRunThatHasEnded checks that the end of a run is reported that had ended before it was watched.
func TestRunThatHasEnded(t *testing.T) {
	rec, run := newReceiver(t, nil), newFake()
	run.end()
	Start(Config{Run: run, Target: Target{JSON, rec.URL}, times: brief}).Close(nil)
	if got := rec.posts(); len(got) != 1 || !strings.Contains(got[0].body, "finished") {
		t.Errorf("got %+v", got)
	}
}

func TestFlapping(t *testing.T) {
	run := newFake()
	var h []*Message
	w := &Watch{cfg: Config{Run: run, times: brief}, told: map[view.Occasion]time.Time{}, missed: map[view.Occasion]int{}}
	w.look(nil)
	flap := func() {
		run.set(func(s *engine.Snapshot) {
			s.Services = []engine.ServiceState{{Name: "shop", Breaker: engine.BreakerOpen}}
		})
		w.look(nil)
		run.set(func(s *engine.Snapshot) { s.Services = nil })
		w.look(nil)
		h, w.queue = append(h, w.queue...), nil
	}
	for range 100 {
		flap()
	}
	w.told[view.OnService] = time.Now().Add(-2 * brief.again)
	flap()
	if len(h) != 2 || h[0].Again != 0 || h[1].Again != 99 || !strings.Contains(h[1].Text, "99 more") {
		t.Errorf("got %+v", h)
	}
}

// TestServersInTrouble uses receivers that fail in all ways. It expects retries, one report of a failure, and a short delay
// at the end of the run.
func TestServersInTrouble(t *testing.T) {
	hang := make(chan struct{})
	for _, tt := range []struct {
		name   string
		answer func(n int, w http.ResponseWriter, r *http.Request)
		posts  int
		failed string // "" if it arrived
	}{
		{"500, then well", func(n int, w http.ResponseWriter, _ *http.Request) {
			if n < 3 {
				w.WriteHeader(http.StatusInternalServerError)
			}
		}, 3, ""},
		{"500 for good", func(_ int, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }, attempts, "the server answered 500"},
		{"429 with a wait", func(n int, w http.ResponseWriter, _ *http.Request) {
			if n == 1 {
				w.Header().Set("Retry-After", "1")
				w.WriteHeader(http.StatusTooManyRequests)
			}
		}, 2, ""},
		{"404", func(_ int, w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, "no_service\n")
		}, 1, "the server answered 404 Not Found: no_service"},
		{"a redirect elsewhere", func(_ int, w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://localhost:1/other", http.StatusTemporaryRedirect)
		}, 1, "redirects to another address"},
		{"a redirect that would lose the notice", func(_ int, w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/b", http.StatusFound) }, 1, "redirects to another address"},
		{"a redirect on the same host", func(n int, w http.ResponseWriter, r *http.Request) {
			if n == 1 {
				http.Redirect(w, r, "/moved", http.StatusPermanentRedirect)
			}
		}, 2, ""},
		{"it hangs", func(int, http.ResponseWriter, *http.Request) { <-hang }, attempts, "the request timed out"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rec, run := newReceiver(t, tt.answer), newFake()
			if tt.name == "it hangs" {
				t.Cleanup(func() { close(hang) })
			}
			var failed []string
			began := time.Now()
			w := Start(Config{Run: run, Target: Target{JSON, rec.URL + "/s3cret"}, times: brief, Failed: func(err error) { failed = append(failed, err.Error()) }})
			run.end()
			w.Close(nil)
			if took := time.Since(began); took > 10*brief.last {
				t.Errorf("took %s", took)
			}
			if got := rec.posts(); len(got) != tt.posts {
				t.Errorf("%d posts, want %d", len(got), tt.posts)
			}
			all := strings.Join(failed, "|")
			if (all == "") != (tt.failed == "") || !strings.Contains(all, tt.failed) || strings.Contains(all, "s3cret") || len(failed) > 1 {
				t.Errorf("reported %q, want %q", failed, tt.failed)
			}
			if tt.name == "429 with a wait" && time.Since(began) < time.Second {
				t.Error("the server's wait was ignored")
			}
		})
	}
}

// TestHurry checks that hurry cancels the wait for a server that hangs.
func TestHurry(t *testing.T) {
	hang := make(chan struct{})
	rec, run := newReceiver(t, func(int, http.ResponseWriter, *http.Request) { <-hang }), newFake()
	t.Cleanup(func() { close(hang) })
	patient := brief
	patient.attempt, patient.last = time.Hour, time.Hour
	failed := ""
	w := Start(Config{Run: run, Target: Target{JSON, rec.URL}, times: patient, Failed: func(err error) { failed = err.Error() }})
	run.end()
	hurry, told := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(told)
		w.Close(hurry)
	}()
	until(t, "it is asked", func() bool { return len(rec.posts()) == 1 })
	select {
	case <-told:
		t.Fatal("no request is waiting")
	default:
	}
	close(hurry)
	until(t, "no request is waiting any longer", func() bool {
		select {
		case <-told:
			return true
		default:
			return false
		}
	})
	if !strings.Contains(failed, "the request timed out") {
		t.Errorf("got notifications %q", failed)
	}
}

// TestNoServer checks that the error for a refused connection has no address.
func TestNoServer(t *testing.T) {
	rec := newReceiver(t, nil)
	rec.Close()
	_, err := Try(t.Context(), Target{JSON, rec.URL + "/s3cret"}, Test(time.Now()))
	if err == nil || strings.Contains(err.Error(), "s3cret") || !strings.Contains(err.Error(), "refused") {
		t.Errorf("got %v", err)
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Duration{
		"": 0, "7": 7 * time.Second, "-1": 0, "soon": 0, "86400": longestWait, "Sun, 01 Mar 2026 10:00:09 GMT": 9 * time.Second, "Sun, 01 Mar 2026 09:00:00 GMT": 0,
	} {
		if got := retryAfter(text, now); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
