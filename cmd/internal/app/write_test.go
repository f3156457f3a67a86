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

// harbour is a town with a population that a model writes.
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

// town is a store to launch scenarios in.
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

// read reads a scenario from its text, with another file in the same folder.
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
	l := app.Launch{Services: app.Services{Data: d.data, Scenario: s, Settings: settings, OnRequest: func(mock.Request) { d.requests.Add(1) }}, Store: d.store, Trusted: true}
	if change != nil {
		change(&l)
	}
	return l.Start(ctx)
}

// run runs a scenario to its end. It returns the exported files and the number of requests.
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

// same compares the results of two runs.
func same(t *testing.T, what string, got, want map[string]string) {
	t.Helper()
	for name := range want {
		if got[name] != want[name] {
			t.Errorf("%s: %s differs\n got %s\nwant %s", what, name, got[name], want[name])
		}
	}
}

// TestPersonasAreTheSameAtAnyConcurrency writes personas with one and with many concurrent calls, with faults, and once more
// when all are stored.
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
			t.Errorf("%d concurrent calls: %d requests for 12 personas", calls, asked)
		}
		want := app.WrittenPopulation{By: "model", New: 12, Took: engine.Outlay{Requests: asked, Usage: job.Written.Took.Usage}}
		if *job.Written != want || want.Took.Usage.Calls < 12 || want.Took.Usage.Output == 0 {
			t.Errorf("%d concurrent calls: %+v, want %+v", calls, *job.Written, want)
		}
		if len(told) != 26 || told[0] != 0 || told[24] != 12 || told[25] != 12 {
			t.Errorf("%d concurrent calls: progress %v", calls, told)
		}
		if first == nil {
			first = got
			if n := strings.Count(got[scenario.PersonasName], "\n"); n != 12 || strings.Count(got["events.csv"], "\n") != 25 {
				t.Fatalf("%d personas\n%v", n, got)
			}
		}
		same(t, fmt.Sprint(calls, " concurrent calls"), got, first)
		got, asked, job = d.run(d.read(harbour, nil), nil)
		if same(t, "kept", got, first); asked != 0 || job.Written.Kept != 12 || !strings.HasSuffix(job.Written.String(), "all of them earlier") {
			t.Errorf("kept: %d requests, %s", asked, job.Written)
		}
	}
}

// TestInterruptedWritingResumes stops after some requests: finished personas are stored, and only the others are requested
// later.
func TestInterruptedWritingResumes(t *testing.T) {
	calm := newTown(t)
	want, _, _ := calm.run(calm.read(harbour, nil), nil)
	for _, n := range []int64{1, 5, 10} { // with two concurrent calls, some are always missing
		d := newTown(t)
		ctx, stop := context.WithCancel(t.Context())
		_, err := func() (*app.Job, error) {
			settings := engine.DefaultSettings()
			settings.MaxLLMCalls, settings.Mock.Profile = 2, "none"
			return app.Launch{
				Services: app.Services{
					Data:     d.data,
					Scenario: d.read(harbour, nil),
					Settings: settings,
					OnRequest: func(mock.Request) {
						if d.requests.Add(1) == n {
							stop()
							<-ctx.Done()
						}
					},
				},
				Store: d.store,
			}.Start(ctx)
		}()
		stop()
		unwritten, ok := errors.AsType[*app.UnwrittenError](err)
		if !ok || unwritten.Total != 12 || unwritten.Done >= 12 || !strings.Contains(err.Error(), "it was stopped") {
			t.Fatalf("stopped at request %d: %v", n, err)
		}
		kept := len(lines(t, d))
		if kept != unwritten.Done {
			t.Errorf("%d are stored, %d are reported", kept, unwritten.Done)
		}
		if runs, err := d.store.Runs(t.Context()); err != nil || len(runs) > 0 {
			t.Errorf("a run was created: %v %v", runs, err)
		}
		s := d.read(harbour, nil)
		by, found, err := app.Launch{Services: app.Services{Scenario: s, Settings: engine.DefaultSettings(), Data: d.data}}.Population().Unwritten()
		if by != "model" || found != kept || err != nil {
			t.Errorf("before it resumes: %d stored by %q, %v; want %d", found, by, err, kept)
		}
		got, asked, job := d.run(s, nil)
		if asked != int64(12-kept) || job.Written.Kept != kept || job.Written.New != 12-kept {
			t.Errorf("%d requests after %d were kept: %s", asked, kept, job.Written)
		}
		same(t, "continued", got, want)
	}
}

// lines returns the lines of the stored personas.
func lines(t *testing.T, d *town) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(d.data, "populations", "harbour.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Split(string(text), "\n")
	return all[:len(all)-1]
}

// TestChangesRequestPersonasAgain checks which changes request which personas again.
func TestChangesRequestPersonasAgain(t *testing.T) {
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
		{"unchanged", harbour, map[string]string{"count": "15"}, 1, 0},
	} {
		got, asked, _ := d.run(d.read(tt.text, tt.given), func(l *app.Launch) { l.Settings.Seed = tt.seed })
		if asked != tt.want {
			t.Errorf("%s: %d requests, want %d", tt.name, asked, tt.want)
		}
		if tt.name == "a larger count" && !strings.HasPrefix(got[scenario.PersonasName], first[scenario.PersonasName]) {
			t.Errorf("a larger count changed the first personas:\n%s", got[scenario.PersonasName])
		}
	}
}

// TestDamagedPersonasAreRequestedAgain cuts the last line, as a crash does, and damages other lines.
func TestDamagedPersonasAreRequestedAgain(t *testing.T) {
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
		{"a partial line at the end", func(l []string) string { return strings.Join(l, "\n") + "\n{\"requ" }, 0},
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

// TestExportedPersonasAreTheSameAgents reads the export back, and restores the run without the stored personas.
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
		t.Error("the restored run would write its population again")
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

// modelThat starts a model server with the given answers.
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

// TestSequentialPersonas checks that sequential-personas has one model call in flight at a time.
func TestSequentialPersonas(t *testing.T) {
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
		t.Errorf("%+v, with up to %d concurrent calls", job.Written, most.Load())
	}
	if err := job.Close(); err != nil {
		t.Error(err)
	}
}

// TestPersonasThatFail checks that the error lists missing personas, and that the next launch requests only these.
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
	for _, want := range []string{"10 of 12 personas are written and stored; launch the scenario again to write the others", "; persona 3: ", "age", "; persona 7: status 500"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is missing in %v", want, err)
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
	if want := "12 personas written by model, 10 of them earlier; 2 requests, 30 tokens, $0"; job.Written.String() != want {
		t.Errorf("got %q, want %q", job.Written, want)
	}
}

// TestAModelThatIsDown checks that writing stops after a few failures.
func TestAModelThatIsDown(t *testing.T) {
	d := newTown(t)
	url := modelThat(t, func(_ string, w http.ResponseWriter) {
		d.requests.Add(1)
		http.Error(w, "no such key", http.StatusUnauthorized)
	})
	_, err := d.launch(d.read(harbour, map[string]string{"count": "500"}), func(l *app.Launch) {
		l.Settings.Services, l.Settings.MaxLLMCalls = map[string]string{"model": url + "#m"}, 1
	})
	if err == nil || !strings.Contains(err.Error(), "0 of 500") || !strings.Contains(err.Error(), "the other 495 were not requested: too many failed") {
		t.Errorf("got %v", err)
	}
	if n := d.requests.Load(); n != 5 {
		t.Errorf("%d requests", n)
	}
}

// TestAttributesThatFailCostNothingTwice checks that personas are stored even if an attribute cannot be computed.
func TestAttributesThatFailCostNothingTwice(t *testing.T) {
	d := newTown(t)
	_, err := d.launch(d.read(strings.Replace(harbour, "agent.age > 40", "agent.age + agent.name", 1), nil), nil)
	mistakes, ok := errors.AsType[*scenario.Mistakes](err)
	if !ok || mistakes.Count() != 1 || !strings.Contains(err.Error(), "harbour.yaml:12:21: the first agent: the attribute old") {
		t.Fatalf("got %v", err)
	}
	if _, asked, _ := d.run(d.read(harbour, nil), nil); asked != 0 {
		t.Errorf("%d requests after the correction", asked)
	}
}

// TestPersonasSelectAgents filters by a written attribute.
func TestPersonasSelectAgents(t *testing.T) {
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
		t.Errorf("%d of 12 agents are active", job.Agents)
	}
}
