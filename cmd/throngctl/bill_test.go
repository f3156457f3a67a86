package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/throng-sim/throng/storage/postgres/pgtest"
)

// biller is a model server that counts and bills requests: 400 input tokens, 300 of them from its cache if the prompt has
// the house rules, and 30 output tokens; 20 for an embedding.
type biller struct {
	*httptest.Server
	mu       sync.Mutex
	requests int64 // for answers and embeddings
	others   int64
	cost     int64         // in billionths of a dollar
	slow     time.Duration // duration of a persona
	holdFrom int64         // requests from this number on are not answered; 0 disables it
	reached  chan struct{} // closed when this request arrives
	release  chan struct{}
}

func newBiller(t *testing.T) *biller {
	b := &biller{reached: make(chan struct{}), release: make(chan struct{})}
	b.Server = httptest.NewServer(http.HandlerFunc(b.answer))
	t.Cleanup(func() { b.letGo(); b.Close() })
	return b
}

// hold makes all requests from a number on wait without an answer.
func (b *biller) hold(from int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.holdFrom = from
}

func (b *biller) letGo() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.holdFrom = 0; b.release != nil {
		close(b.release)
		b.release = nil
	}
}

// bill returns the number of requests so far and their cost in US dollars.
func (b *biller) bill() (requests int64, dollars float64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.requests, float64(b.cost) / 1e9
}

func (b *biller) answer(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	text := string(body)
	w.Header().Set("Content-Type", "application/json")
	b.mu.Lock()
	if r.Method == http.MethodGet {
		b.others++
		b.mu.Unlock()
		_, _ = io.WriteString(w, `{"data":[{"id":"paid-1"},{"id":"vectors-1"}]}`)
		return
	}
	b.requests++
	n, cached, release := b.requests, int64(0), b.release
	hold := b.holdFrom > 0 && n >= b.holdFrom
	if n == b.holdFrom {
		close(b.reached)
	}
	switch {
	case strings.HasSuffix(r.URL.Path, "/embeddings"):
		b.cost += 20 * 1000
	case strings.Contains(text, "house rules"):
		cached = 300
		b.cost += 100*1000 + 300*100 + 30*10_000
	default:
		b.cost += 400*1000 + 30*10_000
	}
	b.mu.Unlock()
	if strings.Contains(text, "Invent") {
		late := time.NewTimer(b.slow)
		<-late.C
	}
	if hold {
		select {
		case <-release:
		case <-r.Context().Done():
		}
	}
	if strings.HasSuffix(r.URL.Path, "/embeddings") {
		_, _ = io.WriteString(w, `{"data":[{"index":0,"embedding":[0.1,0.2]}],"usage":{"prompt_tokens":20,"total_tokens":20}}`)
		return
	}
	said := "yes"
	switch {
	case strings.Contains(text, "Invent"):
		said = fmt.Sprintf(`{\"name\": \"Ann %d\"}`, n)
	case strings.Contains(text, "Decide") && n%4 == 0:
		said = "nothing that fits"
	case strings.Contains(text, "Decide"):
		said = `{\"buy\": true}`
	}
	fmt.Fprintf(w, `{"choices":[{"message":{"content":"%s"},"finish_reason":"stop"}],`+
		`"usage":{"prompt_tokens":400,"completion_tokens":30,"prompt_tokens_details":{"cached_tokens":%d}}}`, said, cached)
}

// scenario writes a scenario that calls the model in every way, and whose population the model writes if requested.
func (b *biller) scenario(t *testing.T, written bool) (file, data string) {
	t.Helper()
	dir, data := t.TempDir(), t.TempDir()
	population := "population: {count: 12}\n"
	if written {
		population = "population:\n  count: 12\n  write: {service: model, prompt: \"Invent person ${index}.\", answer: {name: string}, max_tokens: 40}\n"
	}
	text := "title: Billed\n" + population + `services:
  model: {kind: llm, url: "` + b.URL + `/v1", model: [paid-1], embedding_model: vectors-1}
chain ask:
  step a: {kind: llm, service: model, prompt: "By the house rules: yes or no?", max_tokens: 40}
  step v: {kind: embed, service: model, input: "A harbour."}
  step k: {kind: llm, service: model, prompt: "Is ${n} odd?", cache: {n: agent.index % 3}, max_tokens: 40}
  step c: {kind: llm, service: model, prompt: "Decide.", max_tokens: 40, answer: {buy: bool}, retry: {attempts: 6}}
`
	prices := `{"paid-1": {"input_cost_per_token": 1e-6, "output_cost_per_token": 1e-5, "cache_read_input_token_cost": 1e-7}, "vectors-1": {"input_cost_per_token": 1e-6}}`
	file = filepath.Join(dir, "billed.yaml")
	for path, content := range map[string]string{file: text, filepath.Join(data, "prices.json"): prices} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return file, data
}

func (b *biller) run(file, data string, more ...string) []string {
	return append([]string{"run", file, "--data", data, "--seed", "7", "--llm-rate", "10000", "--no-dashboard", "--export", filepath.Join(data, "out")}, more...)
}

// modelsOf returns the numbers of model calls and of all requests in run.json.
func modelsOf(t *testing.T, data string) (calls, requests int64) {
	t.Helper()
	var m struct {
		Totals struct {
			Requests int64
			Models   struct{ Calls int64 }
		}
	}
	if err := json.Unmarshal([]byte(read(t, data, "out", "run.json")), &m); err != nil {
		t.Fatal(err)
	}
	return m.Totals.Models.Calls, m.Totals.Requests
}

// TestEveryCallIsBilled compares the cost of a run with the bill, to the cent: with a written population, cached answers,
// embeddings, unusable answers, and tokens from the service's cache.
func TestEveryCallIsBilled(t *testing.T) {
	b := newBiller(t)
	file, data := b.scenario(t, true)
	code, out, stderr := ctl(t, b.run(file, data, "--budget", "5")...)
	if code != exitDone {
		t.Fatalf("exit code %d\n%s%s", code, out, stderr)
	}
	requests, dollars := b.bill()
	s := spent(t, data)
	calls, left := modelsOf(t, data)
	if s.Requests != requests || calls != requests || left != requests || math.Abs(s.USD-dollars) > 1e-9 {
		t.Errorf("recorded %+v for %d calls and %d requests, billed %d and $%v", s, calls, left, requests, dollars)
	}
	for _, want := range []string{fmt.Sprintf("model calls    %d, ", requests), " from the provider's cache, ", "12 personas written by model; 12 requests, "} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in\n%s", want, out)
		}
	}
}

// TestBudgetCoversThePopulation checks that writing personas stops at the budget and continues with a larger one.
func TestBudgetCoversThePopulation(t *testing.T) {
	b := newBiller(t)
	file, data := b.scenario(t, true)
	for _, bound := range [][]string{{"--budget", "0.0042"}, {"--max-requests", "3"}, {"--max-tokens", "2000"}} {
		before, cost := b.bill()
		code, out, stderr := ctl(t, b.run(file, data, append(bound, "--max-llm-calls", "1")...)...)
		requests, dollars := b.bill()
		requests -= before
		if code == exitDone || requests > 6 || requests < 2 || dollars-cost > 0.0042 || !strings.Contains(stderr, "personas are written and stored") ||
			!strings.Contains(stderr, "is used up") || !strings.Contains(stderr, "to write the rest: "+bound[0]+" ") {
			t.Errorf("%v: exit code %d after %d requests, $%v\n%s%s", bound, code, requests, dollars-cost, out, stderr)
		}
	}
	if code, out, stderr := ctl(t, b.run(file, data, "--budget", "5")...); code != exitDone || !strings.Contains(out, ", 9 of them earlier") {
		t.Errorf("exit code %d\n%s%s", code, out, stderr)
	}
}

// TestQuitWhileThePopulationIsWritten ends the program while a model writes the population. Written personas are stored,
// their cost is printed including requests in flight, and the next launch continues there.
func TestQuitWhileThePopulationIsWritten(t *testing.T) {
	for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		b := newBiller(t)
		file, data := b.scenario(t, true)
		b.hold(6)
		signals := make(chan os.Signal)
		go func() {
			<-b.reached
			signals <- signal
		}()
		var out, stderr bytes.Buffer
		code := execute(b.run(file, data, "--max-llm-calls", "1", "--budget", "5"),
			&terminal{in: strings.NewReader(""), out: &out, err: &stderr, signals: signals, hooks: hooks{trusts: true}})
		if said := stderr.String(); code != exitInterrupted || !strings.Contains(said, "5 of 12 personas are written and stored; launch the scenario again") ||
			!strings.Contains(said, "the other 7 were not requested: it was stopped; used 6 requests and $") {
			t.Errorf("%v: exit code %d\n%s%s", signal, code, &out, &stderr)
		}
		b.letGo()
		requests, _ := b.bill()
		code, text, errors := ctl(t, b.run(file, data, "--max-time", "1h", "--cycles", "1")...)
		again, _ := b.bill()
		if code != exitDone || !strings.Contains(text, "5 of them earlier; 7 requests, ") || spent(t, data).Requests != again-requests {
			t.Errorf("%v: launched again: exit code %d, %d requests\n%s%s", signal, code, again-requests, text, errors)
		}
	}
}

// TestWritingCountsAfterAResume checks that the time spent on writing the population counts in the time budget of a resumed
// run.
func TestWritingCountsAfterAResume(t *testing.T) {
	t.Parallel()
	b := newBiller(t)
	b.slow = 100 * time.Millisecond
	file, data := b.scenario(t, true)
	code, out, stderr := ctl(t, b.run(file, data, "--max-llm-calls", "1", "--max-requests", "14", "--cycles", "1")...)
	if code != exitFailed || !strings.Contains(out, "14 of 14 requests") {
		t.Fatalf("exit code %d\n%s%s", code, out, stderr)
	}
	code, out, stderr = ctl(t, "resume", "--data", data, "--no-dashboard", "--max-requests", "1000", "--max-time", "1s")
	if code == exitDone || !strings.Contains(stderr, "of wall time are spent") {
		t.Errorf("resumed with a budget of 1 s after 1.2 s: exit code %d\n%s%s", code, out, stderr)
	}
	if code, out, stderr = ctl(t, "resume", "--data", data, "--no-dashboard", "--max-requests", "1000", "--max-time", "1h"); code != exitDone {
		t.Errorf("resumed with a budget of 1 h: exit code %d\n%s%s", code, out, stderr)
	}
}

// TestChecksKeepWithinTheBudget checks that statements of checks count as requests, and that checks end with the time
// budget.
func TestChecksKeepWithinTheBudget(t *testing.T) {
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-release:
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(func() { close(release); server.Close() })
	t.Setenv("CHECKED_DB", pgtest.Shared(t).Database(t))
	file := scenarioFile(t, "title: Checked\npopulation: {count: 1}\nservices:\n  db: {kind: postgres, url: secret:CHECKED_DB}\nchain c:\n  step one: {kind: sql, service: db, query: select 1}\n")
	for want, flags := range map[string][]string{
		"not checked: the budget of 3 requests is used up": {"--max-requests", "3"},
		"PostgreSQL ": {"--max-requests", "4"},
	} {
		if _, out, stderr := ctl(t, append([]string{"check", file, "--data", t.TempDir()}, flags...)...); !strings.Contains(out, want) {
			t.Errorf("%v: want %q\n%s%s", flags, want, out, stderr)
		}
	}
	file = scenarioFile(t, fmt.Sprintf("title: Checked\npopulation: {count: 1}\nservices:\n  shop: {kind: http, url: %q}\nchain c:\n  step one: {kind: http, service: shop, get: /}\n", server.URL))
	_, out, stderr := ctl(t, "check", file, "--data", t.TempDir(), "--max-time", "100ms")
	if !strings.Contains(out, "not finished: the budget of 100 ms of wall time is used up") {
		t.Errorf("a check took longer than the budget:\n%s%s", out, stderr)
	}
}

// TestBillAfterAKill kills a run and resumes it. All calls that were sent are counted; those without an answer count with
// their maximum cost.
func TestBillAfterAKill(t *testing.T) {
	const atOnce = 6
	b := newBiller(t)
	file, data := b.scenario(t, true)
	b.hold(12 + 15)
	cmd, out, stderr := process(t, nil, b.run(file, data, "--max-concurrent", fmt.Sprint(atOnce), "--budget", "5")...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	<-b.reached
	_ = cmd.Process.Kill()
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("the run was not killed: %v\n%s%s", err, out, stderr)
	}
	b.letGo()
	code, text, errors := ctl(t, "resume", "--data", data, "--no-dashboard", "--export", filepath.Join(data, "out"))
	if code != exitDone {
		t.Fatalf("exit code %d\n%s%s", code, text, errors)
	}
	requests, dollars := b.bill()
	s := spent(t, data)
	if s.Requests < requests || s.Requests > requests+atOnce {
		t.Errorf("counted %d requests of %d, with %d in flight", s.Requests, requests, atOnce)
	}
	if s.USD < dollars-1e-9 || s.USD > dollars+atOnce*0.002 {
		t.Errorf("recorded $%v, billed $%v", s.USD, dollars)
	}
}

// TestBillOfACanceledRun cancels a run with calls in flight, and checks that the summary counts them, also those that the
// server does not read any more.
func TestBillOfACanceledRun(t *testing.T) {
	b := newBiller(t)
	file, data := b.scenario(t, false)
	b.hold(20)
	signals := make(chan os.Signal)
	go func() {
		<-b.reached
		for code := exitFailed; code != exitDone; { // until the run takes orders
			code, _, _ = ctl(t, "status", "--data", data)
		}
		for range 2 {
			signals <- os.Interrupt
		}
	}()
	const atOnce = 6
	var out, stderr bytes.Buffer
	code := execute(b.run(file, data, "--max-concurrent", strconv.Itoa(atOnce), "--budget", "5"), &terminal{in: strings.NewReader(""), out: &out, err: &stderr, signals: signals, hooks: hooks{trusts: true}})
	if code == exitDone {
		t.Fatalf("exit code %d\n%s%s", code, &out, &stderr)
	}
	if _, err := os.Stat(filepath.Join(data, "out", "run.json")); err != nil {
		t.Fatalf("exit code %d, %v\n%s%s", code, err, &out, &stderr)
	}
	requests, dollars := b.bill()
	s := spent(t, data)
	calls, left := modelsOf(t, data)
	if s.Requests != left || calls != left || left < requests || left > requests+atOnce {
		t.Errorf("recorded %d requests, %d calls, %d spent; billed %d, with %d in flight", left, calls, s.Requests, requests, atOnce)
	}
	if s.USD < dollars-1e-9 || !strings.Contains(out.String(), fmt.Sprintf("requests       %d, ", left)) {
		t.Errorf("recorded $%v, billed $%v for %d requests\n%s", s.USD, dollars, requests, &out)
	}
	b.letGo()
	code, text, errors := ctl(t, "resume", "--data", data, "--no-dashboard", "--export", filepath.Join(data, "out"))
	requests, _ = b.bill()
	if s := spent(t, data); code != exitDone || s.Requests < requests || s.Requests > requests+atOnce {
		t.Errorf("resumed: exit code %d; recorded %d of %d requests\n%s%s", code, s.Requests, requests, text, errors)
	}
}

// TestBudgetsOfOthers checks that trials, calibrations and checks keep within their budgets.
func TestBudgetsOfOthers(t *testing.T) {
	b := newBiller(t)
	file, data := b.scenario(t, false)
	_, out, stderr := ctl(t, "try", file, "--data", data, "--budget", "0.001")
	if requests, dollars := b.bill(); requests != 2 || dollars > 0.001 || !strings.Contains(out, "the budget of $0.001 is used up") {
		t.Errorf("a trial made %d requests for $%v\n%s%s", requests, dollars, out, stderr)
	}
	_, before := b.bill()
	_, out, stderr = ctl(t, "calibrate", file, "--data", data, "--budget", "0.02", "--levels", "1", "--repeats", "1", "--duration", "20s", "--llm-rate", "10000", "--no-dashboard")
	if _, dollars := b.bill(); dollars-before > 0.02 || !strings.Contains(out+stderr, "the budget of $0.0200 is used up") {
		t.Errorf("a calibration cost $%v\n%s%s", dollars-before, out, stderr)
	}
	two := strings.Replace(read(t, filepath.Dir(file), filepath.Base(file)), "services:\n", "services:\n  shop: {kind: http, url: \""+b.URL+"/shop\"}\n", 1)
	if err := os.WriteFile(file, []byte(two), 0o600); err != nil {
		t.Fatal(err)
	}
	_, out, stderr = ctl(t, "check", file, "--data", data, "--max-requests", "1")
	if b.others != 1 || !strings.Contains(out, "not checked: the budget of 1 requests is used up") {
		t.Errorf("checks made %d requests of 1\n%s%s", b.others, out, stderr)
	}
}
