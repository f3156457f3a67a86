package chain

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

const askers = `
step look: {kind: http, service: shop, get: /}
step buy: {kind: http, service: shop, post: /orders}
step f:
  kind: for
  each: range(3)
  as: item
  do:
    step add: {kind: http, service: shop, put: /cart, repeats: keyed}
step w: {kind: wait, for: 500ms}
step b: {kind: chain, target: other}
`

const otherChain = "chain other:\n  step pay: {kind: http, service: shop, delete: /cart}\n  step w: {kind: wait, for: 1}\n"

// TestAsking checks which steps are listed as requests, their paths as a run counts them, and which of them write.
func TestAsking(t *testing.T) {
	c, report, _ := (&stage{steps: askers, others: otherChain}).read(t)
	if err := report.Err(); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, a := range c.Asking() {
		got = append(got, fmt.Sprintf("%s %s %v", a.Path, a.Service.Name, a.Writes))
	}
	want := "look shop false, buy shop true, f.add shop true, b.pay shop true"
	if text := strings.Join(got, ", "); text != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
	writes := c.ExpectWrites()
	if len(writes) != 1 || writes[0].Least != 5 || writes[0].Most != 5 || writes[0].Mean != 5 {
		t.Errorf("got %+v, want 5 writes to the shop", writes)
	}
	if got := c.Thinks(); got != (Thinking{1500 * time.Millisecond, 1500 * time.Millisecond, 1500 * time.Millisecond, true}) {
		t.Errorf("it thinks for %+v, want 1.5 s, exactly", got)
	}
}

func TestAskingOfAModel(t *testing.T) {
	c, report, _ := (&stage{steps: `
step a: {kind: llm, service: model, prompt: hello, max_tokens: 40}
step w: {kind: wait, for: "${uniform(0, 1)}"}
step m: {kind: wait, for: "${agent.index}"}
step s: {kind: wait, for: 2s, when: agent.index > 3}
step f: {kind: wait, for: 100ms}
`, more: []*Service{{Name: "model", Kind: "llm"}}}).read(t)
	if err := report.Err(); err != nil {
		t.Fatal(err)
	}
	all := c.Asking()
	if len(all) != 1 || all[0].Tokens != 40 || all[0].Writes {
		t.Errorf("got %+v, want a model whose answers have 40 tokens", all)
	}
	if writes := c.ExpectWrites(); len(writes) != 0 {
		t.Errorf("a model call counts as a write: %+v", writes)
	}
	// At least the last, at most that, 2 s and nearly 1 s that is drawn.
	if got := c.Thinks(); got.Least != 100*time.Millisecond || got.Mean < 2400*time.Millisecond || got.Mean > 2800*time.Millisecond || got.Most < 2900*time.Millisecond || got.Most > 3100*time.Millisecond || got.Exact {
		t.Errorf("it thinks for %+v", got)
	}
}

// TestAskingOfManyChains checks that the list of requests is bounded, although the chains unfold to 2⁶⁰ steps.
func TestAskingOfManyChains(t *testing.T) {
	const depth = 60
	var others strings.Builder
	for i := range depth {
		fmt.Fprintf(&others, "chain c%d:\n  step a: {kind: chain, target: c%d}\n  step b: {kind: chain, target: c%d}\n", i, i+1, i+1)
	}
	fmt.Fprintf(&others, "chain c%d: {step a: {kind: http, service: shop, get: /}}\n", depth)
	c, report, _ := (&stage{steps: "step a: {kind: chain, target: c0}", others: others.String()}).read(t)
	if err := report.Err(); err != nil {
		t.Fatal(err)
	}
	if n := len(c.Asking()); n == 0 || n > maxVisited {
		t.Errorf("%d steps ask, want some, at most %d", n, maxVisited)
	}
}
