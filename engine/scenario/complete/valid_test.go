package complete_test

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/throng-sim/throng/assets"
	"github.com/throng-sim/throng/engine/scenario"
	"github.com/throng-sim/throng/engine/scenario/complete"
	"github.com/throng-sim/throng/engine/view"
)

func language(t *testing.T) *complete.Language {
	t.Helper()
	text, err := fs.ReadFile(assets.Scenarios(), "schema.json")
	if err != nil {
		t.Fatal(err)
	}
	l, err := complete.New(text)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// problems returns the problems of a scenario, with warnings. Its other files are those of the built-in scenarios.
func problems(t *testing.T, text string) []view.Problem {
	t.Helper()
	s, err := scenario.Read("s.yaml", func(name string) ([]byte, error) {
		if name == "s.yaml" {
			return []byte(text), nil
		}
		return fs.ReadFile(assets.Scenarios(), name)
	}, nil)
	if mistakes, ok := errors.AsType[*scenario.Mistakes](err); ok {
		return mistakes.Problems()
	} else if err != nil {
		t.Fatal(err)
	}
	return s.Warnings()
}

// replaced returns a text with the part between two positions replaced.
func replaced(text string, f complete.Fix) string {
	lines := strings.SplitAfter(text, "\n")
	at := func(line, col int) int {
		return len(strings.Join(lines[:line-1], "")) + len(string([]rune(lines[line-1])[:col-1]))
	}
	return text[:at(f.Line, f.Col)] + f.Text + text[at(f.EndLine, f.EndCol):]
}

const base = `services:
  shop: {kind: http, url: mock:shop}
  model: {kind: llm, provider: mock}
  db: {kind: postgres, url: "secret:DB"}
connectors:
  greet: {kind: python, call: "1"}
chain a:
  step first: {kind: emit, event: one}
BLOCK
chain b:
  step last: {kind: stop}
`

// TestSnippetsAreValid inserts each step, in lines, in braces and with deeper indentation, and checks the scenario.
func TestSnippetsAreValid(t *testing.T) {
	l := language(t)
	tried := 0
	for _, text := range []string{base, strings.Replace(base, "  step first: {kind: emit, event: one}\nBLOCK", "  step first: {kind: emit, event: one}\n  step x:\n    kind: if\n    condition: agent.index == 0\n    then:\n      BLOCK", 1), strings.Replace(base, "step last: {kind: stop}", "step last: {kind: if, condition: agent.index == 0, then: {BLOCK}}", 1)} {
		at := strings.Index(text, "BLOCK")
		indent := ""
		if strings.Index(text, "BLOCK") == strings.Index(base, "BLOCK") && !strings.Contains(text, "{BLOCK}") {
			indent = "  "
		}
		if strings.Contains(text, "{BLOCK}") {
			text = strings.Replace(text, "BLOCK\n", "", 1)
			at = strings.Index(text, "BLOCK")
		}
		text = text[:at] + indent + text[at+len("BLOCK"):]
		q := complete.Query{Text: text, Asked: true}
		before := text[:at+len(indent)]
		q.Line, q.Col = strings.Count(before, "\n")+1, len(before)-strings.LastIndexByte(before, '\n')
		for _, item := range l.Complete(q).Items {
			if item.Kind != complete.StepItem {
				continue
			}
			tried++
			full := before + item.Insert + text[len(before):]
			for _, p := range problems(t, full) {
				t.Errorf("%s: %s\n%s", item.Label, p, full)
			}
			if name := string([]rune(item.Insert)[item.Caret-item.Selected : item.Caret]); strings.ContainsAny(name, " :") || name == "" {
				t.Errorf("%s: selects %q", item.Label, name)
			}
		}
	}
	if tried != 48 {
		t.Errorf("tried %d snippets", tried)
	}
}

// TestMisspelledKeysAreCorrected misspells each key of the built-in scenarios that the reader knows. The first fix of the problem must
// restore the text.
func TestMisspelledKeysAreCorrected(t *testing.T) {
	l := language(t)
	tried := 0
	for _, name := range assets.Gallery {
		file, err := fs.ReadFile(assets.Scenarios(), name)
		if err != nil {
			t.Fatal(err)
		}
		text := string(file)
		for at := 0; at < len(text); at++ {
			word := text[at:]
			word = word[:len(word)-len(strings.TrimLeft(word, "abcdefghijklmnopqrstuvwxyz_"))]
			if len(word) < 5 || !strings.HasPrefix(text[at+len(word):], ":") || at > 0 && !strings.ContainsRune(" {\n", rune(text[at-1])) {
				at += len(word)
				continue
			}
			broken := text[:at+2] + text[at+3:]
			all := problems(t, broken)
			i := slices.IndexFunc(all, func(p view.Problem) bool {
				return strings.HasPrefix(p.Text, "unknown key") && strings.Contains(p.Hint, "did you mean `"+word+"`?")
			})
			if i >= 0 {
				tried++
				fixes := l.Fixes(broken, all[i])[0]
				if len(fixes) == 0 || replaced(broken, fixes[0]) != text || fixes[0].Title != "Replace with "+word {
					t.Errorf("%s: %s: %+v", name, word, fixes)
				}
			}
			at += len(word)
		}
	}
	if tried < 100 {
		t.Errorf("tried only %d keys", tried)
	}
}

func TestFixes(t *testing.T) {
	l := language(t)
	const rest = "chain c: {step s: {kind: stop}}\n"
	for _, c := range []struct{ text, title, want string }{
		{"order: paralel\n" + rest, "Replace with parallel", "order: parallel\n" + rest},
		{"order: \"paralel\"\n" + rest, "Replace with parallel", "order: \"parallel\"\n" + rest},
		{"oder: parallel\n" + rest, "Remove oder", rest},
		{"chain c:\n  step s:\n    kind: stop\n    foo:\n      bar: 1\n    when: True\n", "Remove foo", "chain c:\n  step s:\n    kind: stop\n    when: True\n"},
		{"chain c: {step s: {kind: stop, foo: {a: 1}, when: True}}\n", "Remove foo", "chain c: {step s: {kind: stop, when: True}}\n"},
		{"chain c: {step s: {kind: stop, foo: [1]}}\n", "Remove foo", "chain c: {step s: {kind: stop}}\n"},
		{"chain c: {step s: {kind: stop, because: \"${chnce(0.5)}\"}}\n", "Replace with chance", "chain c: {step s: {kind: stop, because: \"${chance(0.5)}\"}}\n"},
		{"chain c: {step s: {kind: stop, when: agnt.index-1 > 2}}\n", "Replace with agent", "chain c: {step s: {kind: stop, when: agent.index-1 > 2}}\n"},
		{"chain c: {step s: {kind: stop, when: agent.indx-1 > 2}}\n", "Replace with index", "chain c: {step s: {kind: stop, when: agent.index-1 > 2}}\n"},
		{"functions: |\n  def f(agent):\n      return chnce(1)\n" + rest, "Replace with chance", "functions: |\n  def f(agent):\n      return chance(1)\n" + rest},
		{"services:\n  shop: {kind: http, url: mock:shop}\nchain c:\n  step s: {kind: http, get: /}\n", "Add service", "services:\n  shop: {kind: http, url: mock:shop}\nchain c:\n  step s: {kind: http, get: /, service: shop}\n"},
		{"services:\n  shop: {kind: http, url: mock:shop}\nchain c:\n  step s:\n    kind: http\n    get: /\n", "Add service", "services:\n  shop: {kind: http, url: mock:shop}\nchain c:\n  step s:\n    kind: http\n    service: shop\n    get: /\n"},
		{"chain c:\n  step s:\n    kind: for\n", "Add each, as, do", "chain c:\n  step s:\n    kind: for\n    each: \"[1, 2, 3]\"\n    as: item\n    do:\n      step use_item: {kind: emit, event: done, data: \"${item}\"}\n"},
		{"chain c:\n  - name: s\n    kind: emit\n", "Add event", "chain c:\n  - name: s\n    kind: emit\n    event: done\n"},
		{"services:\n  shop:\n    kind: http\n" + rest, "Add url", "services:\n  shop:\n    kind: http\n    url: mock:shop\n" + rest},
		{"services:\n  shop: {url: mock:shop}\n" + rest, "Add kind", "services:\n  shop: {url: mock:shop, kind: http}\n" + rest},
		{"population: {attributes: {x: 1}}\n" + rest, "Add count", "population: {attributes: {x: 1}, count: 10}\n" + rest},
		{"chain c: {step s: {kind: stop, kind: stop}}\n", "Remove kind", "chain c: {step s: {kind: stop}}\n"},
		{"chain c: {step s: {kind: emit, evnt: x}}\n", "Replace with event", "chain c: {step s: {kind: emit, event: x}}\n"},
		{"parameters: {x: {min: 3}}\n" + rest, "Add default", "parameters: {x: {min: 3, default: 3}}\n" + rest},
		{"chain c:\n  step s: {event: x}\n", "Add kind: emit", "chain c:\n  step s: {event: x, kind: emit}\n"},
		{"chain c:\n  step s:\n    knd: emit\n    event: x\n", "Replace with kind", "chain c:\n  step s:\n    kind: emit\n    event: x\n"},
		{"chain c:\n  step s: {label: x}\n", "", ""},
		{"chain c: {step s: {kind: emit, event: x, parallel: yes}}\n", "Write true", "chain c: {step s: {kind: emit, event: x, parallel: true}}\n"},
		{"chain c: {step s: {kind: emit, event: x, parallel: 'true'}}\n", "Write true", "chain c: {step s: {kind: emit, event: x, parallel: true}}\n"},
		{"clock: {cycle:1h}\n" + rest, "Write cycle: 1h", "clock: {cycle: 1h}\n" + rest},
		{"acted: one\nchain c: {step s: {kind: emit, event: two}}\n", "Replace with two", "acted: two\nchain c: {step s: {kind: emit, event: two}}\n"},
		{"connectors:\n  greet: {kind: python, call: \"1\"}\nchain c: {step s: {kind: connector, target: gret}}\n", "Replace with greet", "connectors:\n  greet: {kind: python, call: \"1\"}\nchain c: {step s: {kind: connector, target: greet}}\n"},
		{"chain c:\n  stp s: {kind: stop}\n  step t: {kind: stop}\n", "Replace with step s", "chain c:\n  step s: {kind: stop}\n  step t: {kind: stop}\n"},
		{"chain c:\n  step s:\n    kind: stop\n    retry: {attempts: 2}\n", "Remove retry", "chain c:\n  step s:\n    kind: stop\n"},
	} {
		var titles []string
		found := c.title == ""
		for _, p := range problems(t, c.text) {
			for _, f := range l.Fixes(c.text, p)[0] {
				titles = append(titles, f.Title)
				if f.Title != c.title || found {
					continue
				}
				found = true
				if got := replaced(c.text, f); got != c.want {
					t.Errorf("%s:\n got %q\nwant %q", f.Title, got, c.want)
				}
			}
		}
		if !found {
			t.Errorf("%q: %q is not among %q; problems %v", c.text, c.title, titles, problems(t, c.text))
		}
		if c.title == "" && len(titles) > 0 {
			t.Errorf("%q: %q", c.text, titles)
		}
	}
}

// TestFixesEndProblems applies the first fix of the first problem that has one until none has. Every step must leave fewer problems, or
// others.
func TestFixesEndProblems(t *testing.T) {
	l := language(t)
	text := `titel: X
parameters:
  a: {defualt: 1}
clock: {cycels: 3, cycle:1h}
order: paralel
servces:
  shop: {kind: htp}
chain a:
  step one: {kind: http, servce: shp, get: /}
  step four: {event: done}
  stp five: {kind: emit, evnt: done}
  step six: {kind: emit, event: done, parallel: yes, depends_on: [on]}
  step seven: {kind: for}
  step nine: {kind: stop, when: stps.one}
success: {error_rat: < 5%}
acted: dne
`
	seen := map[string]bool{}
	for len(seen) < 40 {
		all := problems(t, text)
		if seen[text] {
			t.Fatalf("the fixes repeat:\n%s", text)
		}
		seen[text] = true
		var fix *complete.Fix
		for _, p := range all {
			if fixes := l.Fixes(text, p)[0]; len(fixes) > 0 {
				fix = &fixes[0]
				break
			}
		}
		if fix == nil {
			if len(all) > 0 {
				t.Errorf("problems %v remain in\n%s", all, text)
			}
			return
		}
		text = replaced(text, *fix)
	}
	t.Errorf("problems remain after %d fixes:\n%s", len(seen), text)
}
