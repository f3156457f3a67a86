package doc

import (
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// Reading any file never panics, a nil result comes with a problem, and every problem lies inside the file.
func FuzzParse(f *testing.F) {
	f.Add(shopping)
	for _, m := range syntaxErrors {
		if len(m.text) < 1000 {
			f.Add(m.text)
		}
	}
	f.Add("a: &x [*x, !t y]\n<<: {b: 1}\n? {c: d}\n: e\n---\nf: |+2\n   g\n\n")
	f.Add("a: {when: f(a, b), c, d:1}\nb: \"\\x41\\\n  \\u00e9\"\nc: >-\n  x\n\n    y\n")
	f.Fuzz(func(t *testing.T, text string) {
		var r Report
		n := Parse("f", []byte(text), &r)
		if n == nil && len(r.Problems()) == 0 {
			t.Fatal("neither a result nor a problem was returned")
		}
		readAll(n)
		lines := newSource("f", []byte(text))
		for _, p := range append(r.Problems(), r.Warnings()...) {
			if p.Line < 1 || p.Line > len(lines.starts) || p.Col < 1 || p.Col > utf8.RuneCountInString(lines.line(p.Line))+1 {
				t.Errorf("%s lies outside the file of %d lines", p.Error(), len(lines.starts))
			}
			if p.Problem == "" {
				t.Errorf("%d:%d: a problem without a text", p.Line, p.Col)
			}
		}
		var b strings.Builder
		if err := r.Print(&b); err != nil || strings.ContainsRune(b.String(), '\x1b') {
			t.Errorf("Print: %v, %q", err, b.String())
		}
	})
}

// readAll calls every reader on every node.
func readAll(n *Node) {
	n.Fields("a", "step NAME")
	n.Require("a")
	n.Only("a", "b")
	n.Text()
	n.Texts()
	n.Scalar()
	n.Int(math.MinInt, 5)
	n.Float(0, 1)
	n.Bool()
	n.Duration(0, time.Hour)
	n.OneOf("a", "b")
	for i := -1; i < len(n.raw())+2 && i < 100; i++ {
		n.ErrorfAt(i, "", "inside")
	}
	for _, item := range n.List() {
		readAll(item)
	}
	for _, e := range n.Entries() {
		e.NameErrorf("", "name")
		readAll(e.Key)
		readAll(e.Value)
	}
}

func FuzzParseDuration(f *testing.F) {
	for _, text := range []string{"1h30m", "0.5", "106751d", "1µs", "9.9.9d"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if d, err := ParseDuration(text); d < 0 || err != nil && d != 0 {
			t.Errorf("%q: got %v, %v", text, d, err)
		}
	})
}
