package doc

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/throng-sim/throng/engine/suggest"
)

func TestTenErrorsInOnePass(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "mistakes.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var r Report
	root := Parse("mistakes.yaml", text, &r)
	root.Fields("title", "about", "clock", "order", "population", "services", "chain NAME")
	root.Get("title").Text()
	root.Get("order").OneOf("parallel", "sequential")
	root.Get("clock").Fields("start", "cycle", "cycles")
	root.Get("clock").Get("cycles").Int(1, 1_000_000)
	root.Get("clock").Get("cycle").Duration(0, 0)
	chain := root.Get("chain shop")
	chain.Fields("timeout", "step NAME")
	chain.Get("timeout").Duration(0, 0)
	for _, e := range chain.Entries() {
		if word, _ := e.Split(); word == "step" {
			e.Value.Fields("kind", "when", "because", "get", "depends_on", "parallel")
			e.Value.Require("kind")
			e.Value.Get("parallel").Bool()
			if when := e.Value.Get("when"); strings.Contains(when.Text(), "..") {
				when.ErrorfAt(strings.Index(when.Text(), "..")+1, "", "unexpected `.`")
			}
			for _, name := range e.Value.Get("depends_on").List() {
				name.Warnf("define the step, or remove the name", "no step is called %s", code(name.Text()))
			}
		}
	}
	if got := len(r.Problems()); got < 10 {
		t.Errorf("got %d problems, want at least 10", got)
	}
	var b strings.Builder
	if err := r.Print(&b); err != nil {
		t.Fatal(err)
	}
	golden(t, "mistakes.txt", b.String())
}

func TestReportSortsAndKeepsEachOnce(t *testing.T) {
	var r Report
	if r.Err() != nil {
		t.Errorf("empty: got %v, want nil", r.Err())
	}
	r.AddSource("b.yaml", []byte("x\ny\n"))
	r.AddSource("a.star", []byte("z\n"))
	for _, p := range []Problem{
		{File: "unknown.csv", Line: 1, Col: 1, Problem: "five"},
		{File: "a.star", Line: 1, Col: 1, Problem: "four"},
		{File: "b.yaml", Line: 2, Col: 1, Problem: "three", Guess: suggest.Guess{Hint: "hint"}},
		{File: "b.yaml", Line: 1, Col: 2, Problem: "two"},
		{File: "b.yaml", Line: 1, Col: 1, Problem: "one"},
		{File: "b.yaml", Line: 2, Col: 1, Problem: "three", Guess: suggest.Guess{Hint: "another hint", Meant: "four"}},
	} {
		r.Add(p)
	}
	r.Warn(Problem{File: "b.yaml", Line: 1, Col: 1, Problem: "one"}) // warnings do not count as problems
	r.Warn(Problem{File: "b.yaml", Line: 1, Col: 1, Problem: "one"})
	want := "b.yaml:1:1: one\nb.yaml:1:2: two\nb.yaml:2:1: three (hint)\na.star:1:1: four\nunknown.csv:1:1: five"
	if got := r.Err().Error(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	var p Problem
	if !errors.As(r.Err(), &p) || p.Problem != "one" {
		t.Errorf("got %v, want the first problem", p)
	}
	if got := len(r.Warnings()); got != 1 {
		t.Errorf("got %d warnings, want 1", got)
	}
}

func TestPrintShowsThePlace(t *testing.T) {
	for _, c := range []struct {
		name, line string
		col        int
		want       string
	}{
		{"tab", "\tabc", 3, "    1  | \tabc\n       | \t ^\n"},
		{"wide characters", "日本 x", 4, "    1  | 日本 x\n       |      ^\n"},
		{"combining marks", "e\u0301 x", 4, "    1  | e\u0301 x\n       |   ^\n"},
		{"control characters", "\x1b[31m x", 7, "    1  | \ufffd[31m x\n       |       ^\n"},
		{"past the end", "abc", 99, "    1  | abc\n       |    ^\n"},
		{
			"long", strings.Repeat("a", 200) + "X" + strings.Repeat("b", 200), 201,
			"    1  | …" + strings.Repeat("a", 75) + "X" + strings.Repeat("b", 42) + "…\n       | " + strings.Repeat(" ", 76) + "^\n",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			var r Report
			r.AddSource("f", []byte(c.line))
			r.Add(Problem{File: "f", Line: 1, Col: c.col, Problem: "wrong", Guess: suggest.Guess{Hint: "right"}})
			var b strings.Builder
			if err := r.Print(&b); err != nil {
				t.Fatal(err)
			}
			_, got, _ := strings.Cut(b.String(), "\n")
			if want := c.want + "       = right\n"; got != want {
				t.Errorf("got\n%swant\n%s", got, want)
			}
		})
	}
}

func TestPrintWithoutSourceStillNamesThePlace(t *testing.T) {
	var r Report
	r.Warn(Problem{File: "x.csv", Line: 4, Col: 2, Problem: "short \x1brow", Guess: suggest.Guess{Hint: "add a column"}})
	var b strings.Builder
	if err := r.Print(&b); err != nil {
		t.Fatal(err)
	}
	if got, want := b.String(), "x.csv:4:2: warning: short \ufffdrow\n       = add a column\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if err := r.Print(fullDisk{}); !errors.Is(err, errFull) {
		t.Errorf("got %v, want the writer's error", err)
	}
}

var errFull = errors.New("disk full")

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }
