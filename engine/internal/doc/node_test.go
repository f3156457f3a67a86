package doc

import (
	"slices"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine/suggest"
)

func TestFieldsNamesWhatIsAllowed(t *testing.T) {
	var r Report
	n := Parse("shop.yaml", []byte(`timout: 1
stp browse: {}
step: {}
step pay: {}
steps: {}
banana: {}
`), &r)
	n.Fields("timeout", "steps", "step NAME")
	n.Get("step pay").Fields()
	want := []string{
		"1:1: unknown key `timout` (did you mean `timeout`? allowed here: timeout, steps, step NAME)",
		"2:1: unknown key `stp browse` (did you mean `step browse`? allowed here: timeout, steps, step NAME)",
		"3:1: `step` has no name (write `step NAME`)",
		"6:1: unknown key `banana` (allowed here: timeout, steps, step NAME)",
	}
	if got := found(&r); !slices.Equal(got, want) {
		t.Errorf("got\n%q, want\n%q", got, want)
	}
}

func TestOnlyOneOfSeveralKeys(t *testing.T) {
	var r Report
	n := Parse("shop.yaml", []byte("get: /a\nx: 1\npost: /b\n"), &r)
	if e := n.Only("post", "get", "put"); e.Key.Text() != "get" || e.Value.Text() != "/a" {
		t.Errorf("got %q: %q, want get: /a", e.Key.Text(), e.Value.Text())
	}
	if e := n.Only("rows", "from"); e.Key != nil || e.Value != nil {
		t.Errorf("got %q, want none", e.Key.Text())
	}
	want := []string{"3:1: `post` cannot be combined with `get` (only one of `post`, `get` and `put` can be given)"}
	if got := found(&r); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestRequireReportsAtTheBlock(t *testing.T) {
	var r Report
	n := Parse("shop.yaml", []byte("step a:\n  x: 1\nstep b:\nrows:\n  - y: 1\n  - {z: 2}\nlist: x\n"), &r)
	n.Get("step a").Require("kind", "x", "service")
	n.Get("step b").Require("kind")
	for _, row := range n.Get("rows").List() {
		row.Require("y")
	}
	n.Get("list").Require("y") // its reader reports that it is not a map
	n.Require("title")
	want := []string{
		"1:1: `step a` needs `kind` and `service`",
		"1:1: the file needs `title`",
		"3:8: `step b` needs `kind`",
		"6:5: item 2 of `rows` needs `y`",
	}
	if got := found(&r); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestProblemsAtANodeItsNameAndInsideIt(t *testing.T) {
	var r Report
	n := Parse("shop.yaml", []byte("step 1st:\n  when: not  x..y\nbold: true\n"), &r)
	step := n.Entries()[0]
	step.NameErrorf("letters first", "%q is not a name", "1st")
	when := step.Value.Get("when")
	when.ErrorfAt(Offset(when.Text(), 1, 7), "", "unexpected %s", "..")
	n.Entries()[1].NameErrorf("", "a key without a name")
	step.Value.Errorf("", "empty")
	n.Get("bold").Warnf("hint", "not used")
	want := []string{
		"1:1: empty",
		"1:6: \"1st\" is not a name (letters first)",
		"2:15: unexpected ..",
		"3:5: a key without a name",
	}
	if got := found(&r); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if w := r.Warnings(); len(w) != 1 || w[0] != (Problem{File: "shop.yaml", Line: 3, Col: 7, Problem: "not used", Guess: suggest.Guess{Hint: "hint"}}) {
		t.Errorf("warnings: got %v", w)
	}
}

func TestAnAbsentNodeReadsAsZero(t *testing.T) {
	var n *Node
	n.Errorf("", "x")
	n.ErrorfAt(3, "", "x")
	n.Guess(suggest.Guess{}).Errorf("x")
	n.Guess(suggest.Guess{}).ErrorfAt(3, "x")
	n.Guess(suggest.Guess{}).Warnf("x")
	n.Warnf("", "x")
	n.Fields("a")
	n.Require("a")
	line, col := n.Position()
	lineAt, colAt := n.PositionAt(1)
	for name, zero := range map[string]bool{
		"Kind":       n.Kind() == Absent,
		"File":       n.File() == "",
		"Position":   line == 0 && col == 0,
		"PositionAt": lineAt == 0 && colAt == 0,
		"Get":        n.Get("a").Get("b") == nil,
		"Only":       n.Only("a") == Entry{},
		"Entries":    len(n.Entries()) == 0,
		"List":       len(n.List()) == 0,
		"Texts":      len(n.Texts()) == 0,
		"Text":       n.Text() == "",
		"OneOf":      n.OneOf("a") == "",
		"Scalar":     n.Scalar() == nil,
		"Int":        n.Int(5, 6) == 0,
		"Float":      n.Float(5, 6) == 0,
		"Bool":       !n.Bool(),
		"Duration":   n.Duration(time.Second, 0) == 0,
	} {
		if !zero {
			t.Errorf("%s of an absent node is not zero", name)
		}
	}
	Entry{}.NameErrorf("", "x")
	if word, name := (Entry{}).Split(); word != "" || name != "" {
		t.Errorf("Split: got %q, %q", word, name)
	}
}
