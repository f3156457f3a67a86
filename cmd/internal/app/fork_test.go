package app_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/cmd/internal/app/retention"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/mock"
	"github.com/throng-sim/throng/engine/scenario"
	"github.com/throng-sim/throng/storage"
)

// quilt is a scenario with everything that a fork inherits: memory, messages, shared answers, and carts in the mock shop.
const quilt = `title: Quilt
parameters: {count: 8, more: 1}
clock: {start: 2026-01-02T08:00:00Z, cycle: 1h, cycles: 5}
population:
  count: ${params.count}
  id: sewer-${agent.index + 1}
services:
  model: {kind: llm, url: "mock:model"}
  shop: {kind: http, url: "mock:shop", auth: {user: "${agent.id}"}}
chain sew:
  step think:
    kind: llm
    service: model
    cache: {color: "agent.index % 3", part: "min(now.hour, 10)"}
    prompt: "Color ${color} in part ${part}?"
  step enter: {kind: http, service: shop, post: /api/shopping/session, json: {}}
  step browse: {kind: http, service: shop, get: /api/products/search, query: {query: Produce, limit: 3}}
  step add: {kind: http, service: shop, post: /api/cart/items, json: {product_id: "${steps.browse.products[agent.index % 3].id}", quantity: 1}}
  step cart: {kind: http, service: shop, get: /api/cart}
  step count: {kind: remember, set: {sewn: "${get(agent.memory, \"sewn\", 0) + params.more}"}}
  step tell: {kind: say, to: "sewer-${(agent.index + session.cycle) % 8 + 1}", text: "${agent.id} has ${agent.memory}"}
  step piece:
    kind: emit
    event: piece
    data: {said: "${steps.think.text}", sewn: "${agent.memory}", heard: "${[m.text for m in agent.inbox]}", cart: "${steps.cart.body}"}
`

// often sets the shortest checkpoint interval, and cycles of at least a tenth of a second, so that every cycle has a checkpoint.
func often(l *app.Launch) {
	l.Settings.CheckpointEvery, l.Settings.KeepCheckpoints, l.Settings.TimeScale = 1e6, 10_000, 36_000
}

// parent finds the checkpoint of a run at the start of a cycle.
func (d *town) parent(run engine.RunID, cycle int) *app.Parent {
	d.t.Helper()
	all, err := d.store.Checkpoints(d.t.Context(), run)
	if err != nil {
		d.t.Fatal(err)
	}
	for _, c := range all {
		if c.Cycle == cycle {
			p, err := app.FindParent(d.t.Context(), d.store, d.data, run, c.Number)
			if err != nil {
				d.t.Fatal(err)
			}
			return p
		}
	}
	d.t.Fatalf("run %s has no checkpoint at the start of cycle %d: %+v", run, cycle, all)
	return nil
}

// fork runs a fork with changed parameters.
func (d *town) fork(p *app.Parent, given map[string]string, change func(*app.Launch)) (map[string]string, int64, *app.Job) {
	d.t.Helper()
	s, err := p.Read("", given)
	if err != nil {
		d.t.Fatal(err)
	}
	settings, err := p.Settings(s, nil, func(string) string { return "" })
	if err != nil {
		d.t.Fatal(err)
	}
	return d.run(s, func(l *app.Launch) {
		l.Fork, l.Settings = p, settings
		if change != nil {
			change(l)
		}
	})
}

// since returns the rows of a table from a cycle on.
func since(table string, cycle int) string {
	var rest strings.Builder
	for i, line := range strings.SplitAfter(table, "\n") {
		first, _, _ := strings.Cut(line, ",")
		if n, err := strconv.Atoi(first); i == 0 || err != nil || n >= cycle {
			rest.WriteString(line)
		}
	}
	return rest.String()
}

// results returns the exports that must be the same in a fork from its first cycle on.
func results(files map[string]string, cycle int) map[string]string {
	return map[string]string{"sessions.csv": since(files["sessions.csv"], cycle), "events.csv": since(files["events.csv"], cycle)}
}

// TestForkOfNothingChangedIsItsParent forks every cycle with another limit, and forks the forks.
func TestForkOfNothingChangedIsItsParent(t *testing.T) {
	for _, sequential := range []bool{false, true} {
		t.Run(fmt.Sprintf("sequential=%v", sequential), func(t *testing.T) {
			d := newTown(t)
			want, _, job := d.run(d.read(quilt, nil), func(l *app.Launch) {
				often(l)
				l.Settings.Cycles, l.Settings.Sequential = 5, sequential
			})
			if !strings.Contains(want["events.csv"], "sewn") || strings.Count(want["events.csv"], "\n") != 41 {
				t.Fatalf("the parent has\n%s", want["events.csv"])
			}
			log, err := os.ReadFile(config.ShopLog(d.data, job.Record.ID))
			if err != nil {
				t.Fatal(err)
			}
			from := job.Record.ID
			for cycle := 1; cycle < 5; cycle++ { // each a fork of the one before
				got, _, fork := d.fork(d.parent(from, cycle), nil, func(l *app.Launch) {
					often(l)
					l.Settings.Limit = cycle
				})
				same(t, fmt.Sprintf("forked at the start of cycle %d", cycle), results(got, 0), results(want, cycle))
				var manifest bytes.Buffer
				if err := storage.RunJSON(t.Context(), &manifest, d.store, fork.Record.ID, ""); err != nil || !strings.Contains(manifest.String(), fmt.Sprintf("\"parent\": %q,\n  \"fork_cycle\": %d,", from, cycle)) {
					t.Errorf("run.json does not name the parent, %v:\n%s", err, &manifest)
				}
				result := fork.Run.Wait()
				if n := int64(8 * (5 - cycle)); fork.Record.Total != n || result.Totals.Ended() != n || !result.Passed() {
					t.Errorf("%d sessions were planned, and there were %d, want %d", fork.Record.Total, result.Totals.Ended(), n)
				}
				starts, err := d.store.Starts(t.Context(), fork.Record.ID)
				if err != nil || len(starts) != 1 || starts[0].Resumed {
					t.Errorf("got starts %+v, %v", starts, err)
				}
				from = fork.Record.ID
			}
			if after, err := os.ReadFile(config.ShopLog(d.data, job.Record.ID)); err != nil || !bytes.Equal(log, after) {
				t.Errorf("the parent's mock changed: %v", err)
			}
		})
	}
}

// TestForkPaysNoAnswerTwice checks that shared answers of the parent are not requested again, and count for the parent only.
func TestForkPaysNoAnswerTwice(t *testing.T) {
	d := newTown(t)
	_, _, job := d.run(d.read(quilt, nil), func(l *app.Launch) { often(l); l.Settings.Cycles = 5 })
	calls := func(j *app.Job) int64 {
		result := j.Run.Wait()
		return result.Totals.AllRequests().Usage.Calls
	}
	if got := calls(job); got != 9 { // three colors in three parts: 8, 9 and 10 o'clock
		t.Fatalf("the parent made %d calls", got)
	}
	for cycle, want := range map[int]int64{1: 6, 2: 3, 3: 0} {
		if _, _, fork := d.fork(d.parent(job.Record.ID, cycle), nil, nil); calls(fork) != want {
			t.Errorf("a fork at cycle %d made %d calls, want %d", cycle, calls(fork), want)
		}
	}
}

// TestForkWithEverythingChanged changes the parameters, population, seed, file and number of cycles.
func TestForkWithEverythingChanged(t *testing.T) {
	d := newTown(t)
	_, _, job := d.run(d.read(quilt, nil), func(l *app.Launch) { often(l); l.Settings.Cycles = 5 })
	p := d.parent(job.Record.ID, 3)

	got, _, _ := d.fork(p, map[string]string{"more": "10", "count": "9"}, nil)
	for sewn, want := range map[string]int{`"{""sewn"":13}"`: 8, `"{""sewn"":10}"`: 1} { // the parent's, and a new one
		if n := strings.Count(since(got["events.csv"], 3)[:strings.Index(got["events.csv"], "\n4,")], sewn); n != want {
			t.Errorf("%d agents remember %s after cycle 3, want %d", n, sewn, want)
		}
	}

	path := filepath.Join(t.TempDir(), "other.yaml")
	text := strings.NewReplacer("sewer-${agent.index + 1}", "sewer-${8 - agent.index}", "count: 8, ", "count: 6, size: 4, ", "% 8 + 1", "% 6 + 3", "cycles: 5", "cycles: 4").Replace(quilt)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := p.Read(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	settings, err := p.Settings(s, map[string]string{"seed": "9"}, func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	got, _, fork := d.run(s, func(l *app.Launch) {
		l.Fork, l.Settings = p, settings
		want := []string{
			"file harbour.yaml → other.yaml", "parameter count 8 → 6", "parameter size is new: 4", "cycles 5 → 4", "seed 1 → 9",
		}
		if got := l.Differences(); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("the differences are %q, want %q", got, want)
		}
		if got := fmt.Sprint(l.Warnings()); got != "[2 agents of the parent no longer exist: their memory is dropped]" {
			t.Errorf("the warnings are %s", got)
		}
	})
	for i := range 6 { // sewer-8 is the first now
		if want := fmt.Sprintf("3,%d,sewer-%d,", i, 8-i); !strings.Contains(got["events.csv"], want) || strings.Count(got["events.csv"], `"{""sewn"":4}"`) != 6 {
			t.Errorf("memory did not follow its agents, or %s is missing", want)
		}
	}
	outside := app.Launch{Services: app.Services{Scenario: s, Settings: settings, Data: d.data}, Fork: p}
	p.Record.Settings.Services = map[string]string{"shop": "http://127.0.0.1:9"}
	if got := fmt.Sprint(outside.Warnings()); !strings.Contains(got, "made at shop remain") || !strings.Contains(got, "the parent did not use the mock shop") {
		t.Errorf("with a real backend, the warnings are %s", got)
	}
	if fork.Shop == nil || fork.Record.Settings.Seed != 9 {
		t.Errorf("the fork has seed %d", fork.Record.Settings.Seed)
	}
}

// TestForkThatCannotBegin checks that a failed fork leaves nothing.
func TestForkThatCannotBegin(t *testing.T) {
	d := newTown(t)
	_, _, job := d.run(d.read(quilt, nil), func(l *app.Launch) { often(l); l.Settings.Cycles = 3 })
	p := d.parent(job.Record.ID, 2)
	launch := func(change func(*app.Launch)) error {
		job, err := d.launch(d.read(quilt, nil), func(l *app.Launch) {
			l.Fork, l.Settings = p, p.Record.Settings
			change(l)
		})
		if err == nil {
			err = job.Close()
			t.Errorf("the fork started: %v", err)
		}
		return err
	}
	var field *engine.FieldError
	if err := launch(func(l *app.Launch) { l.Settings.Cycles = 2 }); !errors.As(err, &field) || field.Field != "cycles" || !strings.Contains(field.Hint, "(cycle 1)") {
		t.Errorf("a fork without a cycle: %v", err)
	}
	_, err := app.FindParent(t.Context(), d.store, d.data, job.Record.ID, 99_999)
	if !errors.As(err, &field) || field.Field != "checkpoint" || !strings.Contains(field.Hint, "1 (cycle ") {
		t.Errorf("a missing checkpoint: %v", err)
	}
	log := config.ShopLog(d.data, job.Record.ID)
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(log, []byte("not a log"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := launch(func(*app.Launch) {}); err == nil || !strings.Contains(err.Error(), "copy the mock shop") {
		t.Errorf("with a damaged log: %v", err)
	}
	if err := os.WriteFile(log, text, 0o600); err != nil {
		t.Fatal(err)
	}
	gone := *p
	gone.Point.Number = 77_777
	p = &gone
	if err := launch(func(*app.Launch) {}); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("with a checkpoint that was pruned meanwhile: %v", err)
	}
	runs, err := d.store.Runs(t.Context())
	logs, _ := filepath.Glob(filepath.Join(d.data, "mock", "*"))
	if err != nil || len(runs) != 1 || len(logs) != 1 {
		t.Errorf("not removed: %d runs, logs %v, %v", len(runs), logs, err)
	}
}

// TestForkOutlivesItsParent deletes the parent, interrupts the fork and resumes it.
func TestForkOutlivesItsParent(t *testing.T) {
	d := newTown(t)
	want, _, job := d.run(d.read(quilt, nil), func(l *app.Launch) { often(l); l.Settings.Cycles = 5 })
	p := d.parent(job.Record.ID, 2)
	ctx, kill := context.WithCancel(t.Context())
	defer kill()
	fork, err := d.launchIn(ctx, d.read(quilt, nil), func(l *app.Launch) {
		l.Fork, l.Settings = p, p.Record.Settings
		n := 0
		l.OnRequest = func(mock.Request) {
			if n++; n == 60 {
				kill()
			}
		}
		l.Settings.Limit, l.Settings.Governor, l.Settings.MaxLLMCalls = 1, engine.Manual, 1
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := fork.Close(); err != nil {
		t.Fatal(err)
	}
	if err := retention.Delete(t.Context(), d.store, d.data, job.Record.ID); err != nil {
		t.Fatal(err)
	}
	record, err := d.store.Run(t.Context(), fork.Record.ID)
	if err != nil || record.Done >= 24 || record.Done == 0 {
		t.Fatalf("the fork has done %d, %v", record.Done, err)
	}
	s, err := scenario.Restore(record.Source)
	if err != nil {
		t.Fatal(err)
	}
	got, _, resumed := d.run(s, func(l *app.Launch) { l.Settings, l.Resume = record.Settings, record.ID })
	same(t, "resumed", results(got, 0), results(want, 2))
	if result := resumed.Run.Wait(); result.Totals.Ended() != 24 {
		t.Errorf("got %d sessions, want 24", result.Totals.Ended())
	}
}

// TestForkKeepsPersonas checks that written personas are reused unless the fork needs other ones.
func TestForkKeepsPersonas(t *testing.T) {
	d := newTown(t)
	want, _, job := d.run(d.read(harbour, nil), func(l *app.Launch) { often(l); l.Settings.Cycles = 40 })
	if err := os.RemoveAll(filepath.Join(d.data, "populations")); err != nil {
		t.Fatal(err)
	}
	p := d.parent(job.Record.ID, 1)
	got, asked, _ := d.fork(p, nil, nil)
	same(t, "nothing changed", results(got, 0), results(want, 1))
	if asked != 0 {
		t.Errorf("%d personas were requested again", asked)
	}
	if got, asked, _ = d.fork(p, nil, func(l *app.Launch) { l.Settings.Seed = 4 }); asked != 0 || got["population.jsonl"] != want["population.jsonl"] {
		t.Errorf("with another seed, %d personas were requested", asked)
	}
	if _, asked, _ = d.fork(p, map[string]string{"town": "Maasholm"}, nil); asked != 12 {
		t.Errorf("for another town, %d personas were requested, want 12", asked)
	}
}

// TestForkKeepsWhatWasTuned checks that changed limits of services stay in force in a fork, also when it is resumed, unless
// a setting or the file changes them.
func TestForkKeepsWhatWasTuned(t *testing.T) {
	d := newTown(t)
	slow := strings.Replace(quilt, "  step enter", "  step rest: {kind: wait, for: 0.005}\n  step enter", 1)
	parent, err := d.launch(d.read(slow, nil), func(l *app.Launch) { often(l); l.Settings.Cycles = 30 })
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(parent.Run.Set("shop.rate", "900", "user", ""), parent.Run.Set("max-llm-calls", "7", "user", ""), parent.Run.Set("stall-warning", "17s", "user", "")); err != nil {
		t.Fatal(err)
	}
	if result := parent.Run.Wait(); result.Ending != engine.EndFinished {
		t.Fatal(result.Reason)
	}
	if err := parent.Close(); err != nil {
		t.Fatal(err)
	}
	p := d.parent(parent.Record.ID, 28)
	inForce := func(j *app.Job) string {
		var all []string
		for _, one := range j.Run.Tunables() {
			if one.Name == "shop.rate" || one.Name == "max-llm-calls" || one.Name == "stall-warning" {
				all = append(all, one.Value)
			}
		}
		return strings.Join(all, " ")
	}
	_, _, fork := d.fork(p, nil, often)
	if got := inForce(fork); got != "17s 900 7" {
		t.Errorf("the limits are %s", got)
	}
	point := d.parent(fork.Record.ID, 29).Point // made by the fork
	state, err := d.store.State(t.Context(), fork.Record.ID, point.Number)
	if err != nil || len(state.Tuned) != 2 {
		t.Errorf("checkpoint %d of the fork has %+v, %v", point.Number, state.Tuned, err)
	}
	_, _, fork = d.fork(p, nil, func(l *app.Launch) { l.Settings.MaxLLMCalls, l.Settings.StallAfter = 3, 0 })
	if got := inForce(fork); got != "0s 900 3" {
		t.Errorf("with other settings the limits are %s", got)
	}
}

// TestForkCountsTheWarmUp checks the number of planned sessions of a fork that starts in the middle of a warm-up step.
func TestForkCountsTheWarmUp(t *testing.T) {
	d := newTown(t)
	_, _, job := d.run(d.read(quilt, nil), func(l *app.Launch) {
		often(l)
		l.Settings.Cycles, l.Settings.WarmUp, l.Settings.WarmUpCycles = 5, []float64{0.5, 1}, 2
	})
	_, _, fork := d.fork(d.parent(job.Record.ID, 1), nil, nil)
	if result := fork.Run.Wait(); fork.Record.Total != result.Totals.Ended() || fork.Record.Total <= 24 || fork.Record.Total >= 32 {
		t.Errorf("%d sessions were planned, and there were %d", fork.Record.Total, result.Totals.Ended())
	}
}

// TestForkOfRecordings forks a recorded run and its replay. Both forks send requests and have the results of the recorded
// run.
func TestForkOfRecordings(t *testing.T) {
	d := newTown(t)
	want, _, recorded := d.run(d.read(quilt, nil), func(l *app.Launch) {
		often(l)
		l.Settings.Cycles, l.Settings.Record, l.Settings.Budget.Requests = 4, true, 100_000
	})
	_, asked, replay := d.run(d.read(quilt, nil), func(l *app.Launch) {
		l.Settings = app.ReplaySettings(&recorded.Record)
		often(l)
	})
	if asked != 0 {
		t.Errorf("the replay sent %d model requests", asked)
	}
	for _, of := range []*app.Job{recorded, replay} {
		p := d.parent(of.Record.ID, 2)
		got, _, fork := d.fork(p, nil, func(l *app.Launch) { l.Settings.Limit = 3 })
		same(t, "a fork of "+string(of.Record.ID), results(got, 0), results(want, 2))
		s := fork.Record.Settings
		if s.Record || s.Replay != "" || s.Budget.Requests != 100_000 {
			t.Errorf("a fork of %s has record %v, replay %q and a budget of %d requests", of.Record.ID, s.Record, s.Replay, s.Budget.Requests)
		}
		if n := fork.Run.Wait().Totals.Labels[engine.Recorded]; n != 0 {
			t.Errorf("%d steps of a fork were answered from a recording", n)
		}
		l := app.Launch{Services: app.Services{Scenario: d.read(quilt, nil), Settings: s, Data: d.data}, Fork: p}
		told := strings.Join(l.Warnings(), "\n")
		if paid := strings.Contains(told, "replayed the recording of "+string(recorded.Record.ID)); paid != (of == replay) || strings.Contains(told, "begins empty") {
			t.Errorf("the warning for a fork of %s is %s", of.Record.ID, told)
		}
	}
	var field *engine.FieldError
	_, err := d.launch(d.read(quilt, nil), func(l *app.Launch) {
		l.Fork = d.parent(recorded.Record.ID, 2)
		l.Settings = recorded.Record.Settings
	})
	if !errors.As(err, &field) || field.Field != "record" {
		t.Errorf("a recorded fork: %v", err)
	}
}
