package doc

import (
	"strings"
	"testing"
)

// Each source has one @ in its value. Its place in the value must lead to its place in the source.
func TestPlaceInsideAScalar(t *testing.T) {
	for name, text := range map[string]string{
		"plain":                        "k: a + @ b\n",
		"plain, characters of 2 bytes": "ké: ä + ö @ b\n",
		"plain in braces":              "k: {a: 1, b: not x@y, c: 2}\n",
		"plain over lines":             "k: a\n  b\n   @ c\n",
		"plain over blank lines":       "k: a   \n\n\n    b @ c\n",
		"single quotes":                "k: 'it''s @ b'\n",
		"single quotes over lines":     "k: 'it''s\n\n    so\n    @ b'\n",
		"double quotes":                "k: \"a \\\"b\\\" \\x41\\u00e9\\U0001F600\\n\\_ @ c\"\n",
		"double quotes over lines":     "k: \"a\n  b \\\n   c\\\n\n  @ d\"\n",
		"escaped breaks in a row":      "k: \"a\\\n  \\\n  \\\n  @ d\"\n",
		"literal":                      "k: |\n  a\n    b @ c\n",
		"literal, first column":        "k: |\n  a\n  @\n",
		"literal, blank lines":         "k: |  # text\n\n    a\n\n    b @\n",
		"literal, own indentation":     "k: |2\n    a\n   @\n",
		"literal, kept end":            "k: |+\n  a\n  @\n\n\nl: 1\n",
		"literal in a list":            "k:\n  - |\n    a\n     @\n",
		"literal, CRLF":                "k: |\r\n  a\r\n   @\r\n",
		"folded":                       "k: >\n  a\n  b @ c\n",
		"folded, paragraphs":           "k: >-\n\n  a\n  b\n\n\n  c\n  @ d\n",
		"folded, deeper lines":         "k: >\n  a\n    b\n    c\n\n  d @\n",
		"folded, deeper after blank":   "k: >\n  a\n\n    b\n  @\n",
	} {
		n := scalarWith(read(t, text))
		value := n.Text()
		line, col := n.PositionAt(strings.IndexByte(value, '@'))
		src := newSource("", []byte(text))
		wantLine, wantCol := src.position(strings.IndexByte(text, '@'))
		if line != wantLine || col != wantCol {
			t.Errorf("%s: got %d:%d, want %d:%d in value %q", name, line, col, wantLine, wantCol, value)
		}
	}
}

// scalarWith returns the scalar of a document that contains an @.
func scalarWith(n *Node) *Node {
	switch n.Kind() {
	case Scalar:
		if strings.Contains(n.value, "@") {
			return n
		}
	case Map:
		for _, e := range n.entries {
			if found := scalarWith(e.Value); found != nil {
				return found
			}
		}
	case List:
		for _, item := range n.items {
			if found := scalarWith(item); found != nil {
				return found
			}
		}
	case Absent, Null:
	}
	return nil
}

func TestPlaceAtTheEndsOfAScalar(t *testing.T) {
	for _, c := range []struct {
		text      string
		offset    int
		line, col int
	}{
		{"k: abc\n", -1, 1, 4},
		{"k: abc\n", 3, 1, 7},
		{"k: abc\n", 99, 1, 7},
		{"k: 'abc'\n", 0, 1, 5},
		{"k: 'abc'\n", 3, 1, 8},
		{"k: \"\\u00e9\"\n", 1, 1, 5}, // inside a character
		{"k: |\n  abc\nl: 1\n", 0, 2, 3},
		{"k: |\n  abc\nl: 1\n", 4, 2, 6}, // the newline at the end
		{"k: |\n", 0, 1, 5},
		{"k: [a]\n", 2, 1, 4},
	} {
		n := read(t, c.text).Get("k")
		if line, col := n.PositionAt(c.offset); line != c.line || col != c.col {
			t.Errorf("%q at %d: got %d:%d, want %d:%d", c.text, c.offset, line, col, c.line, c.col)
		}
	}
}

func TestOffset(t *testing.T) {
	for _, c := range []struct {
		text      string
		line, col int
		want      int
	}{
		{"a + b", 1, 5, 4},
		{"ä\nöx", 2, 2, 5},
		{"a", 1, 9, 1},
		{"a", 9, 1, 1},
		{"a", 0, 0, 0},
		{"", 1, 1, 0},
	} {
		if got := Offset(c.text, c.line, c.col); got != c.want {
			t.Errorf("Offset(%q, %d, %d): got %d, want %d", c.text, c.line, c.col, got, c.want)
		}
	}
}
