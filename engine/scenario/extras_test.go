package scenario

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain"
	"github.com/throng-sim/throng/engine/enginetest"
	"github.com/throng-sim/throng/engine/run"
	"github.com/throng-sim/throng/engine/script/value"
)

// says is a chain that emits its input.
const says = "chain says:\n    step say: {kind: emit, event: said, data: \"${[agent.id, input]}\"}\n"

// reading reads a scenario with extras and returns its mistakes as text.
func (x Extras) reading(text string) (*Scenario, string) {
	s, err := x.Read("test.ai", files("test.ai", text))
	if mistakes, ok := errors.AsType[*Mistakes](err); ok {
		var b strings.Builder
		_ = mistakes.Print(&b)
		return nil, b.String()
	}
	if err != nil {
		return nil, err.Error()
	}
	return s, ""
}

// emitted returns the events of a run of a scenario, in order.
func emitted(t *testing.T, s *Scenario) string {
	t.Helper()
	settings := engine.DefaultSettings()
	settings.Metrics, settings.CheckpointEvery, settings.Cycles = false, 0, max(s.Cycles, 1)
	j := &enginetest.Journal{}
	p := s.Program(1)
	chosen, err := p.Choose(t.Context(), &settings)
	if err != nil {
		t.Fatal(err)
	}
	run, err := run.Start(t.Context(), run.Config{ID: "test", Program: p, Agents: s.Agents, Chosen: chosen, Clock: s.Clock, Settings: settings, Journal: j})
	if err != nil {
		t.Fatal(err)
	}
	run.Wait()
	rows := j.Sessions()
	slices.SortFunc(rows, func(a, b engine.SessionRow) int { return a.Agent - b.Agent })
	var b strings.Builder
	for _, row := range rows {
		if row.Outcome != engine.OK {
			fmt.Fprintf(&b, " %v: %s", row.Outcome, row.Error)
		}
		for _, e := range row.Events {
			fmt.Fprintf(&b, " %s", e.Data)
		}
	}
	return strings.TrimSpace(b.String())
}

// TestPayloads checks the input of each agent for payloads in every format, and that a stored run contains the payload.
func TestPayloads(t *testing.T) {
	const two = says + "population: {count: 2, id: \"a${agent.index}\"}\n"
	tests := []struct{ name, text, file, payload, want string }{
		{"none", says, "", "", `["agent-1",null]`},
		{"an object", says, "p.json", ` {"text": "<b>", "n": 1.50} `, `["agent-1",{"text":"<b>","n":1.5}]`},
		{"a value", says, "p.json", `"x"`, `["agent-1","x"]`},
		{"a list", says, "p.json", "[1,\n[2],{\"x\":null}]", `["agent-1",1] ["agent-2",[2]] ["agent-3",{"x":null}]`},
		{"another ending", says, "p.txt", "[1]", `["agent-1",1]`},
		{"lines", says, "p.jsonl", "\ufeff{\"a\":1}\n\n \t\n2\r\n[3]", `["agent-1",{"a":1}] ["agent-2",2] ["agent-3",[3]]`},
		{"a sheet", says, "p.csv", "id,text,memory,n\nx,hello,1,2.5\nx,,2,3\n", `["agent-1",{"id":"x","text":"hello","memory":1,"n":2.5}] ["agent-2",{"id":"x","text":null,"memory":2,"n":3}]`},
		{"a sheet without ids", says, "p.csv", "a\ntrue\n", `["agent-1",{"a":true}]`},
		{"one value for a population", two, "p.json", `{"a":1}`, `["a0",{"a":1}] ["a1",{"a":1}]`},
		{"rows for a population", two, "p.json", `[1,2]`, `["a0",1] ["a1",2]`},
		{"fewer rows than a population", two, "p.json", `[1]`, `["a0",1]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var x Extras
			if tt.file != "" {
				x.Payload = &Payload{tt.file, []byte(tt.payload)}
			}
			s, problem := x.reading(tt.text)
			if problem != "" {
				t.Fatal(problem)
			}
			if got := emitted(t, s); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
			again, err := Restore(s.Source)
			if err != nil {
				t.Fatal(err)
			}
			if got := emitted(t, again); got != tt.want {
				t.Errorf("as kept with the run\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

// TestPayloadMistakes checks errors and their positions.
func TestPayloadMistakes(t *testing.T) {
	tests := []struct{ file, payload, want string }{
		{"p.json", "", "p.json:1:1: "},
		{"p.json", "{\"ä\":\n  \"ü\", x}", "p.json:2:8: "},
		{"p.json", "[]", "p.json:1:1: the payload has no rows\n    1  | []\n"},
		{"p.json", "[1,2,3]", "payload: p.json has 3 rows for a population of 2 (a row is for an agent)"},
		{"p.jsonl", "1\n\n{\"a\": }\n", "p.jsonl:3:7: "},
		{"p.jsonl", "\n", "p.jsonl:1:1: the payload has no rows"},
		{"p.csv", "", "p.csv:1:1: the file is empty"},
		{"p.csv", "a,b\n1\n", "p.csv:2:1: "},
		{"p.csv", "a b\n1\n", `p.csv:1:1: "a b" cannot be the name of an attribute`},
	}
	for _, tt := range tests {
		t.Run(tt.file+" "+tt.payload, func(t *testing.T) {
			x := Extras{Payload: &Payload{tt.file, []byte(tt.payload)}}
			if _, got := x.reading(says + "population: {count: 2}\n"); !strings.HasPrefix(got, tt.want) {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

// TestAlone checks which parts of a scenario remain when one of its chains is run alone.
func TestAlone(t *testing.T) {
	const text = `
clock: {cycles: 9}
acted: bought
warm_up: true
population: {count: 5, attributes: {mood: "${agent.index}"}, filter: agent.mood > 2}
success: {error_rate: < 5%}
interventions: [{cycle: 0, to: agent-4, text: hello}]
run: buys
chain buys:
  step a: {kind: emit, event: bought}
chain other:
  step b: {kind: emit, event: told, data: "${[agent.mood, len(agent.inbox)]}"}
`
	s, problem := Extras{Chain: "other"}.reading(text)
	if problem != "" {
		t.Fatal(problem)
	}
	if s.Chain.Name != "other" || s.Agents != 1 || s.Cycles != 1 || s.WarmUp != nil || len(s.Success) > 0 || s.Source.Alone() != "other" {
		t.Errorf("chain %s, %d agents, %d cycles, warm-up %v, criteria %v", s.Chain.Name, s.Agents, s.Cycles, s.WarmUp, s.Success)
	}
	if err := s.Program(1).Check(); err != nil {
		t.Error(err)
	}
	if got := emitted(t, s); got != "[0,0]" {
		t.Errorf("got %s", got)
	}
	if again, err := Restore(s.Source); err != nil || again.Chain.Name != "other" || again.Agents != 1 {
		t.Errorf("as kept with the run: %v", err)
	}
	for name, hint := range map[string]string{"bys": "did you mean `buys`?", "summary": "there are buys, other"} {
		if _, got := (Extras{Chain: name}).reading(text); got != "chain: there is no chain "+name+" ("+hint+")" {
			t.Errorf("an unknown chain: %s", got)
		}
	}
}

// TestWatch checks that a subscriber receives every session.
func TestWatch(t *testing.T) {
	s, problem := Extras{Chain: "says", Payload: &Payload{"p.json", []byte(`[1,2,3]`)}}.reading(says)
	if problem != "" {
		t.Fatal(problem)
	}
	seen := make(chan *chain.Report, 3)
	p := s.Program(1)
	p.Watch(func(r *chain.Report) { seen <- r })
	settings := engine.DefaultSettings()
	settings.Metrics, settings.CheckpointEvery = false, 0
	run, err := run.Start(t.Context(), run.Config{ID: "test", Program: p, Agents: s.Agents, Clock: s.Clock, Settings: settings})
	if err != nil {
		t.Fatal(err)
	}
	run.Wait()
	results := make([]string, 3)
	for range 3 {
		r := <-seen
		results[r.Agent] = string(r.Result)
	}
	if got := strings.Join(results, " "); got != `["agent-1",1] ["agent-2",2] ["agent-3",3]` {
		t.Errorf("results %s", got)
	}
}

// settingsConnectors is the connectors file in the data folder of a test.
const settingsConnectors = `
services:
  nlp: {kind: http, url: http://127.0.0.1:1}
  other: {kind: http, url: http://127.0.0.1:2}
  shop: {kind: http, url: http://127.0.0.1:3}
connectors:
  twice: {kind: python, call: options.x * 2}
  own: {kind: python, call: 1}
  asks: {kind: http, service: nlp, post: /ask}
  shops: {kind: http, service: shop, get: /}
`

// TestConnectorsOfTheSettings checks that a scenario gets those connectors of the settings, with their services, that
// it uses and does not define itself.
func TestConnectorsOfTheSettings(t *testing.T) {
	use := func(target string) string {
		return "chain c:\n  step a: {kind: connector, target: " + target + ", options: {x: 4}}\n  step b: {kind: emit, event: e, data: \"${steps.a}\"}\n"
	}
	const shop = "services: {shop: {kind: http, url: 'mock:shop'}}\n"
	tests := []struct{ name, text, services, defined, told string }{
		{"used", use("twice"), "", "[twice]", "8"},
		{"the file's own wins", use("own") + "connectors: {own: {kind: python, call: 5}}\n", "", "[own]", "5"},
		{"a service comes along", use("asks"), " nlp=http://127.0.0.1:1", "[asks]", ""},
		{"the file's own service wins", use("shops") + shop, " shop=mock:shop", "[shops]", ""},
		{"nothing is used", "chain c: {step a: {kind: python, call: 1}}\n", "", "[]", ""},
		{"undefined", use("nowhere"), "", "[]", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, problem := Extras{Connectors: []byte(settingsConnectors)}.reading(tt.text)
			if problem != "" {
				t.Fatal(problem)
			}
			services := ""
			for _, service := range s.Services {
				services += " " + service.Name + "=" + service.URL
			}
			if services != tt.services || fmt.Sprint(s.Connectors) != tt.defined {
				t.Errorf("services%s, connectors %v; want%s, %s", services, s.Connectors, tt.services, tt.defined)
			}
			_, isKept := s.Source.Files[engine.ConnectorsFile]
			if want := strings.Contains("used, a service comes along, the file's own service wins", tt.name); isKept != want {
				t.Errorf("the settings' connectors are kept: %t", isKept)
			}
			if _, err := Restore(s.Source); err != nil {
				t.Error(err)
			}
			if tt.told != "" {
				if got := emitted(t, s); got != tt.told {
					t.Errorf("got %s, want %s", got, tt.told)
				}
			}
		})
	}
}

// TestMistakesInConnectorsOfTheSettings checks that errors are reported in their own file, and only if the scenario
// uses one of the connectors.
func TestMistakesInConnectorsOfTheSettings(t *testing.T) {
	x := Extras{Connectors: []byte("conectors: {}\nconnectors:\n  a: {kind: emit, event: e, dta: 1}\n  unused: {kind: nope}\nservices:\n  s: {kind: http}\n")}
	if _, problem := x.reading(says); problem != "" {
		t.Errorf("a scenario without connectors: %s", problem)
	}
	_, got := x.reading("chain c:\n  step s: {kind: connector, target: a}\n  step t: {kind: connector, target: a}\n  step x: {kind: nope}\n")
	for _, want := range []string{
		"test.ai:4:18: there is no kind of step", "settings/connectors.yaml:1:1: unknown key `conectors`",
		"connectors.yaml:3:29: unknown key `dta`", "connectors.yaml:6:6: `s` needs `url`",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no error mentions %q in\n%s", want, got)
		}
	}
	if n := strings.Count(got, ": unknown key"); n != 2 || strings.Contains(got, "unused") {
		t.Errorf("%d unknown keys in\n%s", n, got)
	}
}

// TestOwnFilesCannotBeOpened checks that a scenario cannot open a file under a name that the run uses for other data.
func TestOwnFilesCannotBeOpened(t *testing.T) {
	open := func(path string) ([]byte, error) {
		if path == "test.yaml" {
			return []byte("functions: run:chain.star\n" + says), nil
		}
		return []byte("X = 1\n"), nil
	}
	if _, err := Read("test.yaml", open, nil); err == nil || !strings.Contains(err.Error(), "there is no file run:chain.star") {
		t.Errorf("got %v", err)
	}
}

// TestMockedSteps checks the list of connectors and functions that a scenario uses but does not define.
func TestMockedSteps(t *testing.T) {
	s, problem := Extras{}.reading("chain c:\n  step a: {kind: connector, target: sums}\n  step b: {kind: python, target: f}\n  step d: {kind: connector, target: sums}\n")
	if problem != "" {
		t.Fatal(problem)
	}
	if got := strings.Join(s.Mocked(), ", "); got != "connector sums, function f" || s.StandIn == nil || len(s.Services) != 0 {
		t.Errorf("%s, stand-in %v, services %v", got, s.StandIn, s.Services)
	}
	if s, problem = (Extras{}).reading(says); problem != "" || s.StandIn != nil || s.Mocked() != nil {
		t.Errorf("nothing is missing, but %v is a stand-in: %s", s.StandIn, problem)
	}
	if _, problem = (Extras{}).reading("functions: |\n  X = 1\nchain c:\n  step b: {kind: python, target: f}\n"); !strings.Contains(problem, "there is no function f") {
		t.Errorf("a file with functions: %s", problem)
	}
}

// FuzzPayload reads arbitrary bytes as a payload and checks that the result is rows, or mistakes with positions.
func FuzzPayload(f *testing.F) {
	for _, name := range []string{"p.json", "p.jsonl", "p.csv"} {
		for _, text := range []string{"", "[]", `{"a":[1,{"b":"ü"}]}`, "[1,\n 2,]", "1\n\n{\"a\": 1}\nx", "id,a\n1,2\n1\n", "\ufeff\"", "a\xff"} {
			f.Add(name, []byte(text))
		}
	}
	f.Fuzz(func(t *testing.T, name string, text []byte) {
		s, err := Extras{Payload: &Payload{name, text}}.Read("test.ai", files("test.ai", says))
		if mistakes, ok := errors.AsType[*Mistakes](err); ok {
			for _, p := range mistakes.report.Problems() {
				if p.Line < 1 || p.Col < 1 || p.Problem == "" {
					t.Fatalf("a mistake without a position: %+v", p)
				}
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if s.Agents < 1 || s.input.of(0) == nil || s.input.of(s.Agents) == nil {
			t.Fatalf("%d agents", s.Agents)
		}
		for agent := range min(s.Agents, 10) {
			if _, err := value.Data(s.input.of(agent)); err != nil {
				t.Fatalf("the input of %d is not data: %v", agent, err)
			}
		}
		if _, err := Restore(s.Source); err != nil {
			t.Fatalf("a scenario that cannot be read again: %v", err)
		}
	})
}
