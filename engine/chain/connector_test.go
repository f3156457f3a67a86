package chain

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/enginetest"
)

// TestConnectors checks what the templates of connectors can use, and what connectors return.
func TestConnectors(t *testing.T) {
	tests := []struct{ name, steps, others, records, events string }{
		{"options", `
step a: {kind: connector, target: twice, options: {x: "${params.n}", y: [1]}}
step b: {kind: emit, event: b, data: "${steps.a}"}
`, `
connectors:
  twice: {kind: python, call: "[options.x * 2, options.y, len(options)]"}
`, "a:ok b:ok", "b=[6,[1],2]"},
		{"no options are missing", `
step a: {kind: connector, target: c}
step b: {kind: emit, event: b, data: "${steps.a}"}
`, `
connectors:
  c: {kind: python, call: "[options, options.x, not options]"}
`, "a:ok b:ok", "b=[null,null,true]"},
		{"previous, the loop's step and its agent", `
step a: {kind: python, call: 5}
step f:
  kind: for
  each: "[1, 2]"
  as: i
  do:
    step p: {kind: python, call: i * 10}
    step c: {kind: connector, target: c, options: {i: "${i}"}}
step b: {kind: emit, event: b, data: "${[x.c for x in steps.f]}"}
`, `
connectors:
  c: {kind: python, call: "[previous, options.i, agent.id]"}
`, "a:ok f:ok f[0].p:ok f[0].c:ok f[1].p:ok f[1].c:ok b:ok", `b=[[10,1,"a0"],[20,2,"a0"]]`},
		{"all steps, handed to a function", `
step a: {kind: python, call: 5}
step c: {kind: connector, target: c}
step b: {kind: emit, event: b, data: "${steps.c}"}
`, `
connectors:
  c: {kind: python, target: seen}
`, "a:ok c:ok b:ok", `b=["a"]`},
		{"emit, remember and say", `
step a: {kind: connector, target: tells, options: {what: news}}
step b: {kind: connector, target: keeps, options: {what: news}}
step c: {kind: emit, event: c, data: "${agent.memory.kept}"}
`, `
connectors:
  tells: {kind: emit, event: "${options.what}", data: "${options}"}
  keeps: {kind: remember, set: {kept: "${options.what}"}}
`, "a:ok b:ok c:ok", `news={"what":"news"} c="news"`},
		{"a chain, whose steps see their input only", `
step a: {kind: connector, target: c, options: {x: 4}}
step b: {kind: emit, event: b, data: "${steps.a}"}
`, `
chain sub:
  step s: {kind: python, call: input + 1}
connectors:
  c: {kind: chain, target: sub, input: "${options.x * 10}"}
`, "a:ok a.s:ok b:ok", "b=41"},
		{"a loop's variable called options is not the connector's", `
step f:
  kind: for
  each: "[7]"
  as: options
  do:
    step c: {kind: connector, target: c, options: {x: "${options}"}}
    step b: {kind: emit, event: b, data: "${[steps.c, options]}"}
`, `
connectors:
  c: {kind: python, call: "options.x"}
`, "f:ok f[0].c:ok f[0].b:ok", "b=[7,7]"},
		{"options that fail fail the step", `
step a: {kind: connector, target: c, options: {x: "${bad()}"}, default: 3}
step b: {kind: emit, event: b, data: "${steps.a}"}
`, `
connectors:
  c: {kind: python, call: 1}
`, "a:failed:script b:ok", "b=3"},
		{"a condition skips it", `
step a: {kind: connector, target: c, when: false, options: {x: "${bad()}"}}
`, `
connectors:
  c: {kind: python, call: 1}
`, "a:skipped", ""},
	}
	const functions = functions + "\ndef seen(steps):\n    return keys(steps)\n"
	for _, tt := range tests {
		for _, mode := range modes {
			t.Run(tt.name+"/"+mode.name, func(t *testing.T) {
				row := stage{steps: tt.steps, others: tt.others, functions: functions, change: mode.change}.one(t)
				if row.Outcome != engine.OK {
					t.Fatalf("%v: %s", row.Outcome, row.Error)
				}
				if got := steps(&row); got != tt.records {
					t.Errorf("steps\n got %s\nwant %s", got, tt.records)
				}
				if got := events(&row); got != tt.events {
					t.Errorf("events\n got %s\nwant %s", got, tt.events)
				}
			})
		}
	}
}

// TestConnectorsGiveWhatTheirStepsWouldGive checks that a step that uses a connector has the same draws, results and
// failures as the same step written out.
func TestConnectorsGiveWhatTheirStepsWouldGive(t *testing.T) {
	const form = `
step f:
  kind: for
  each: "[1, 2, 3]"
  as: i
  do:
    step a: %s
    step b: %s
    step e: {kind: emit, event: e, data: "${[steps.a, steps.b]}"}
`
	bodies := map[string]string{
		"drawn": `kind: python, call: "[uniform(0, 1), pick([1, 2, 3, 4, 5, 6, 7])]"`, "drawn twice": `kind: emit, event: x, data: ["${uniform(0, 1)}", {y: "${chance(0.5)}"}]`,
		"of a chain": `kind: chain, target: sub, input: "${uniform(0, 1)}"`, "failing": `kind: python, call: "[][uniform(0, 1)]"`,
		"before": `kind: python, call: "[previous, session.cycle, now.hour]"`,
	}
	const sub = "\nchain sub:\n  step s: {kind: python, call: \"[input, uniform(0, 1)]\"}\n"
	for name, body := range bodies {
		t.Run(name, func(t *testing.T) {
			const more = ", on_error: continue"
			out := stage{steps: fmt.Sprintf(form, "{"+body+more+"}", "{"+body+more+", parallel: true}"), others: sub, agents: 3}.run(t)
			use := "{kind: connector, target: c" + more
			in := stage{steps: fmt.Sprintf(form, use+"}", use+", parallel: true}"), others: sub + "connectors: {c: {" + body + "}}\n", agents: 3}.run(t)
			if got, want := enginetest.Results(in), enginetest.Results(out); got != want {
				t.Errorf("with a connector\n%s\nwritten out\n%s", got, want)
			}
		})
	}
}

// TestConnectorsInParallel checks that adjacent steps with one connector run in parallel: each request is answered once
// both have arrived.
func TestConnectorsInParallel(t *testing.T) {
	both := make(chan struct{}, 1)
	address := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		select {
		case both <- struct{}{}:
			both <- struct{}{}
		case <-both:
		}
		js(w, 200, string(body))
	})
	row := stage{address: address, steps: `
step a: {kind: connector, target: ask, options: {x: 1}, parallel: true, timeout: 30s}
step b: {kind: connector, target: ask, options: {x: 2}, parallel: true, timeout: 30s}
step c: {kind: emit, event: c, data: "${[steps.a.got, steps.b.got]}"}
`, others: `
connectors:
  ask: {kind: http, service: shop, post: /ask, json: {got: "${options.x}"}}
`}.one(t)
	if got := events(&row); got != "c=[1,2]" {
		t.Errorf("%s, %v: %s", got, row.Outcome, row.Error)
	}
}

// TestConnectorDefaults checks that a connector's timeout and retries apply to steps that set none.
func TestConnectorDefaults(t *testing.T) {
	st := stage{steps: `
step a: {kind: connector, target: c}
step b: {kind: connector, target: c, timeout: 7s, retry: {attempts: 9}}
step d: {kind: connector, target: c, retry: {wait: 0}}
`, others: `
connectors:
  c: {kind: http, service: shop, get: /, timeout: 3s, retry: {attempts: 2, wait: 1s, max: 5s}, private: true}
`}
	c, report, _ := st.read(t)
	if err := report.Err(); err != nil {
		t.Fatal(err)
	}
	var got []string
	c.Walk(func(path string, s *Step) {
		r := s.retry.Over(engine.Retry{Attempts: 1, Wait: time.Minute, Max: time.Minute})
		got = append(got, fmt.Sprint(path, " ", s.Kind, " ", s.timeout, " ", r.Attempts, " ", r.Wait, " ", r.Max, " ", s.private))
	})
	want := "a connector 3s 2 1s 5s true, b connector 7s 9 1s 5s true, d connector 3s 2 0s 5s true"
	if text := strings.Join(got, ", "); text != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
}

// TestConnectorMistakes checks that errors are reported once, at the connector, regardless of the steps that use it.
func TestConnectorMistakes(t *testing.T) {
	const uses = `
step a: {kind: connector, target: c}
step b: {kind: connector, target: c, options: {x: 1}}
`
	tests := []struct{ steps, connectors, want string }{
		{uses, "c: 3", "the connector c has no keys"},
		{uses, "c: {}", "the connector c has no kind"},
		{uses, "c: {kind: conector}", `there is no kind of step "conector"`},
		{uses, "c: {kind: connector, target: c}", `there is no kind of step "connector" (one of http,`},
		{uses, "c: {kind: if, condition: 'True'}", `there is no kind of step "if"`},
		{uses, "c: {kind: stop}", `there is no kind of step "stop"`},
		{uses, "c: {kind: python, call: 1, parallel: true}", "unknown key `parallel`"},
		{uses, "c: {kind: python, call: 1, depends_on: [a]}", "unknown key `depends_on`"},
		{uses, "c: {kind: python, call: 1, when: true}", "unknown key `when`"},
		{uses, "c: {kind: python, call: optoins.x}", "undefined: optoins (did you mean options?)"},
		{uses, "c: {kind: python, call: steps.a}", "a connector does not know which steps stand around it (a step hands over what it needs: `options: {a: \"${steps.a}\"}`)"},
		{uses, "c: {kind: http, service: shoop, get: /}", "there is no service shoop (did you mean `shop`?)"},
		{uses, "c: {kind: chain, target: nowhere}", "there is no chain nowhere"},
		{uses, "c: {kind: chain, target: test}", "a cycle of chains: test runs test"},
		{"step a: {kind: connector}", "c: {kind: python, call: 1}", "needs `target`"},
		{"step a: {kind: connector, target: c, options: [1]}", "c: {kind: python, call: 1}", "`options` must be a map of keys, found a list"},
		{"step a: {kind: connector, target: c, options: {x: '${nope}'}}", "c: {kind: python, call: 1}", "undefined: nope"},
		{"step a: {kind: emit, event: e}", "c: {kind: python, call: nope()}", "undefined: nope"},
		{"step a: {kind: python, call: options.x}", "c: {kind: python, call: 1}", "undefined: options"},
	}
	for _, tt := range tests {
		t.Run(tt.connectors, func(t *testing.T) {
			st := stage{steps: tt.steps, functions: functions, others: "connectors:\n" + indent(tt.connectors)}
			_, report, _ := st.read(t)
			problems := report.Problems()
			if len(problems) != 1 || !strings.Contains(problems[0].Error(), tt.want) {
				t.Errorf("got\n%v\nwant once: %s", report.Err(), tt.want)
			}
		})
	}
}

// TestStandIns checks the warnings about connectors and functions that are not defined.
func TestStandIns(t *testing.T) {
	st := stage{steps: `
step a: {kind: connector, target: sumarizer}
step b: {kind: connector, target: "odd  name/x"}
step c: {kind: python, target: classify}
step d: {kind: connector, target: known}
step e: {kind: connector, target: summarizer}
step f: {kind: connector, target: sumarizer}
`, others: `
connectors:
  known: {kind: python, target: unknown}
  summarizer: {kind: python, call: 1}
`}
	c, report, _ := st.read(t)
	if err := report.Err(); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, w := range report.Warnings() {
		got = append(got, w.Error())
	}
	const end = "against real services this is an error)"
	want := []string{
		"test.yaml:2:37: there is no connector sumarizer: the mock answers in its place (did you mean `summarizer`? define it under `connectors`: " + end,
		"test.yaml:3:37: there is no connector odd  name/x: the mock answers in its place (there are known, summarizer; define it under `connectors`: " + end,
		"test.yaml:4:34: there is no function classify: the mock answers in its place (define it under `functions`: " + end,
		"test.yaml:7:37: there is no connector sumarizer: the mock answers in its place (did you mean `summarizer`? define it under `connectors`: " + end,
		"test.yaml:9:33: there is no function unknown: the mock answers in its place (define it under `functions`: " + end,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	var marked []string
	c.Walk(func(path string, s *Step) {
		if s.Mocked {
			marked = append(marked, path)
		}
	})
	if got := strings.Join(marked, " "); got != "a b c d f" {
		t.Errorf("marked as mocked: %s", got)
	}
}
