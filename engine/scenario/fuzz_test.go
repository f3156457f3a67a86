package scenario

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain"
	"github.com/throng-sim/throng/engine/script/value"
	"pgregory.net/rapid"
)

// slowest is the time limit for reading a file in a fuzz test. Reading usually takes a small fraction of it.
const slowest = 20 * time.Second

// readWhatever reads arbitrary bytes as a scenario and checks that the result is a scenario, or mistakes with positions
// in the file.
func readWhatever(t interface {
	Helper()
	Fatalf(format string, args ...any)
}, text, functions []byte,
) {
	t.Helper()
	begun := time.Now()
	s, err := Read("test.yaml", func(path string) ([]byte, error) {
		switch path {
		case "test.yaml":
			return text, nil
		case "shopping.star":
			return functions, nil
		}
		return nil, os.ErrNotExist
	}, nil)
	if took := time.Since(begun); took > slowest {
		t.Fatalf("reading took %s", took)
	}
	if mistakes, ok := errors.AsType[*Mistakes](err); ok {
		if err := mistakes.Print(new(bytes.Buffer)); err != nil {
			t.Fatalf("print: %v", err)
		}
		for _, p := range mistakes.report.Problems() {
			if p.Line < 1 || p.Col < 1 || p.Problem == "" {
				t.Fatalf("a mistake without a position: %+v", p)
			}
		}
		return
	}
	if err != nil {
		if _, ok := errors.AsType[*engine.FieldError](err); !ok {
			t.Fatalf("an error of another kind: %v", err)
		}
		return
	}
	if s.Chain == nil || s.Agents < 0 || s.Source.Hash == "" {
		t.Fatalf("a scenario with holes: %+v", s)
	}
	if len(s.Chain.Plan().Segments) == 0 {
		t.Fatalf("a chain without an order")
	}
	for _, r := range s.Chain.Expect() {
		if r.Service == nil || r.Least < 0 || r.Most < r.Least {
			t.Fatalf("%d to %d requests are expected", r.Least, r.Most)
		}
	}
	if err := s.PrintWarnings(new(bytes.Buffer)); err != nil {
		t.Fatalf("print: %v", err)
	}
	if w := s.Writing(trySeed); w != nil {
		_, _ = w.Request(s.Agents-1, func(s *chain.Service) string { return s.URL }) // the prompt may contain a mistake
		return
	}
	if _, err := Restore(s.Source); err != nil {
		t.Fatalf("a scenario that cannot be read again: %v", err)
	}
}

func FuzzRead(f *testing.F) {
	shopping, functions := shoppingFiles(f)
	mistakes, err := os.ReadFile("testdata/mistakes.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(shopping, functions)
	f.Add(mistakes, functions)
	f.Add([]byte("chain c: {steps: [{name: a, kind: emit, event: '${agent}'}]}"), []byte("x = 1"))
	f.Add([]byte("population: {rows: [{id: a, x: [1.0, {y: z}]}, {id: b}], filter: agent.x}\nchain c: {step a: {kind: stop}}"), []byte(""))
	f.Add([]byte("chain c: {step a: {kind: chain, target: d, depends_on: [b]}, step b: {kind: emit, event: e, parallel: true}}\nchain d: {step a: {kind: while, condition: last, do: {step x: {kind: chain, target: c}}}}"), []byte(""))
	f.Add([]byte("functions: |\n  def f(): return f()\npopulation: {count: '${f()}'}\nchain c: {}"), []byte(""))
	f.Add([]byte(writing(somebody+"    temperature: 1\n    fallback: [model]\n    retry: {attempts: 2}\n    timeout: 3\n")), []byte(""))
	f.Add([]byte(everyKind), []byte(""))
	f.Fuzz(func(t *testing.T, text, functions []byte) { readWhatever(t, text, functions) })
}

// everyKind has steps of all kinds, in both notations, in parallel and nested.
const everyKind = `
services: {s: {kind: http, url: mock:shop, auth: {login: {post: /l, json: {p: "secret:P"}, token: body.t}}}}
functions: |
  def f(agent): return [agent.index]
population: {rows: [{id: a}, {id: b, x: 1}], attributes: {y: "${f(agent)}"}}
interventions: [{cycle: 1, to: all, text: hello, data: {x: 1}}]
chain c:
  timeout: 5
  step a: {kind: http, service: s, get: "/x/${agent.y[0]}?q=${1}", parallel: true, retry: {attempts: 2, wait: 1ms}}
  step b: {kind: http, service: s, post: /x, json: {a: ["${agent.id}"]}, parallel: true, depends_on: [a], timeout: 1s}
  step c: {kind: say, to: [b], text: "${steps.b.status}", data: "${previous}", depends_on: [a, b], on_error: continue}
  step d: {kind: remember, set: {n: "${(agent.memory.n or 0) + 1}"}, note: x, keep: 3, when: agent.inbox}
  step e:
    kind: while
    condition: not last or last.w < 1
    limit: 3
    do: {step w: {kind: wait, for: "${uniform(0, 1)}"}}
  step g:
    kind: for
    each: "[1, 2]"
    as: i
    do:
      steps:
        - {name: h, type: chain, target: d, input: {i: "${i}"}, parallel: true, default: 1}
        - {name: j, kind: python, target: f, parallel: true}
  step k: {kind: if, condition: steps.g, then: {step l: {kind: stop, because: "${steps.d}"}}, else: {step m: {kind: emit, event: e, data: "${input}"}}}
chain d:
  - {name: a, kind: emit, event: e, data: "${input.i}"}
run: c
`

// TestEveryKindIsRead checks that the initial file of the fuzz test has no mistakes.
func TestEveryKindIsRead(t *testing.T) {
	s, err := read(everyKind, nil, nil)
	if err != nil {
		t.Fatal(all(err))
	}
	if got := s.Chain.Expect(); len(got) != 1 || got[0].Most != 2 {
		t.Errorf("expects %+v", got)
	}
	readWhatever(t, []byte(everyKind), nil)
}

func shoppingFiles(t testing.TB) (text, functions []byte) {
	t.Helper()
	text, err := os.ReadFile("../../assets/scenarios/shopping.yaml")
	if err != nil {
		t.Fatal(err)
	}
	functions, err = os.ReadFile("../../assets/scenarios/shopping.star")
	if err != nil {
		t.Fatal(err)
	}
	return text, functions
}

// TestMutatedScenarios changes lines and words of the built-in scenario and checks that reading it returns a scenario
// or mistakes.
func TestMutatedScenarios(t *testing.T) {
	text, functions := shoppingFiles(t)
	lines := strings.SplitAfter(string(text), "\n")
	words := []string{
		"", "-", ":", "{", "}", "[", "]", "'", "\"", "${", "}", "\t", "  ", "&a", "*a", "<<", "|", ">", "#", "!!int", "null", "true", "1e999", "-1",
		"steps", "step a", "kind: for", "kind: http", "each: '[1]'", "as: agent", "do:", "then:", "${params.x}", "${agent.memory}", "\x00", "é",
	}
	rapid.Check(t, func(t *rapid.T) {
		mutant := append([]string{}, lines...)
		for range rapid.IntRange(1, 5).Draw(t, "changes") {
			i := rapid.IntRange(0, len(mutant)-1).Draw(t, "line")
			word := rapid.SampledFrom(words).Draw(t, "word")
			switch rapid.IntRange(0, 4).Draw(t, "change") {
			case 0:
				mutant[i] = ""
			case 1:
				mutant[i] += mutant[rapid.IntRange(0, len(mutant)-1).Draw(t, "other")]
			case 2:
				at := rapid.IntRange(0, len(mutant[i])).Draw(t, "at")
				mutant[i] = mutant[i][:at] + word + mutant[i][at:]
			case 3:
				at := rapid.IntRange(0, len(mutant[i])).Draw(t, "at")
				mutant[i] = mutant[i][:at]
			default:
				mutant[i] = strings.Replace(mutant[i], rapid.SampledFrom(strings.Fields(string(text))).Draw(t, "old"), word, 1)
			}
		}
		readWhatever(t, []byte(strings.Join(mutant, "")), functions)
	})
}

// TestLargeFilesAreReadInTime checks that files of several megabytes, with many steps, mistakes or names, are read
// quickly.
func TestLargeFilesAreReadInTime(t *testing.T) {
	const n = 12_000
	var steps, bad, attributes, nested, names strings.Builder
	for i := range n {
		steps.WriteString("  - {name: s" + strings.Repeat("x", i%7) + itoa(i) + ", kind: emit, event: e, data: \"${steps.sx" + itoa(i) + "}\"}\n")
		bad.WriteString("  - {name: s, kind: emitt, when: \"agent.abc" + itoa(i) + "\"}\n")
		attributes.WriteString("    a" + itoa(i) + ": ${agent.b" + itoa(i) + "}\n")
		names.WriteString("  p" + itoa(i) + ": 1\n")
	}
	for i := range 60 {
		nested.WriteString(strings.Repeat("    ", i) + "  step s" + itoa(i) + ":\n" + strings.Repeat("    ", i) + "    kind: for\n" +
			strings.Repeat("    ", i) + "    each: range(9)\n" + strings.Repeat("    ", i) + "    as: i" + itoa(i) + "\n" + strings.Repeat("    ", i) + "    do:\n")
	}
	for name, text := range map[string]string{
		"steps":      "chain c:\n" + steps.String(),
		"mistakes":   "chain c:\n" + bad.String(),
		"attributes": "population:\n  count: 1\n  attributes:\n" + attributes.String() + "chain c: {step a: {kind: emit, event: e}}\n",
		"parameters": "parameters:\n" + names.String() + "chain c: {step a: {kind: emit, event: e}}\n",
		"nested":     "chain c:\n" + nested.String(),
		"a path":     "services: {s: {kind: http, url: 'http://x'}}\nchain c: {step a: {kind: http, service: s, get: '/" + strings.Repeat("${'}'}", n) + "'}}",
		"a word":     "chain c: {step " + strings.Repeat("a", n) + ": {kind: " + strings.Repeat("b", n) + "}}",
	} {
		t.Run(name, func(t *testing.T) { readWhatever(t, []byte(text), nil) })
	}
}

// readPeople reads arbitrary bytes as a population file and checks that the result is agents that can all be read, or
// mistakes with positions in the file.
func readPeople(t *testing.T, file, content string) {
	t.Helper()
	s, err := read(minimal("population: {from: "+file+"}"), map[string]string{file: content}, nil)
	if mistakes, ok := errors.AsType[*Mistakes](err); ok {
		told := 0
		for _, p := range mistakes.report.Problems() {
			lines := strings.Split(strings.TrimPrefix(content, byteOrderMark), "\n")
			if p.File != file || p.Line < 1 || p.Line > len(lines) || p.Col < 1 || p.Col > len(lines[p.Line-1])+2 || p.Problem == "" {
				t.Fatalf("a mistake without a position: %+v", p)
			}
			told++
		}
		if told > maxTold+1 {
			t.Fatalf("%d mistakes reported", told)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if s.Agents != s.population.table.rows {
		t.Fatalf("%d agents of %d rows", s.Agents, s.population.table.rows)
	}
	seen := map[string]bool{}
	for i := range s.Agents {
		a := newAgent(&s.population, 1, i, nil)
		id, err := a.id()
		if err != nil || id == "" || seen[id] {
			t.Fatalf("agent %d is called %q, %v", i, id, err)
		}
		seen[id] = true
		for _, name := range s.population.table.names {
			v, err := a.Field(name)
			if err != nil || v == nil {
				t.Fatalf("agent %d, %s: %v, %v", i, name, v, err)
			}
			if data, err := value.Data(v); err != nil || v != value.Missing && data.String() != v.String() {
				t.Fatalf("agent %d, %s: %v is not data: %v", i, name, v, err)
			}
		}
	}
}

func FuzzCSV(f *testing.F) {
	for _, text := range []string{neighbours, "\ufeffa\r\n1\r\n", "a,b\n\"x\"\"\ny\",1.5\n,true\n", "id\n1\n1\n", "a\n\"", "a,a\n\xff", "a\n\n\n1e5\n"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) { readPeople(t, "people.csv", text) })
}

func FuzzJSONL(f *testing.F) {
	for _, text := range []string{"{\"id\":1}\n{\"id\":\"x\",\"a\":[{}]}\n", "\ufeff{}\r\n\n{\"a\":1e3}", "[1]\n{", "{\"id\":{}}", "{\"a\":1,\"a\":2}\n\xff", "{\"index\":1}"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) { readPeople(t, "people.jsonl", text) })
}
