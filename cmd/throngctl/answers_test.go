package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
)

// answering starts a shop with unusual answers: a bare list, and bodies whose fields have the names of an answer's own
// fields.
func answering(t *testing.T) string {
	t.Helper()
	answers := map[string]string{
		"/products": `[{"id": 11, "name": "milk"}, {"id": 12, "name": "bread"}, {"id": 13, "name": "salt"}]`,
		"/order":    `{"id": 7, "status": "paid", "headers": ["a"], "body": "a delivery", "total": 3}`,
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, answers[r.URL.Path])
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// TestErrorInInlineFunctionHasItsLine checks that an error in an inline function has its line in the file, not the line of
// the calling step or the line within the functions' text.
func TestErrorInInlineFunctionHasItsLine(t *testing.T) {
	file := scenarioFile(t, `title: Lines
clock: {start: 2026-01-02T08:00:00Z, cycle: 1h, cycles: 2}
population: {count: 4}
functions: |
  def price(items, at):
      return items[at].price

  def total(agent):
      items = [{"price": 1}]
      return price(items, agent.index + 5)
chain c:
  step pay: {kind: emit, event: paid, data: "${total(agent)}"}
`)
	for _, command := range [][]string{{"run", file, "--data", t.TempDir()}, {"try", file, "--data", t.TempDir()}} {
		code, out, stderr := ctl(t, command...)
		if code != exitFailed || !strings.Contains(out+stderr, filepath.Base(file)+":6:") {
			t.Errorf("%s: exit code %d, want line 6\n%s%s", command[0], code, out, stderr)
		}
	}
}

// TestListAnswers checks that an answer that is a list can be used in a loop, by index, in a draw and with len.
func TestListAnswers(t *testing.T) {
	url := answering(t)
	file := scenarioFile(t, `title: Lists
clock: {start: 2026-01-02T08:00:00Z, cycle: 1h, cycles: 1}
population: {count: 3}
services: {shop: {kind: http, url: "`+url+`"}}
chain c:
  step list: {kind: http, service: shop, get: /products}
  step each:
    kind: for
    each: steps.list
    as: item
    do:
      step seen: {kind: emit, event: seen, data: "${item.name}"}
  step told:
    kind: emit
    event: told
    data: {first: "${steps.list[0].id}", drawn: "${pick(steps.list).id in [11, 12, 13]}", many: "${len(steps.list)}", last: "${steps.list[-1].name}", status: "${steps.list.status}"}
`)
	dir := filepath.Join(t.TempDir(), "out")
	if code, out, stderr := ctl(t, "run", file, "--data", t.TempDir(), "--export", dir); code != exitDone {
		t.Fatalf("exit code %d\n%s%s", code, out, stderr)
	}
	events := read(t, dir, "events.csv")
	if want := ",11,true,3,salt,200\n"; strings.Count(events, want) != 3 {
		t.Errorf("want %s three times:\n%s", want, events)
	}
	for _, name := range []string{"milk", "bread", "salt"} {
		if strings.Count(events, "Z,"+name+",") != 3 {
			t.Errorf("not every agent has seen %s:\n%s", name, events)
		}
	}
}

// TestTryNotesShadowedFields checks that `try` explains how to reach body fields named status, headers or body, that the
// explained way works, and that it says nothing about other fields.
func TestTryNotesShadowedFields(t *testing.T) {
	url := answering(t)
	file := scenarioFile(t, `title: Shadows
population: {count: 1}
services: {shop: {kind: http, url: "`+url+`"}}
chain c:
  step order: {kind: http, service: shop, get: /order}
  step told: {kind: emit, event: told, data: "${[steps.order.status, steps.order.body.status, steps.order.body.body, steps.order.total]}"}
`)
	code, out, stderr := ctl(t, "try", file, "--data", t.TempDir())
	if code != exitDone {
		t.Fatalf("exit code %d\n%s%s", code, out, stderr)
	}
	for _, name := range []string{"status", "headers", "body"} {
		if want := "steps.order." + name + " is a property of the answer; the field " + name + " of its body is steps.order.body." + name; !strings.Contains(out, want) {
			t.Errorf("%q is missing in\n%s", want, out)
		}
	}
	if strings.Contains(out, "the field total") || strings.Contains(out, "the field id") {
		t.Errorf("a note about a field that is not shadowed:\n%s", out)
	}
	code, out, _ = ctl(t, "try", file, "--data", t.TempDir(), "--json")
	var trial struct{ Steps []struct{ Shadowed []string } }
	err := json.Unmarshal([]byte(out), &trial)
	if code != exitDone || err != nil || len(trial.Steps) != 2 || len(trial.Steps[0].Shadowed) != 3 || !strings.Contains(strings.Join(strings.Fields(out), ""), `[200,"paid","adelivery",3]`) {
		t.Errorf("exit code %d, %v\n%s", code, err, out)
	}
}
