package doc

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares a text with a golden file.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s: got\n%s\nwant\n%s\n(-update rewrites it)", path, got, want)
	}
}

// syntaxErrors are files with one YAML syntax error each.
var syntaxErrors = []struct {
	name, text string
	line, col  int
}{
	{"tab", "chain shop:\n\ttimeout: 1\n", 2, 1},
	{"tab after spaces", "chain shop:\n  timeout: 1\n  \tstep a: {}\n", 3, 3},
	{"tab before an item", "a:\n\t- 1\n", 2, 1},
	{"tab in a block of text", "prompt: |\n  x\n\ty\n", 3, 1},
	{"open double quote", "title: \"Shoppers\nabout: none\n", 1, 8},
	{"open single quote", "title: 'Shoppers\nabout: none\n", 1, 8},
	{"open quote closed by the next", "title: \"Shoppers\nabout: \"none\"\n", 1, 8},
	{"open quote in braces", "s: {title: \"x, about: 2}\nd: \"e\"\n", 1, 12},
	{"text after a quote", "title: \"Shoppers\" only\n", 1, 19},
	{"apostrophe in quotes", "s: {because: 'it's late'}\n", 1, 18},
	{"expression with a comma in braces", "step a: {when: ${max(a, b)}, kind: stop}\n", 1, 17},
	{"expression in braces", "step a: {when: ${a}, kind: stop}\n", 1, 17},
	{"index in braces", "step a: {when: steps.x[0], kind: stop}\n", 1, 23},
	{"dict in braces", "step a: {when: a == {\"b\": 1}, kind: stop}\n", 1, 21},
	{"colon in braces", "step a: {prompt: He said: hi, kind: llm}\n", 1, 25},
	{"open brace", "step a: {kind: stop, when: not a\nstep b: {kind: stop}\n", 1, 9},
	{"open brace at the end", "step a: {kind: stop\n", 1, 9},
	{"open bracket at the end", "a: [\n", 1, 4},
	{"open bracket in braces", "a: {when: [1, y: 2}\n", 1, 19},
	{"brace too many", "a: {b: 1}}\n", 1, 10},
	{"bracket alone", "a: ]\n", 1, 4},
	{"comma missing", "a: {b: \"1\"\n    c: 2}\n", 2, 5},
	{"comma missing after a list", "a: {b: [1] c: 2}\n", 1, 12},
	{"comma twice", "a: {b: 1,, c: 2}\n", 1, 10},
	{"colon missing", "title: x\nabout\nclock: 1\n", 2, 1},
	{"space after the colon missing", "title: x\nabout:y\nclock: 1\n", 2, 1},
	{"second colon", "prompt: He said: hi  # greeting\n", 1, 16},
	{"second colon in an item", "rows:\n  - text: He said: hi\n", 2, 18},
	{"second colon after a quote", "prompt: \"He\": hi\n", 1, 13},
	{"indented too far", "title: x\n  about: y\n", 2, 3},
	{"indented too little", "chain x:\n  step a:\n    kind: stop\n   step b:\n    kind: stop\n", 4, 4},
	{"indented like no block", "a:\n  b: 1\n c: 2\n", 3, 2},
	{"first line indented", " a: 1\nb: 2\n", 2, 1},
	{"key in a list", "a:\n  - b\n  c: 1\n", 3, 3},
	{"item behind a key", "a: - b\n", 1, 4},
	{"at sign", "to: @all\n", 1, 5},
	{"backtick in braces", "a: {b: `c`, d: e}\n", 1, 8},
	{"percent", "share: %5\n", 1, 8},
	{"star", "to: *\n", 1, 5},
	{"unknown alias", "to: *all\n", 1, 5},
	{"comma first", "a: ,b\n", 1, 4},
	{"question mark", "a: ? b\n", 1, 4},
	{"unknown escape", "a: \"x\\q\"\n", 1, 6},
	{"directive", "%YAML 1.2\n---\na: 1\n", 1, 1},
	{"bad block header", "a: |x\n  b\n", 1, 5},
	{"not UTF-8", "a: 1\nb: \xff\n", 2, 4},
	{"control character", "a: 1\nb: \x01\n", 2, 4},
	{"line separator", "a: 1\nb: x\u2028y\n", 2, 5},
	{"empty", "", 1, 1},
	{"only comments", "# nothing\n", 1, 1},
	{"too deep in braces", "a: " + strings.Repeat("[", 80) + strings.Repeat("]", 80), 1, 68},
	{"too deep in blocks", strings.Repeat("- ", 80) + "x\n", 1, 129},
	{"too large", strings.Repeat("x", maxBytes+1), 1, 1},
}

func TestSyntaxErrorsAreExplained(t *testing.T) {
	var all strings.Builder
	for _, m := range syntaxErrors {
		t.Run(m.name, func(t *testing.T) {
			var r Report
			if n := Parse("shop.yaml", []byte(m.text), &r); n != nil {
				t.Errorf("got a document, want nil")
			}
			problems := r.Problems()
			if len(problems) != 1 {
				t.Fatalf("got %d problems, want 1: %v", len(problems), problems)
			}
			if p := problems[0]; p.Line != m.line || p.Col != m.col {
				t.Errorf("got %s, want it at %d:%d", p.Error(), m.line, m.col)
			}
			all.WriteString("# " + m.name + "\n")
			if err := r.Print(&all); err != nil {
				t.Error(err)
			}
		})
	}
	golden(t, "syntax.txt", all.String())
}
