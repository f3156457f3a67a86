package doc

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestPut(t *testing.T) {
	for _, c := range []struct {
		name, text, path, value, want string
	}{
		{"a scalar", "a:  1 # so\nb: 2\n", "a", "[1, 2]", "a:  [1, 2] # so\nb: 2\n"},
		{"a list in brackets", "a: [1, # one\n  2] # so\nb: 2\n", "a", "x", "a: x # so\nb: 2\n"},
		{"an empty list", "a: [ ] # so\n", "a", "[1]", "a: [1] # so\n"},
		{"a list of lines", "# why\na:\n  - 1\n  - 2 # two\nb: 2\n", "a", "[3]", "# why\na: [3] # two\nb: 2\n"},
		{"a list behind a comment", "a: # so\n  - 1\nb: 2\n", "a", "[3]", "a: # so\n  [3]\nb: 2\n"},
		{"a map", "a: {b: {c: 1}, d: [2]}\n", "a", "grid", "a: grid\n"},
		{"a map of lines", "a:\n  b:\n    c: 1\nd: 2\n", "a", "{e: 1}", "a: {e: 1}\nd: 2\n"},
		{"in a map of lines", "a:\n  b: [1, 2] # so\n  c: 3\n", "a b", "{from: 0, to: 1}", "a:\n  b: {from: 0, to: 1} # so\n  c: 3\n"},
		{"a new key in lines", "a:\n  b: 1 # so\n\n# then\nc: 2\n", "a x.y", "[1]", "a:\n  b: 1 # so\n  x.y: [1]\n\n# then\nc: 2\n"},
		{"a new key in braces", "a: {b: 1}\n", "a c", "true", "a: {b: 1, c: true}\n"},
		{"a new key in empty braces", "a: {}\n", "a c", "true", "a: {c: true}\n"},
		{"a new map", "a: 1\n# the end\n", "b c", "[1]", "a: 1\n# the end\nb:\n  c: [1]\n"},
		{"a new key of the file", "a: 1", "b", "2", "a: 1\nb: 2"},
		{"a key without a value", "a:\nb: 2\n", "a", "1", "a: 1\nb: 2\n"},
		{"below a key without a value", "a:\nb: 2\n", "a c", "1", "a: {c: 1}\nb: 2\n"},
		{"null", "a: ~ # so\n", "a", "1", "a: 1 # so\n"},
		{"a quoted key", "'a': \"x\" # so\n", "a", "1", "'a': 1 # so\n"},
		{"a text of lines", "a: |\n  x\n  y\nb: 2\n", "a", "z", "a: z\nb: 2\n"},
		{"line ends of Windows", "a: 1\r\nb:\r\n  c: 1\r\n", "b d", "2", "a: 1\r\nb:\r\n  c: 1\r\n  d: 2\r\n"},
	} {
		got, err := Put("f", []byte(c.text), strings.Fields(c.path), c.value)
		if err != nil || string(got) != c.want {
			t.Errorf("%s: got %q, %v; want %q", c.name, got, err, c.want)
		}
	}
	if got, err := Put("f", []byte("a: 1\n"), []string{"a", "b"}, "1"); err == nil {
		t.Errorf("below a scalar: %q", got)
	}
}

func TestRemove(t *testing.T) {
	for _, c := range []struct {
		name, text, path, want string
	}{
		{"lines", "a: 1\nb:\n  - 2\n  - 3 # so\n# then\nc: 4\n", "b", "a: 1\n# then\nc: 4\n"},
		{"below", "a:\n  b: 1\n  c: {d: 1}\n", "a c", "a:\n  b: 1\n"},
		{"the only one below", "a:\n  b: 1\nc: 2\n", "a b", "c: 2\n"},
		{"the first in braces", "a: {b: 1, c: 2}\n", "a b", "a: {c: 2}\n"},
		{"the last in braces", "a: {b: 1, c: [2]}\n", "a c", "a: {b: 1}\n"},
		{"a missing one", "a: 1\n", "b", "a: 1\n"},
		{"the last without a line end", "a: 1\nb: 2", "b", "a: 1\n"},
	} {
		got, err := Remove("f", []byte(c.text), strings.Fields(c.path))
		if err != nil || string(got) != c.want {
			t.Errorf("%s: got %q, %v; want %q", c.name, got, err, c.want)
		}
	}
}

// TestPutKeepsTheRest checks that values of random files change alone. An edit may be refused, but never damages the file.
func TestPutKeepsTheRest(t *testing.T) {
	values := []string{"1", "text", "[1, 2]", "[]", "{x: 1, y: [2]}", "\n  - 1\n  - {a: b} # so", "\n  x: 1\n  y:\n    - 2", " # so\n  x: 1", "|\n  lines\n  lines", "'it''s: # no'", ""}
	rapid.Check(t, func(t *rapid.T) {
		var text strings.Builder
		for _, key := range []string{"a", "b", "c"} {
			text.WriteString(key + ": " + rapid.SampledFrom(values).Draw(t, key) + rapid.SampledFrom([]string{"\n", "\n\n# a comment\n"}).Draw(t, "end"))
		}
		path := []string{rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "path")}
		got, err := Put("f", []byte(text.String()), path, "[7, 8]")
		if err != nil {
			t.Fatalf("%v in %q", err, text.String())
		}
		if n := strings.Count(text.String(), "# a comment"); strings.Count(string(got), "# a comment") != n {
			t.Fatalf("%q lost a comment: %q", text.String(), got)
		}
		if got, err = Remove("f", got, path); err != nil {
			t.Fatalf("remove: %v in %q", err, got)
		}
	})
}
