package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestCore checks that the benchmarks that the guard compares exist under these names.
func TestCore(t *testing.T) {
	for _, b := range core {
		files, err := filepath.Glob(filepath.Join("..", "..", filepath.FromSlash(b.pkg), "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		top, _, _ := strings.Cut(b.name, "/")
		found := false
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			found = found || bytes.Contains(text, []byte("func Benchmark"+top+"(b *testing.B)"))
		}
		if !found {
			t.Errorf("%s has no Benchmark%s", b.pkg, top)
		}
		if b.n <= 0 {
			t.Errorf("%s runs %d times", b, b.n)
		}
	}
}

func TestPattern(t *testing.T) {
	b := benchmark{pkg: "ui", name: "Draw/series=3/a+b"}
	if got, want := b.pattern(), `^BenchmarkDraw$/^series=3$/^a\+b$`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestParse(t *testing.T) {
	f := parse([]byte(`goos: linux
BenchmarkX/a-2         	     100	       123.4 ns/op	  55.5 MB/s	       7 things	     120 B/op	       3 allocs/op
BenchmarkX/a-2         	     100	       100 ns/op	  55.5 MB/s	       7 things	     118 B/op	       4 allocs/op
PASS
`))
	if len(f) != 2 || f["bytes"] != 118 || f["allocs"] != 3 {
		t.Errorf("got %v, want the minimum of each", f)
	}
	if f := parse([]byte("PASS\n")); f != nil {
		t.Errorf("without results: got %v", f)
	}
}

// TestWorse checks which changes of a benchmark's figures count as worse.
func TestWorse(t *testing.T) {
	for _, test := range []struct {
		name        string
		before, now figures
		worse       bool
		shows       string
	}{
		{"the same", figures{"allocs": 3, "bytes": 100, "instructions": 1000}, figures{"allocs": 3, "bytes": 100, "instructions": 1000}, false, "| 1,000 = | 3 = | 100 = |  |"},
		{"a tenth more", figures{"instructions": 1000}, figures{"instructions": 1100}, false, "1,000 → 1,100 (+10.0%)"},
		{"more than a tenth more", figures{"instructions": 1000}, figures{"instructions": 1101}, true, "**worse**"},
		{"one allocation instead of none", figures{"allocs": 0}, figures{"allocs": 1}, true, "0 → 1"},
		{"one of twenty more", figures{"allocs": 20}, figures{"allocs": 21}, false, "(+5.0%)"},
		{"some bytes more", figures{"bytes": 10}, figures{"bytes": 70}, false, "10 → 70"},
		{"many bytes more", figures{"bytes": 10}, figures{"bytes": 80}, true, "**worse**"},
		{"few instructions more", figures{"instructions": 20}, figures{"instructions": 29}, false, ""},
		{"less", figures{"allocs": 20, "instructions": 1000}, figures{"allocs": 2, "instructions": 10}, false, "(-99.0%)"},
		{"new", nil, figures{"allocs": 20}, false, "| 20 |  | new |"},
	} {
		text, worse := benchmark{pkg: "a", name: "B"}.line(test.before, test.now)
		if worse != test.worse || !strings.Contains(text, test.shows) {
			t.Errorf("%s: worse %v, want %v; %s, want %s", test.name, worse, test.worse, text, test.shows)
		}
	}
}

func TestPerOperation(t *testing.T) {
	f := figures{"once": 5_000, "twice": 6_000}
	benchmark{n: 100}.perOperation(f)
	if f["instructions"] != 10 {
		t.Errorf("%v instructions, want 10", f["instructions"])
	}
	f = figures{"allocs": 1}
	benchmark{n: 100}.perOperation(f)
	if len(f) != 1 {
		t.Errorf("without counts: got %v", f)
	}
}

// TestGuard compares two revisions of a module with one benchmark. The second revision allocates.
func TestGuard(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	git := func(args ...string) {
		t.Helper()
		c := exec.CommandContext(t.Context(), "git", append([]string{"-c", "user.name=x", "-c", "user.email=x@example.com"}, args...)...)
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	const head = "package a\n\nimport \"testing\"\n\nvar kept []byte\n\n"
	write("go.mod", "module example.com/a\n\ngo 1.26\n")
	write("a_test.go", head+"func BenchmarkOld(b *testing.B) {\n\tfor b.Loop() {\n\t\tkept = nil\n\t}\n}\n")
	git("init", "-q")
	git("add", ".")
	git("commit", "-q", "-m", "first")

	was := core
	t.Cleanup(func() { core = was })
	core = []benchmark{{pkg: ".", name: "Old", n: 1000}, {pkg: ".", name: "New", n: 1000}}
	run := func(args ...string) (string, error) {
		var out bytes.Buffer
		err := guard(context.WithoutCancel(t.Context()), append([]string{"-base", "HEAD"}, args...), &out)
		return out.String(), err
	}
	if out, err := run("-bench", "Old"); err != nil || !strings.Contains(out, "| ..Old |  | 0 = | 0 = |  |") {
		t.Errorf("unchanged: %v\n%s", err, out)
	}
	write("a_test.go", head+"func BenchmarkOld(b *testing.B) {\n\tfor b.Loop() {\n\t\tkept = make([]byte, 500)\n\t}\n}\n\n"+
		"func BenchmarkNew(b *testing.B) {\n\tfor b.Loop() {\n\t\tkept = make([]byte, 500)\n\t}\n}\n")
	out, err := run()
	if err == nil || !strings.Contains(err.Error(), "1 of 2 benchmarks") || !strings.Contains(out, "0 → 1") || !strings.Contains(out, "new |") {
		t.Errorf("a revision that allocates: %v\n%s", err, out)
	}
	if _, err := run("-bench", "Other"); err == nil {
		t.Error("no error although nothing was compared")
	}
	if c, err := exec.CommandContext(t.Context(), "git", "worktree", "list").Output(); err != nil || bytes.Count(c, []byte("\n")) != 1 {
		t.Errorf("working trees were not removed: %s %v", c, err)
	}
}
