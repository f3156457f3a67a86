package scenario

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/throng-sim/throng/engine"
	"go.uber.org/goleak"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// read reads a scenario from a text, with additional files.
func read(text string, files map[string]string, given map[string]string) (*Scenario, error) {
	folder := fstest.MapFS{"test.yaml": {Data: []byte(text)}}
	for name, content := range files {
		folder[name] = &fstest.MapFile{Data: []byte(content)}
	}
	return Read("test.yaml", FS(folder), given)
}

// minimal returns a scenario with additional lines.
func minimal(lines string) string { return lines + "\nchain c: {step a: {kind: emit, event: e}}\n" }

// signed returns a scenario with a service that requires a sign-in.
func signed(auth string) string {
	return minimal("services: {s: {kind: http, url: 'http://x', auth: " + auth + "}}")
}

// TestAuth checks which secrets a service needs for each kind of sign-in.
func TestAuth(t *testing.T) {
	for _, tt := range []struct{ auth, bearer, secrets string }{
		{"{}", "", "[]"},
		{"{bearer: 'secret:B-1.x'}", "B-1.x", "[]"},
		{"{jwt: {secret: 'secret:K', claims: {sub: '${agent.id}', at: '${now.hour}'}, alg: HS512, ttl: 2h}}", "", "[K]"},
		{"{login: {post: /in, json: {p: 'secret:P', l: ['secret:P', 'secret:Q'], u: '${agent.id} ${session.uuid}'}, token: body.t}}", "", "[P Q]"},
		{"{login: {put: '/in/${agent.id}', form: {p: 'secret:P'}, expect: [200, 201], token: headers.x-t, header: X-A, scheme: Key}}", "", "[P]"},
	} {
		s, err := read(signed(tt.auth), nil, nil)
		if err != nil {
			t.Errorf("%s: %v", tt.auth, err)
			continue
		}
		if got := s.Services[0]; got.Bearer != tt.bearer || fmt.Sprint(got.Secrets()) != tt.secrets {
			t.Errorf("%s: bearer %q, secrets %v", tt.auth, got.Bearer, got.Secrets())
		}
	}
}

// TestMistakes compares the printed mistakes of a file and of its functions with golden files.
func TestMistakes(t *testing.T) {
	_, err := Load("testdata/mistakes.yaml", map[string]string{"agents": "20"})
	mistakes, ok := errors.AsType[*Mistakes](err)
	if !ok {
		t.Fatalf("got %v", err)
	}
	golden(t, "testdata/mistakes.txt", mistakes)
	if strings.Contains(mistakes.Error(), "hunter2") {
		t.Errorf("the error contains a secret: %v", mistakes)
	}
	if n := mistakes.Count(); n < 10 || !strings.HasPrefix(mistakes.Error(), fmt.Sprintf("%d mistakes, the first: mistakes.yaml:5:21: ", n)) {
		t.Errorf("%d: %v", n, mistakes)
	}
}

// golden compares printed mistakes with a golden file.
func golden(t *testing.T, file string, mistakes *Mistakes) {
	t.Helper()
	var got bytes.Buffer
	if err := mistakes.Print(&got); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(file, got.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("got\n%s\nwant\n%s", got.Bytes(), want)
	}
}

// TestSingleMistakes checks single errors and their positions.
func TestSingleMistakes(t *testing.T) {
	tests := []struct{ text, want string }{
		{"title: x", "the scenario has no chain"},
		{minimal("population: {count: -1}"), "test.yaml:1:21: `count` cannot be `-1` (it must be between 0 and 10000000)"},
		{minimal("population: {count: 10000001}"), "it must be between 0 and 10000000"},
		{minimal(`population: {count: "${-1}"}`), "test.yaml:1:21: ${-1} is -1 (a whole number from 0 to 10000000)"},
		{minimal(`population: {count: "${1.5}"}`), "${1.5} is 1.5 (a whole number"},
		{minimal(`population: {count: "${1 // 0}"}`), "division by zero"},
		{minimal("population: {attributes: {a: 1}}"), "needs `count`"},
		{minimal("population: {count: 1, attributes: {id: 1}}"), "id is what every agent has already"},
		{minimal("population: {count: 1, attributes: {a b: 1}}"), `"a b" cannot be the name of an attribute`},
		{minimal(`population: {count: 1, attributes: {a: "${[][1]}"}}`), "test.yaml:1:40: the first agent: the attribute a:"},
		{minimal(`population: {count: 1, attributes: {a: "${agent.b}", b: 1}}`), "agent has no b here"},
		{minimal(`population: {count: 1, attributes: {a: "${agent.notes}"}}`), "values that change between cycles cannot be used here"},
		{minimal(`population: {count: 1, id: "${agent.id}"}`), "cannot depend on itself"},
		{minimal(`population: {count: 1, id: "${None}"}`), "the id of agent 0 is empty"},
		{minimal("parameters: {a: null}"), "the parameter a has no default"},
		{minimal("parameters: {a: {min: 1}}"), "needs `default`"},
		{minimal("parameters: {a: {default: 5, max: 4}}"), "the default 5 is above 4"},
		{minimal("parameters: {a: {default: 9, min: 9, max: 4}}"), "`max` cannot be `4` (it must be at least 9)"},
		{minimal("parameters: {a: {default: x, min: 1}}"), "min is for numbers"},
		{minimal("parameters: {a: {default: x, choices: [y]}}"), `the default "x" is not one of y`},
		{minimal("parameters: {a-b: 1}"), `"a-b" cannot be the name of a parameter`},
		{minimal("clock: {start: 2026-01-02}"), "is not a time (such as"},
		{minimal("clock: {cycle: 0}"), "`cycle` cannot be `0`"},
		{minimal("order: random"), "`order` cannot be `random`"},
		{minimal("acted: order"), "the chain c never emits order (it emits e)"},
		{minimal("run: d"), "there is no chain d"},
		{minimal("warm_up: {cycles: 2}"), "needs `shares`"},
		{minimal("conectors: {}"), "unknown key `conectors`"},
		{minimal("interventions: [{cycle: 1, to: all}]"), "an intervention that says nothing"},
		{minimal("interventions: [{cycle: -1, to: all, text: x}]"), "`cycle` cannot be `-1`"},
		{minimal("interventions: [{to: all, text: x}]"), "cycle"},
		{minimal(`interventions: [{cycle: 1, to: all, text: "${agent.id}"}]`), "undefined: agent"},
		{minimal("conectors: {}"), "unknown key `conectors`"},
		{"chain a b: {step a: {kind: emit, event: e}}", "cannot be the name of a chain"},
		{"chain a: {step a: {kind: emit, event: e}}\nchain  a: {step a: {kind: emit, event: e}}", "there is another chain a"},
		{"chain a: {step a: {kind: emit, event: e}}\nchain a: {step a: {kind: emit, event: e}}", "duplicate key"},
		{minimal("services: {s: {kind: smtp, url: 'mock:model'}}"), "`kind` cannot be `smtp` (one of http, llm, postgres, mcp)"},
		{minimal("services: {s: {kind: llm, provider: opnai}}"), "there is no provider opnai (did you mean `openai`? mock, openai, anthropic, openrouter, lambda, ollama, lmstudio, llamacpp, vllm; or `url`)"},
		{minimal("services: {s: {kind: llm}}"), "a service of models without an address (`provider: openrouter`, or `url: https://llm.example.com/v1`)"},
		{minimal("services: {s: {kind: llm, provider: vllm}}"), "which model is to answer? (`model: NAME`, or a list that is tried in order)"},
		{minimal("services: {s: {kind: llm, url: 'mock:shop'}}"), "there is no mock \"shop\" (there is mock:model)"},
		{minimal("services: {s: {kind: http, url: 'mock:shopp'}}"), `there is no mock "shopp"`},
		{minimal("services: {s: {kind: http}}"), "needs `url`"},
		{minimal("services: {s: {kind: http, url: 'ftp://x'}}"), "does not begin with http:// or https://"},
		{minimal("services: {s: {kind: http, url: 'http://u:p@x'}}"), "an address must not contain a password"},
		{minimal("services: {s: {kind: http, url: 'http://x/?k=p'}}"), "more than a host and a path"},
		{minimal("services: {s: {kind: http, url: 'http://x', auth: {bearer: sk-1}}}"), "a secret must not be in the file"},
		{minimal(`services: {s: {kind: http, url: 'http://x', auth: {bearer: "secret:${1}"}}}`), "a secret must not be in the file"},
		{minimal("services: {s: {kind: http, url: 'http://x', auth: {user: a, bearer: 'secret:B'}}}"), "cannot be combined with"},
		{signed("{login: {post: /in, token: body.t}, jwt: {secret: 'secret:K'}}"), "`jwt` cannot be combined with `login`"},
		{signed("{jwts: {}}"), "did you mean `jwt`?"},
		{signed("{jwt: {}}"), "needs `secret`"},
		{signed("{jwt: x}"), "a map of keys"},
		{signed("{jwt: {secret: k3y}}"), "a secret must not be in the file"},
		{signed("{jwt: {secret: 'secret:K', alg: RS256}}"), "`alg` cannot be `RS256`"},
		{signed("{jwt: {secret: 'secret:K', alg: none}}"), "`alg` cannot be `none`"},
		{signed("{jwt: {secret: 'secret:K', ttl: 0}}"), "`ttl` cannot be `0`"},
		{signed("{jwt: {secret: 'secret:K', claims: [a]}}"), "a map of keys"},
		{signed("{jwt: {secret: 'secret:K', claims: {exp: 1}}}"), "the claim exp is set by Throng itself"},
		{signed("{jwt: {secret: 'secret:K', claims: {sub: '${steps.a}'}}}"), "undefined: steps"},
		{signed("{jwt: {secret: 'secret:K', scheme: 'a b'}}"), `"a b" cannot stand before a token`},
		{signed("{login: x}"), "a map of keys"},
		{signed("{login: {token: body.t}}"), "a login without a request"},
		{signed("{login: {post: /in, put: /in, token: body.t}}"), "`put` cannot be combined with `post`"},
		{signed("{login: {post: /in}}"), "needs `token`"},
		{signed("{login: {post: /in, token: t}}"), "it names neither the body of the answer nor a header of it (such as body.access_token"},
		{signed("{login: {post: /in, token: body.t, json: {p: 'secret:a b'}}}"), "a secret must not be in the file"},
		{signed("{login: {post: 'ftp://y/in', token: body.t}}"), "does not begin with http"},
		{signed("{login: {post: /in, token: body.t, header: Cookie x}}"), `"Cookie x" cannot be the name of a header`},
		{signed("{login: {post: /in, token: body.t, header: Host}}"), "the header Host is set by Throng itself"},
		{minimal("services: {s: {kind: http, url: 'http://x', headers: {Authorization: x}}}"), "a secret must not be in the file"},
		{minimal(`services: {s: {kind: http, url: 'http://x', headers: {A: "${steps.a}"}}}`), "undefined: steps"},
		{minimal("services: {s: {kind: http, url: 'http://x', limits: {connections: 0}}}"), "`connections` cannot be `0`"},
		{minimal("services: {s: {kind: http, url: 'http://x', limits: {rate: 5, max_rate: 3}}}"), "the greatest rate is below the one to start with"},
		{minimal("services: {s: {kind: http, url: 'http://x', limits: {pace: bukcet, rate: 5}}}"), "did you mean `bucket`? one of adaptive, bucket, fixed"},
		{minimal("services: {s: {kind: http, url: 'http://x', limits: {pace: fixed}}}"), "a fixed pace wants a rate"},
		{minimal("services: {s: {kind: http, url: 'http://x', limits: {pace: bucket, rate: 5, max_rate: 9}}}"), "a bucket pace does not grow"},
		{minimal("services: {s: {kind: http, url: 'http://x', limits: {rate: 5, burst: 9}}}"), "only a token bucket has a burst"},
		{minimal("services: {s: {kind: http, url: 'http://x', limits: {pace: bucket, rate: 5, burst: 0}}}"), "`burst` cannot be `0`"},
		{minimal("success: {error_rate: 5}"), "a share up to 100%"},
		{minimal("success: {error_rate: < 101%}"), "a share up to 100%"},
		{minimal("success: {memory: 12}"), "a size, such as 12GB"},
		{minimal("success: {cycle_time: fast}"), "a time, such as 60s or 5m"},
		{minimal("success: {db_connections: -1}"), "a number"},
		{minimal("success: {db_connections: inf}"), "a number"},
		{minimal("success: {cost: < 50%}"), "US dollars, such as 0.50"},
		{minimal("success: {eror_rate: 5%}"), "did you mean `error_rate`?"},
		{minimal("functions: |\n  def f(x):\n    return y\n"), "test.yaml:3:12: undefined: y"},
		{minimal("functions: nowhere.star"), "test.yaml:1:12: the functions cannot be read: there is no file nowhere.star (the file must be in"},
		{minimal("functions: helpers.py"), "functions are in files that end in .star, not .py"},
		{minimal("functions: bad.star"), "bad.star:2:12: undefined: y"},
		{minimal("functions: syntax.star"), "syntax.star:1:"},
		{minimal("functions: ../up.star"), "the functions cannot be read"},
	}
	files := map[string]string{"bad.star": "def f(x):\n    return y\n", "syntax.star": "def f(x:\n    return x\n"}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			_, err := read(tt.text, files, nil)
			if mistakes, ok := errors.AsType[*Mistakes](err); !ok || mistakes.Count() != 1 || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got\n%v\nwant %s", err, tt.want)
			}
		})
	}
}

// TestFunctionsWithMistakesHideNothing checks that errors in functions do not keep the rest of the file from being
// read, and cause no errors there.
func TestFunctionsWithMistakesHideNothing(t *testing.T) {
	const text = `
parameters: {n: 3}
population: {count: "${f(1)}"}
functions: f.star
success: {error_rate: 5}
chain c:
  step a: {kind: python, target: f}
  step b: {kind: python, call: g(steps.nope)}
  step d: {kind: for, each: h(), as: item, do: {step e: {kind: emit, event: e}}}
`
	for name, files := range map[string]map[string]string{"broken": {"f.star": "def f(x:\n  pass"}, "missing": nil} {
		_, err := read(text, files, nil)
		mistakes, ok := errors.AsType[*Mistakes](err)
		if !ok || mistakes.Count() != 3 {
			var b bytes.Buffer
			if ok {
				_ = mistakes.Print(&b)
			}
			t.Errorf("%s: %v\n%s", name, err, &b)
		}
	}
}

func TestParametersThatAreGiven(t *testing.T) {
	const text = `
parameters:
  count: {default: 3, min: 1, max: 10}
  rate: 0.5
  name: {default: shop, choices: [shop, bank]}
  note: ''
  fast: false
  level: {default: 2, choices: [1, 2]}
chain c: {step a: {kind: emit, event: e, data: "${params}"}}
`
	for _, tt := range []struct{ name, value, want string }{
		{"count", "7", "7"},
		{"count", " 7 ", "7"},
		{"rate", "2", "2.0"},
		{"rate", "1e-3", "0.001"},
		{"name", "bank", `"bank"`},
		{"note", ` "x" `, `" \"x\" "`},
		{"fast", "true", "True"},
		{"level", "1", "1"},
		{"count", "0", "count: 0 is below 1"},
		{"count", "11", "count: 11 is above 10"},
		{"count", "2.5", `count: "2.5" is not a whole number`},
		{"count", "", `count: "" is not a whole number`},
		{"rate", "x", `rate: "x" is not a number`},
		{"rate", "NaN", `rate: "NaN" is not a number`},
		{"rate", "Inf", `rate: "Inf" is not a number`},
		{"name", "banc", `name: "banc" is not one of shop, bank`},
		{"fast", "maybe", `fast: "maybe" is not true or false`},
		{"level", "3", `level: "3" is not one of 1, 2`},
		{"cuont", "3", "cuont: the scenario has no such parameter (did you mean count?)"},
		{"zzz", "3", "zzz: the scenario has no such parameter (it has count, fast, level, name, note, rate)"},
	} {
		s, err := read(text, nil, map[string]string{tt.name: tt.value})
		if err != nil {
			if _, ok := errors.AsType[*engine.FieldError](err); !ok || err.Error() != tt.want {
				t.Errorf("%s=%s: got %v, want %s", tt.name, tt.value, err, tt.want)
			}
			continue
		}
		for _, p := range s.Parameters {
			if p.Name == tt.name && p.Value.String() != tt.want {
				t.Errorf("%s=%s: got %s, want %s", tt.name, tt.value, p.Value, tt.want)
			}
		}
		again, err := Restore(s.Source)
		if err != nil {
			t.Errorf("%s=%s: %v", tt.name, tt.value, err)
			continue
		}
		for i, p := range again.Parameters {
			if p.Value.String() != s.Parameters[i].Value.String() || p.Value.Type() != s.Parameters[i].Value.Type() {
				t.Errorf("%s: %s came back as %s", p.Name, s.Parameters[i].Value, p.Value)
			}
		}
	}
	_, err := read(text, nil, map[string]string{"count": "0", "fast": "x", "a": "b"})
	if got := strings.Count(fmt.Sprint(err), "\n"); got != 2 {
		t.Errorf("three errors together: %v", err)
	}
}

func TestRestoreChecksItsHash(t *testing.T) {
	s, err := read(minimal("functions: f.star"), map[string]string{"f.star": "x = 1\n"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Source.Files) != 2 {
		t.Errorf("files %v", s.Source.Files)
	}
	s.Source.Files["f.star"] = []byte("x = 2\n")
	if _, err := Restore(s.Source); err == nil || !strings.Contains(err.Error(), "hash") {
		t.Errorf("a changed file: %v", err)
	}
	delete(s.Source.Files, "f.star")
	if _, err := Restore(s.Source); err == nil {
		t.Error("a missing file was not noticed")
	}
}

// TestFilesStayInTheFolder checks that files outside the scenario's folder cannot be read, on a real disk.
func TestFilesStayInTheFolder(t *testing.T) {
	outer := t.TempDir()
	dir := filepath.Join(outer, "scenario")
	write := func(path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(outer, "x.star"), "x = 1\n")
	write(filepath.Join(dir, "sub", "y.star"), "x = 1\n")
	write(filepath.Join(dir, "folder.star", "z"), "")
	for link, to := range map[string]string{"link.star": filepath.Join(outer, "x.star"), "rel.star": "../x.star", "in.star": "sub/y.star"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	for path, fine := range map[string]bool{
		"sub/y.star": true, "in.star": true, "./sub/../sub/y.star": true,
		"../x.star": false, filepath.Join(outer, "x.star"): false, "link.star": false, "rel.star": false, "sub/../../x.star": false, "folder.star": false,
	} {
		write(filepath.Join(dir, "s.yaml"), minimal("functions: "+path))
		_, err := Load(filepath.Join(dir, "s.yaml"), nil)
		if fine != (err == nil) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := Load(filepath.Join(dir, "none.yaml"), nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}

func TestSuccess(t *testing.T) {
	s, err := read(minimal(`
success:
  agents_completed: 100%
  error_rate: "< 0.05"
  cycle_time: "<= 1m30s"
  memory: < 12 GB
  db_connections: = 55
  checkpoint_gap: 300
  latency_p95: "> 1.5"
  latency_p99: ">= 250ms"
  duration: 1h
  cost: < $0.50
`), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []engine.Criterion{
		{Metric: "agents_completed", Op: ">=", Bound: 1, Text: "100%"},
		{Metric: "error_rate", Op: "<", Bound: 0.05, Text: "< 0.05"},
		{Metric: "cycle_time", Op: "<=", Bound: 90, Text: "<= 1m30s"},
		{Metric: "memory", Op: "<", Bound: 12e9, Text: "< 12 GB"},
		{Metric: "db_connections", Op: "=", Bound: 55, Text: "= 55"},
		{Metric: "checkpoint_gap", Op: "<=", Bound: 300, Text: "300"},
		{Metric: "latency_p95", Op: ">", Bound: 1.5, Text: "> 1.5"},
		{Metric: "latency_p99", Op: ">=", Bound: 0.25, Text: ">= 250ms"},
		{Metric: "duration", Op: "<=", Bound: 3600, Text: "1h"},
		{Metric: "cost", Op: "<", Bound: 0.5, Text: "< $0.50"},
	}
	if !reflect.DeepEqual(s.Success, want) {
		t.Errorf("got %+v, want %+v", s.Success, want)
	}
}

// TestScenario checks all settings of a scenario other than its chain.
func TestScenario(t *testing.T) {
	s, err := read(`
about: what it is
parameters: {n: 4}
clock: {start: 2026-01-02T08:00:00+01:00, cycle: 90, cycles: "${2 * params.n}"}
population: {count: "${params.n}"}
acted: e
warm_up: {shares: [0.5, 1], cycles: 3}
services:
  a: {kind: http, url: "http://127.0.0.1:${8000 + params.n}/v1", limits: {connections: 3, keepalive: 2, idle: 5, timeout: 1m}}
  b: {kind: http, url: "mock:shop"}
  c: {kind: http, url: "https://x.example", auth: {bearer: secret:TOKEN_1}}
  d: {kind: http, url: "https://x.example", auth: {user: x}}
run: second
chain first: {step a: {kind: emit, event: x}}
chain second: {label: Second, timeout: 5m, step a: {kind: emit, event: e}}
`, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if s.Title != "test.yaml" || s.About != "what it is" || s.Agents != 4 || s.Cycles != 8 || s.Clock.Cycle != 90*time.Second ||
		!s.Clock.Start.Equal(time.Date(2026, 1, 2, 7, 0, 0, 0, time.UTC)) || s.Acted != "e" || s.WarmUpEach != 3 || len(s.WarmUp) != 2 {
		t.Errorf("got %+v", s)
	}
	if s.Chain.Name != "second" || s.Chain.Timeout != 5*time.Minute {
		t.Errorf("chain %+v", s.Chain)
	}
	a, c := s.Services[0], s.Services[2]
	if a.URL != "http://127.0.0.1:8004/v1" || a.Limits.Connections != 3 || a.Limits.Timeout != time.Minute || c.Bearer != "TOKEN_1" {
		t.Errorf("services %+v, %+v", a, c)
	}
	var warnings bytes.Buffer
	if err := s.PrintWarnings(&warnings); err != nil || !strings.Contains(warnings.String(), "auth.user is how the mock signs in") {
		t.Errorf("warnings %q, %v", &warnings, err)
	}
}

func itoa(i int) string { return strconv.Itoa(i) }
