package chain

import (
	"strings"
	"testing"
)

// TestMistakes checks the errors of an invalid chain and their positions. Lines are counted from the start of the
// chain.
func TestMistakes(t *testing.T) {
	tests := []struct{ steps, want string }{
		{`step a: {kind: ftp, prompt: hello}`, `2:18: there is no kind of step "ftp" (one of http, `},
		{`step a: {kind: parallel}`, `there is no kind of step "parallel" (one of`},
		{`step a: {kind: htttp}`, "did you mean `http`?"},
		{`step a: {type: emitt, event: e}`, "did you mean `emit`?"},
		{`step a: {kind: telepathy, target: x}`, `there is no kind of step "telepathy"`},
		{`step a: {event: e}`, "the step a has no kind"},
		{"step a:\n  knd: emit\n  event: e", "3:5: unknown key `knd` (did you mean `kind`?"},
		{`step a:`, "the step a has no keys"},
		{`step a: {kind: emit, event: e, parallel: maybe}`, "must be true or false"},
		{`step a: {kind: emit, event: e, depends_on: {b: c}}`, "`depends_on` must be a list"},
		{`step a: {kind: emit, event: e, name: b}`, "unknown key `name`"},
		{`step a: {kind: emit, evnt: e}`, "did you mean `event`?"},
		{`step a: {kind: emit}`, "needs `event`"},
		{`step a: {kind: emit, event: ""}`, "an event without a name"},
		{`step a b: {kind: emit, event: e}`, `2:8: "a b" cannot be the name of a step`},
		{`step for: {kind: emit, event: e}`, `"for" cannot be the name of a step (letters, digits and _`},
		{`- {kind: emit, event: e}`, "a step without a name"},
		{"- {name: a, kind: emit, event: e}\n- {name: a, kind: emit, event: e}", "3:12: there is another step a"},
		{"step a: {kind: if, condition: a, then: {step a: {kind: emit, event: e}}}", "there is another step a"},
		{"step a: {kind: emit, event: e}\nsteps: {step b: {kind: emit, event: e}}", "a step next to `steps`"},
		{"steps: {b: {kind: emit, event: e}}", "unknown key `b`"},
		{"timeout: 5", "the chain test has no steps"},
		{`step a: {kind: emit, event: e, timeout: soon}`, "`timeout` must be a duration"},
		{`step a: {kind: emit, event: e, on_error: ignore}`, "`on_error` cannot be `ignore`"},
		{`step a: {kind: emit, event: e, on_error: fail, default: 1}`, "`default` on a step whose failure ends the session"},
		{`step a: {kind: emit, event: e, when: ""}`, "the expression is empty"},
		{`step a: {kind: emit, event: e, when: "${agent.id}"}`, "write it without ${ }"},
		{`step a: {kind: emit, event: e, when: agent.idd == "x"}`, "2:46: agent has no idd here (did you mean `id`?)"},
		{`step a: {kind: emit, event: e, data: "x ${agent.idd}"}`, "2:51: agent has no idd"},
		{`step a: {kind: emit, event: e, data: "${params.m}"}`, "params has no m here (there are n)"},
		{`step a: {kind: emit, event: e, data: "${nope}"}`, "2:43: undefined: nope"},
		{`step a: {kind: emit, event: e, data: "${[1}"}`, "2:43: this bracket is not closed"},
		{`step a: {kind: emit, event: e, data: "${steps.a}"}`, "there is no step a above this one (it comes later"},
		{"step a: {kind: emit, event: e, data: \"${steps.b}\"}\nstep b: {kind: emit, event: e}", "there is no step b above this one (it comes later"},
		{"step abc: {kind: emit, event: e}\nstep b: {kind: emit, event: e, data: \"${steps['abd']}\"}", "did you mean `abc`?"},
		{
			"step a: {kind: for, each: '[1]', as: i, do: {step b: {kind: emit, event: e}}}\nstep c: {kind: emit, event: e, data: \"${steps.b}\"}",
			"it is inside a; only `steps.a` can be seen from here",
		},
		{"step a: {kind: for, each: i, as: i, do: {step b: {kind: emit, event: e}}}", "undefined: i"},
		{"step a: {kind: for, each: '[1]', as: agent, do: {step b: {kind: emit, event: e}}}", `"agent" is already defined`},
		{"step a: {kind: for, each: '[1]', as: len, do: {step b: {kind: emit, event: e}}}", `"len" is already defined`},
		{"step a: {kind: for, each: '[1]', as: bad, do: {step b: {kind: emit, event: e}}}", `"bad" is already defined`},
		{"step a: {kind: for, each: '[1]', as: params, do: {step b: {kind: emit, event: e}}}", `"params" is already defined`},
		{"step a: {kind: for, each: '[1]', as: in, do: {step b: {kind: emit, event: e}}}", `"in" cannot be the name`},
		{"step a: {kind: for, each: '[1]', as: i, do: {step b: {kind: for, each: '[i]', as: i, do: {step c: {kind: emit, event: e}}}}}", `"i" is already defined`},
		{"step a: {kind: for, each: '[1]', as: i, do: {}}", "no steps"},
		{"step a: {kind: for, each: '[1]', do: [{name: b, kind: emit, event: e}]}", "needs `as`"},
		{"step a: {kind: for, each: '[1]', as: i, limit: 0, do: [{name: b, kind: emit, event: e}]}", "`limit` cannot be `0`"},
		{"step a: {kind: if, then: {step b: {kind: emit, event: e}}}", "needs `condition`"},
		{"step a: {kind: if, condition: 'True', then: {step taken: {kind: emit, event: e}}}", "cannot be called taken"},
		{"step a: {kind: if, condition: 'True', then: {kind: emit}}", "unknown key `kind`"},
		{"step a: {kind: while, condition: 'True'}", "needs `do`"},
		{"step a: {kind: while, condition: last.b, do: {}}", "no steps"},
		{"step a: {kind: while, condition: last.b, limit: 0, do: {step b: {kind: emit, event: e}}}", "`limit` cannot be `0`"},
		{"step a: {kind: while, condition: steps.b, do: {step b: {kind: emit, event: e}}}", "there is no step b above this one"},
		{"step a: {kind: chain}", "needs `target`"},
		{"step a: {kind: chain, target: tset}", "there is no chain tset (did you mean `test`?)"},
		{"step a: {kind: chain, target: elsewhere, input: '${nope}'}", "undefined: nope"},
		{"step a: {kind: chain, target: test}", "2:33: a cycle of chains: test runs test (a chain must not run itself"},
		{"step a: {kind: python}", "without a function"},
		{"step a: {kind: python, call: bad(), target: bad}", "cannot be combined with"},
		{"step a: {kind: python, target: badd}", "did you mean `bad`?"},
		{"step a: {kind: python, target: fail}", "the function fail has no value for why (arguments are matched by name"},
		{"step a: {kind: wait, for: soon}", "is not a duration"},
		{"step a: {kind: wait, for: -1}", "is not a duration"},
		{"step a: {kind: wait, for: [1]}", "is not a duration"},
		{"step a: {kind: wait}", "needs `for`"},
		{"step a: {kind: remember}", "nothing to remember"},
		{"step a: {kind: remember, set: {for: 1}}", `"for" cannot be the name of a memory`},
		{"step a: {kind: http, get: /x}", "needs `service`"},
		{"step a: {kind: http, service: shop}", "an http step without a request"},
		{"step a: {kind: http, service: shoop, get: /x}", "there is no service shoop (did you mean `shop`?)"},
		{"step a: {kind: http, service: bank, get: /x}", "there is no service bank (define it under services)"},
		{"step a: {kind: http, service: shop, get: /x, post: /y}", "cannot be combined with `get`"},
		{"step a: {kind: http, service: shop, get: /x, json: 1, body: 2}", "cannot be combined with `json`"},
		{"step a: {kind: http, service: shop, get: 'http://evil.example/'}", "names a host"},
		{"step a: {kind: http, service: shop, get: '//${agent.id}/x'}", "names a host"},
		{"step a: {kind: http, service: shop, get: '/a/../x'}", "climbs"},
		{"step a: {kind: http, service: shop, get: '/a#${agent.id}'}", "never sent"},
		{"step a: {kind: http, service: shop, get: '/${params.n - 3 or None}'}", "in the path is empty"},
		{"step a: {kind: http, service: shop, get: /x, query: [1]}", "must be a map"},
		{"step a: {kind: http, service: shop, get: /x, form: x}", "must be a map"},
		{"step a: {kind: http, service: shop, get: /x, expect: 99}", "must be between 100 and 599"},
		{"step a: {kind: http, service: shop, post: /x, repeats: maybe}", "one of keyed, unsafe, harmless, never"},
		{"step a: {kind: http, service: shop, get: /x, headers: {Host: x}}", "the header Host is set by Throng itself"},
		{"step a: {kind: http, service: shop, get: /x, headers: {idempotency-key: x}}", "the header Idempotency-Key is set by Throng itself"},
		{"step a: {kind: http, service: shop, get: /x, headers: {X-A: 1, x-a: 2}}", "the header X-A is set twice"},
		{"step a: {kind: http, service: shop, get: /x, headers: {'a b': 1}}", `"a b" cannot be the name of a header`},
		{`step a: {kind: http, service: shop, get: /x, headers: {X-A: "a\nb"}}`, "the header X-A has a line break"},
		{"step a: {kind: http, service: shop, get: /x, headers: {Authorization: Basic abc}}", "a secret must not be in the file"},
		{"step a: {kind: http, service: shop, get: /x, retry: {attempts: 0}}", "`attempts` cannot be `0`"},
		{"step a: {kind: http, service: shop, get: /x, retry: {wait: 5, max: 1}}", "it must be between 5s and 24h"},
		{"step a: {kind: http, service: shop, post: /x, json: '${bad}'}", "is not data"},
	}
	for _, tt := range tests {
		t.Run(tt.steps, func(t *testing.T) {
			st := stage{steps: tt.steps, functions: functions}
			_, report, _ := st.read(t)
			err := report.Err()
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got\n%v\nwant %s", err, tt.want)
			}
		})
	}
}

// TestAllMistakesAtOnce checks that a step of an unknown kind neither hides nor causes other errors.
func TestAllMistakesAtOnce(t *testing.T) {
	st := stage{steps: `
step a: {kind: smtp, when: agent.x}
step b: {kind: emit, event: e, when: steps.a.y, timeout: x}
step c: {kind: emit, event: e, data: {p: "${q}", r: ["${s}"]}}
`}
	_, report, _ := st.read(t)
	if n := len(report.Problems()); n != 5 {
		t.Errorf("%d mistakes, want 5: %v", n, report.Err())
	}
}

func TestWarnsOfRetriesWithoutRequests(t *testing.T) {
	st := stage{steps: "step a: {kind: emit, event: e, retry: {attempts: 2}}"}
	_, report, _ := st.read(t)
	if w := report.Warnings(); len(w) != 1 || !strings.Contains(w[0].Problem, "sends no requests") {
		t.Errorf("warnings %v", w)
	}
}

func TestWalk(t *testing.T) {
	st := stage{steps: `
step a: {kind: emit, event: x, label: First}
step b:
  kind: for
  each: "[1]"
  as: i
  do:
    step c:
      kind: if
      condition: i
      then: [{name: d, kind: emit, event: y}]
      else: {steps: {step e: {kind: emit, event: "${'x' + agent.id}"}}}
`}
	c, report, _ := st.read(t)
	if err := report.Err(); err != nil {
		t.Fatal(err)
	}
	var got []string
	c.Walk(func(path string, s *Step) { got = append(got, path+"="+s.Kind+"/"+s.Label) })
	if want := "a=emit/First b=for/b b.c=if/c b.c.d=emit/d b.c.e=emit/e"; strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
	if events, all := c.Events(); strings.Join(events, " ") != "x y" || all {
		t.Errorf("events %v, all %v", events, all)
	}
}
