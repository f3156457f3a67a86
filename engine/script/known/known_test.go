package known

import (
	"fmt"
	"strings"
	"testing"

	"go.starlark.net/starlark"

	"github.com/throng-sim/throng/engine/script"
)

const functions = `
def drink(agent):
    if agent.age > 30:
        return {"name": "tea", "price": 4}
    return {"name": "cola", "price": 2}

def perhaps(agent):
    if agent.age > 30:
        return {"name": "tea"}

def built(agent):
    x = {"name": "tea"}
    x["price"] = 4
    return x

def of(kind):
    if kind == "a":
        return {"a": 1}
    return {"b": 1}

def deep(a): return deeper(a)
def deeper(a): return {"name": a}
def pick(list): return {"x": 1}
def again(n): return {"n": again(n), "m": again(n)}
def many0(n): return {"n": n}
def many1(n): return [many0(1), many0(2), many0(3), many0(4), many0(5), many0(6), many0(7), many0(8), many0(9), many0(0)]
def many2(n): return [many1(1), many1(2), many1(3), many1(4), many1(5), many1(6), many1(7), many1(8), many1(9), many1(0)]
def many3(n): return [many2(1), many2(2), many2(3), many2(4), many2(5), many2(6), many2(7), many2(8), many2(9), many2(0)]
def many4(n): return [many3(1), many3(2), many3(3), many3(4), many3(5), many3(6), many3(7), many3(8), many3(9), many3(0)]
def many5(n): return [many4(1), many4(2), many4(3), many4(4), many4(5), many4(6), many4(7), many4(8), many4(9), many4(0)]
def many6(n): return [many5(1), many5(2), many5(3), many5(4), many5(5), many5(6), many5(7), many5(8), many5(9), many5(0)]
def many7(n): return [many6(1), many6(2), many6(3), many6(4), many6(5), many6(6), many6(7), many6(8), many6(9), many6(0)]
def many8(n): return [many7(1), many7(2), many7(3), many7(4), many7(5), many7(6), many7(7), many7(8), many7(9), many7(0)]
LIST = [{"name": 1}]
`

// kitchen knows the outputs of some steps.
type kitchen struct{}

func (kitchen) Name(name string) *Shape {
	switch name {
	case "input":
		return RecordOf("words")
	case "agent":
		return &Shape{Kind: Record, Fields: []Field{{Name: "inbox", Of: ListOf(RecordOf("text"))}}, Open: true}
	}
	return nil
}

func (kitchen) Output(step string) *Shape {
	switch step {
	case "order":
		return &Shape{Kind: Record, Fields: []Field{{Name: "drink", Of: &Shape{Values: Constant(starlark.String("tea")).Values}}, {Name: "place", Of: RecordOf("table", "seat")}}}
	case "notes":
		return ListOf(RecordOf("text", "note"))
	case "open":
		return &Shape{Kind: Record, Fields: []Field{{Name: "status"}}, Open: true}
	case "either":
		return One(RecordOf("a"), RecordOf("b"))
	}
	return nil
}

func compile(t *testing.T, text string) *script.Expr {
	t.Helper()
	env, err := script.New(script.Config{Functions: &script.Source{Name: "f.star", Text: functions}})
	if err != nil {
		t.Fatal(err)
	}
	x, err := env.Expr(text, script.Scope{"steps", "input", "agent", "item"})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return x
}

// TestMistakes checks that fields that cannot be there are found, and no others.
func TestMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"steps.order.drink":                                    "",
		"steps.order.drnk":                                     "steps.order has no drnk at 1:13",
		"1 if\n steps.order['drnk'] else 2":                    "steps.order has no drnk at 2:14",
		"get(steps.order, 'drnk', 0)":                          "steps.order has no drnk at 1:18",
		"get(get(steps, 'order'), 'drnk')":                     "",
		"steps['order'].place.tabel":                           "steps['order'].place has no tabel at 1:22",
		"[n.txt for n in steps.notes]":                         "n has no txt at 1:4",
		"[n.text for n in steps.notes if n.nota]":              "n has no nota at 1:35",
		"[n for n in steps.notes][0].txt":                      "? has no txt at 1:29",
		"sorted(steps.notes, key=lambda n: n.txt)[0].txt":      "? has no txt at 1:45",
		"[n.txt for n, m in steps.notes]":                      "",
		"[input.x for input in steps.open.rows]":               "",
		"(lambda steps: steps.order.drnk)(1)":                  "",
		"steps.notes[1:][0].txt":                               "? has no txt at 1:20",
		"steps.notes.text":                                     "steps.notes is a list at 1:13",
		"steps.notes.index(1)":                                 "",
		"steps.notes[0].note.anything":                         "",
		"steps.open.body.anything":                             "",
		"steps.other.anything.at.all":                          "",
		"steps.either.a or steps.either.b":                     "",
		"steps.either.c":                                       "steps.either has no c at 1:14",
		"steps.order.items()":                                  "steps.order has no items at 1:13",
		"input.wrods + item.anything":                          "input has no wrods at 1:7",
		"[m.txt for m in agent.inbox] + agent.notes":           "m has no txt at 1:4",
		"drink(agent).items()":                                 "",
		"{'a': 1}.get('b')":                                    "",
		"LIST[0].name":                                         "",
		"steps.order.drnk == 1 and not steps.order.drink":      "steps.order has no drnk at 1:13",
		"{steps.order.drnk: 1, 'x': [steps.order.pla]}":        "steps.order has no drnk at 1:14, steps.order has no pla at 1:41",
		"str(x=steps.order.drnk) if False else '%s' % 1":       "steps.order has no drnk at 1:19",
		"steps.order.drink.upper()":                            "",
		"hasattr(steps.order, 'x') or 'x' in steps.order":      "",
		"agent.inbox[0].text if agent.inbox else agent.memory": "",
	} {
		var got []string
		_, mistakes := Infer(compile(t, text), kitchen{})
		for _, m := range mistakes {
			of, verb := m.Of, "has no "+m.Name
			if of == "" {
				of = "?"
			}
			if m.List {
				verb = "is a list"
			}
			got = append(got, fmt.Sprintf("%s %s at %d:%d", of, verb, m.At.Line, m.At.Col))
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

// TestFunctionsAreReadOnce checks that functions that call each other a hundred million times, or themselves, end and are not known.
func TestFunctionsAreReadOnce(t *testing.T) {
	for _, text := range []string{"many8(1)", "again(1)['n']"} {
		if s, mistakes := Infer(compile(t, text), kitchen{}); s.Items() != nil || mistakes != nil {
			t.Errorf("%s: %v, %v", text, s, mistakes)
		}
	}
	if s, _ := Infer(compile(t, "many1(1)"), kitchen{}); s.Items() == nil {
		t.Error("a list of ten is not known")
	}
}

// TestFit checks that what certainly does not fit is found, and where.
func TestFit(t *testing.T) {
	texts := func(all ...string) *Shape {
		s := &Shape{}
		for _, one := range all {
			s.Values = append(s.Values, starlark.String(one))
		}
		return s
	}
	drink := &Shape{Kind: Record, Fields: []Field{
		{Name: "name", Of: texts("tea", "coffee")}, {Name: "price", Of: &Shape{Kind: Whole}}, {Name: "why", Of: &Shape{Kind: Text}, Optional: true},
	}}
	strict := *drink
	strict.Strict = true
	for text, want := range map[string]string{
		"{'name': 'tea', 'price': 4}":                        "",
		"{'name': 'tea', 'price': 4, 'why': None}":           "",
		"{'name': 'tea', 'price': 4.0, 'more': 1}":           "",
		"{'name': 'tea', 'price': 4.5}":                      "price: 4.5 is not a whole number at 1:26",
		"{'name': 'te', 'price': 4}":                         "name: \"te\" is not one of the choices at 1:10 tea",
		"{'name': pick(['tea', 'milk']), 'price': 4}":        "",
		"{'nane': 'tea', 'price': 4}":                        "name is missing at 1:2 name",
		"{'price': 4}":                                       "name is missing at 1:1",
		"{'name': 'tea', 'price': 'x'}":                      "price: \"x\" is not a whole number at 1:26",
		"{'name': 'tea', 'price': str(agent.x)}":             "price: a text is not a whole number at 1:26",
		"{'name': 'tea', 'price': agent.x, 'why': 1}":        "why: 1 is not a text at 1:42",
		"{'name': 'tea', 'price': uniform(1, 2)}":            "",
		"{'name': agent.x, 'price': len(agent.y)}":           "",
		"{agent.x: 'tea'}":                                   "",
		"'tea' if agent.x else {'name': 'tea', 'price': 4}":  "\"tea\" is not a record at 1:1",
		"{'name': 'tea' if agent.x else 'milk', 'price': 4}": "name: \"milk\" is not one of the choices at 1:32",
		"None":                 "None is not a record at 1:1",
		"[1]":                  "a list is not a record at 1:1",
		"agent.x or 3":         "",
		"drink(agent)":         "", // one of its answers fits
		"perhaps(agent)":       "price is missing at 1:1",
		"built(agent)":         "",
		"of(agent.x)":          "name is missing at 1:1",
		"deep(agent)":          "price is missing at 1:1",
		"input":                "name is missing",
		"agent.x[0] + agent.y": "",
		"{'name': 'coffee', 'price': 1, 'why': 'a' + 'b'}":             "",
		"{'name': 'coffee', 'price': 1, 'why': agent.age > 3}":         "why: true or false is not a text at 1:39",
		"{'name': 'coffee', 'price': 1, 'why': [agent.age]}":           "why: a list is not a text at 1:39",
		"{'name': 'coffee', 'price': 1, 'why': '%d' % agent.age}":      "",
		"{'name': 'coffee', 'price': True, 'why': '%d' % agent.age}":   "price: True is not a whole number at 1:29",
		"{'name': 'coffee', 'price': 1, 'why': not agent.age}":         "why: true or false is not a text at 1:39",
		"[{'name': 'coffee', 'price': x} for x in steps.notes][agent]": "price: a record is not a whole number",
	} {
		v, _ := Infer(compile(t, text), kitchen{})
		got := ""
		if m := Fit(v.Data(), drink); m != nil {
			got = m.Problem
			if m.At != (Place{}) {
				got += fmt.Sprintf(" at %d:%d", m.At.Line, m.At.Col)
			}
			if m.Meant != "" {
				got += " " + m.Meant
			}
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
	v, _ := Infer(compile(t, "{'name': 'tea', 'price': 4, 'whi': 'x'}"), kitchen{})
	if m := Fit(v.Data(), &strict); m == nil || m.Problem != "the answer has no whi" || m.Meant != "why" || m.At != (Place{1, 29}) {
		t.Errorf("a record with another field: got %+v", m)
	}
}
