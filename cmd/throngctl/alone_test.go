package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/throng-sim/throng/cmd/internal/prove"
	"github.com/throng-sim/throng/engine/mock"
)

// analysis is the plain chain file of the language's reference, unchanged.
var analysis = filepath.Join("testdata", "analysis.ai")

var varying = regexp.MustCompile(`("elapsed_ms"|"run_id"): ?("[^"]*"|\d+)`)

// calm returns a result without the values that differ from run to run.
func calm(result string) string { return varying.ReplaceAllString(result, `$1: 0`) }

// result parses the printed result.
func result(t *testing.T, out string) (r struct {
	Row      int
	Status   string
	Result   json.RawMessage
	Error    string
	Metadata struct {
		Timeout float64 `json:"timeout_seconds"`
		Elapsed int64   `json:"elapsed_ms"`
	}
},
) {
	t.Helper()
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatalf("%v in\n%s", err, out)
	}
	return r
}

// TestPlainChainFile runs the file alone with a payload. The mock answers in place of its connectors.
func TestPlainChainFile(t *testing.T) {
	data := t.TempDir()
	payload := write(t, filepath.Join(data, "payload.json"), `{"text": "The <new> café is lovely."}`)
	args := []string{"run", analysis, "--chain", "parallel_analysis", "--payload", payload, "--data", data, "--mock-latency", "none"}
	code, out, stderr := ctl(t, args...)
	if code != exitDone {
		t.Fatalf("exit code %d\n%s%s", code, out, stderr)
	}
	golden(t, "analysis.json", calm(out))
	for _, name := range []string{"sentiment_analyzer", "entity_extractor", "summarizer"} {
		if !strings.Contains(stderr, "warning: there is no connector "+name) {
			t.Errorf("no warning of %s in\n%s", name, stderr)
		}
	}
	code, one, stderr := ctl(t, append(args, "--sequential-steps", "on")...)
	if code != exitDone || calm(one) != calm(out) {
		t.Errorf("with sequential steps, exit code %d: %s\n%s", code, difference(calm(out), calm(one)), stderr)
	}
	code, out, stderr = ctl(t, "export", "--what", "run", "--data", data)
	if code != exitDone || !strings.Contains(out, `"mocked": [`) || !strings.Contains(out, `"connector summarizer"`) {
		t.Errorf("exit code %d; run.json does not list the mocked steps\n%s%s", code, out, stderr)
	}
}

// TestFormsOfPlainChainFile checks that all notations of a chain's steps mean the same, whatever the file's name.
func TestFormsOfPlainChainFile(t *testing.T) {
	want := calm(read(t, "testdata", "analysis.json"))
	forms := map[string]string{
		"steps.yaml": `
chain parallel_analysis:
    timeout: 180
    steps:
        step sentiment: {type: connector, target: sentiment_analyzer, parallel: true}
        step entity_extraction: {type: connector, target: entity_extractor, parallel: true}
        step summarize: {type: connector, target: summarizer, depends_on: [sentiment, entity_extraction]}
`,
		"list.yml": `
chain parallel_analysis:
  timeout: 3m
  steps:
    - {name: sentiment, type: connector, target: sentiment_analyzer, parallel: true}
    - {name: entity_extraction, kind: connector, target: entity_extractor, parallel: true}
    - {name: summarize, kind: connector, target: summarizer, depends_on: [sentiment, entity_extraction]}
`,
	}
	for name, text := range forms {
		data := t.TempDir()
		payload := write(t, filepath.Join(data, "payload.json"), `{"text": "The <new> café is lovely."}`)
		code, out, stderr := ctl(t, "run", write(t, filepath.Join(data, name), text), "--chain", "parallel_analysis", "--payload", payload,
			"--data", data, "--mock-latency", "none")
		if code != exitDone || calm(out) != want {
			t.Errorf("%s, exit code %d: %s\n%s", name, code, difference(want, calm(out)), stderr)
		}
	}
}

// TestPlainChainFileAsScenario runs the same file as a regular run with one agent.
func TestPlainChainFileAsScenario(t *testing.T) {
	code, out, stderr := ctl(t, "run", analysis, "--data", t.TempDir(), "--mock-latency", "none")
	for _, want := range []string{"1 agents", "1 (1 ok)", "not defined    connector sentiment_analyzer, connector entity_extractor, connector summarizer: the mock"} {
		if code != exitDone || !strings.Contains(out, want) {
			t.Fatalf("exit code %d, want %q\n%s%s", code, want, out, stderr)
		}
	}
	if code, out, stderr = ctl(t, "validate", analysis, "--data", t.TempDir()); code != exitDone || strings.Count(stderr, "warning: ") != 3 {
		t.Errorf("validate, exit code %d\n%s%s", code, out, stderr)
	}
}

// TestPayloadRows runs a chain with one agent per row, and expects one line of output for each.
func TestPayloadRows(t *testing.T) {
	data := t.TempDir()
	for name, text := range map[string]string{
		"rows.json": `[{"n": 1}, {"n": 2}, {"n": 0}]`, "rows.jsonl": "{\"n\": 1}\n{\"n\": 2}\n{\"n\": 0}\n", "rows.csv": "n\n1\n2\n0\n",
	} {
		file := write(t, filepath.Join(data, "rows.ai"), "chain halves:\n  step half: {kind: python, call: 6 // input.n}\n")
		code, out, stderr := ctl(t, "run", file, "--chain", "halves", "--payload", write(t, filepath.Join(data, name), text), "--data", data)
		lines := strings.Split(strings.TrimSpace(out), "\n")
		if code != exitFailed || len(lines) != 3 {
			t.Fatalf("%s: exit code %d\n%s%s", name, code, out, stderr)
		}
		for i, want := range []string{"6", "3", "null"} {
			r := result(t, lines[i])
			if r.Row != i+1 || string(r.Result) != want || (r.Status == "ok") != (want != "null") {
				t.Errorf("%s, line %d: %s", name, i+1, lines[i])
			}
		}
	}
}

// TestResultsOfChains checks the output and exit code of chains that fail completely or in part.
func TestResultsOfChains(t *testing.T) {
	tests := []struct {
		name, text string
		code       int
		status     string
		result     string
		err        string
	}{
		{"ok", "step a: {kind: python, call: \"[input, not input]\"}", exitDone, "ok", "[null,true]", ""},
		{"partial", "step a: {kind: python, call: 1}\n  step b: {kind: python, call: \"[][0]\", on_error: continue}", exitFailed, "partial", "1", ""},
		{"stopped", "step a: {kind: python, call: 1}\n  step b: {kind: stop, because: enough}", exitDone, "stopped", "1", ""},
		{"failed", "step a: {kind: python, call: \"[][0]\"}\n  step b: {kind: python, call: 1}", exitFailed, "failed", "null", "a: "},
		{"timeout", "timeout: 0.1\n  step a: {kind: python, call: 1}\n  step b: {kind: connector, target: slow}", exitFailed, "timeout", "null", "Chain 'c' execution timed out after 0.1 seconds"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			data := t.TempDir()
			file := write(t, filepath.Join(data, "c.ai"), "chain other: {step x: {kind: emit, event: x}}\nchain c:\n  "+tt.text+"\n")
			code, out, stderr := ctl(t, "run", file, "--chain", "c", "--data", data, "--mock-latency", "slow")
			r := result(t, out)
			var compact bytes.Buffer
			if err := json.Compact(&compact, r.Result); err != nil {
				t.Fatal(err)
			}
			if code != tt.code || r.Status != tt.status || compact.String() != tt.result || !strings.HasPrefix(r.Error, tt.err) || (r.Error == "") != (tt.err == "") {
				t.Errorf("exit code %d\n%s%s", code, out, stderr)
			}
		})
	}
}

// TestStandInsAgainstRealServices checks that nothing is mocked if a real service is called, and that the error names what
// is not defined.
func TestStandInsAgainstRealServices(t *testing.T) {
	data := t.TempDir()
	text := `
services: {nlp: {kind: http, url: "http://127.0.0.1:1"}}
connectors:
  entities: {kind: http, service: nlp, post: /entities, json: {text: "${input.text}"}}
chain c:
  step a: {kind: connector, target: entities}
  step b: {kind: connector, target: sentiments}
  step d: {kind: python, target: classify}
`
	file := write(t, filepath.Join(data, "real.ai"), text)
	code, out, stderr := ctl(t, "run", file, "--data", data)
	for _, want := range []string{
		"connector sentiments: is not defined, and the mock cannot stand in for it because service nlp is real (defined connectors: entities)",
		"function classify: is not defined",
	} {
		if code != exitUsage || out != "" || !strings.Contains(stderr, want) {
			t.Errorf("exit code %d, want %q\n%s%s", code, want, out, stderr)
		}
	}
	code, out, stderr = ctl(t, "run", file, "--data", data, "--service", "nlp=mock:shop", "--retries", "1")
	if code != exitFailed || !strings.Contains(out, "client_error") { // the shop has no /entities
		t.Errorf("with a mock, exit code %d\n%s%s", code, out, stderr)
	}
}

// TestConnectorsOfTheDataFolder runs the plain file with connectors that are defined for all scenarios.
func TestConnectorsOfTheDataFolder(t *testing.T) {
	data := t.TempDir()
	write(t, filepath.Join(data, "connectors.yaml"), `
connectors:
  sentiment_analyzer: {kind: python, call: "'good' if 'lovely' in input.text else 'bad'"}
  entity_extractor: {kind: python, call: "[w for w in input.text.split(' ') if w[0].isupper()]"}
  summarizer: {kind: python, call: "[previous.sentiment, previous.entity_extraction]"}
`)
	payload := write(t, filepath.Join(data, "payload.json"), `{"text": "Ann has a lovely cat"}`)
	code, out, stderr := ctl(t, "run", analysis, "--chain", "parallel_analysis", "--payload", payload, "--data", data)
	if r := result(t, out); code != exitDone || strings.Join(strings.Fields(string(r.Result)), "") != `["good",["Ann"]]` || stderr != "" || strings.Contains(out, "mocked") {
		t.Errorf("exit code %d\n%s%s", code, out, stderr)
	}
	write(t, filepath.Join(data, "connectors.yaml"), "connectors:\n  summarizer: {kind: pyton, call: 1}\n")
	code, out, stderr = ctl(t, "run", analysis, "--data", data)
	if code != exitUsage || !strings.Contains(stderr, "settings/connectors.yaml:2:22: there is no kind of step \"pyton\"") {
		t.Errorf("with a mistake, exit code %d\n%s%s", code, out, stderr)
	}
}

// TestResumedChain kills a chain at each of its requests and resumes it. The result equals that of an uninterrupted chain,
// and no answered request is sent again.
func TestResumedChain(t *testing.T) {
	args := func(data string) []string {
		return []string{"run", analysis, "--chain", "parallel_analysis", "--payload", filepath.Join(data, "p.json"), "--data", data, "--mock-latency", "none", "--sequential-steps", "on"}
	}
	data := t.TempDir()
	write(t, filepath.Join(data, "p.json"), `{"x": 1}`)
	code, want, stderr := ctl(t, args(data)...)
	if code != exitDone {
		t.Fatalf("exit code %d\n%s%s", code, want, stderr)
	}
	for n, kill := range []string{"request:1", "request:2", "request:3"} {
		t.Run(kill, func(t *testing.T) {
			data := t.TempDir()
			payload := write(t, filepath.Join(data, "p.json"), `{"x": 1}`)
			cmd, out, stderr := process(t, []string{killEnv + "=" + kill}, args(data)...)
			if err := cmd.Run(); err == nil {
				t.Fatalf("it was not killed\n%s%s", out, stderr)
			}
			if err := os.Remove(payload); err != nil { // kept with the run
				t.Fatal(err)
			}
			count := filepath.Join(data, "count")
			cmd, out, stderr = process(t, []string{countEnv + "=" + count}, "resume", "--data", data)
			if err := cmd.Run(); err != nil {
				t.Fatalf("resume: %v\n%s%s", err, out, stderr)
			}
			if calm(out.String()) != calm(want) {
				t.Errorf("the results differ: %s", difference(calm(want), calm(out.String())))
			}
			if requests := counts(t, count)[prove.Request]; requests != int64(3-n) {
				t.Errorf("%d requests after the kill", requests)
			}
		})
	}
}

// TestInterruptedChain checks that an interrupted chain prints no result.
func TestInterruptedChain(t *testing.T) {
	t.Parallel()
	signals := make(chan os.Signal, 2)
	var out, stderr bytes.Buffer
	terminal := &terminal{in: strings.NewReader(""), out: &out, err: &stderr, signals: signals, hooks: hooks{trusts: true}}
	terminal.hooks.onRequest = func(r mock.Request) {
		if r.N == 1 {
			signals <- syscall.SIGTERM
			signals <- syscall.SIGTERM
		}
	}
	code := execute([]string{"run", analysis, "--chain", "parallel_analysis", "--data", t.TempDir(), "--mock-latency", "none", "--mock-fault", "hang=1"}, terminal)
	if code != exitInterrupted || out.Len() > 0 || !strings.Contains(stderr.String(), "throngctl resume") {
		t.Errorf("exit code %d\n%s%s", code, out.String(), stderr.String())
	}
}

// TestWrongUseOfChain checks the errors of flags that cannot be combined.
func TestWrongUseOfChain(t *testing.T) {
	dir := t.TempDir()
	bad := write(t, filepath.Join(dir, "bad.json"), "{\n \"a\" 1}")
	tests := []struct {
		args []string
		want string
	}{
		{[]string{"--chain", "parallel"}, "chain: there is no chain parallel (there is parallel_analysis)"},
		{[]string{"--chain", "parallel_analysis", "--cycles", "3"}, "chain: a single chain runs once"},
		{[]string{"--payload", filepath.Join(dir, "nowhere.json")}, "nowhere.json"},
		{[]string{"--payload", dir}, "payload"},
		{[]string{"--payload", bad}, "bad.json:2:6: "},
	}
	for _, tt := range tests {
		code, out, stderr := ctl(t, append([]string{"run", analysis, "--data", dir}, tt.args...)...)
		if code != exitUsage || out != "" || !strings.Contains(stderr, tt.want) {
			t.Errorf("%v: exit code %d, want %q\n%s%s", tt.args, code, tt.want, out, stderr)
		}
	}
}
