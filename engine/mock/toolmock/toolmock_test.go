package toolmock

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/throng-sim/throng/engine/internal/draw"
	"github.com/throng-sim/throng/engine/mock/wire"
)

// TestReadTools reads tools and calls, and writes them as they were.
func TestReadTools(t *testing.T) {
	const tools = `[{"type":"function","function":{"name":"price","description":"A price.","parameters":{"type":"object"}}}]`
	all, err := ReadTools(json.RawMessage(tools))
	if err != nil || len(all) != 1 {
		t.Fatalf("%+v, %v", all, err)
	}
	const calls = `[{"id":"c1","type":"function","function":{"name":"price","arguments":"{}"}}]`
	called, err := ReadCalls(json.RawMessage(calls))
	if err != nil || !reflect.DeepEqual(called, []Call{{"c1", "price", "{}"}}) || Text(called) != "price{}" {
		t.Fatalf("%+v, %v", called, err)
	}
	for want, v := range map[string]any{tools: Offer(all), calls: Wire(called), "null": Wire(nil)} {
		if got, err := json.Marshal(v); err != nil || string(got) != want {
			t.Errorf("%s, %v, want %s", got, err, want)
		}
	}
	if all, err = ReadTools(json.RawMessage(`[{"type":"function","function":{"name":"now"}}]`)); err != nil || !strings.Contains(string(all[0].Schema), `"object"`) {
		t.Errorf("a tool without parameters: %+v, %v", all, err)
	}
	for text, says := range map[string]string{
		`{}`: "an array of functions", `[{"type":"web"}]`: "tools[0].type", `[{"type":"function","function":{"name":"a b"}}]`: "tools[0].function.name",
	} {
		if _, err := ReadTools(json.RawMessage(text)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, text := range []string{`{}`, `[{"id":"","function":{"name":"a"}}]`, `[{"id":"a","function":{}}]`} {
		if _, err := ReadCalls(json.RawMessage(text)); err == nil {
			t.Errorf("the calls %s are accepted", text)
		}
	}
}

// TestPending checks that each call is answered once, in any order, before another message.
func TestPending(t *testing.T) {
	var p Pending
	two := []Call{{ID: "a"}, {ID: "b"}}
	for _, err := range []error{p.Add("assistant", two, ""), p.Add("tool", nil, "b"), p.Add("tool", nil, "a"), p.End(), p.Add("user", nil, "")} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if p.Add("tool", nil, "a") == nil {
		t.Error("a call is answered twice")
	}
	if err := p.Add("assistant", two, ""); err != nil {
		t.Fatal(err)
	}
	if p.End() == nil || p.Add("user", nil, "") == nil || p.Add("tool", nil, "c") == nil {
		t.Error("a call without an answer is accepted, or an answer without a call")
	}
}

// TestChoose draws calls: one or two, always the same ones for a key, and none after results unless a fault says so.
func TestChoose(t *testing.T) {
	tools := []Tool{{Name: "price", Schema: json.RawMessage(`{"of":1}`)}, {Name: "stock", Schema: json.RawMessage(`{"of":2}`)}}
	fill := func(schema json.RawMessage, _ draw.Key) (string, error) { return string(schema), nil }
	choose := func(n int, answered bool, faults wire.Tools) []Call {
		t.Helper()
		calls, err := Choose(draw.Key{}.Int(uint64(n)), tools, answered, faults, fill)
		again, _ := Choose(draw.Key{}.Int(uint64(n)), tools, answered, faults, fill)
		if err != nil || !reflect.DeepEqual(calls, again) {
			t.Fatalf("%+v, then %+v, %v", calls, again, err)
		}
		return calls
	}
	counts, names := map[int]int{}, map[string]int{}
	for n := range 400 {
		calls := choose(n, false, wire.Tools{})
		counts[len(calls)]++
		for _, c := range calls {
			names[c.Name]++
			if c.Arguments != map[string]string{"price": `{"of":1}`, "stock": `{"of":2}`}[c.Name] || !strings.HasPrefix(c.ID, "call_") {
				t.Fatalf("%+v", c)
			}
		}
		if len(calls) == 2 && calls[0].ID == calls[1].ID {
			t.Fatal("two calls have one ID")
		}
		if got := choose(n, true, wire.Tools{}); got != nil {
			t.Fatalf("after results: %+v", got)
		}
		if got := choose(n, true, wire.Tools{Again: 1}); len(got) == 0 {
			t.Fatal("the fault has no effect")
		}
		if got := choose(n, false, wire.Tools{Unknown: 1, Misfit: 1})[0]; !strings.HasSuffix(got.Name, "_that_is_not_there") || json.Valid([]byte(got.Arguments)) && got.Arguments[0] != '[' {
			t.Fatalf("%+v", got)
		}
	}
	if counts[1]+counts[2] != 400 || counts[2] < 80 || counts[2] > 160 || names["price"] < 200 || names["stock"] < 200 {
		t.Errorf("%v calls of %v", counts, names)
	}
	no := errors.New("no")
	if _, err := Choose(draw.Key{}, tools, false, wire.Tools{}, func(json.RawMessage, draw.Key) (string, error) { return "", no }); !errors.Is(err, no) {
		t.Errorf("a schema that cannot be met: %v", err)
	}
	if calls, err := Choose(draw.Key{}, nil, false, wire.Tools{Again: 1}, fill); calls != nil || err != nil {
		t.Errorf("without tools: %+v, %v", calls, err)
	}
}
