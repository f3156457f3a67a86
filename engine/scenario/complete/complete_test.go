package complete

import (
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/throng-sim/throng/assets"
)

func language(t testing.TB) *Language {
	t.Helper()
	text, err := fs.ReadFile(assets.Scenarios(), "schema.json")
	if err != nil {
		t.Fatal(err)
	}
	l, err := New(text)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// at returns the query of a text with a | at the cursor.
func at(text string, asked bool) Query {
	before, after, _ := strings.Cut(text, "|")
	line, col := position(before+after, len(before))
	return Query{Text: before + after, Line: line, Col: col, Asked: asked}
}

func labels(r Result) []string {
	all := make([]string, len(r.Items))
	for i, item := range r.Items {
		all[i] = item.Label
	}
	return all
}

// apply inserts an item.
func apply(q Query, r Result, item Item) string {
	from := offset(q.Text, q.Line, r.From)
	to := offset(q.Text, q.Line, r.To)
	return q.Text[:from] + item.Insert + q.Text[to:]
}

// TestEachRemovedKeyIsOffered removes each key of the language from the built-in scenarios and the examples of the guide: as a whole
// entry, except for its first letters, and with the rest of its line. Completion must offer it again.
func TestEachRemovedKeyIsOffered(t *testing.T) {
	l := language(t)
	tried, values := 0, 0
	for name, text := range scenarios(t) {
		o := read(text)
		r := &reader{l, o}
		o.root.walk(func(n *node) {
			if n.item || free(n) || n.key == "type" {
				return
			}
			word, of := n.word()
			if _, known := r.keys(r.of(n.parent))[n.key]; !known && of == "" {
				return
			}
			tried++
			line, _ := position(text, n.keyFrom)
			want := n.key
			if of != "" {
				want = word
			}
			offered := func(how, text string, at int) {
				t.Helper()
				q := Query{Text: text, Asked: true}
				q.Line, q.Col = position(text, at)
				r := l.Complete(q)
				if !slices.ContainsFunc(r.Items, func(i Item) bool { return i.Label == want || of != "" && strings.HasPrefix(i.Label, word+" ") }) {
					t.Errorf("%s:%d: %s without %s: offered %v", name, line, how, n.key, labels(r))
				}
			}
			to := n.to
			for n.flow && to < len(text) && strings.IndexByte(", ", text[to]) >= 0 {
				to++
			}
			if of == "" { // a block stays: its place shows by its lines
				offered("the entry", text[:n.keyFrom]+text[to:], n.keyFrom)
			}
			short := min(2, len(want))
			offered("letters", text[:n.keyFrom]+want[:short]+text[n.keyTo:], n.keyFrom+short)
			offered("the rest of the line", text[:n.keyFrom]+want[:1]+text[o.lineEnd(n.keyFrom):], n.keyFrom+1)
			if len(n.children) == 0 && n.valTo > n.valFrom {
				values++
				checkValue(t, l, name, text, n, r.of(n))
			}
		})
	}
	if tried < 500 || values < 200 {
		t.Errorf("tried only %d keys and %d values", tried, values)
	}
}

// checkValue removes a value that the schema lists, and requires that completion offers it again.
func checkValue(t *testing.T, l *Language, name, text string, n *node, all []*schema) {
	t.Helper()
	value := unquoted(text[n.valFrom:n.valTo])
	listed := slices.ContainsFunc(all, func(s *schema) bool { return slices.Contains(s.Enum, any(value)) }) || slices.Contains([]string{"service", "target", "acted", "depends_on"}, n.key)
	if !listed {
		return
	}
	q := Query{Text: text[:n.valFrom] + text[n.valTo:], Asked: true}
	q.Line, q.Col = position(q.Text, n.valFrom)
	defined := n.key != "target" || strings.Contains(text, "connectors:")
	if got := labels(l.Complete(q)); !slices.Contains(got, value) && defined {
		t.Errorf("%s:%d: %s: offered %v, want %s", name, q.Line, n.key, got, value)
	}
}

const sample = `parameters:
  agents: {default: 5, title: Shoppers}
  share: 0.5
population:
  count: ${params.agents}
  attributes:
    budget: ${uniform(1, 2)}
    mood: calm
services:
  shop: {kind: http, url: mock:shop}
  brain:
    kind: llm
    provider: mock
  crm: {kind: mcp, url: "https://crm.example.com/mcp"}
functions: |
  # Whether the agent shops now.
  def shops(agent, now):
      return chance(0.5)
  LIMIT = 3
connectors:
  greet: {kind: llm, service: brain, prompt: "${options.who}", answer: {hello: string}}
chain main:
  step decide:
    kind: llm
    service: brain
    prompt: Go?
    answer: {go: bool, why: string}
  step rest:
    kind: remember
    set: {mood: "fine", spent: 3}
  step loop:
    kind: for
    each: [1]
    as: thing
    do:
      step inner: {kind: http, service: shop, get: /api/products}
  step hello: {kind: connector, target: greet, options: {who: "me"}}
CURSOR
chain other:
  step end: {kind: stop}
`

func TestComplete(t *testing.T) {
	l := language(t)
	for _, c := range []struct {
		name, text string // with a | at the cursor; CURSOR of sample is replaced by text
		want       string // the first labels
		without    string // labels that are not offered
	}{
		{"a half-typed key", "  step x:\n    ki|", "kind", ""},
		{"the key after the kind", "  step x:\n    kind: http\n    ser|", "service", ""},
		{"keys of the kind", "  step x:\n    kind: http\n    |", "service get auth", "kind prompt type"},
		{"keys that exclude each other", "  step x:\n    kind: http\n    get: /\n    p|", "private parallel", "post put patch"},
		{"in braces", "  step x: {kind: llm, ser|", "service", ""},
		{"in closed braces", "  step x: {kind: llm, ser|}", "service", ""},
		{"a kind", "  step x: {kind: |}", "http llm embed", ""},
		{"a kind without a space", "  step x:\n    kind:|", "http llm", ""},
		{"a service of the kind", "  step x:\n    kind: llm\n    service: |", "brain", "shop"},
		{"a tool", "  step x: {kind: llm, service: brain, prompt: hi, tools: [|]}\ntools:\n  look: {about: Looks., call: 1}", "look mcp:crm", "brain"},
		{"a tool's arguments", "tools:\n  look:\n    about: Looks.\n    input: {words: |}", "bool float", ""},
		{"a tool's chain", "tools:\n  look:\n    about: Looks.\n    chain: |", "main other", ""},
		{"a service for recall", "  step x:\n    kind: recall\n    service: |", "brain", "shop"},
		{"keys of recall", "  step x:\n    kind: recall\n    service: brain\n    query: x\n    |", "top decay dimensions fields", "service query prompt"},
		{"weights", "  step x:\n    kind: recall\n    weights: {|}", "importance recency similarity", ""},
		{"what was recalled", "  step r: {kind: recall, service: brain, query: x}\n  step x: {kind: emit, event: e, data: '${steps.r[0].|}'}", "text cycle score", ""},
		{"a path", "  step x:\n    kind: http\n    service: shop\n    post: /|", "/api/products", ""},
		{"a function", "  step x: {kind: python, target: |}", "shops", "LIMIT pick"},
		{"a connector", "  step x: {kind: connector, target: |}", "greet", ""},
		{"a chain", "  step x: {kind: chain, target: |}", "main other", ""},
		{"true", "  step x: {kind: http, parallel: |}", "true false", ""},
		{"siblings", "  step x: {kind: http, depends_on: [decide, |]}", "hello loop rest", "inner x decide"},
		{"siblings in lines", "  step x:\n    kind: http\n    depends_on:\n      - |", "decide hello loop rest", "inner x"},
		{"types of an answer", "  step x: {kind: llm, answer: {a: |}}", "bool float int list string", ""},
		{"names", "  step x: {kind: stop, when: |}", "params agent input", ""},
		{"own function", "  step x: {kind: stop, when: sh|}", "shops", ""},
		{"attributes", "  step x: {kind: stop, when: agent.|}", "budget id inbox index memory mood notes", ""},
		{"memory", "  step x: {kind: stop, when: agent.memory.|}", "mood spent", ""},
		{"parameters", "  step x: {kind: emit, event: e, data: \"${params.|\"}", "agents share", ""},
		{"steps, nearest first", "  step x: {kind: stop, because: \"${steps.|}\"}", "hello loop rest decide", "inner end"},
		{"an answer", "  step x: {kind: stop, when: steps.decide.|}", "go why", ""},
		{"the output of a connector", "  step x: {kind: stop, when: steps.hello.|}", "hello", ""},
		{"a pass", "  step x: {kind: stop, when: 'steps.loop[0].|'}", "inner", ""},
		{"the output in a pass", "  step x: {kind: stop, when: \"steps.loop[-1].inner.|\"}", "body headers status", ""},
		{"previous", "  step x: {kind: stop, when: previous.|}", "hello", ""},
		{"time", "  step x: {kind: stop, when: now.we|}", "weekday", ""},
		{"a module", "  step x: {kind: stop, when: math.fl|}", "floor", ""},
		{"inside a call", "  step x: {kind: stop, when: chance(params.sh|)}", "share", ""},
		{"in a text", "  step x: {kind: stop, because: 'It is ${now.ho|}:00'}", "hour", ""},
		{"in a block of text", "  step x:\n    kind: llm\n    prompt: |-\n      You are ${agent.mo‸", "mood", ""},
		{"a literal", "  step x: {kind: stop, because: \"$${ag|\"}", "", "agent"},
		{"text in an expression", "  step x: {kind: stop, when: agent.mood == \"pa|\"}", "", "params"},
		{"a comment", "  # ki|", "", "kind"},
		{"a decimal", "  step x: {kind: stop, when: chance(0.|)}", "", "agents"},
		{"an unknown name", "  step x: {kind: stop, when: foo.|}", "", "id"},
		{"the element of a pass", "  step x:\n    kind: for\n    each: [1]\n    as: element\n    do:\n      step y: {kind: stop, when: el|}", "element", ""},
		{"a new step", "  st|", "step http", "clock"},
		{"a new chain", "ch|", "chain work", ""},
		{"top level", "cl|", "clock cleanup", "step http"},
		{"data of the scenario", "  step x: {kind: http, json: {ki|}}", "", "kind"},
		{"a provider", "services:\n  more:\n    kind: llm\n    provider: |", "mock openai", ""},
		{"events", "acted: |", "", "http"},
		{"chains", "run: |", "main other", ""},
	} {
		marker := "|"
		if strings.Contains(c.text, "‸") {
			marker = "‸"
		}
		text := strings.Replace(sample, "CURSOR", c.text, 1)
		before, after, _ := strings.Cut(text, marker)
		if marker == "|" { // the block of functions has one, too
			i := strings.Index(sample, "CURSOR") + strings.Index(c.text, "|")
			before, after = text[:i], text[i+1:]
		}
		q := Query{Text: before + after, Asked: true}
		q.Line, q.Col = position(q.Text, len(before))
		got := labels(l.Complete(q))
		want := words(c.want)
		if len(got) < len(want) || !slices.Equal(got[:len(want)], want) {
			t.Errorf("%s: %v, want %v first", c.name, got[:min(len(got), 8)], want)
		}
		for _, no := range words(c.without) {
			if slices.Contains(got, no) {
				t.Errorf("%s: %s is offered", c.name, no)
			}
		}
	}
}

// words splits labels; those of snippets have two words.
func words(text string) (all []string) {
	for w := range strings.FieldsSeq(text) {
		if n := len(all); n > 0 && (all[n-1] == "step" || all[n-1] == "chain") {
			all[n-1] += " " + w
			continue
		}
		all = append(all, w)
	}
	return all
}

func TestCompleteUnasked(t *testing.T) {
	l := language(t)
	for text, want := range map[string]int{
		"chain c:\n  step a:\n    |":                     0,
		"chain c:\n  step a:\n    k|":                    0,
		"chain c:\n  step a:\n    ki|":                   1,
		"chain c:\n  step a:\n    kind|: http":           0, // it is typed
		"chain c:\n  step a:\n    kind: |":               0,
		"chain c:\n  step a: {kind: stop, when: |}":      0,
		"chain c:\n  step a: {kind: stop, when: now.|}":  11,
		"chain c:\n  step a: {kind: stop, when: chanc|}": 1,
	} {
		if got := labels(l.Complete(at(text, false))); len(got) != want {
			t.Errorf("%q: %v, want %d", text, got, want)
		}
	}
}

func TestInsert(t *testing.T) {
	l := language(t)
	for _, c := range []struct{ text, label, want string }{
		{"chain c:\n  step a:\n    ki|", "kind", "chain c:\n  step a:\n    kind: "},
		{"chain c:\n  step a:\n    ki|: http", "kind", "chain c:\n  step a:\n    kind: http"},
		{"chain c:\n  step a:\n    kind: h|", "http", "chain c:\n  step a:\n    kind: http"},
		{"chain c:\n  step a:\n    kind:|", "stop", "chain c:\n  step a:\n    kind: stop"},
		{"po|", "population", "population:\n  "},
		{"chain c:\n    step a: {kind: stop}\n    step st|", "", ""},
		{"chain c:\n    step a: {kind: stop}\n    st|", "step stop", "chain c:\n    step a: {kind: stop}\n    step leave:\n        kind: stop\n        because: done"},
		{"chain c: {step a: {kind: stop}, st|}", "step if", "chain c: {step a: {kind: stop}, step choose: {kind: if, condition: agent.index % 2 == 0, then: {step yes: {kind: emit, event: done}}}}"},
		{"services:\n  |", "http", "services:\n  shop:\n    kind: http\n    url: mock:shop"},
		{"chain c: {step a: {kind: stop, when: chan|}}", "chance", "chain c: {step a: {kind: stop, when: chance()}}"},
	} {
		q := at(c.text, true)
		r := l.Complete(q)
		i := slices.IndexFunc(r.Items, func(i Item) bool { return i.Label == c.label })
		if i < 0 {
			if c.label != "" {
				t.Errorf("%q: %v, want %s", c.text, labels(r), c.label)
			}
			continue
		}
		if got := apply(q, r, r.Items[i]); got != c.want {
			t.Errorf("%q:\n got %q\nwant %q", c.text, got, c.want)
		}
	}
}

func TestCompleteFunctions(t *testing.T) {
	l := language(t)
	star := "LIMIT = 3\n\ndef shops(agent, now):\n    return |\n"
	scenario := strings.Replace(sample, "CURSOR\n", "", 1)
	for typed, want := range map[string]string{"agent.bu": "budget", "now.ho": "hour", "LI": "LIMIT", "no": "now", "cha": "chance", "params.ag": "agents", "steps.decide.w": "why", "ret": "return"} {
		q := at(strings.Replace(star, "|", typed+"|", 1), false)
		q.Scenario = scenario
		if got := labels(l.Complete(q)); len(got) == 0 || got[0] != want {
			t.Errorf("%s: %v, want %s", typed, got, want)
		}
	}
	q := at(strings.Replace(star, "return |", "# no|", 1), true)
	q.Scenario = scenario
	if got := l.Complete(q); len(got.Items) > 0 {
		t.Errorf("a comment is completed: %v", labels(got))
	}
	inside := strings.Replace(scenario, "return chance(0.5)", "return agent.bu", 1) // in the scenario's own file
	q = Query{Text: inside}
	q.Line, q.Col = position(inside, strings.Index(inside, "agent.bu")+len("agent.bu"))
	if got := labels(l.Complete(q)); !slices.Equal(got, []string{"budget"}) {
		t.Errorf("in the block of functions: %v", got)
	}
}

// TestFieldsOfTheFile completes columns that are not in the scenario's own file.
func TestFieldsOfTheFile(t *testing.T) {
	q := at("population: {from: people.csv}\nchain c:\n  - na|\n  - {name: s, kind: stop, when: agent.a}\n", true)
	if got := labels(language(t).Complete(q)); !slices.Equal(got, []string{"name"}) {
		t.Errorf("in a list of steps: %v", got)
	}
	q = at("population: {from: people.csv}\nchain c:\n  - {name: s, kind: stop, when: agent.a|}\n", true)
	q.Fields = []string{"id", "index", "age"}
	if got := labels(language(t).Complete(q)); !slices.Equal(got, []string{"age"}) {
		t.Errorf("after a dot: %v", got)
	}
}

func TestExplain(t *testing.T) {
	l := language(t)
	text := "services:\n  shop:\n    kind: http\n\nchain a:\n  step b: {kind: http, json: {id: 1, x: '{y: 2'}, get: /z}\n  step c:\n    - {name: d}\n"
	for _, c := range []struct {
		line, col int
		want      string
	}{
		{1, 1, "services"},
		{3, 6, "services/shop/kind"},
		{6, 13, "chain a/step b/kind"},
		{6, 32, "chain a/step b/json/id"},
		{6, 40, "chain a/step b/json/x"},
		{6, 55, "chain a/step b/get"},
		{6, 3, "chain a/step b"},
	} {
		got, _, _ := l.Explain(text, c.line, c.col)
		if strings.Join(got, "/") != c.want {
			t.Errorf("%d:%d: %q, want %q", c.line, c.col, got, c.want)
		}
	}
	if _, what, others := l.Explain("clock: {cycels: 1}", 1, 12); what != "Unknown key." || !slices.ContainsFunc(others, func(k Key) bool { return k.Name == "cycles" }) {
		t.Errorf("%s %v", what, others)
	}
	for name, text := range scenarios(t) {
		o := read(text)
		o.root.walk(func(n *node) {
			if n.item || free(n) {
				return
			}
			line, col := position(text, n.keyFrom)
			if _, what, _ := l.Explain(text, line, col); what == "Unknown key." {
				t.Errorf("%s:%d: %v is not explained", name, line, path(n))
			}
		})
	}
}

// BenchmarkComplete completes a key and an expression at the end of a scenario of 2,000 lines.
func BenchmarkComplete(b *testing.B) {
	l := language(b)
	text := long(2000)
	for name, typed := range map[string]string{"key": "  step x:\n    ki|", "expression": "  step x: {kind: stop, when: steps.|}"} {
		b.Run(name, func(b *testing.B) {
			q := at(text+typed, false)
			for b.Loop() {
				l.Complete(q)
			}
		})
	}
}

// long returns a valid scenario with at least so many lines.
func long(lines int) string {
	var b strings.Builder
	b.WriteString("services:\n  model: {kind: llm, provider: mock}\nchain c:\n")
	for i := 0; strings.Count(b.String(), "\n") < lines; i++ {
		name := "s" + strings.Repeat("x", i%7) + "_" + string(rune('a'+i%26)) + strings.Repeat("y", i/26%40)
		b.WriteString("  step " + name + ":\n    kind: llm\n    service: model\n    prompt: \"Hello ${agent.id}\"\n    answer: {go: bool, why: string}\n")
	}
	return b.String()
}

// TestExpressionsAreKnown compares the keys whose whole value is an expression with the descriptions of the schema.
func TestExpressionsAreKnown(t *testing.T) {
	described := map[string]bool{}
	var walk func(s *schema)
	walk = func(s *schema) {
		if s == nil {
			return
		}
		for name, p := range s.Properties {
			if strings.Contains(p.Description, "expression") && !strings.Contains(p.Description, "or an expression") && name != "cache" {
				described[name] = true
			}
			walk(p)
		}
		for _, d := range s.Definitions {
			walk(d)
		}
		for _, v := range s.AllOf {
			walk(v.Then)
		}
	}
	walk(language(t).schema)
	for name := range described {
		if !whole[name] {
			t.Errorf("%s is described as an expression, but it is not completed as one", name)
		}
	}
	for name := range whole {
		if !described[name] {
			t.Errorf("%s is completed as an expression; the schema does not say so", name)
		}
	}
}

func TestStepPlace(t *testing.T) {
	text := "clock: {cycles: 1}\nchain c:\n  step a:\n    kind: if\n    then:\n      step b: {kind: stop}\n\n  step d: {kind: stop}\nsuccess: {}\n"
	for _, c := range []struct{ line, col, after, indent int }{
		{1, 1, 8, 2}, {3, 4, 6, 2}, {4, 8, 6, 2}, {6, 10, 6, 6}, {8, 3, 8, 2}, {9, 1, 8, 2},
	} {
		if after, indent, ok := StepPlace(text, c.line, c.col); after != c.after || indent != c.indent || !ok {
			t.Errorf("%d:%d: after line %d by %d, want %d by %d", c.line, c.col, after, indent, c.after, c.indent)
		}
	}
	if _, _, ok := StepPlace("clock: {cycles: 1}\n", 1, 1); ok {
		t.Error("a file without a chain has a place for a step")
	}
}
