package scenario

import (
	"fmt"
	"strings"
	"testing"

	"github.com/throng-sim/throng/engine"
)

// TestChanges checks which changes affect a resumed run.
func TestChanges(t *testing.T) {
	const text = `title: Crowd
parameters:
  shops: {default: 3, min: 1, title: Shops}
  town: Arnis
clock: {cycle: 1h, cycles: 2}
population: {count: 4}
services:
  shop: {kind: http, url: "mock:shop", limits: {connections: 5, timeout: 10s}}
functions: crowd.star
chain walk:
  step look: {kind: http, service: shop, get: /api/products/search, query: {query: a}}
  step tell: {kind: emit, event: told, data: "${double(params.shops)}"}
success: {error_rate: "< 5%"}
`
	const star = "def double(x):\n    return 2 * x\n"
	load := func(text, star string, given map[string]string) engine.Source {
		t.Helper()
		s, err := read(text, map[string]string{"crowd.star": star}, given)
		if err != nil {
			t.Fatal(told(err))
		}
		return s.Source
	}
	for _, c := range []struct {
		name, old, new string // what of the text is replaced
		star           string
		given          map[string]string
		want           string
	}{
		{name: "nothing"},
		{name: "comments", old: "clock:", new: "# when\nclock:   # then\n "},
		{name: "the title", old: "title: Crowd", new: "title: Many\nabout: of people"},
		{name: "success", old: "< 5%", new: "< 9%"},
		{name: "the length", old: "cycles: 2", new: "cycles: 9"},
		{name: "how fast", old: "connections: 5", new: "connections: 50"},
		{name: "layout of a block", old: "population: {count: 4}", new: "population:\n  count: 4"},
		{name: "the order of keys", old: "kind: emit, event: told", new: "event: told, kind: emit"},
		{name: "bounds of a parameter", old: "min: 1, title: Shops", new: "max: 9"},
		{name: "a short form", old: "town: Arnis", new: "town: {default: Arnis}"},
		{name: "comments of functions", star: "# twice\ndef double(x): return 2*x\n"},
		{name: "a default that was given", old: "default: 3", new: "default: 5", given: map[string]string{"shops": "4"}},

		{name: "another default", old: "default: 3", new: "default: 5", want: "test.yaml:3: default of parameter shops"},
		{name: "a parameter more", old: "  town:", new: "  more: 1\n  town:", want: "test.yaml:4: parameter more is new"},
		{name: "a parameter less", old: "  town: Arnis\n", want: "test.yaml: parameter town is not there any more"},
		{name: "a timeout", old: "timeout: 10s", new: "timeout: 1s", want: "test.yaml:8: services, shop, limits, timeout"},
		{name: "the clock", old: "cycle: 1h", new: "cycle: 2h", want: "test.yaml:5: clock, cycle"},
		{name: "a text that was a number", old: "{query: a}", new: "{query: 5}", want: "test.yaml:11: chain walk, step look, query, query"},
		{name: "a step more", old: "  step tell", new: "  step rest: {kind: wait, for: 1}\n  step tell", want: "test.yaml:12: chain walk, step rest"},
		{name: "a key less", old: ", query: {query: a}", want: "test.yaml: chain walk, step look, query"},
		{name: "functions", star: "def double(x):\n    return 3 * x\n", want: "crowd.star:2: changed"},
		{
			name: "the order of steps", old: text[strings.Index(text, "  step look"):strings.Index(text, "success")],
			new:  "  step tell: {kind: emit, event: told, data: \"${double(params.shops)}\"}\n  step look: {kind: http, service: shop, get: /api/products/search, query: {query: a}}\n",
			want: "test.yaml:10: chain walk, the order of its blocks",
		},
	} {
		after := star
		if c.star != "" {
			after = c.star
		}
		got := Changes(load(text, star, c.given), load(strings.Replace(text, c.old, c.new, 1), after, c.given))
		if want := "[" + c.want + "]"; fmt.Sprint(got) != want {
			t.Errorf("%s: got %v, want %s", c.name, got, want)
		}
	}
}
