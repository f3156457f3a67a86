package scenario

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain"
	"github.com/throng-sim/throng/engine/script/value"
	"go.starlark.net/starlark"
	"pgregory.net/rapid"
)

// writing returns a scenario with a population that a model writes, with the given keys.
func writing(keys string) string {
	return minimal("population:\n  count: 3\n  attributes: {old: \"${agent.age > 40}\"}\n  write:\n" + keys +
		"services:\n  model: {kind: llm, url: \"mock:model\"}\n  shop: {kind: http, url: \"mock:shop\"}\n" +
		"  named: {kind: llm, url: \"mock:model\", headers: {X-Who: \"${agent.id}\"}}\n")
}

const somebody = "    service: model\n    prompt: \"Person ${index + 1} of ${count}\"\n    answer: {name: string, age: int, \"pet?\": string}\n"

// TestWriteMistakes checks the errors of a population that cannot be generated.
func TestWriteMistakes(t *testing.T) {
	change := func(old, with string) string { return strings.Replace(somebody, old, with, 1) }
	for _, tt := range []struct{ name, keys, want string }{
		{"no prompt", change("    prompt: \"Person ${index + 1} of ${count}\"\n", ""), "without a prompt"},
		{"no answer", "    service: model\n    prompt: x\n", "`write` needs `answer`"},
		{"no service", change("    service: model\n", ""), "`write` needs `service`"},
		{"another service", change("service: model", "service: modle"), "there is no service modle (did you mean `model`?)"},
		{"another kind", change("service: model", "service: shop"), "the service shop is of kind http"},
		{"a fallback of another kind", somebody + "    fallback: [model, shop]\n", "the service shop is of kind http"},
		{"headers of agents", change("service: model", "service: named"), "the header X-Who of named depends on the agent, which does not exist while agents are generated"},
		{"headers of agents in a fallback", somebody + "    fallback: named\n", "the header X-Who of named depends on the agent"},
		{"who is not there yet", change("${index + 1}", "${agent.id}"), "undefined: agent"},
		{"a share", somebody + "    share: 0.5\n    otherwise: \"{}\"\n", "unknown key `share`"},
		{"a cache", somebody + "    cache: {a: \"1\"}\n", "unknown key `cache`"},
		{"an id", change("name:", "id:"), "id is what every agent has already (choose another name)"},
		{"an invalid name", change("name:", "full name:"), "cannot be the name of an attribute"},
		{"an attribute twice", change("name:", "old:"), "old is an attribute of the rows already"},
		{"an unknown type", change("age: int", "age: number"), "number is not a type of an answer"},
		{"a schema of anything", change("answer: {name: string, age: int, \"pet?\": string}", "answer: {schema: {type: object}}"), "agent has no age here"},
		{"a prompt that fails", change("${index + 1}", "${index + 'a'}"), "the first person"},
		{"no map", "    - a\n", "`write` must be a map of keys"},
		{"types", somebody + "  types: {age: int}\n", "types needs a file: `from`"},
		{"rows in addition", somebody + "  rows: [{a: 1}]\n", "cannot be combined with"},
		{"an unknown attribute", strings.Replace(somebody, "age:", "aged:", 1), "agent has no age here (did you mean `aged`?)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := read(writing(tt.keys), nil, nil); err == nil || !strings.Contains(told(err)+err.Error(), tt.want) {
				t.Errorf("got\n%s\nwant %s", told(err), tt.want)
			}
		})
	}
	if _, err := read(strings.Replace(writing(somebody), "  count: 3\n", "", 1), nil, nil); err == nil || !strings.Contains(told(err), "`population` needs `count`") {
		t.Errorf("without a count: %s", told(err))
	}
}

func there(s *chain.Service) string { return s.URL }

// TestRequestsOfPersonas checks what a request depends on: not on other personas, and on their number only if the text
// uses it.
func TestRequestsOfPersonas(t *testing.T) {
	requests := func(text string, seed uint64) (all []string) {
		s, err := read(text, nil, nil)
		if err != nil {
			t.Fatal(told(err))
		}
		w := s.Writing(seed)
		for i := range w.Count() {
			r, err := w.Request(i, there)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, r)
		}
		return all
	}
	alone := writing(strings.Replace(somebody, " of ${count}", " ${uniform(0, 1)}", 1))
	larger := func(text string) string { return strings.Replace(text, "count: 3", "count: 9", 1) }
	few, many := requests(alone, 7), requests(larger(alone), 7)
	if fmt.Sprint(few) != fmt.Sprint(many[:3]) {
		t.Errorf("%v of a few are not %v of many", few, many)
	}
	seen := map[string]bool{}
	for _, r := range append(many, requests(alone, 8)...) {
		if seen[r] {
			t.Errorf("%s twice", r)
		}
		seen[r] = true
	}
	if a, b := requests(writing(somebody), 7), requests(larger(writing(somebody)), 7); a[0] == b[0] {
		t.Error("the count is part of the text but does not change the request")
	}
	same := strings.Replace(somebody, "Person ${index + 1} of ${count}", "Somebody", 1)
	if r := requests(writing(same), 7); r[0] == r[1] {
		t.Error("the seed does not change the request")
	}
}

// TestSettledPersonas checks that settling turns the personas and their computed attributes into the population.
func TestSettledPersonas(t *testing.T) {
	s, err := read(writing(somebody), nil, nil)
	if err != nil {
		t.Fatal(told(err))
	}
	if _, err := s.Program(1).Choose(t.Context(), &engine.Settings{Selection: engine.Selection{Filter: "agent.old"}}); err == nil || !strings.Contains(err.Error(), "not written yet") {
		t.Errorf("before anybody is written: %v", err)
	}
	hash, w := s.Source.Hash, s.Writing(7)
	if err := w.Settle([][]byte{[]byte(`{"name":"Ann <3","age":30}`), []byte(`{"name":"Bob","age":50,"pet":null}`), []byte(`{"name":"Cay","age":41,"pet":"a cat"}`)}); err != nil {
		t.Fatal(told(err))
	}
	if s.Writing(7) != nil || !s.Written() || s.Source.Hash == hash {
		t.Error("it is not settled")
	}
	again, err := Restore(s.Source)
	if err != nil {
		t.Fatal(told(err))
	}
	for i, want := range []string{
		`{"id":"agent-1","index":0,"name":"Ann <3","age":30,"pet":null,"old":false}`,
		`{"id":"agent-2","index":1,"name":"Bob","age":50,"pet":null,"old":true}`,
		`{"id":"agent-3","index":2,"name":"Cay","age":41,"pet":"a cat","old":true}`,
	} {
		if got := shown(t, s, i); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		if got := shown(t, again, i); got != want {
			t.Errorf("restored: got  %s\nwant %s", got, want)
		}
	}
	var out bytes.Buffer
	if err := again.ExportPersonas(&out, 7); err != nil {
		t.Fatal(err)
	}
	if want := `{"id":"agent-1","name":"Ann <3","age":30}` + "\n"; !strings.HasPrefix(out.String(), want) {
		t.Errorf("exported\n%s", &out)
	}
	s.Source.Files[PersonasName] = bytes.Replace(s.Source.Files[PersonasName], []byte("Bob"), []byte("Rob"), 1)
	if _, err := Restore(s.Source); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("with another persona: %v", err)
	}
	s.Source.Files[PersonasName] = []byte(`{"name":"Ann","age":30}`)
	if _, err := Restore(s.Source); err == nil || !strings.Contains(told(err), "1 row for 3 agents") {
		t.Errorf("with too few personas: %v", err)
	}
	delete(s.Source.Files, PersonasName)
	if _, err := Restore(s.Source); err == nil || !strings.Contains(told(err), "the personas that were written are not kept with it") {
		t.Errorf("without the personas: %v", err)
	}
}

// TestWriteWithoutAgents checks that a population of 0 needs no personas.
func TestWriteWithoutAgents(t *testing.T) {
	s, err := read(strings.Replace(writing(somebody), "count: 3", "count: 0", 1), nil, nil)
	if err != nil {
		t.Fatal(told(err))
	}
	if _, err := Restore(s.Source); s.Writing(1) != nil || s.Written() || err != nil {
		t.Errorf("a persona is missing: %v", err)
	}
}

// TestPersonasOfASchema checks that personas have the fields that a JSON Schema names.
func TestPersonasOfASchema(t *testing.T) {
	s, err := read(writing(strings.Replace(somebody, "answer: {name: string, age: int, \"pet?\": string}",
		"answer: {schema: {type: object, properties: {name: {type: string}, age: {type: integer, minimum: 0}}, required: [age]}}", 1)), nil, nil)
	if err != nil {
		t.Fatal(told(err))
	}
	if err := s.Writing(1).Settle([][]byte{[]byte(`{"age":50}`), []byte(`{"age":5,"name":"x"}`), []byte(`{"age":1}`)}); err != nil {
		t.Fatal(told(err))
	}
	if got, want := shown(t, s, 0), `{"id":"agent-1","index":0,"name":null,"age":50,"old":true}`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestPersonasReadBack checks that reading exported personas creates the same agents.
func TestPersonasReadBack(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s, err := read(writing(somebody), nil, nil)
		if err != nil {
			rt.Fatal(told(err))
		}
		var all [][]byte
		for range 3 {
			name, err := value.AppendJSON(nil, starlark.String(rapid.String().Draw(rt, "name")))
			if err != nil {
				rt.Fatal(err)
			}
			all = append(all, fmt.Appendf(nil, `{"name":%s,"age":%d}`, name, rapid.Int32().Draw(rt, "age")))
		}
		if err := s.Writing(7).Settle(all); err != nil {
			rt.Fatal(told(err))
		}
		var out bytes.Buffer
		if err := s.ExportPersonas(&out, 7); err != nil {
			rt.Fatal(err)
		}
		back, err := read(minimal("population:\n  from: population.jsonl\n  attributes: {old: \"${agent.age > 40}\"}\n"), map[string]string{PersonasName: out.String()}, nil)
		if err != nil {
			rt.Fatal(told(err))
		}
		for i := range 3 {
			if got, want := shown(t, back, i, "id", "name", "age", "old"), shown(t, s, i, "id", "name", "age", "old"); got != want {
				rt.Errorf("got %s, want %s", got, want)
			}
		}
	})
}
