package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const spoken = `
title: Spoken
clock: {cycle: 1h, cycles: 2}
population: {count: 8}
services:
  model: {kind: llm, url: "mock:model", api: completions}
chain ask:
  step a: {kind: llm, service: model, system: "You answer for a shop. Be brief.", prompt: "Shop, ${agent.id}?", answer: {shop: bool, why: string}, stream: false}
  step b: {kind: llm, service: model, messages: [{role: system, content: "You are ${agent.id}."}, {role: user, content: "Why?"}, {role: assistant, content: "${steps.a.why}"}, {role: user, content: "And now?"}]}
  step c: {kind: llm, service: model, system: "Be brief.", prompt: "How many?", answer: {schema: {type: object, required: [n], properties: {n: {type: integer, minimum: 1, maximum: 90}}}}, cache: {}}
  step d: {kind: emit, event: said, data: {shop: "${steps.a.shop}", why: "${steps.a.why}", more: "${steps.b.text}"}}
`

// TestFormatsOfModelsAgree runs a scenario on the mock model in both wire formats, whole and streamed, with faults, and replays each
// recording: the results are the same, and exact.
func TestFormatsOfModelsAgree(t *testing.T) {
	t.Parallel()
	want := ""
	for _, format := range []struct{ name, text string }{
		{"completions", spoken},
		{"messages", strings.Replace(spoken, "api: completions", "api: messages", 1)},
		{"messages, streamed", strings.NewReplacer("api: completions", "api: messages", "stream: false", "stream: true").Replace(spoken)},
	} {
		data := t.TempDir()
		file := filepath.Join(data, "spoken.yaml")
		if err := os.WriteFile(file, []byte(format.text), 0o600); err != nil {
			t.Fatal(err)
		}
		record := func(faults ...string) string {
			args := []string{"run", file, "--data", data, "--seed", "7", "--mock-latency", "none", "--retry-wait", "1ms", "--no-dashboard", "--record", "--export", filepath.Join(data, "out")}
			for _, f := range faults {
				args = append(args, "--mock-fault", f)
			}
			code, out, stderr := ctl(t, args...)
			if code != exitDone || !strings.Contains(out, "exact") || strings.Contains(out, "inexact") {
				t.Fatalf("%s, %v: exit code %d\n%s%s", format.name, faults, code, out, stderr)
			}
			replays(t, data, runOf(t, out))
			return read(t, data, "out", "events.csv")
		}
		events := record("server_error=0.1", "cut=0.05", "fenced=0.3") // none of these changes an answer
		if want == "" {
			want = events
		}
		if events != want || strings.Count(events, "\n") != 17 {
			t.Errorf("%s: got\n%s\nwant\n%s", format.name, events, want)
		}
		record("refused=0.1", "empty=0.1")
	}
}

// TestMessagesResumeExactly ends runs of the Messages API when their budget of requests is used up, and resumes them: the results and
// the requests are those of a run that was not interrupted.
func TestMessagesResumeExactly(t *testing.T) {
	t.Parallel()
	text := strings.NewReplacer("api: completions", "api: messages", "stream: false", "stream: true").Replace(spoken)
	want, sent := "", int64(0)
	for _, budget := range []string{"", "3", "11", "27"} {
		data := t.TempDir()
		file := filepath.Join(data, "spoken.yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		out := filepath.Join(data, "out")
		args := []string{"run", file, "--data", data, "--seed", "7", "--mock-latency", "none", "--no-dashboard", "--export", out}
		if budget != "" {
			if code, said, stderr := ctl(t, append(args, "--max-requests", budget)...); code == exitDone || !strings.Contains(said, "out of budget") {
				t.Fatalf("%s requests: exit code %d\n%s%s", budget, code, said, stderr)
			}
			args = []string{"resume", "--data", data, "--max-requests", "1000", "--no-dashboard", "--export", out}
		}
		if code, said, stderr := ctl(t, args...); code != exitDone || strings.Contains(said, "inexact") {
			t.Fatalf("after %s requests: exit code %d\n%s%s", budget, code, said, stderr)
		}
		_, requests := modelsOf(t, data)
		events := read(t, data, "out", "events.csv")
		if budget == "" {
			want, sent = events, requests
		}
		if events != want || requests != sent {
			t.Errorf("after %s requests: %d requests, want %d, and\n%s\nwant\n%s", budget, requests, sent, events, want)
		}
	}
}
