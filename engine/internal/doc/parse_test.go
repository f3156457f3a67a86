package doc

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// read parses a valid text.
func read(t testing.TB, text string) *Node {
	t.Helper()
	var r Report
	n := Parse("shop.yaml", []byte(text), &r)
	if err := r.Err(); err != nil {
		t.Fatalf("got %v, want no problem", err)
	}
	return n
}

// found returns the problems as "line:col problem (hint)".
func found(r *Report) []string {
	var all []string
	for _, p := range r.Problems() {
		all = append(all, strings.TrimPrefix(p.Error(), p.File+":"))
	}
	return all
}

const shopping = `title: Marketplace shoppers
chain shop:
  timeout: 120                   # seconds
  step decide_shop:
    kind: llm
    cache: {frequency: agent.shopping_frequency, day: now.weekday}
    prompt: "You are a ${frequency} shopper."
  step stay: {kind: stop, when: not steps.decide_shop.shop, because: stayed home}
  step browse:   {kind: http, get: /api/products/search, query: {query: "${pick(agent.categories)}", limit: 5}}
success:
  agents_completed: 100%
  cycle_time: < 60s
  weights: '${weighted({"frequent": 2, "rare": 1})}'
`

func TestPositionsOfKeysAndValues(t *testing.T) {
	root := read(t, shopping)
	chain := root.Get("chain shop")
	stay := chain.Get("step stay")
	for _, c := range []struct {
		node      *Node
		line, col int
	}{
		{root, 1, 1},
		{root.Get("title"), 1, 8},
		{chain, 2, 1}, // a block has the position of its key
		{chain.Get("timeout"), 3, 12},
		{chain.Get("step decide_shop"), 4, 3},
		{chain.Get("step decide_shop").Get("cache"), 6, 12},
		{chain.Get("step decide_shop").Get("cache").Get("day"), 6, 55},
		{stay, 8, 14},
		{stay.Get("when"), 8, 33},
		{stay.Get("because"), 8, 70},
		{chain.Get("step browse").Get("query").Get("limit"), 9, 109},
		{root.Get("success").Get("cycle_time"), 12, 15},
		{root.Get("success").Get("weights"), 13, 12},
	} {
		if line, col := c.node.Position(); line != c.line || col != c.col {
			t.Errorf("%s: got %d:%d, want %d:%d", c.node.label(), line, col, c.line, c.col)
		}
	}
	if got, want := stay.Get("when").Text(), "not steps.decide_shop.shop"; got != want {
		t.Errorf("when: got %q, want %q", got, want)
	}
	var words []string
	for _, e := range chain.Entries() {
		word, name := e.Split()
		words = append(words, word+"/"+name)
	}
	if want := []string{"timeout/", "step/decide_shop", "step/stay", "step/browse"}; !slices.Equal(words, want) {
		t.Errorf("blocks: got %v, want %v", words, want)
	}
}

func TestAPlainChainFileIsRead(t *testing.T) {
	root := read(t, `# three analyses
chain parallel_analysis:
    timeout: 180
    step sentiment:
        kind: connector
        parallel: true      # runs next to its neighbours

    # waits for both
    step summarize:
        kind: connector
        depends_on: [sentiment, entity_extraction]
`)
	chain := root.Get("chain parallel_analysis")
	if got := chain.Get("timeout").Int(1, 1000); got != 180 {
		t.Errorf("timeout: got %d, want 180", got)
	}
	if !chain.Get("step sentiment").Get("parallel").Bool() {
		t.Error("parallel: got false, want true")
	}
	after := chain.Get("step summarize").Get("depends_on")
	if got, want := after.Texts(), []string{"sentiment", "entity_extraction"}; !slices.Equal(got, want) {
		t.Errorf("depends_on: got %v, want %v", got, want)
	}
	if line, col := after.List()[1].Position(); line != 11 || col != 33 {
		t.Errorf("second item: got %d:%d, want 11:33", line, col)
	}
}

func TestUnsupportedYAMLIsReportedAndSkipped(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"duplicate key", "a: 1\nb: 2\na: 3\n", []string{"3:1: duplicate key `a`, first on line 1"}},
		{"duplicate key in braces", "x: {a: 1, \"a\": 2}\n", []string{"1:11: duplicate key `a`, first on line 1"}},
		{"anchor and alias", "a: &x 1\nb: *x\n", []string{
			"1:4: anchors (`&x`) are not part of the language (remove it, or quote the value)",
			"2:4: aliases (`*x`) are not part of the language (write the value out, or quote it: '*x')",
		}},
		{"merge key", "a: 1\n<<: {b: 2}\n", []string{"2:1: merge keys (`<<`) are not part of the language (write the keys out)"}},
		{"quoted merge key", "\"<<\": 1\n", nil},
		{"tag", "a: !!str 1\n", []string{"1:4: tags (`!!str`) are not part of the language (remove it, or quote the value)"}},
		{"tag of our own", "a: !important\n", []string{"1:4: tags (`!important`) are not part of the language (remove it, or quote the value)"}},
		{"two documents", "a: 1\n---\nb: 2\n", []string{"2:1: a second document starts here (keep one document in a file and remove the line with ---)"}},
		{"key that is a list", "[a, b]: c\n", []string{"1:1: a key must be text, found a list (quote it if it is a text)"}},
		{"no key", "a: 1\n: 2\n", []string{"2:1: there is no key before the colon"}},
		{"no space in braces", "a: {b:1, c: 2}\n", []string{"1:5: `b:1` has no space after its colon (write `b: 1`)"}},
		{"no value in braces", "a: {b, c: 2}\n", []string{"1:5: `b` has no value (in braces write `b: …`; a value with a comma must be quoted)"}},
		{"null in braces", "a: {b: , c: null}\n", nil},
		{"call in braces", "a: {when: max(a, b), because: x}\n", []string{"1:11: the comma cuts the value of `when` after `max(a` (quote the whole value: 'max(a, b)')"}},
		{"call with names in braces", "a: {when: f(a, b: 2, c), because: x}\n", []string{"1:11: the comma cuts the value of `when` after `f(a` (quote the whole value: 'f(a, b: 2, c)')"}},
		{"call in brackets", "a: [x, max(a, b), y]\n", []string{"1:8: the comma cuts the value of item 2 of `a` after `max(a` (quote the whole value: 'max(a, b)')"}},
		{"an open parenthesis is text", "a: {b: well :(, c: x}\n", nil},
		{"numbers as keys", "1: x\ntrue: y\nnull: z\n", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var r Report
			if n := Parse("shop.yaml", []byte(c.text), &r); n.Kind() != Map {
				t.Errorf("got %s, want a map", n.Kind())
			}
			if got := found(&r); !slices.Equal(got, c.want) {
				t.Errorf("got\n%q, want\n%q", got, c.want)
			}
		})
	}
}

func TestAValueCutByACommaIsMended(t *testing.T) {
	var r Report
	n := Parse("shop.yaml", []byte("a: {when: max(a, b), because: x}\nl: [x, max(a, b), y]\n"), &r)
	n.Get("a").Fields("when", "because")
	if got, want := n.Get("a").Get("when").Text(), "max(a, b)"; got != want {
		t.Errorf("when: got %q, want %q", got, want)
	}
	if got, want := n.Get("l").Texts(), []string{"x", "max(a, b)", "y"}; !slices.Equal(got, want) {
		t.Errorf("l: got %q, want %q", got, want)
	}
	if got := len(r.Problems()); got != 2 {
		t.Errorf("got %d problems, want 2: %v", got, r.Err())
	}
}

func TestSizeIsBounded(t *testing.T) {
	var r Report
	text := "a: [" + strings.Repeat("1,", maxNodes) + "]"
	if n := Parse("shop.yaml", []byte(text), &r); n != nil {
		t.Error("got a document, want nil")
	}
	want := fmt.Sprintf("1:1: the file has more than %d values (keep rows in a csv or jsonl file next to it)", maxNodes)
	if got := found(&r); !slices.Equal(got, []string{want}) {
		t.Errorf("got %q, want %q", got, want)
	}
	deep := strings.Repeat("- ", 40) + strings.Repeat("[", 40) + strings.Repeat("]", 40) // each alone is valid
	r = Report{}
	Parse("shop.yaml", []byte(deep), &r)
	if got, want := found(&r), []string{"1:105: more than 64 nested levels"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAByteOrderMarkIsNotCounted(t *testing.T) {
	n := read(t, "\ufeffa: 1\n")
	if line, col := n.Get("a").Position(); line != 1 || col != 4 {
		t.Errorf("got %d:%d, want 1:4", line, col)
	}
}

func TestLineEndsOfAllSystems(t *testing.T) {
	for _, end := range []string{"\n", "\r\n", "\r"} {
		n := read(t, strings.ReplaceAll("a: 1\nbé: |\n  x\n  y\nc: {d: e}\n", "\n", end))
		if line, col := n.Get("c").Get("d").Position(); line != 5 || col != 8 {
			t.Errorf("%q: got %d:%d, want 5:8", end, line, col)
		}
		if line, col := n.Get("bé").PositionAt(2); line != 4 || col != 3 {
			t.Errorf("%q: inside the block: got %d:%d, want 4:3", end, line, col)
		}
	}
}
