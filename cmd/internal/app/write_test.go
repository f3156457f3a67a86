package app_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/cmd/internal/app/review"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/mock"
	"github.com/throng-sim/throng/engine/scenario"
	"github.com/throng-sim/throng/storage"
	"github.com/throng-sim/throng/storage/sqlite"
)

// harbour is a town whose people a model writes.
const harbour = `title: Harbour
parameters: {count: 12, town: Arnis}
clock: {start: 2026-01-02T08:00:00Z, cycle: 1h, cycles: 2}
population:
  count: ${params.count}
  id: persona-${agent.index + 1}
  write:
    service: model
    system: You invent people.
    prompt: "Invent a person who lives in ${params.town}, number ${index + 1}, ${pick(['calm', 'wild', 'shy'])}."
    answer: {name: string, age: int, traits: list, "nickname?": string, home: {street: string}}
  attributes: {old: "${agent.age > 40}", luck: "${uniform(0, 1)}"}
services:
  model: {kind: llm, url: "mock:model"}
chain meet:
  step tell: {kind: emit, event: met, data: "${[agent.name, agent.age, agent.old, agent.luck, agent.traits, agent.home.street]}"}
`

// town is a place to launch scenarios in.
type town struct {
	t        *testing.T
	data     string
	store    *sqlite.Store
	requests atomic.Int64
}

func newTown(t *testing.T) *town {
	d := &town{t: t, data: t.TempDir()}
	var err error
	d.store, err = sqlite.Open(d.data, sqlite.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		app.AuditAll(d.t, d.store)
		if err := d.store.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// read reads a scenario of the town from its text, with a file beside it.
func (d *town) read(text string, given map[string]string) *scenario.Scenario {
	d.t.Helper()
	path := filepath.Join(d.t.TempDir(), "harbour.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		d.t.Fatal(err)
	}
	s, err := scenario.Load(path, given)
	if err != nil {
		var b strings.Builder
		if mistakes, ok := errors.AsType[*scenario.Mistakes](err); ok {
			_ = mistakes.Print(&b)
		}
		d.t.Fatal(err, b.String())
	}
	return s
}

func (d *town) launch(s *scenario.Scenario, change func(*app.Launch)) (*app.Job, error) {
	return d.launchIn(d.t.Context(), s, change)
}

func (d *town) launchIn(ctx context.Context, s *scenario.Scenario, change func(*app.Launch)) (*app.Job, error) {
	settings := engine.DefaultSettings()
	settings.Cycles, settings.Metrics, settings.Mock.Profile = s.Cycles, false, "none"
	settings.Retry.Wait, settings.Retry.Max = 1, 1
	l := app.Launch{
		Store: d.store, Data: d.data, Trusted: true, Scenario: s, Settings: settings,
		OnRequest: func(mock.Request) { d.requests.Add(1) },
	}
	if change != nil {
		change(&l)
	}
	return l.Start(ctx)
}

// run takes a scenario to its end and returns its exported files, and how many requests it took.
func (d *town) run(s *scenario.Scenario, change func(*app.Launch)) (files map[string]string, asked int64, job *app.Job) {
	d.t.Helper()
	before := d.requests.Load()
	job, err := d.launch(s, change)
	if err != nil {
		d.t.Fatal(err)
	}
	if r := job.Run.Wait(); r.Ending != engine.EndFinished {
		d.t.Fatalf("%s: %s", r.Ending, r.Reason)
	}
	if err := job.Close(); err != nil {
		d.t.Fatal(err)
	}
	asked = d.requests.Load() - before
	names, err := review.Names(d.t.Context(), d.store, job.Record.ID)
	if err != nil {
		d.t.Fatal(err)
	}
	dir := d.t.TempDir()
	if err := storage.ExportAll(d.t.Context(), dir, d.store, job.Record.ID, names, "test"); err != nil {
		d.t.Fatal(err)
	}
	files = map[string]string{}
	for _, name := range []string{"sessions.csv", "events.csv", scenario.PersonasName} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil && (name != scenario.PersonasName || s.Written()) {
			d.t.Fatal(err)
		}
		files[name] = string(text)
	}
	return files, asked, job
}

// same compares what two runs gave.
func same(t *testing.T, what string, got, want map[string]string) {
	t.Helper()
	for name := range want {
		if got[name] != want[name] {
			t.Errorf("%s: %s differs\n got %s\nwant %s", what, name, got[name], want[name])
		}
	}
}

// TestPersonasAreTheSameAtAnyConcurrency writes them with one call at a time and with many, with answers that fail on
// their way, and once more where all are kept.
func TestPersonasAreTheSameAtAnyConcurrency(t *testing.T) {
	var first map[string]string
	for _, calls := range []int{1, 3, 50} {
		d := newTown(t)
		var told []int
		change := func(l *app.Launch) {
			l.Settings.MaxLLMCalls = calls
			l.Writing = func(done, total int) { told = append(told, done, total) }
			if calls == 3 {
				l.Settings.Mock.Faults = map[string]string{"server_error": "0.2", "cut": "0.2", "bad_body": "0.1"}
				l.Settings.Retry.Attempts = 20
			}
		}
		got, asked, job := d.run(d.read(harbour, nil), change)
		if calls != 3 && asked != 12 || calls == 3 && asked <= 12 {
			t.Errorf("%d at once: %d requests for 12 personas", calls, asked)
		}
		want := app.Written{By: "model", New: 12, Took: engine.Outlay{Requests: asked, Usage: job.Written.Took.Usage}}
		if *job.Written != want || want.Took.Usage.Calls < 12 || want.Took.Usage.Output == 0 {
			t.Errorf("%d at once: %+v, want %+v", calls, *job.Written, want)
		}
		if len(told) != 26 || told[0] != 0 || told[24] != 12 || told[25] != 12 {
			t.Errorf("%d at once: told %v", calls, told)
		}
		if first == nil {
			first = got
			if n := strings.Count(got[scenario.PersonasName], "\n"); n != 12 || strings.Count(got["events.csv"], "\n") != 25 {
				t.Fatalf("%d personas\n%v", n, got)
			}
		}
		same(t, fmt.Sprint(calls, " at once"), got, first)
		got, asked, job = d.run(d.read(harbour, nil), nil)
		if same(t, "kept", got, first); asked != 0 || job.Written.Kept != 12 || !strings.HasSuffix(job.Written.String(), "all kept from before") {
			t.Errorf("kept: %d requests, %s", asked, job.Written)
		}
	}
}

// TestInterruptedWritingGoesOn gives up after some requests: who came is kept, and only the others are asked for.
func TestInterruptedWritingGoesOn(t *testing.T) {
	calm := newTown(t)
	want, _, _ := calm.run(calm.read(harbour, nil), nil)
	for _, n := range []int64{1, 5, 10} { // two at once: whatever was on its way, some are missing
		d := newTown(t)
		ctx, stop := context.WithCancel(t.Context())
		_, err := func() (*app.Job, error) {
			settings := engine.DefaultSettings()
			settings.MaxLLMCalls, settings.Mock.Profile = 2, "none"
			return app.Launch{
				Store: d.store, Data: d.data, Scenario: d.read(harbour, nil), Settings: settings,
				OnRequest: func(mock.Request) {
					if d.requests.Add(1) == n {
						stop()
						<-ctx.Done()
					}
				},
			}.Start(ctx)
		}()
		stop()
		unwritten, ok := errors.AsType[*app.UnwrittenError](err)
		if !ok || unwritten.Total != 12 || unwritten.Done >= 12 || !strings.Contains(err.Error(), "it was stopped") {
			t.Fatalf("stopped at request %d: %v", n, err)
		}
		kept := len(lines(t, d))
		if kept != unwritten.Done {
			t.Errorf("%d are kept, %d are told", kept, unwritten.Done)
		}
		if runs, err := d.store.Runs(t.Context()); err != nil || len(runs) > 0 {
			t.Errorf("a run was made: %v %v", runs, err)
		}
		s := d.read(harbour, nil)
		by, found, err := app.Launch{Scenario: s, Settings: engine.DefaultSettings(), Data: d.data}.Population().Unwritten()
		if by != "model" || found != kept || err != nil {
			t.Errorf("before it goes on: %d kept by %q, %v; want %d", found, by, err, kept)
		}
		got, asked, job := d.run(s, nil)
		if asked != int64(12-kept) || job.Written.Kept != kept || job.Written.New != 12-kept {
			t.Errorf("%d requests after %d were kept: %s", asked, kept, job.Written)
		}
		same(t, "continued", got, want)
	}
}

// lines are those of what is kept.
func lines(t *testing.T, d *town) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(d.data, "populations", "harbour.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Split(string(text), "\n")
	return all[:len(all)-1]
}

// TestWhatIsKeptIsAskedAgain is which changes ask for whom anew.
func TestWhatIsKeptIsAskedAgain(t *testing.T) {
	d := newTown(t)
	first, _, _ := d.run(d.read(harbour, nil), nil)
	edit := func(old, with string) string { return strings.Replace(harbour, old, with, 1) }
	for _, tt := range []struct {
		name, text string
		given      map[string]string
		seed       uint64
		want       int64
	}{
		{"nothing", harbour, nil, 1, 0},
		{"title and chain", edit("Harbour", "Port") + "  step more: {kind: stop, because: done}\n", nil, 1, 0},
		{"a larger count", harbour, map[string]string{"count": "15"}, 1, 3},
		{"a smaller count", harbour, map[string]string{"count": "5"}, 1, 0},
		{"the prompt", edit("number", "no."), nil, 1, 12},
		{"the prompt of some", edit("number ${index + 1}", "${'number' if index < 9 else 'nr.'} ${index + 1}"), nil, 1, 3},
		{"a parameter of the prompt", harbour, map[string]string{"town": "Kappeln"}, 1, 12},
		{"the count in the prompt", edit("number ${index + 1}", "number ${index + 1} of ${count}"), nil, 1, 12},
		{"the system", edit("You invent", "You know"), nil, 1, 12},
		{"the shape", edit("age: int", "age: float"), nil, 1, 12},
		{"the heat", edit("    system:", "    temperature: 0.5\n    system:"), nil, 1, 12},
		{"the model", edit(`"mock:model"`, `"mock:model", model: other`), nil, 1, 12},
		{"the seed", harbour, nil, 2, 12},
		{"all is still there", harbour, map[string]string{"count": "15"}, 1, 0},
	} {
		got, asked, _ := d.run(d.read(tt.text, tt.given), func(l *app.Launch) { l.Settings.Seed = tt.seed })
		if asked != tt.want {
			t.Errorf("%s: %d requests, want %d", tt.name, asked, tt.want)
		}
		if tt.name == "a larger count" && !strings.HasPrefix(got[scenario.PersonasName], first[scenario.PersonasName]) {
			t.Errorf("the first of a larger crowd are others:\n%s", got[scenario.PersonasName])
		}
	}
}

// TestDamagedPersonasAreAskedForAgain tears the last line, as a crash does, and damages another.
func TestDamagedPersonasAreAskedForAgain(t *testing.T) {
	d := newTown(t)
	want, _, _ := d.run(d.read(harbour, nil), nil)
	path := filepath.Join(d.data, "populations", "harbour.jsonl")
	for _, tt := range []struct {
		name   string
		damage func(lines []string) string
		want   int64
	}{
		{"torn", func(l []string) string { text := strings.Join(l, "\n"); return text[:len(text)-20] }, 1},
		{"torn before its end", func(l []string) string { return strings.Join(l, "\n") }, 1},
		{"more behind", func(l []string) string { return strings.Join(l, "\n") + "\n{\"requ" }, 0},
		{"an unreadable line", func(l []string) string { l[3] = l[3][:30]; return strings.Join(l, "\n") + "\n" }, 1},
		{"no object", func(l []string) string {
			l[0] = l[0][:strings.Index(l[0], `"persona":`)] + `"persona":[1]}`
			return strings.Join(l, "\n") + "\n"
		}, 1},
		{"empty", func([]string) string { return "" }, 12},
	} {
		if err := os.WriteFile(path, []byte(tt.damage(lines(t, d))), 0o600); err != nil {
			t.Fatal(err)
		}
		got, asked, _ := d.run(d.read(harbour, nil), nil)
		if asked != tt.want {
			t.Errorf("%s: %d requests, want %d", tt.name, asked, tt.want)
		}
		same(t, tt.name, got, want)
		for i, line := range lines(t, d) {
			if !json.Valid([]byte(line)) && tt.name != "an unreadable line" && !strings.HasPrefix(line, `{"requ`) {
				t.Errorf("%s: line %d stays damaged: %s", tt.name, i+1, line)
			}
		}
	}
}

// TestExportedPersonasAreTheSameAgents reads the export back, and restores the run without what is kept.
func TestExportedPersonasAreTheSameAgents(t *testing.T) {
	d := newTown(t)
	want, _, job := d.run(d.read(harbour, nil), nil)
	if err := os.RemoveAll(filepath.Join(d.data, "populations")); err != nil {
		t.Fatal(err)
	}
	record, err := d.store.Run(t.Context(), job.Record.ID)
	if err != nil {
		t.Fatal(err)
	}
	again, err := scenario.Restore(record.Source)
	if err != nil {
		t.Fatal(err)
	}
	if again.Writing(1) != nil || !again.Written() {
		t.Error("the restored run would have its population written again")
	}
	got, asked, job := d.run(again, nil)
	if same(t, "restored", got, want); asked != 0 || job.Written != nil {
		t.Errorf("restored: %d requests, %v", asked, job.Written)
	}

	from, rest, _ := strings.Cut(harbour, "  count: ${params.count}")
	_, rest, _ = strings.Cut(rest, "  attributes:")
	dir := t.TempDir()
	for name, text := range map[string]string{
		"town.yaml": from + "  from: population.jsonl\n  attributes:" + rest, "population.jsonl": want[scenario.PersonasName],
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, err := scenario.Load(filepath.Join(dir, "town.yaml"), nil)
	if err != nil {
		t.Fatal(err)
	}
	job, err = d.launch(s, nil)
	if err != nil {
		t.Fatal(err)
	}
	job.Run.Wait()
	if err := job.Close(); err != nil {
		t.Fatal(err)
	}
	names, err := review.Names(t.Context(), d.store, job.Record.ID)
	if err != nil || names.Personas != nil {
		t.Fatalf("personas of a population that is a file: %v", err)
	}
	var sessions, events bytes.Buffer
	if err := errors.Join(
		storage.ExportSessions(t.Context(), &sessions, d.store, job.Record.ID, names),
		storage.ExportEvents(t.Context(), &events, d.store, job.Record.ID, names),
	); err != nil {
		t.Fatal(err)
	}
	same(t, "read back", map[string]string{"sessions.csv": sessions.String(), "events.csv": events.String()}, map[string]string{
		"sessions.csv": want["sessions.csv"], "events.csv": want["events.csv"],
	})
}

// modelThat is a model server of the test's own.
func modelThat(t *testing.T, answers func(prompt string, w http.ResponseWriter)) string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var asked struct {
			Messages []struct{ Content string }
		}
		if err := json.Unmarshal(body, &asked); err != nil || len(asked.Messages) < 2 {
			http.Error(w, "what?", http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		answers(asked.Messages[1].Content, w)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func says(w io.Writer, answer string) {
	_ = json.NewEncoder(w).Encode(map[string]any{
		"choices": []any{map[string]any{"message": map[string]any{"role": "assistant", "content": answer}, "finish_reason": "stop"}},
		"usage":   map[string]int{"prompt_tokens": 10, "completion_tokens": 5},
	})
}

const aPersona = `{"name": "Ann", "age": 30, "traits": [], "home": {"street": "Quay"}}`

// TestPersonasOneAfterAnother: PARALLEL_AGENT_GENERATION=false has one call of the model in flight at a time, and the same
// personas come of it.
func TestPersonasOneAfterAnother(t *testing.T) {
	var inFlight, most atomic.Int64
	url := modelThat(t, func(_ string, w http.ResponseWriter) {
		n := inFlight.Add(1)
		defer inFlight.Add(-1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		says(w, aPersona)
	})
	d := newTown(t)
	job, err := d.launch(d.read(harbour, nil), func(l *app.Launch) {
		l.Settings.SequentialPersonas = true
		l.Settings.Services = map[string]string{"model": url + "#writer"}
	})
	if err != nil {
		t.Fatal(err)
	}
	if job.Run.Wait(); job.Written == nil || job.Written.New != 12 || most.Load() != 1 {
		t.Errorf("%+v, and up to %d calls at once", job.Written, most.Load())
	}
	if err := job.Close(); err != nil {
		t.Error(err)
	}
}

// TestPersonasThatFail tells who is missing and why; the others are kept, and the next launch asks for the rest.
func TestPersonasThatFail(t *testing.T) {
	d := newTown(t)
	mended := atomic.Bool{}
	url := modelThat(t, func(prompt string, w http.ResponseWriter) {
		d.requests.Add(1)
		switch {
		case mended.Load():
			says(w, aPersona)
		case strings.Contains(prompt, "number 3,"):
			says(w, `{"name": "Bob"}`)
		case strings.Contains(prompt, "number 7,"):
			http.Error(w, `{"error": {"message": "broken"}}`, http.StatusInternalServerError)
		default:
			says(w, aPersona)
		}
	})
	there := func(l *app.Launch) {
		l.Settings.Services = map[string]string{"model": url + "#m"}
		l.Settings.Retry.Attempts = 2
	}
	_, err := d.launch(d.read(harbour, nil), there)
	unwritten, ok := errors.AsType[*app.UnwrittenError](err)
	if !ok || unwritten.Done != 10 || len(unwritten.Failed) != 2 || unwritten.Cause != nil {
		t.Fatalf("got %v", err)
	}
	for _, want := range []string{"10 of 12 personas are written and kept; launch it again to go on there", "; persona 3: ", "age", "; persona 7: status 500"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("nothing is said of %q: %v", want, err)
		}
	}
	mended.Store(true)
	d.requests.Store(0)
	got, asked, job := d.run(d.read(harbour, nil), there)
	if asked != 2 || job.Written.Kept != 10 {
		t.Errorf("%d requests: %s", asked, job.Written)
	}
	if text := got[scenario.PersonasName]; strings.Count(text, `"age":30,"traits":[],"home":{"street":"Quay"}`) != 12 {
		t.Errorf("personas:\n%s", text)
	}
	if want := "12 personas written by model, 10 of them kept from before; 2 requests, 30 tokens, $0"; job.Written.String() != want {
		t.Errorf("got %q, want %q", job.Written, want)
	}
}

// TestAModelThatIsDown is not asked for everybody.
func TestAModelThatIsDown(t *testing.T) {
	d := newTown(t)
	url := modelThat(t, func(_ string, w http.ResponseWriter) {
		d.requests.Add(1)
		http.Error(w, "no such key", http.StatusUnauthorized)
	})
	_, err := d.launch(d.read(harbour, map[string]string{"count": "500"}), func(l *app.Launch) {
		l.Settings.Services, l.Settings.MaxLLMCalls = map[string]string{"model": url + "#m"}, 1
	})
	if err == nil || !strings.Contains(err.Error(), "0 of 500") || !strings.Contains(err.Error(), "the other 495 were given up: too many failed") {
		t.Errorf("got %v", err)
	}
	if n := d.requests.Load(); n != 5 {
		t.Errorf("%d requests", n)
	}
}

// TestAttributesThatFailCostNothingTwice computes an attribute that cannot be: the personas are kept all the same.
func TestAttributesThatFailCostNothingTwice(t *testing.T) {
	d := newTown(t)
	_, err := d.launch(d.read(strings.Replace(harbour, "agent.age > 40", "agent.age + agent.name", 1), nil), nil)
	mistakes, ok := errors.AsType[*scenario.Mistakes](err)
	if !ok || mistakes.Count() != 1 || !strings.Contains(err.Error(), "harbour.yaml:12:21: the first agent: the attribute old") {
		t.Fatalf("got %v", err)
	}
	if _, asked, _ := d.run(d.read(harbour, nil), nil); asked != 0 {
		t.Errorf("%d requests after it was mended", asked)
	}
}

// TestPersonasChooseWhoTakesPart filters by what was written.
func TestPersonasChooseWhoTakesPart(t *testing.T) {
	d := newTown(t)
	job, err := d.launch(d.read(harbour, nil), func(l *app.Launch) { l.Settings.Filter = "agent.old" })
	if err != nil {
		t.Fatal(err)
	}
	job.Run.Wait()
	if err := job.Close(); err != nil {
		t.Fatal(err)
	}
	if job.Agents == 0 || job.Agents == 12 {
		t.Errorf("%d of 12 take part", job.Agents)
	}
}
