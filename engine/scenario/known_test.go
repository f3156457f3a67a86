package scenario

import (
	"errors"
	"strings"
	"testing"
)

// knowing is a scenario with a model, to which chains are added.
const knowing = `title: x
services: {m: {kind: llm, provider: mock}}
functions: |
  def rule(agent):
      return {"choise": "yes", "why": "old"}
  def fair(agent):
      if agent.index > 1:
          return {"choice": "no", "why": "old", "sure": True}
      return {"choice": "yes", "why": ""}
`

// opinion is a step with an answer of known keys.
const opinion = "  step opinion: {kind: llm, service: m, prompt: x, answer: {choice: [\"yes\", \"no\"], why: string, \"more?\": {n: int}}}\n"

// TestKnownKeys checks that wrong keys of answers, inputs and notes are found in a scenario, with their places, and that nothing else is.
func TestKnownKeys(t *testing.T) {
	for name, tt := range map[string]struct{ chains, want string }{
		"a text":       {"chain c:\n" + opinion + "  step e: {kind: emit, event: e, data: {a: \"${steps.opinion.choise}\"}}", "12:61: steps.opinion has no choise (did you mean `choice`?)"},
		"a condition":  {"chain c:\n" + opinion + "  step e: {kind: emit, event: e, when: steps.opinion.more.m == 3}", "12:59: steps.opinion.more has no m (there are n)"},
		"remembered":   {"chain c:\n" + opinion + "  step r: {kind: remember, set: {a: \"${get(steps.opinion, 'whi')}\"}}", "12:59: steps.opinion has no whi (did you mean `why`?)"},
		"no answer":    {"chain c:\n  step a: {kind: llm, service: m, prompt: x}\n  step e: {kind: stop, because: \"${steps.a.txt}\"}", "12:44: steps.a has no txt (did you mean `text`?)"},
		"a schema":     {"chain c:\n  step a: {kind: llm, service: m, prompt: x, answer: {schema: {type: object, properties: {n: {type: integer}}, additionalProperties: false}}}\n  step e: {kind: stop, because: \"${steps.a.m}\"}", "12:44: steps.a has no m (there are n)"},
		"an open one":  {"chain c:\n  step a: {kind: llm, service: m, prompt: x, answer: {schema: {type: object, properties: {n: {type: integer}}}}}\n  step e: {kind: stop, because: \"${steps.a.m}\"}", ""},
		"a default":    {"chain c:\n  step a: {kind: llm, service: m, prompt: x, answer: {n: int}, default: {failed: true}}\n  step e: {kind: stop, because: \"${get(steps.a, 'failed') or steps.a.n}\"}", ""},
		"a rule":       {"chain c:\n  step a: {kind: llm, service: m, prompt: x, answer: {choice: string, why: string}, share: 0.5, otherwise: fair(agent)}\n  step e: {kind: stop, because: \"${get(steps.a, 'sure')} ${steps.a.sre}\"}", "12:68: steps.a has no sre (did you mean `sure`?)"},
		"unknown rule": {"chain c:\n  step a: {kind: llm, service: m, prompt: x, answer: {choice: string}, share: 0.5, otherwise: agent.memory.last}\n  step e: {kind: stop, because: \"${get(steps.a, 'sure')}\"}", ""},
		"notes":        {"chain c:\n  step n: {kind: recall, service: m, query: x}\n  step e: {kind: stop, because: \"${[x.txt for x in steps.n]}\"}", "12:39: x has no txt (did you mean `text`?)"},
		"a list":       {"chain c:\n  step n: {kind: recall, service: m, query: x}\n  step e: {kind: stop, because: \"${steps.n.text}\"}", "12:44: steps.n is a list, which has no text"},
		"a loop":       {"chain c:\n  step n: {kind: recall, service: m, query: x}\n  step f: {kind: for, each: steps.n, as: x, do: {step e: {kind: emit, event: \"${x.nite}\"}}}\n  step s: {kind: stop, because: \"${steps.f[0].f}\"}", "12:83: x has no nite (did you mean `note`?)\n13:47: steps.f[0] has no f (there are e)"},
		"again":        {"chain c:\n  step w: {kind: while, condition: not last.a.txt, do: {step a: {kind: llm, service: m, prompt: \"${last.b}\"}}}", "11:47: last.a has no txt (did you mean `text`?)\n11:105: last has no b (there are a)"},
		"a branch":     {"chain c:\n  step i: {kind: if, condition: agent.index, then: {step a: {kind: python, call: rule(agent)}}}\n  step s: {kind: stop, because: \"${steps.i.a.choice} ${steps.i.tken}\"}", "12:46: steps.i.a has no choice (did you mean `choise`?)\n12:64: steps.i has no tken (did you mean `taken`?)"},
		"messages":     {"chain c:\n  step s: {kind: stop, because: \"${[m.txt for m in agent.inbox]}\"}", "11:39: m has no txt (did you mean `text`?)"},
		"a tool":       {"tools: {t: {about: x, input: {word: string, \"n?\": int}, call: \"input.wrod + str(input.n)\"}}\nchain c:\n  step a: {kind: llm, service: m, prompt: x, tools: [t]}", "10:70: input has no wrod (did you mean `word`?)"},
		"no arguments": {"tools: {t: {about: x, call: input.word}}\nchain c:\n  step a: {kind: llm, service: m, prompt: x, tools: [t]}", "10:35: input has no word (it has no fields)"},
		"its chain":    {"tools: {t: {about: x, input: {word: string}, chain: d}}\nchain c:\n  step a: {kind: llm, service: m, prompt: x, tools: [t]}\nchain d:\n  step e: {kind: emit, event: \"${input.wrod}\"}", "14:40: input has no wrod (did you mean `word`?)"},
		"two callers":  {"chain c:\n  step a: {kind: chain, target: d, input: {one: 1}}\n  step b: {kind: chain, target: d, input: {two: 1}}\n  step s: {kind: stop, because: \"${steps.a.n}\"}\nchain d:\n  step e: {kind: emit, event: \"${get(input, 'one')} ${get(input, 'two')} ${input.tree}\", data: {m: 1}}", "13:44: steps.a has no n (there are m)\n15:82: input has no tree (there are one, two)"},
		"from outside": {"chain c:\n  step e: {kind: emit, event: \"${input.anything}\"}\n  step f: {kind: chain, target: d, when: agent.index, input: {one: 1}}\nchain d:\n  step e: {kind: emit, event: \"${input.anything}\"}\ncleanup: d", ""},
		"a bad answer": {"chain c:\n  step a: {kind: llm, service: m, prompt: x, answer: 3, otherwise: fair(agent)}\n  step e: {kind: stop, because: \"${steps.a.choice}\"}", "11:54: the shape of an answer is a map of names"},
		"a cache":      {"chain c:\n" + opinion + "  step a: {kind: llm, service: m, cache: {input: steps.opinion, agent: agent.id}, prompt: \"${input.anything} ${agent}\"}", ""},
		"last skipped": {"chain c:\n  step a: {kind: chain, target: d}\n  step e: {kind: stop, because: \"${steps.a.one} ${steps.a.two} ${steps.a.six}\"}\nchain d:\n  step e: {kind: emit, event: e, data: {one: 1}}\n  step f: {kind: emit, event: f, when: agent.index, data: {two: 1}}", "12:74: steps.a has no six (there are one, two)"},
	} {
		t.Run(name, func(t *testing.T) { sameProblems(t, knowing+tt.chains, tt.want) })
	}
}

// TestKnownRules checks that answers of rules that do not fit the step are found.
func TestKnownRules(t *testing.T) {
	const step = "chain c:\n  step a: {kind: llm, service: m, prompt: x, answer: {choice: [\"yes\", \"no\"], why: string}, otherwise: "
	for otherwise, want := range map[string]string{
		`"{'choice': 'yes', 'why': 'x'}"}`:                                  "",
		`"{'choice': 'yse', 'why': 'x'}"}`:                                  "11:115: otherwise does not fit the answer: choice: \"yse\" is not one of the choices (did you mean `yes`?)",
		`"{'choice': 'yes' if agent.index else 'maybe', 'why': agent.id}"}`: "11:141: otherwise does not fit the answer: choice: \"maybe\" is not one of the choices (one of yes, no)",
		`"{'choice': 'yes'}"}`:                                              "11:104: otherwise does not fit the answer: why is missing",
		`"{'choice': pick(['yes', 'no']), 'why': 3}"}`:                      "11:143: otherwise does not fit the answer: why: 3 is not a text",
		`rule(agent)}`:       "11:103: otherwise does not fit the answer: choice is missing (did you mean `choice` in place of `choise`?)",
		`fair(agent)}`:       "",
		`agent.memory.last}`: "",
		`"fair(agent) if agent.index else rule(agent)"}`: "11:136: otherwise does not fit the answer: choice is missing (did you mean `choice` in place of `choise`?)",
		`"'yes'"}`: "11:104: otherwise does not fit the answer: \"yes\" is not a record",
		"steps}\n  step b: {kind: llm, service: m, prompt: x, otherwise: \"{'a': 1}\"}": "12:58: otherwise does not fit the answer: a record is not a text",
	} {
		sameProblems(t, knowing+step+otherwise, want)
	}
	bounded := "chain c:\n  step a: {kind: llm, service: m, prompt: x, answer: {schema: {type: object, properties: {n: {type: integer, maximum: 5}}}}, otherwise: \"{'n': 7}\"}"
	sameProblems(t, knowing+bounded, "11:137: otherwise does not fit the answer: n: maximum: got 7, want 5")
}

// sameProblems compares the mistakes of a scenario, with their hints, with those that are wanted.
func sameProblems(t *testing.T, text, want string) {
	t.Helper()
	_, err := read(text, nil, nil)
	var got []string
	if m, ok := errors.AsType[*Mistakes](err); ok {
		for _, p := range m.report.Problems() {
			got = append(got, strings.TrimPrefix(p.Error(), "test.yaml:"))
		}
	} else if err != nil {
		t.Fatal(err)
	}
	text = strings.Join(got, "\n")
	if want == "" && text != "" || want != "" && !strings.Contains(text, want) || len(got) > 1+strings.Count(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
}
