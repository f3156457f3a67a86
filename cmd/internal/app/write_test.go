package app_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/cmd/internal/app/review"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/mock"
	"github.com/throng-sim/throng/engine/scenario"
	"github.com/throng-sim/throng/storage"
)

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
			t.Errorf("stored personas: %d requests, %s", asked, job.Written)
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
			t.Errorf("%d requests after %d were stored: %s", asked, kept, job.Written)
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
		storage.Export(t.Context(), &events, storage.CSV, "events", d.store, job.Record.ID, names),
	); err != nil {
		t.Fatal(err)
	}
	same(t, "read back", map[string]string{"sessions.csv": sessions.String(), "events.csv": events.String()}, map[string]string{
		"sessions.csv": want["sessions.csv"], "events.csv": want["events.csv"],
	})
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
