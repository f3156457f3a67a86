package main

import (
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/throng-sim/throng/cmd/throngctl/internal/answer"
)

// deciders is a scenario whose agents decide by the model MODEL or by the rule RULE.
const deciders = `
title: Deciders
parameters:
  share: {default: 0.0, min: 0, max: 1}
  shadow: {default: 0, min: 0, max: 1000}
clock: {start: 2026-03-02T18:00:00Z, cycle: 1d, cycles: 3}
population:
  count: 200
  attributes:
    age: ${round(uniform(20, 60))}
    frequency: ${pick(["frequent", "regular", "occasional", "rare"])}
services:
  model: {kind: llm, url: mock:model, model: MODEL}
chain shop:
  step decide:
    kind: llm
    service: model
    prompt: "A ${agent.frequency} shopper of ${agent.age}. Shop today?"
    answer: {shop: bool, reason: string}
    share: ${params.share}
    shadow: ${params.shadow}
    otherwise: RULE
  step record: {kind: emit, event: decided, data: {shop: "${steps.decide.shop}", roll: "${uniform(0, 1)}"}}
`

const handmadeRule = `'{"shop": agent.frequency == "frequent" or chance(0.2), "reason": ""}'`

// deciding is a folder with the scenario, and a store.
type deciding struct{ dir, data string }

func newDeciding(t *testing.T) *deciding { return &deciding{t.TempDir(), t.TempDir()} }

// file writes the scenario with a model and a rule.
func (d *deciding) file(t *testing.T, model, rule string) string {
	t.Helper()
	path := filepath.Join(d.dir, "deciders.yaml")
	if err := os.WriteFile(path, []byte(strings.NewReplacer("MODEL", model, "RULE", rule).Replace(deciders)), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// run runs the scenario and returns the ID of the run.
func (d *deciding) run(t *testing.T, file string, args ...string) string {
	t.Helper()
	code, out, stderr := ctl(t, append([]string{"run", file, "--data", d.data, "--no-dashboard", "--mock-latency", "none"}, args...)...)
	if code != exitDone {
		t.Fatalf("exit code %d\n%s%s", code, out, stderr)
	}
	return regexp.MustCompile(`run (\S+):`).FindStringSubmatch(out)[1]
}

// table exports rows of a run.
func (d *deciding) table(t *testing.T, run, what string) string {
	t.Helper()
	code, out, stderr := ctl(t, "export", run, "--what", what, "--data", d.data)
	if code != exitDone {
		t.Fatalf("exit code %d\n%s", code, stderr)
	}
	return out
}

// json runs a command and decodes what it prints.
func (d *deciding) json(t *testing.T, to any, args ...string) {
	t.Helper()
	code, out, stderr := ctl(t, append(args, "--json", "--data", d.data)...)
	if err := json.Unmarshal([]byte(out), to); code != exitDone || err != nil {
		t.Fatalf("%q: exit code %d, %v\n%s%s", args, code, err, out, stderr)
	}
}

// TestAgreement compares the agreement of a run with a count by hand, and the run with one without a shadow sample. It is the same at any
// concurrency, and after a run that its budget ended and that was resumed.
func TestAgreement(t *testing.T) {
	d := newDeciding(t)
	file := d.file(t, "mock-persona", handmadeRule)
	plain := d.run(t, file, "--set", "share=0.1")
	alone := d.run(t, file, "--set", "share=0.1", "--set", "shadow=20", "--max-concurrent", "1")
	many := d.run(t, file, "--set", "share=0.1", "--set", "shadow=20", "--max-concurrent", "64")
	for _, what := range []string{"sessions", "events"} {
		if got, want := d.table(t, many, what), d.table(t, plain, what); got != want || !strings.Contains(got, "decide") && what == "events" {
			t.Errorf("a shadow sample changes the %s:\n%s\nwant\n%s", what, got, want)
		}
	}
	decisions := d.table(t, many, "decisions")
	if got := d.table(t, alone, "decisions"); got != decisions {
		t.Errorf("decisions at a limit of 1:\n%s\nat 64:\n%s", got, decisions)
	}
	rows, err := csv.NewReader(strings.NewReader(decisions)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	column := map[string]int{}
	for i, name := range rows[0] {
		column[name] = i
	}
	agree, pairs, byRule, cycles := 0, 0, 0, map[string]int{}
	for _, row := range rows[1:] {
		pairs++
		if row[column["model"]] == row[column["rule"]] {
			agree++
		}
		if row[column["used"]] == "rule" {
			byRule++
		}
		cycles[row[column["cycle"]]]++
	}
	var got answer.Agreement
	d.json(t, &got, "agreement", many)
	s := got.Steps[0]
	if len(got.Steps) != 1 || s.Step != "decide" || s.Pairs != pairs || s.Agree.Count != agree || s.ByRule != byRule || byRule < 45 || byRule > 60 || len(s.Cycles) != 3 {
		t.Errorf("%d of %d agree, %d by the rule; got %+v", agree, pairs, byRule, s)
	}
	for _, c := range s.Cycles {
		if c.Of != cycles[strconv.Itoa(c.Cycle)] {
			t.Errorf("cycle %d has %d pairs, want %d", c.Cycle, c.Of, cycles[strconv.Itoa(c.Cycle)])
		}
	}
	code, out, stderr := ctl(t, "agreement", many, "--data", d.data)
	if code != exitDone || !strings.Contains(out, "decide.shop  "+strconv.Itoa(pairs)) || !strings.Contains(out, `Model \ rule`) {
		t.Errorf("exit code %d\n%s%s", code, out, stderr)
	}
	page := filepath.Join(d.dir, "report.html")
	if code, _, stderr := ctl(t, "report", many, "--data", d.data, "-o", page); code != exitDone {
		t.Fatalf("exit code %d\n%s", code, stderr)
	}
	if text, err := os.ReadFile(page); err != nil || !strings.Contains(string(text), "Models and rules") {
		t.Errorf("the report has no agreement, %v", err)
	}
}

// TestShadowSampleIsPaidOnce ends a run by its budget, and resumes it: the shadow sample counts for the budget, and no call is paid twice.
func TestShadowSampleIsPaidOnce(t *testing.T) {
	d := newDeciding(t)
	file := d.file(t, "mock-persona", handmadeRule)
	whole := d.run(t, file, "--set", "shadow=20")
	args := []string{"run", file, "--data", d.data, "--no-dashboard", "--mock-latency", "none", "--set", "shadow=20", "--max-requests", "27"}
	code, out, stderr := ctl(t, args...)
	if code == exitDone {
		t.Fatalf("27 requests are enough for 60 calls:\n%s%s", out, stderr)
	}
	run := regexp.MustCompile(`run (\S+):`).FindStringSubmatch(out)[1]
	if code, out, stderr := ctl(t, "resume", run, "--data", d.data, "--no-dashboard", "--max-requests", "0"); code != exitDone {
		t.Fatalf("exit code %d\n%s%s", code, out, stderr)
	}
	if got, want := d.table(t, run, "decisions"), d.table(t, whole, "decisions"); got != want {
		t.Errorf("decisions after a resume:\n%s\nwant\n%s", got, want)
	}
	calls := 0
	rows, err := csv.NewReader(strings.NewReader(d.table(t, run, "timings"))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range rows[0] {
		for _, row := range rows[1:] {
			if name == "model_calls" {
				n, err := strconv.Atoi(row[i])
				if err != nil {
					t.Fatal(err)
				}
				calls += n
			}
		}
	}
	if calls != 60 {
		t.Errorf("%d model calls, want 20 in each of 3 cycles", calls)
	}
}

// TestLearn learns a rule from a model whose answers depend on the persona, in several seeds, and uses it in a run: it answers as the model
// does far more often than the rule by hand. From a model whose answers depend on nothing, there is nothing to learn.
func TestLearn(t *testing.T) {
	t.Parallel()
	d := newDeciding(t)
	rule := filepath.Join(d.dir, "decide.json")
	for _, seed := range []string{"1", "2", "3"} {
		asked := d.run(t, d.file(t, "mock-persona", handmadeRule), "--set", "share=1", "--seed", seed)
		var l answer.Learned
		d.json(t, &l, "learn", asked, "decide", "-o", rule)
		h := &l.Learned.HeldOut
		if !h.Beats() || h.Accuracy < h.BaselineAccuracy+0.1 || strings.Join(l.Fields, " ") != "agent.age agent.frequency now.weekday" {
			t.Errorf("seed %s: %+v", seed, l)
		}
		var by [2]answer.Agreement
		for i, otherwise := range []string{handmadeRule, "{learned: decide.json}"} {
			run := d.run(t, d.file(t, "mock-persona", otherwise), "--set", "shadow=100", "--seed", seed)
			d.json(t, &by[i], "agreement", run)
		}
		if hand, learned := by[0].Steps[0].Agree, by[1].Steps[0].Agree; learned.Share < hand.Share+0.05 || learned.Of != 300 {
			t.Errorf("seed %s: the rule by hand agrees in %+v, the learned one in %+v", seed, *hand, *learned)
		}
	}
	likely := d.file(t, "mock-persona", "{learned: decide.json, answer: likely}")
	if first, again := d.run(t, likely), d.run(t, likely, "--max-concurrent", "1"); d.table(t, first, "events") != d.table(t, again, "events") {
		t.Error("a learned rule answers differently at another concurrency")
	}
	noise := d.run(t, d.file(t, "mock-1", handmadeRule), "--set", "share=1")
	var l answer.Learned
	d.json(t, &l, "learn", noise, "decide", "-o", rule)
	if h := &l.Learned.HeldOut; h.Accuracy > h.BaselineAccuracy+0.08 || h.LogLoss < h.BaselineLogLoss-0.02 {
		t.Errorf("learned from noise: %+v", *h)
	}
	if l.Warning == "" {
		t.Errorf("learned from noise, without a warning: %+v", l.Learned.HeldOut)
	}
	for want, args := range map[string][]string{
		"did you mean `decide`":       {noise, "decid"},
		"nothing can be learned from": {noise, "decide", "--fields", "now.hour"},
		"no agent that asked has":     {noise, "decide", "--fields", "agent.wealth"},
		"no step named":               {},
		"a table needs 1 to 3 fields": {noise, "decide", "--table"},
	} {
		if code, out, stderr := ctl(t, append([]string{"learn", "--data", d.data, "-o", rule}, args...)...); code == exitDone || !strings.Contains(stderr, want) {
			t.Errorf("%q: exit code %d, want %q\n%s%s", args, code, want, out, stderr)
		}
	}
	if code, out, stderr := ctl(t, "learn", noise, "decide", "--data", d.data, "-o", rule, "--table", "--fields", "agent.frequency"); code != exitDone || !strings.Contains(out, "a table over agent.frequency") {
		t.Errorf("a table: exit code %d\n%s%s", code, out, stderr)
	}
}

// TestRuleOfAnotherPopulation checks the error for a rule that needs a field that agents do not have.
func TestRuleOfAnotherPopulation(t *testing.T) {
	d := newDeciding(t)
	asked := d.run(t, d.file(t, "mock-persona", handmadeRule), "--set", "share=1")
	var l answer.Learned
	d.json(t, &l, "learn", asked, "decide", "-o", filepath.Join(d.dir, "decide.json"))
	file := d.file(t, "mock-persona", "{learned: decide.json}")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string][2]string{
		"decide.json needs agent.age, and agent has no age here": {"    age: ${round(uniform(20, 60))}\n", ""},
		"which does not fit `answer`":                            {"shop: bool", "shop: [yes, no]"},
	} {
		changed := strings.NewReplacer(change[0], change[1], "${agent.age}", "an age").Replace(string(text))
		if err := os.WriteFile(file, []byte(changed), 0o600); err != nil {
			t.Fatal(err)
		}
		if code, out, stderr := ctl(t, "validate", file, "--data", d.data); code == exitDone || !strings.Contains(out+stderr, want) {
			t.Errorf("exit code %d, want %q\n%s%s", code, want, out, stderr)
		}
	}
}
