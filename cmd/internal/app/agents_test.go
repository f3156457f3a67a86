package app

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/throng-sim/throng/cmd/internal/app/authoring"
	"github.com/throng-sim/throng/cmd/internal/app/review"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage/sqlite"
)

const hamlet = `
title: Hamlet
clock: {start: 2026-01-02T08:00:00Z, cycle: 1h, cycles: 5}
population: {count: 3, id: "villager-${agent.index}"}
chain live:
  step hear: {kind: emit, event: received, data: "${[l.text for l in agent.inbox]}"}
  step rest: {kind: wait, for: 0.1}
`

// TestBroadcastOverAnInterruption cuts a run right after a broadcast and resumes it: each agent receives each message once.
func TestBroadcastOverAnInterruption(t *testing.T) {
	data := t.TempDir()
	file := filepath.Join(data, "hamlet.yaml")
	if err := os.WriteFile(file, []byte(hamlet), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := authoring.Load(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	store, err := sqlite.Open(data, sqlite.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		AuditAll(t, store)
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}()
	l := Launch{Services: Services{Data: data, Scenario: s, Settings: engine.DefaultSettings()}, Store: store, Trusted: true}
	l.Settings.Cycles = s.Cycles
	job, err := l.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(
		job.Broadcast(t.Context(), []string{"villager-2", "villager-0"}, "storm", "", "test"), job.Broadcast(t.Context(), nil, "flood", "", "test"),
		job.Run.Stop("test", ""), job.Run.Stop("test", ""), job.Close(), // a second stop cancels sessions in flight
	)
	var field *engine.FieldError
	if err != nil || !errors.As(job.Broadcast(t.Context(), []string{"bob"}, "?", "", "test"), &field) {
		t.Fatalf("%v; for the missing agent bob: %v", err, field)
	}
	l.Resume = job.Record.ID
	if job, err = l.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := job.Close(); err != nil {
		t.Fatal(err)
	}
	received := map[int]string{}
	for row, err := range store.Sessions(t.Context(), l.Resume, 0, 0) {
		if err != nil {
			t.Fatal(err)
		}
		var texts []string // in one cycle or in two: the first message may have arrived before the first cycle began
		if err := json.Unmarshal(row.Events[0].Data, &texts); err != nil {
			t.Fatal(err)
		}
		received[row.Agent] += strings.Join(append(texts, ""), " ")
	}
	for agent, want := range []string{"storm flood ", "flood ", "storm flood "} {
		if received[agent] != want {
			t.Errorf("villager-%d received %q, want %q", agent, received[agent], want)
		}
	}
	if r := job.Run.Snapshot(); r.Inexact == nil || r.Inexact.Why != "a message was injected by hand" {
		t.Errorf("the run is %v", r.Inexact)
	}
}

func TestFailuresAreNamed(t *testing.T) {
	name := func(index int) (string, error) { return fmt.Sprintf("villager-%d", index), nil }
	var totals engine.Totals
	if got, err := review.Failures(&totals, name); got != "" || err != nil {
		t.Errorf("no failures: %q, %v", got, err)
	}
	fail := func(agents ...int) {
		for _, a := range agents {
			totals.Add(&engine.SessionRow{Place: engine.Place{Agent: a}, Outcome: engine.Failed, Class: engine.Script})
		}
	}
	fail(200, 3, 64, 3)
	if got, err := review.Failures(&totals, name); got != "3: villager-3, villager-64, villager-200" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	fail(4, 5, 6, 7, 8, 9, 10, 11)
	if got, err := review.Failures(&totals, name); err != nil ||
		got != "11: villager-3, villager-4, villager-5, villager-6, villager-7, villager-8, villager-9, villager-10 and 3 more; sessions.csv lists all of them" {
		t.Errorf("got %q, %v", got, err)
	}
	if _, err := review.Failures(&totals, func(int) (string, error) { return "", errors.New("no name") }); err == nil {
		t.Error("an agent without a name was accepted")
	}
}

// TestFindByIDOrIndex finds agents of the hamlet.
func TestFindByIDOrIndex(t *testing.T) {
	file := filepath.Join(t.TempDir(), "hamlet.yaml")
	if err := os.WriteFile(file, []byte(hamlet), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := authoring.Load(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	j := &Job{Program: s.Program(1)}
	got, err := j.Find([]string{"2", "villager-0", "villager-2"})
	if err != nil || !slices.Equal(got, []int{2, 0, 2}) {
		t.Errorf("%v, %v", got, err)
	}
	for _, name := range []string{"3", "-1", "villager", ""} {
		var field *engine.FieldError
		if got, err := j.Find([]string{"villager-1", name}); !errors.As(err, &field) {
			t.Errorf("%q is %v, %v", name, got, err)
		}
	}
}
