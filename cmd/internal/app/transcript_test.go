package app

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app/history"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
)

// talkative is a scenario of three villagers who ask a model in each of four cycles and emit what they received.
const talkative = `
title: Talk
clock: {start: 2026-01-02T08:00:00Z, cycle: 1h, cycles: 4}
population: {count: 3, id: "villager-${agent.index}"}
services:
  model: {kind: llm, url: "mock:model"}
chain live:
  step ask: {kind: llm, service: model, prompt: "What does ${agent.id} see?"}
  step hear: {kind: emit, event: received, data: {texts: "${[l.text for l in agent.inbox]}"}}
  step rest: {kind: wait, for: 0.2}
`

// talked executes the scenario with one broadcast to all and one to two agents, and returns a finished run.
func talked(t *testing.T) *history.Agents {
	t.Helper()
	job, store := started(t, talkative, func(l *Launch) { l.Settings.Cycles = 4 })
	for _, err := range []error{
		job.Broadcast(t.Context(), nil, "flood", "", view.User),
		job.Broadcast(t.Context(), []string{"villager-0", "villager-2"}, "storm", "", "throngctl"),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	live, err := job.AgentHistory(store).Transcript(t.Context(), everything())
	if err != nil || live.More {
		t.Fatalf("the transcript of a run in progress: %v", err)
	}
	if err := job.Close(); err != nil {
		t.Fatal(err)
	}
	people, err := history.LoadAgents(t.Context(), store, job.Record.ID)
	if err != nil {
		t.Fatal(err)
	}
	return people
}

func everything() view.TranscriptQuery { return view.TranscriptQuery{Agent: -1, Cycle: -1, Most: 1000} }

// paged reads a transcript page by page.
func paged(t *testing.T, people *history.Agents, q view.TranscriptQuery) (all []view.Line, pages int) {
	t.Helper()
	for {
		page, err := people.Transcript(t.Context(), q)
		if err != nil || page.Note != "" {
			t.Fatalf("%v, note %q", err, page.Note)
		}
		pages++
		all = append(all, page.Lines...)
		if !page.More {
			return all, pages
		}
		if pages > 100 {
			t.Fatal("the pages do not end")
		}
		q.From = page.Next
	}
}

func sentences(lines []view.Line) (all []string) {
	for i := range lines {
		all = append(all, fmt.Sprintf("%d %s %s", lines[i].Cycle, lines[i].ID, lines[i].Sentence()))
	}
	return all
}

// TestTranscript checks what was said, emitted and broadcast in a run, by agent, cycle, text and moment, and that broadcasts are on one
// page, before the sessions that receive them.
func TestTranscript(t *testing.T) {
	people := talked(t)
	all, pages := paged(t, people, everything())
	said, events := 0, 0
	var put []view.Line
	for i, l := range all {
		switch {
		case l.Agent < 0:
			put = append(put, l)
			for _, before := range all[:i] {
				if before.Cycle >= l.Cycle && before.Agent >= 0 {
					t.Errorf("%q of cycle %d is after a session of cycle %d", l.Text, l.Cycle, before.Cycle)
				}
			}
		case l.Kind == view.EventLine:
			events++
		case l.Kind == view.SaidLine:
			said++
			if l.Step != "ask" || !strings.Contains(l.Prompt, l.ID) || l.Text == "" {
				t.Errorf("said: %+v", l)
			}
		}
	}
	if pages != 1 || said != 12 || events != 12 {
		t.Errorf("%d pages, %d lines said, %d events of 12 sessions", pages, said, events)
	}
	if got := sentences(put); len(got) != 2 || !strings.HasSuffix(got[0], "Broadcast You to all agents: flood") || !strings.HasSuffix(got[1], "Broadcast throngctl to villager-0, villager-2: storm") && !strings.HasSuffix(got[1], "Broadcast throngctl to villager-2, villager-0: storm") {
		t.Errorf("broadcasts: %q", got)
	}

	q := everything()
	q.Agent = 1
	if one, _ := paged(t, people, q); slices.ContainsFunc(one, func(l view.Line) bool { return l.Agent >= 0 && l.Agent != 1 || l.Text == "storm" }) || len(one) != 9 {
		t.Errorf("of an agent that one broadcast did not reach: %q", sentences(one))
	}
	q = everything()
	q.Cycle = put[0].Cycle
	if one, _ := paged(t, people, q); slices.ContainsFunc(one, func(l view.Line) bool { return l.Cycle != q.Cycle }) || !slices.ContainsFunc(one, func(l view.Line) bool { return l.Text == "flood" }) {
		t.Errorf("of cycle %d: %q", q.Cycle, sentences(one))
	}
	q = everything()
	q.Text = "FLOOD"
	found, _ := paged(t, people, q)
	if len(found) == 0 || slices.ContainsFunc(found, func(l view.Line) bool { return !strings.Contains(strings.ToLower(l.Sentence()), "flood") }) {
		t.Errorf("with a text: %q", sentences(found))
	}
	q = everything()
	q.Until = put[0].At.Add(-time.Hour)
	if none, _ := paged(t, people, q); len(none) != 0 {
		t.Errorf("before the run: %q", sentences(none))
	}
	if _, err := people.Transcript(t.Context(), view.TranscriptQuery{Agent: 3, Cycle: -1, Most: 1}); err == nil {
		t.Error("an agent that does not exist has a transcript")
	}
}

// TestEventsByPage checks that pages of events are complete and disjoint, and that a name, a cycle and a moment limit them.
func TestEventsByPage(t *testing.T) {
	people := talked(t)
	q := view.EventQuery{Cycle: -1, Most: 5}
	var all []view.EventRow
	pages := 0
	for {
		page, err := people.Events(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		pages++
		all = append(all, page.Rows...)
		if q.From = page.Next; !page.More {
			break
		}
	}
	seen := map[engine.Place]bool{}
	for _, r := range all {
		seen[engine.Place{Cycle: r.Cycle, Agent: r.Agent}] = true
		if r.Name != "received" || r.Step != "hear" || r.ID != people.Name(r.Agent) || !strings.Contains(r.Data, `"texts"`) || r.At.IsZero() {
			t.Errorf("%+v", r)
		}
	}
	if pages != 3 || len(all) != 12 || len(seen) != 12 {
		t.Errorf("%d pages with %d events of %d sessions", pages, len(all), len(seen))
	}
	for name, c := range map[string]struct {
		q    view.EventQuery
		want int
	}{
		"a cycle":      {view.EventQuery{Cycle: 2, Most: 100}, 3},
		"a name":       {view.EventQuery{Cycle: -1, Name: "received", Most: 100}, 12},
		"another name": {view.EventQuery{Cycle: -1, Name: "paid", Most: 100}, 0},
		"a moment":     {view.EventQuery{Cycle: -1, Until: all[0].At.Add(-time.Hour), Most: 100}, 0},
	} {
		if page, err := people.Events(t.Context(), c.q); err != nil || len(page.Rows) != c.want {
			t.Errorf("%s: %d events, %v; want %d", name, len(page.Rows), err, c.want)
		}
	}
}
